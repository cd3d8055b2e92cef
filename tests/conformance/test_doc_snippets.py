"""Every program that the documentation shows runs, in the first reconcile and in a later one.

A block of code is a program by its language. What is part of a program gets the frame that its
page speaks of; a block that nobody knows what to do with fails.
"""

import base64
import re
import shutil
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

import pytest
import yaml
from conformance import test_manifest_fields as manifest_fields
from support.builders import API_VERSION, call, request, to_dict
from support.core_model import Core
from support.paths import ROOT

from function_script.request.values import Object
from function_script.tools import structural_schema
from function_script.tools.cases import parser
from function_script.tools.cases.loader import FileCache
from function_script.tools.project import Project
from function_script.tools.validate import catalog

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*/*.md"))]
BLOCK = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
KINDS = ("StarlarkScript", "JinjaTemplate", "GoTemplate")
# Kinds of blocks that hold no program of a step; the commands among them are run by test_walk.
OTHERS = {"", "console", "sh", "text", "diff", "json"}
ANNOTATION = "script.fn.crossplane.io/composition-resource-name"
HEAD = f"apiVersion: e.org/v1\nkind: Thing\nmetadata: {{annotations: {{{ANNOTATION}: thing}}}}\n"
DATABASE = (
    f"apiVersion: e.org/v1\nkind: Db\nmetadata: {{annotations: {{{ANNOTATION}: database}}}}\n"
)
# What is left out.
ELISION = re.compile(r"^\s*\.\.\.$", re.MULTILINE)
XR: Object = {
    "apiVersion": "example.org/v1",
    "kind": "XThing",
    "metadata": {"name": "demo", "namespace": "here"},
    "spec": {"count": 2, "regions": ["eu", "us"], "zones": [{"name": "a"}, {"name": "b"}]},
}
STATUS: Object = {"id": "id-1", "atProvider": {"arn": "arn:1", "id": "id-1", "endpoint": "host"}}
DETAILS: Object = {"password": base64.b64encode(b"s3cret").decode()}
NAMES: Object = {"names.j2": "{% macro bucket_name() %}a-bucket{% endmacro %}"}
REQUIRED: list[Object] = [
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "naming", "namespace": "platform"},
        "data": NAMES,
    }
]
# The page that debugs this program says that it is wrong.
MISTAKE = "conut"
OWN_PREFIX = "script.fn.crossplane.io/"
INPUT_FIELDS = {
    field
    for schema in catalog.read_schemas(catalog.INPUTS).values()
    for field in structural_schema.properties(schema)
} - {"apiVersion", "kind", "metadata"}
CASE_FIELDS = {
    "composition",
    "credentials",
    "description",
    "expect",
    "observed",
    "patch",
    "steps",
    "xr",
}
# The first line of a block that tests/test_walk.py writes to a file, or applies to one.
WALKED = re.compile(r"# [\w./-]+\.\w+\n")
# Blocks that are neither run nor rendered, by the page and a part of the text.
NOT_RUN = {
    ("architecture.md", "Crossplane ──gRPC"): "a diagram",
    ("architecture.md", "bytes ─> RequestHandler"): "a diagram",
    ("sandbox.md", "server ──spawns──> zygote"): "a diagram",
    ("sandbox.md", "command ──spawns──> worker"): "a diagram",
    ("sandbox.md", "request ──> fair queue"): "a diagram",
    ("errors.md", '{"severity": "error"'): "a line of JSON, see test_diagnostics.py",
    ("check.md", "error: cannot render template"): "a finding of a run, see test_runs.py",
    ("debug-a-live-composition.md", "script:10:32"): "an event; tests/e2e reads it from a server",
    ("share-modules.md", "path: names.star"): "not pinned yet; tests/e2e/test_vendor.py pins such",
    ("share-modules.md", "FROM function-script"): "lines of a Dockerfile",
    ("share-modules.md", "--remote-allow"): "flags; tests/e2e/test_serve_remote.py uses them",
    ("plan-a-change.md", "destroy: 1 object"): "a report; see test_plan.py",
    ("move-from-function-go-templating.md", "was: function-go-templating"): "a line of a pipeline",
    (
        "move-from-function-go-templating.md",
        "and for 10 more",
    ): "two functions; see test_compare.py",
    ("run-in-production.md", "{% set old"): "a part of a Secret; a server with a salt runs it",
    ("run-in-production.md", "startupProbe:"): "a part of a container",
    ("use-kustomize-and-kpt.md", "pipeline:\n  mutators"): "a part of a Kptfile",
    ("check.md", "error: observed"): "an error; tests/diagnostics has its text",
    ("check.md", '"summary"'): "a report; tests/unit/tools/check has its fields",
    ("check.md", "warning: the key on"): "a warning; tests/diagnostics has its text",
    ("errors.md", "error: cannot run main"): "an error; tests/diagnostics has its text",
    ("errors.md", "modules[buckets.star]"): "an error; tests/diagnostics has its text",
    ("gotemplate-compatibility.md", "meta: {tag"): "the shape of the request",
    ("gotemplate-compatibility.md", "spec.szie"): "an error; tests/diagnostics has its text",
    ("schemas.md", "spec.replcas"): "a warning; tests/unit/tools/render has its text",
    ("testing.md", "=== gotemplate-bucket"): "an entry of the catalogue",
    ("jinja.md", "spec.zones[1].nam"): "an error; the same",
    (
        "test-a-composition.md",
        "from function_script import testing",
    ): "a test; tests/unit/test_testing.py",
}
CONTEXT: Object = {"apiextensions.crossplane.io/environment": {"modules": {}, "region": "us"}}
# The page whose sections have one program in each language, and what a step before theirs desires.
RECIPES = ROOT / "docs" / "how-to" / "recipes.md"
SECTION = re.compile(r"^## (?P<title>.*)\n(?P<text>(?:(?!## ).*\n)*)", re.MULTILINE)
EARLIER: Object = {"apiVersion": "e.org/v1", "kind": "Earlier", "spec": {"size": 3}}
KIND_OF_BLOCK = dict(zip(("python", "jinja", "gotemplate"), KINDS, strict=True))


class Snippet(NamedTuple):
    """A block of code, and where it begins."""

    page: Path
    line: int
    kind: str
    text: str

    @property
    def id(self) -> str:
        """The place of the block."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def reason(self) -> str | None:
        """The reason why the block cannot be run, if it is listed."""
        page = self.page.name
        return next(
            (why for (name, text), why in NOT_RUN.items() if name == page and text in self.text),
            None,
        )


def blocks() -> Iterator[Snippet]:
    """All blocks of code of all pages."""
    for page in PAGES:
        text = page.read_text()
        for found in BLOCK.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield Snippet(page, line, found["kind"], found["text"])


def inputs(value: object) -> Iterator[Object]:
    """The inputs of ours in a document, wherever they stand."""
    if isinstance(value, dict):
        if value.get("kind") in KINDS:
            yield value
        for child in value.values():
            yield from inputs(child)
    elif isinstance(value, list):
        for child in value:
            yield from inputs(child)


def step(kind: str, text: str, **fields: str) -> Object:
    """An input of our own apiVersion."""
    key = "script" if kind == "StarlarkScript" else "inline"
    return {"apiVersion": API_VERSION, "kind": kind, key: text, **fields}


def of_starlark(text: str) -> Object | None:
    """A script; statements are the body of one that makes a database, too."""
    if "def main(" in text:
        return step("StarlarkScript", text)
    if "rsp." not in text:
        return None
    body = f"""\
def main(req):
    rsp = response()
    network = req["observed"]["resources"].get("database", {{}}).get("resource", {{}})
    rsp.resource("database", {{"apiVersion": "e.org/v1", "kind": "Db"}})
{textwrap.indent(text, "    ")}    return rsp
"""
    fields = {"missing": "Defer"} if "lambda" in text else {}
    return step("StarlarkScript", body, **fields)


def of_template(kind: str, text: str) -> Object:
    """A template; a part of a document stands in one, and documents stand beside a database."""
    if text.startswith("---"):
        return step(kind, DATABASE + text)
    name = '{% set network = get_composed_resource("database") %}\n' if "network" in text else ""
    fields = {"missing": "Defer"} if name else {}
    return step(kind, f"{name}{DATABASE}---\n{HEAD}{text}", **fields)


@cache
def value_of(snippet: Snippet) -> object:
    """The first document of a YAML block, None if it is not YAML by itself."""
    try:
        return next(iter(yaml.load_all(textwrap.dedent(snippet.text), yaml.CSafeLoader)))
    except yaml.YAMLError:
        return None


def is_input_fields(snippet: Snippet) -> bool:
    """Whether the block has fields of an input and nothing else."""
    value = value_of(snippet)
    return isinstance(value, dict) and {*value} <= INPUT_FIELDS and snippet.reason is None


def is_annotations(snippet: Snippet) -> bool:
    """Whether the block is the metadata of a document, or one of its annotations."""
    value = value_of(snippet)
    return isinstance(value, dict) and ({*value} == {"metadata"} or OWN_PREFIX in str([*value]))


def beside_a_network(text: str) -> str:
    """Documents with the annotations of a block, and one of the network that they name."""
    value = yaml.load(text, yaml.CSafeLoader)
    annotations = value["metadata"]["annotations"] if "metadata" in value else value
    named = {ANNOTATION: "report", **annotations}
    network = {ANNOTATION: "network", f"{OWN_PREFIX}ready": "True"}
    net = {"apiVersion": "e.org/v1", "kind": "Net", "metadata": {"annotations": network}}
    report = {"apiVersion": "e.org/v1", "kind": "Report", "metadata": {"annotations": named}}
    return f"---\n{yaml.safe_dump_all([net, report])}"


def is_case(snippet: Snippet) -> bool:
    """Whether the block is a test case, or a part of one."""
    value = value_of(snippet)
    return isinstance(value, dict) and {*value} <= CASE_FIELDS


def is_manifest(snippet: Snippet) -> bool:
    """Whether the block is an object of Crossplane's packages."""
    value = value_of(snippet)
    return isinstance(value, dict) and "pkg.crossplane.io/v1" in str(value.get("apiVersion"))


def is_walked(snippet: Snippet) -> bool:
    """Whether tests/test_walk.py runs the commands, writes the file or makes the change."""
    return snippet.kind in {"console", "sh"} or WALKED.match(snippet.text) is not None


def is_recipe(snippet: Snippet) -> bool:
    """True if test_recipe_composes_the_same_in_all_languages runs the block."""
    return snippet.page == RECIPES


def programs(snippet: Snippet) -> list[Object]:
    """The inputs that a block is, or stands for."""
    match snippet.kind:
        case _ if is_recipe(snippet):
            return []
        case "jinja":
            return [of_template("JinjaTemplate", snippet.text)]
        case "gotemplate":
            return [of_template("GoTemplate", snippet.text)]
        case "python":
            found = of_starlark(snippet.text)
            assert found is not None or "def test_" in snippet.text, snippet.id
            return [] if found is None else [found]
        case "yaml" if is_input_fields(snippet):
            fields = yaml.load(snippet.text, yaml.CSafeLoader)
            use = "spec: {id: {{ network.status.id }}}\n" if "missing" in fields else ""
            return [of_template("JinjaTemplate", use) | fields]
        case "yaml" if is_annotations(snippet):
            return [of_template("JinjaTemplate", beside_a_network(snippet.text))]
        case "yaml" if ELISION.search(snippet.text) is None and MISTAKE not in snippet.text:
            documents = yaml.load_all(textwrap.dedent(snippet.text), yaml.CSafeLoader)
            return [each for document in documents for each in inputs(document)]
        case _:
            assert snippet.kind in {"yaml", *OTHERS}, f"{snippet.id}: what is {snippet.kind}?"
            return []


PROGRAMS = [
    pytest.param(program, id=snippet.id) for snippet in blocks() for program in programs(snippet)
]

# Programs of Secrets with connection details, one for each language.
CONNECTING = [
    param
    for param in PROGRAMS
    if "documents.md" in str(param.id) and "details" in str(param.values).lower()
]


def run_twice(program: Object) -> tuple[dict[str, Object], dict[str, Object]]:
    """What is in the cluster after a first reconcile, and after one with status and details."""
    cluster = Core(xr=XR, required=REQUIRED, parts={"context": CONTEXT})
    # What waits for a value may say so.
    waiting = [str(result["reason"]) for result in cluster.run_step(program)]
    waits = program.get("missing") == "Defer" or "depends-on" in str(program)
    assert waiting == (["Waiting"] if waits else [])
    first = cluster.objects()
    cluster.provide(STATUS, DETAILS)
    assert cluster.run_step(program) == []
    return first, cluster.objects()


@pytest.mark.parametrize("snippet", list(blocks()), ids=lambda snippet: snippet.id)
def test_block_of_a_page_is_run_or_has_a_reason(snippet: Snippet) -> None:
    tests = (is_walked, is_recipe, is_case, is_manifest, programs)
    is_run = any(test(snippet) for test in tests)
    assert is_run != (snippet.reason is not None), "list it in NOT_RUN with a reason, or not at all"


def test_listed_reason_has_its_block() -> None:
    reasons = [snippet.reason for snippet in blocks() if snippet.reason is not None]
    assert len(reasons) == len(NOT_RUN)


@pytest.mark.parametrize(
    "snippet", [each for each in blocks() if is_case(each)], ids=lambda snippet: snippet.id
)
def test_case_of_a_page_is_valid(snippet: Snippet, tmp_path: Path) -> None:
    """A part of a case gets a Composition and an XR."""
    shutil.copytree(ROOT / "examples" / "starlark-robots", tmp_path, dirs_exist_ok=True)
    path = tmp_path / "page.case.yaml"
    path.write_text(snippet.text)
    case = parser.parse(path, FileCache(Project([path.parent])))
    assert case.steps


@pytest.mark.parametrize(
    "snippet", [each for each in blocks() if is_manifest(each)], ids=lambda snippet: snippet.id
)
def test_manifest_of_a_page_has_only_known_fields(snippet: Snippet) -> None:
    for document in yaml.load_all(snippet.text, yaml.CSafeLoader):
        assert list(manifest_fields.unknown(document, manifest_fields.fields_of(document))) == []


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_of_a_page_runs(program: Object) -> None:
    """Nothing that the first reconcile made is lost in a later one."""
    first, later = run_twice(program)
    assert first.keys() <= later.keys()


def test_pages_show_programs_in_every_language() -> None:
    """Or the blocks are not found any more."""
    kinds = [cast("Object", param.values[0])["kind"] for param in PROGRAMS]
    assert {kind: kinds.count(kind) > 0 for kind in KINDS} == dict.fromkeys(KINDS, True)
    assert len(CONNECTING) == len(KINDS)


@pytest.mark.parametrize("program", CONNECTING)
def test_connection_secret_is_filled_once_there_are_details(program: Object) -> None:
    """The database is made in the first reconcile; the Secret has its details in a later one."""
    first, later = run_twice(program)
    assert set(first) == set(later) == {"database", "connection"}
    assert not first["connection"].get("data")
    assert later["connection"]["data"] == DETAILS


def run_recipe(section: str, program: Object) -> list[object]:
    """The XR's status and the objects after a reconcile without anything, and after a later one."""
    desired = {"resources": {"earlier": {"resource": EARLIER}}}
    cluster = Core(xr=XR, parts={"context": CONTEXT, "desired": desired})
    results = [cluster.run_step(program)]
    states: list[object] = [cluster.objects()]
    cluster.provide(STATUS, DETAILS)
    response = to_dict(
        call(
            request(
                program,
                observed={"composite": {"resource": XR}, "resources": cluster.resources},
                context=CONTEXT,
                desired=desired,
            )
        )
    )
    results.append(cluster.run_step(program))
    severities = [result["severity"] for each in results for result in each]
    waits = "missing: Defer" in section or "depends-on" in section
    assert severities == (["SEVERITY_NORMAL"] if waits else [])
    composite = cast("Object", cast("Object", response["desired"]).get("composite", {}))
    status = cast("Object", composite.get("resource", {})).get("status", {})
    return [*states, cluster.objects(), status]


@pytest.mark.parametrize(
    "section",
    [
        pytest.param(each["text"], id=each["title"])
        for each in SECTION.finditer(RECIPES.read_text())
    ],
)
def test_recipe_composes_the_same_in_all_languages(section: str) -> None:
    fields = {"missing": "Defer"} if "`missing: Defer`" in section else {}
    texts = {found["kind"]: found["text"] for found in BLOCK.finditer(section)}
    assert set(texts) == set(KIND_OF_BLOCK)
    starlark, jinja, go_template = (
        run_recipe(section, step(kind, texts[block], **fields))
        for block, kind in KIND_OF_BLOCK.items()
    )
    assert starlark == jinja == go_template
    assert starlark != run_recipe("", step("StarlarkScript", "def main(req): return {}\n"))
