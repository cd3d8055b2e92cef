"""Starter projects are good ones: everything the toolbox can ask of them holds."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import Run
from support.example_counts import examples

from function_script import documents
from function_script.cli import execute
from function_script.engines.registry import LANGUAGES
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.source import Source
from function_script.tools import bounded, starters
from function_script.tools.starters import api, example_project
from function_script.tools.starters.api import Api
from function_script.tools.validate import command as validate
from function_script.tools.validate import report as reports
from function_script.tools.validate.catalog import Catalog

EXAMPLE = """\
# An example with values of every type.
apiVersion: db.example.com/v1beta1
kind: PostgresCluster
metadata: {name: demo, namespace: team}
spec:
  size: 3
  ratio: 0.5
  big: 12345678901234567890123
  nothing: null
  list: []
  empty: {}
  flag: true
  tags: {example.com/team: x, other: "1"}
  nodes:
  - {name: a, cpu: 1, port: 80}
  - {name: b, cpu: 0.5, port: http, extra: true}
  matrix: [[1, 2], [3]]
  mixed: [1, a, {b: 1}]
  when: 2020-01-01
  crossplane: {compositionRef: {name: postgresclusters}}
status:
  phase: Ready
  conditions: []
"""
EXAMPLES = {
    "types": EXAMPLE,
    "texts-like-numbers": 'apiVersion: e.org/v1\nkind: "No"\n'
    'metadata: {name: "1", namespace: "1"}\nspec: {"on": "y"}\n',
    "empty-spec": "apiVersion: e.org/v1\nkind: Thing\nmetadata: {name: demo}\nspec: {}\n",
    "no-namespace": "apiVersion: e.org/v1\nkind: XBox\nmetadata: {name: a}\nspec: {size: 1}\n",
    "legacy": "apiVersion: e.org/v1\nkind: XPolicy\nmetadata: {name: a}\n"
    "spec: {size: 1, compositionRef: {name: b}, resourceRefs: []}\n",
    "claim": "apiVersion: e.org/v1\nkind: Bus\nmetadata: {name: a, namespace: b}\n"
    "spec: {size: 1, compositionRef: {name: b}}\n",
    "of-the-tutorial": "apiVersion: example.crossplane.io/v1\nkind: App\n"
    "metadata: {namespace: default, name: my-app}\nspec: {image: nginx}\n",
    "json": '{"apiVersion": "e.org/v1", "kind": "A", "metadata": {"name": "a"}, "spec": {"b": {}}}',
}
COMMANDS = [
    ("test", "--ci"),
    ("check", "--strict"),
    ("validate", "xrd.yaml", "xr.yaml,composition.yaml"),
    ("render",),
    ("package", "build", "--examples", "xr.yaml"),
]


@pytest.fixture(params=LANGUAGES)
def project(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A new project in each language, as the current directory."""
    directory = tmp_path / "my-project"
    assert execute(["init", str(directory), "--language", request.param]) == 0
    monkeypatch.chdir(directory)
    return directory


@pytest.mark.usefixtures("project")
def test_new_project_is_fine(run: Run) -> None:
    for command in COMMANDS:
        run(*command)


def test_languages_agree(tmp_path: Path, run: Run) -> None:
    """The same project in another language renders to the same."""
    texts = set()
    for language in LANGUAGES:
        starters.write(language, tmp_path / language)
        texts.add(run("render", tmp_path / language).out)
    assert len(texts) == 1, "starter/app of a language renders other objects than those of others"


def test_tests_of_a_project_can_fail(project: Path, run: Run) -> None:
    composition = project / "composition.yaml"
    composition.write_text(
        composition.read_text().replace('port": 80', 'port": 81').replace("port: 80", "port: 81")
    )
    assert "first-reconcile" in run("test", "--ci", code=1).out


def test_quiet_tells_only_what_was_written(tmp_path: Path, run: Run) -> None:
    message = run("init", tmp_path / "new", "--quiet")
    assert str(tmp_path / "new" / "xr.yaml") in message.out.splitlines()
    assert message.err == ""


# Two examples are in every language, the others in one of them.
PROJECTS = [(name, each) for name in ("types", "texts-like-numbers") for each in LANGUAGES]
PROJECTS += list(zip(EXAMPLES, itertools.cycle(LANGUAGES), strict=False))[2:]


@pytest.mark.parametrize(("name", "language"), PROJECTS)
def test_project_from_an_example_is_fine(
    name: str, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "example.yaml").write_text(EXAMPLES[name])
    monkeypatch.chdir(tmp_path)
    assert execute(["init", "new", "--from", "example.yaml", "-l", language]) == 0
    monkeypatch.chdir(tmp_path / "new")
    for command in COMMANDS:
        assert execute(command) == 0
    assert (tmp_path / "new" / "xr.yaml").read_text() == EXAMPLES[name]


def test_schema_of_an_example_has_types_and_required_fields(tmp_path: Path) -> None:
    (tmp_path / "xr.yaml").write_text(EXAMPLE)
    project = starters.load("jinja", project=example_project.load(str(tmp_path / "xr.yaml")))
    xrd = documents.read_value(project["xrd.yaml"])
    schema = objects.find_path(xrd, "spec.versions[0].schema.openAPIV3Schema.properties.spec")
    properties = schema["properties"]
    assert "crossplane" not in properties
    assert "nothing" not in schema["required"]
    assert {"size", "empty", "tags"} <= {*schema["required"]}
    assert properties["size"] == {"type": "integer"}
    assert properties["big"] == {"type": "number"}
    assert properties["tags"] == {"type": "object", "additionalProperties": {"type": "string"}}
    assert objects.find_path(properties, "nodes.items.required") == ["name", "cpu", "port"]
    assert objects.find_path(properties, "nodes.items.properties.cpu") == {"type": "number"}


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(st.text(min_size=1, max_size=5), children, max_size=3)
    ),
    max_leaves=12,
)


