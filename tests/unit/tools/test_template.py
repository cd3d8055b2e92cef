"""`template`: the text before it is read as YAML, from inputs and Compositions, with any data."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support import one_step
from support.builders import XR
from support.commands import Run

from function_script.request.limits import Limits
from function_script.request.values import Object
from function_script.texts.errors import FatalError, InputError, ProgramError
from function_script.texts.source import Source
from function_script.tools import template

JINJA = """\
# A comment, so that lines differ.
apiVersion: script.fn.crossplane.io/v1beta1
kind: JinjaTemplate
inline: |
  count: {{ spec.count }} of {{ observed.resources | length }}
"""
GO = """\
apiVersion: script.fn.crossplane.io/v1beta1
kind: GoTemplate
inline: |
  count: {{ .observed.composite.resource.spec.count }}
"""
PEER = """\
apiVersion: gotemplating.fn.crossplane.io/v1beta1
kind: GoTemplate
source: Inline
inline:
  template: |
    {{ randomChoice "red" "green" }} {{ .value }} {{ len .list }}
"""
COMPOSITION = "".join(
    [
        "apiVersion: v1\nkind: ConfigMap\n---\n",
        one_step.PIPELINE,
        one_step.step("script", "StarlarkScript", "def main(req): pass\n", field="script"),
        "  - {step: other, input: {apiVersion: example.org/v1, kind: Input}}\n",
        one_step.step("first", "JinjaTemplate", "first {{ xr.kind }}\n"),
        one_step.step("second", "GoTemplate", 'second\n{{ fail "no more" }}\n'),
    ]
)
OPTIONS = template.Options(print=lambda _: None)
OBSERVED: Object = {"composite": {"resource": XR}, "resources": {"a": {"resource": XR}}}


def render(text: str, data: Object | None = None, step: str = "", **options: object) -> str:
    """The text that a file's template renders to."""
    result = template.load_input(Source(name="x.yaml", text=text), step)
    return template.render(result, data or {}, replace(OPTIONS, **options))


REQUIRED = JINJA.partition("inline")[0] + (
    "inline: |\n  {{ required_resources.x.items[0].resource.kind }}\n"
)
ITEMS: Object = {"x": {"items": [{"resource": XR}]}}
OTHER = PEER.replace("gotemplating.fn.crossplane.io/v1beta1", "x/v1").replace(
    "kind: GoTemplate", "kind: Other"
)
TEXTS = {
    "request": (JINJA, {"observed": OBSERVED}, "count: 2 of 1\n"),
    "no-yaml": (JINJA.replace("count:", "- {["), {"observed": OBSERVED}, "- {[ 2 of 1\n"),
    # Authors more often have an XR's file than a request.
    "xr": (JINJA, XR, "count: 2 of 0\n"),
    "xr-in-go": (GO, XR, "count: 2\n"),
    # Requests are taken as they are logged, and as protobuf JSON spells them.
    "field-of-the-protocol": (REQUIRED, {"required_resources": ITEMS}, "XThing\n"),
    "field-of-json": (REQUIRED, {"requiredResources": ITEMS}, "XThing\n"),
    "input-is-not-used": (GO, {"observed": OBSERVED, "input": {"kind": "Other"}}, "count: 2\n"),
    # Plain data and fixed random values allow a comparison with Go.
    "other-data": (PEER, {"value": 1.5, "list": [1, 2]}, "red 1.5 2\n"),
    # Whatever the input's apiVersion and kind, as in a cluster.
    "fields-of-a-go-template": (OTHER, {"value": 1.5, "list": [1, 2]}, "red 1.5 2\n"),
}


@pytest.mark.parametrize(("text", "data", "expected"), TEXTS.values(), ids=TEXTS)
def test_text_is_what_the_template_wrote(text: str, data: Object, expected: str) -> None:
    assert render(text, data) == expected


def test_flag_makes_plain_data_of_a_request(tmp_path: Path, run: Run) -> None:
    (tmp_path / "input.yaml").write_text(PEER)
    (tmp_path / "data.yaml").write_text("{meta: {}, value: 1, list: []}")
    flags = ("--data", tmp_path / "data.yaml", "--plain")
    assert run("template", tmp_path / "input.yaml", *flags).out == "red 1 0\n"


def test_plain_data_is_for_go_templates() -> None:
    with pytest.raises(InputError, match="only a GoTemplate without modules"):
        render(JINJA, {"value": 1}, plain=True)


def test_step_is_chosen_by_name() -> None:
    assert render(COMPOSITION, XR, "first") == "first XThing\n"


PROBLEMS = {
    # In the words of Go, with the place in the author's file all the same.
    "plain-data": (
        PEER,
        {"value": 1, "list": 5},
        "",
        '"manifests" at <len .list>: error calling len: len of type int64',
        "6:54",
    ),
    "step": (COMPOSITION, XR, "second", "cannot render inline: no more", "33:12"),
    "field-of-the-input": (JINJA + "ttl: 5\n", {}, "", "ttl: ", "6:1"),
}


@pytest.mark.parametrize(
    ("text", "data", "step", "message", "place"), PROBLEMS.values(), ids=PROBLEMS
)
def test_problem_is_at_its_place(
    text: str, data: Object, step: str, message: str, place: str
) -> None:
    with pytest.raises(FatalError) as caught:
        render(text, data, step)
    (problem,) = caught.value.diagnostics
    assert message in problem.message
    assert str(problem.span) == f"x.yaml:{place}"
    assert problem.excerpt is not None


