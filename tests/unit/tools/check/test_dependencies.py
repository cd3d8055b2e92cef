"""`check`: dependencies on resources that no step composes, and when it cannot be known."""

from pathlib import Path
from textwrap import indent

import pytest
from support.check_helpers import composition, found, ours, peer, told

from function_script.tools.check import checker

NAME = "script.fn.crossplane.io/composition-resource-name"
DEPENDS_ON = "script.fn.crossplane.io/depends-on"


def document(name: str, *, depends_on: str = "", kind: str = "Bucket") -> str:
    """A document of a template."""
    said = f"\n    {DEPENDS_ON}: {depends_on}" if depends_on else ""
    return (
        f"---\napiVersion: s3.example.org/v1\nkind: {kind}\n"
        f"metadata:\n  annotations:\n    {NAME}: {name}{said}\n"
    )


def template(*texts: str, kind: str = "GoTemplate") -> str:
    """A template of documents and what stands between them; the first line is the input's 4."""
    return ours(kind, "inline: |", indent("".join(texts), "  "))


def script(*lines: str, begin: str = "rsp = response()", end: str = "return rsp.build()") -> str:
    """A script; the first of ``lines`` is the input's line 6."""
    body = ["def main(req):", *(f"    {line}" for line in (begin, *lines, end))]
    return ours("StarlarkScript", "script: |", *(f"  {line}" for line in body))


TREE = 'rsp["desired"]["resources"]'
BODY = '{"apiVersion": "v1", "kind": "Thing"}'
MISSING = 'no step composes "netwrok", so what depends on it is never created'
NETWORK = document("network")
BAD = document("bucket", depends_on="network, netwrok:status.id")

FINDINGS = {
    "gotemplate": ([template(NETWORK, BAD)], "16:52"),
    "jinja": ([template(NETWORK, BAD, kind="JinjaTemplate")], "16:52"),
    "of-another-step": ([template(BAD), template(NETWORK)], "10:52"),
    "in-a-condition": ([template("{{ if true }}\n", NETWORK, "{{ end }}\n", BAD)], "18:52"),
    "starlark": (
        [
            script(
                f'rsp.resource("network", {BODY})',
                f'rsp.resource("bucket", {BODY}, depends_on = ["network", "netwrok:status.id"])',
            )
        ],
        "7:94",
    ),
    "starlark-response": (
        [
            script(
                f'"network": {{"resource": {BODY}}},',
                f'"bucket": {{"resource": {BODY}, "depends_on": ["netwrok"]}},',
                begin='return {"desired": {"resources": {',
                end="}}}",
            )
        ],
        "7:84",
    ),
    "starlark-assigned": (
        [
            script(
                f'{TREE}["network"] = {{"resource": {BODY}}}',
                f'{TREE}["bucket"] = {{"resource": {BODY}, "depends_on": ["netwrok"]}}',
                begin='rsp = {"desired": req["desired"]}',
                end="return rsp",
            )
        ],
        "7:114",
    ),
}


@pytest.mark.parametrize(("inputs", "place"), FINDINGS.values(), ids=FINDINGS)
def test_dependency_on_no_resource_is_found(tmp_path: Path, inputs: list[str], place: str) -> None:
    findings = found(tmp_path, *inputs).findings
    assert [told(each) for each in findings] == [("unknown-dependency", place, MISSING)]


def test_hint_names_the_nearest_or_all(tmp_path: Path) -> None:
    bad = document("bucket", depends_on="netwrok, zzz")
    near, other = found(tmp_path, template(NETWORK, bad)).findings
    assert near.diagnostic.hint == 'did you mean "network"?'
    assert other.diagnostic.hint == "there are bucket, network"


def test_resources_of_a_container_are_no_names(tmp_path: Path) -> None:
    container = '{"apiVersion": "v1", "kind": "P", "spec": {"resources": {"limits": {"cpu": "1"}}}}'
    lines = [f'rsp.resource("a", {container})', f'rsp.resource("b", {BODY}, depends_on = ["zzz"])']
    (finding,) = found(tmp_path, script(*lines)).findings
    assert finding.diagnostic.hint == "there are a, b"