@examples(20)
@given(st.dictionaries(st.sampled_from(["a", "b", "c.d"]), VALUES, max_size=3))
def test_example_is_valid_by_its_own_schema(spec: Object) -> None:
    xr: Object = {
        "apiVersion": "e.org/v1",
        "kind": "Thing",
        "metadata": {"name": "a", "namespace": "b"},
        "spec": spec,
    }
    example = example_project.Example(
        path="-", text="", xr=xr, api=Api(kind="Thing", group="e.org", version="v1"), name="a"
    )
    xrd = documents.read_value(example_project.files(example)["xrd.yaml"])
    text = Source(name="xr.yaml", text=documents.to_yaml(xr))
    report = validate.check_documents(bounded.read_documents(text), Catalog([xrd]))
    assert report.is_success(error_on_missing_schemas=True), reports.render_text(report)


def test_example_in_the_new_folder_stays(here: Path) -> None:
    (here / "xr.yaml").write_text(EXAMPLE)
    assert execute(["init", ".", "--from", "xr.yaml"]) == 0
    assert (here / "xr.yaml").read_text() == EXAMPLE
    assert execute(["test"]) == 0


@pytest.mark.parametrize(
    ("folder", "kind", "plural"),
    [
        ("my-db", "MyDb", "mydbs"),
        ("my_policy", "MyPolicy", "mypolicies"),
        ("XDatabase", "XDatabase", "xdatabases"),
        ("2024 bus!", "Bus", "buses"),
        ("gateway", "Gateway", "gateways"),
        ("fa\u00e7ade", "Facade", "facades"),
        ("123", "App", "apps"),
        ("a" * 80, "A" + "a" * 60, "a" * 61 + "s"),
    ],
)
def test_kind_follows_from_the_folder(folder: str, kind: str, plural: str) -> None:
    assert api.to_kind(folder) == kind
    assert api.parse(kind, "e.org", "v1").plural == plural


def test_api_is_what_flags_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(tmp_path)
    flags = ("--kind", "MyDatabase", "--group", "example.org", "--version", "v1")
    assert "cd my-database &&" in run("init", *flags).err
    xr = documents.read_value((tmp_path / "my-database" / "xr.yaml").read_text())
    assert objects.api_version_and_kind(xr) == ("example.org/v1", "MyDatabase")
    monkeypatch.chdir(tmp_path / "my-database")
    for command in COMMANDS:
        run(*command)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--kind", "db"), 'invalid kind "db"'),
        (("--kind", "A" * 63), "at most 63 characters"),
        (("--group", "example"), 'invalid group "example"'),
        (("--group", "Example.org"), 'invalid group "Example.org"'),
        (("--group", "apps.k8s.io"), "a group of Kubernetes itself"),
        (("--group", "pkg.crossplane.io"), "a group of Crossplane itself"),
        (("--version", "1"), 'invalid version "1"'),
    ],
)
def test_invalid_name_is_an_error(
    args: tuple[str, ...], message: str, tmp_path: Path, run: Run
) -> None:
    assert message in run("init", tmp_path / "new", *args, code=1).err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("apiVersion: v1\nkind: Secret\n", "a kind of Kubernetes itself", ":2:1"),
        (
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\n",
            "a kind of Kubernetes itself",
            ":2:1",
        ),
        ("apiVersion: apps/v1\nkind: Deployment\n", 'invalid group "apps"', ":1:1"),
        (
            "apiVersion: apiextensions.crossplane.io/v1\nkind: Composition\n",
            "a kind of Crossplane itself",
            ":2:1",
        ),
        ("kind: A\n", "an XR has apiVersion and kind", ":1"),
        ("apiVersion: e.org/v1\nkind: a\n", 'invalid kind "a"', ":2:1"),
        ("apiVersion: e.org/v1\nkind: A\ndata: {}\n", "spec and status alone", ":3:1"),
        ("apiVersion: e.org/v1\nkind: A\nspec: 1\n", "spec must be an object", ":3:1"),
        ("apiVersion: e.org/v1\nkind: A\nmetadata: {}\n", "spec is required", ":1"),
        (
            "apiVersion: e.org/v1\nkind: A\nspec: {}\nmetadata: {}\n",
            "metadata.name is required",
            ":4:1",
        ),
        (
            "apiVersion: e.org/v1\nkind: A\nmetadata: {name: A_B}\nspec: {}\n",
            "metadata.name: Invalid value",
            ":3:12",
        ),
        (
            "apiVersion: e.org/v1\nkind: A\nmetadata: {name: a, namespace: 1}\nspec: {}\n",
            "metadata.namespace must be a string",
            ":3:21",
        ),
        ("a: 1\n---\na: 2\n", "it holds 2 objects", ""),
        ("", "it holds 0 objects", ""),
    ],
)
def test_example_that_is_no_xr_is_an_error(
    text: str, message: str, position: str, tmp_path: Path, run: Run
) -> None:
    path = tmp_path / "example.yaml"
    path.write_text(text)
    error = run("init", tmp_path / "new", "--from", path, code=1).err
    assert message in error
    assert f"example.yaml{position}" in error
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("args", [(), ("new", "--from", "xr.yaml", "--kind", "A")])
def test_init_without_or_with_two_names_is_wrong_usage(args: tuple[str, ...]) -> None:
    assert execute(["init", *args]) == 2