def test_problem_of_the_object_that_the_input_names_says_so() -> None:
    head = JINJA.partition("inline")[0]
    stored = {"apiVersion": "script.fn.crossplane.io/v1beta1", "kind": "JinjaTemplate"}
    metadata = {"name": "network", "namespace": "platform"}
    resource = {**stored, "metadata": metadata, "inline": "a: 1", "credentials": ["db"]}
    required = {"script.fn.crossplane.io/input": {"items": [{"resource": resource}]}}
    with pytest.raises(FatalError) as caught:
        render(
            f"{head}inputRef: {{name: network, namespace: platform}}\n",
            {"required_resources": required},
        )
    (problem,) = caught.value.diagnostics
    expected = 'JinjaTemplate platform/network: credentials[0]: the step has no credentials "db"'
    assert problem.message == expected
    assert problem.field == "input.inputRef"


def test_limits_hold() -> None:
    loop = "{{ range until 1000 }}{{ range until 1000000 }}{{ end }}{{ end }}"
    endless = GO.replace("count:", loop)
    with pytest.raises(FatalError, match="limit"):
        render(endless, XR, pool=replace(OPTIONS.pool, limits=Limits(timeout_seconds=0.5)))


def test_programs_in_files(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "main.j2").write_text("a\n{{ xr.kin }}\n")
    text = """\
apiVersion: script.fn.crossplane.io/v1beta1
kind: JinjaTemplate
source: FileSystem
fileSystem: {dirPath: site}
"""
    pool = replace(OPTIONS.pool, limits=Limits(program_root=str(tmp_path)))
    with pytest.raises(ProgramError) as caught:
        render(text, XR, pool=pool, programs=tmp_path)
    assert str(caught.value.diagnostics[0].span) == f"{tmp_path}/site/main.j2:2:7"


def test_requirements_of_the_input_are_in_the_data() -> None:
    """The program would not run without it; that nothing was found is an answer."""
    required = "requirements: {resources: {x: {apiVersion: v1, kind: A, matchName: b}}}\n"
    text = f"{JINJA.partition('inline')[0]}{required}inline: '{{{{ required_resources.x }}}}'\n"
    with pytest.raises(FatalError, match='"x" is required, and not in the data'):
        render(text, {"observed": OBSERVED})
    assert render(text, {"required_resources": {"x": {"items": []}}}) == '{"items": []}'


MISTAKES = [
    pytest.param("kind: ConfigMap", "", "it holds no JinjaTemplate or GoTemplate", id="none"),
    pytest.param(COMPOSITION, "", 'there are 2.*"first", "second"', id="two"),
    pytest.param(COMPOSITION, "frst", 'no step "frst" has one.*did you mean "first"', id="typo"),
    pytest.param(COMPOSITION, "script", 'no step "script" has one', id="script"),
]


@pytest.mark.parametrize(("text", "step", "message"), MISTAKES)
def test_template_must_be_exactly_one(text: str, step: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        template.load_input(Source(name="x.yaml", text=text), step)


NO_REQUESTS = [
    pytest.param({"observd": {}}, 'no field "observd".*did you mean "observed"', id="typo"),
    pytest.param({"observed": {"xr": {}}}, 'no field named "xr"', id="deep"),
    pytest.param({"meta": 1}, "cannot read the data as a request", id="type"),
]


@pytest.mark.parametrize(("data", "message"), NO_REQUESTS)
def test_mistakes_in_the_data_are_told(data: Object, message: str) -> None:
    """An ignored field would make the template seem wrong."""
    with pytest.raises(InputError, match=message):
        render(JINJA, data)


def test_credentials_are_those_of_the_data() -> None:
    with pytest.raises(InputError, match="the data has no credentials for it"):
        render(f"{JINJA}credentials: [api]\n", {})


DATA = [
    pytest.param('{"a": 2.0, "b": 9007199254740993}', {"a": 2.0, "b": 2**53 + 1}, id="json"),
    pytest.param("a: 2\nb: [x]\n", {"a": 2, "b": ["x"]}, id="yaml"),
]


@pytest.mark.parametrize(("text", "value"), DATA)
def test_data_is_json_or_yaml(text: str, value: Object) -> None:
    """JSON is taken exactly: whole floats stay floats."""
    result = template.load_data(Source(name="d", text=text))
    assert json.dumps(result) == json.dumps(value)


@pytest.mark.parametrize("text", ["", "[1]", "a: 1\n---\na: 2\n", '{"a": '])
def test_data_is_one_object(text: str) -> None:
    """Anything else is a problem of the file."""
    with pytest.raises(FatalError):
        template.load_data(Source(name="d", text=text))


def test_command(tmp_path: Path, run: Run) -> None:
    (tmp_path / "input.yaml").write_text(GO)
    (tmp_path / "xr.json").write_text(json.dumps(XR))
    command = ["template", str(tmp_path / "input.yaml"), "-d", str(tmp_path / "xr.json")]
    assert run(*command).out == "count: 2\n"
    message = run("template", tmp_path / "absent.yaml", code=1)
    assert message.out == ""
    assert "no such file or directory" in message.err
