"""Every program that the documentation shows runs, in the first reconcile and in a later one.

A block of code is a program by its language. What is part of a program gets the frame that its
page speaks of; a block that nobody knows what to do with fails.
"""

from __future__ import annotations

import base64
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import pytest
import yaml
from support.builders import API_VERSION
from support.cluster_model import Cluster

from function_script.engines.registry import LANGUAGES
from function_script.tools import editor, starters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from function_script.values import Object

ROOT = Path(__file__).resolve().parents[2]
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
STATUS: Object = {"id": "id-1", "atProvider": {"arn": "arn:1", "id": "id-1"}}
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
CONTEXT: Object = {"apiextensions.crossplane.io/environment": {"modules": {}}}


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


def programs(snippet: Snippet) -> list[Object]:
    """The inputs that a block is, or stands for."""
    match snippet.kind:
        case "jinja":
            return [of_template("JinjaTemplate", snippet.text)]
        case "gotemplate":
            return [of_template("GoTemplate", snippet.text)]
        case "python":
            found = of_starlark(snippet.text)
            assert found is not None or "def test_" in snippet.text, snippet.id
            return [] if found is None else [found]
        case "yaml" if ELISION.search(snippet.text) is None and MISTAKE not in snippet.text:
            documents = yaml.safe_load_all(textwrap.dedent(snippet.text))
            return [each for document in documents for each in inputs(document)]
        case _:
            assert snippet.kind in {"yaml", *OTHERS}, f"{snippet.id}: what is {snippet.kind}?"
            return []


PROGRAMS = [
    pytest.param(program, id=snippet.id) for snippet in blocks() for program in programs(snippet)
]


def run_twice(program: Object) -> tuple[dict[str, Object], dict[str, Object]]:
    """What is in the cluster after a first reconcile, and after one with status and details."""
    cluster = Cluster(xr=XR, required=REQUIRED, parts={"context": CONTEXT})
    # What waits for a value may say so.
    waiting = [str(result["reason"]) for result in cluster.reconcile(program)]
    assert waiting == (["Waiting"] if program.get("missing") == "Defer" else [])
    first = cluster.objects()
    cluster.provide(STATUS, DETAILS)
    assert cluster.reconcile(program) == []
    return first, cluster.objects()


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_a_page_runs(program: Object) -> None:
    """Nothing that the first reconcile made is lost in a later one."""
    first, later = run_twice(program)
    assert first.keys() <= later.keys()


def test_the_pages_show_programs_in_every_language() -> None:
    """Or the blocks are not found any more."""
    kinds = [cast("Object", param.values[0])["kind"] for param in PROGRAMS]
    assert {kind: kinds.count(kind) > 0 for kind in KINDS} == dict.fromkeys(KINDS, True)
    connecting = [param for param in PROGRAMS if "documents.md" in str(param.id)]
    assert len(connecting) == len(KINDS)


@pytest.mark.parametrize(
    "program", [param for param in PROGRAMS if "documents.md" in str(param.id)]
)
def test_a_connection_secret_is_filled_once_there_are_details(program: Object) -> None:
    """The database is made in the first reconcile; the Secret has its details in a later one."""
    first, later = run_twice(program)
    assert set(first) == set(later) == {"database", "connection"}
    assert not first["connection"].get("data")
    assert later["connection"]["data"] == DETAILS


def shown() -> Iterator[tuple[Object, Object]]:
    """The XRs and own Go templates of examples, and all programs that `init` writes."""
    for path in sorted((ROOT / "examples").glob("*/composition.yaml")):
        for program in inputs(yaml.safe_load(path.read_text())):
            if (program["apiVersion"], program["kind"]) == (API_VERSION, "GoTemplate"):
                yield yaml.safe_load((path.parent / "xr.yaml").read_text()), program
    for language in LANGUAGES:
        texts = starters.load(language)
        for program in inputs(yaml.safe_load(texts["composition.yaml"])):
            yield yaml.safe_load(texts["xr.yaml"]), program


SHOWN = list(shown())


@pytest.mark.parametrize(("xr", "program"), SHOWN, ids=[str(xr["kind"]) for xr, _ in SHOWN])
def test_a_go_template_of_an_example_runs(xr: Object, program: Object) -> None:
    """With nothing there, and with everything."""
    secrets = {"registry": {"credential_data": {"data": DETAILS}}}
    cluster = Cluster(xr=xr, parts={"credentials": secrets})
    results = cluster.reconcile(program) + cluster.reconcile(program)
    assert {result["severity"] for result in results} <= {"SEVERITY_NORMAL"}
    first = cluster.objects()
    assert first
    cluster.provide(STATUS, DETAILS)
    assert cluster.reconcile(program) == []
    assert first.keys() <= cluster.objects().keys()


@pytest.mark.parametrize("name", [name for name in editor.snippets() if "step" in name])
def test_a_snippet_of_the_editor_runs(name: str) -> None:
    """As it is when everything that it proposes is taken."""
    body = "\n".join(editor.snippets()[name]["body"])
    filled = re.sub(r"(?<!\\)\$\d", "", re.sub(r"\$\{\d+:(.*?)\}", r"\1", body)).replace("\\$", "$")
    (program,) = inputs(yaml.safe_load(filled))
    first, later = run_twice(program)
    assert set(first) == set(later) == {"config"}
    assert first["config"]["data"] == {"name": "demo"}