SILENT = {
    "it-is-composed": template(NETWORK, document("b", depends_on="network")),
    "a-name-that-is-made": template(document("n-{{ .x }}"), BAD),
    "a-made-dependency": template(document("n", depends_on="n-{{ .x }}")),
    "whole-documents-of-a-value": template(BAD, "{{ .params.more | toYaml }}\n"),
    "in-jinja-too": template(BAD, "{{ params.more | to_yaml }}\n", kind="JinjaTemplate"),
    "starlark-a-name-that-is-made": script(
        f'rsp.resource("bucket", {BODY}, depends_on = ["netwrok"])',
        f'rsp.resource("net%s" % "wrok", {BODY})',
    ),
    "starlark-by-another-name": script(
        f'rsp.resource("bucket", {BODY}, depends_on = ["netwrok"])',
        "add = rsp.resource",
        f'add("netwrok", {BODY})',
    ),
    "starlark-a-variable": script(
        'rsp["desired"]["resources"]["a"] = {"depends_on": ["netwrok"]}',
        'resources = rsp["desired"]["resources"]',
        f'resources["net" + "wrok"] = {{"resource": {BODY}}}',
        begin='rsp = {"desired": req["desired"]}',
        end="return rsp",
    ),
    "starlark-decoded": script(
        f'rsp.resource("bucket", {BODY}, depends_on = ["netwrok"])',
        end='return json.decode(req["context"]["x"])',
    ),
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_unsure_means_silent(tmp_path: Path, text: str) -> None:
    """Nothing is told if only a run knows all names."""
    rules = {each.rule for each in found(tmp_path, text).findings}
    assert rules.isdisjoint({"unknown-dependency", "program", "input"})


STEPS = {
    "it-may-compose-anything": ("function-patch-and-transform", 0),
    "it-composes-nothing": ("crossplane-contrib-function-auto-ready", 1),
}


@pytest.mark.parametrize(("function", "count"), STEPS.values(), ids=STEPS)
def test_steps_of_other_functions(tmp_path: Path, function: str, count: int) -> None:
    """Only some are known to compose nothing."""
    step = f"  - step: other\n    functionRef:\n      name: {function}\n"
    (tmp_path / "a.yaml").write_text(composition(template(NETWORK, BAD)) + step)
    findings = checker.check([str(tmp_path)]).findings
    assert [each.rule for each in findings] == ["unknown-dependency"] * count


def test_input_alone_is_no_pipeline(tmp_path: Path) -> None:
    """Other steps may compose what it depends on."""
    (tmp_path / "a.yaml").write_text(template(NETWORK, BAD))
    assert checker.check([str(tmp_path)]).findings == []


def test_names_of_go_templating_count(tmp_path: Path) -> None:
    theirs = document("netwrok").replace("script.fn", "gotemplating.fn")
    text = peer("source: Inline", "inline:", "  template: |", indent(theirs, "    "))
    assert found(tmp_path, template(NETWORK, BAD), text).findings == []


MOVED_FROM = "script.fn.crossplane.io/moved-from"


def moved(name: str, old: str) -> str:
    """A document of a template that had another name."""
    return document(name).replace(f"{NAME}: {name}\n", f"{NAME}: {name}\n    {MOVED_FROM}: {old}\n")


MOVES = {
    "moved": ([template(moved("a", "old"))], []),
    "composed-here": (
        [template(moved("a", "older, old"), document("old"))],
        ['a step composes "old", so nothing can be moved from it'],
    ),
    "composed-by-another-step": (
        [template(moved("a", "old"), kind="JinjaTemplate"), template(document("old"))],
        ['a step composes "old", so nothing can be moved from it'],
    ),
    "twice": (
        [template(moved("a", "old"), moved("b", "old"))],
        ['two resources are moved from "old", which is one object'],
    ),
    "twice-in-a-script": (
        [
            script(
                f'rsp.resource("a", {BODY}, moved_from = "old")',
                f'rsp.resource("b", {BODY}, moved_from = ["older", "old"])',
            )
        ],
        ['two resources are moved from "old", which is one object'],
    ),
}


@pytest.mark.parametrize(("inputs", "messages"), MOVES.values(), ids=MOVES)
def test_moved_from_of_a_name_in_use_is_found(
    tmp_path: Path, inputs: list[str], messages: list[str]
) -> None:
    findings = found(tmp_path, *inputs).findings
    assert [finding.diagnostic.message for finding in findings] == messages
