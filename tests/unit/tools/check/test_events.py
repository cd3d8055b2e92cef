"""Results that are emitted on every call: what is found, and what is left alone."""

from pathlib import Path

import pytest
from support.check_helpers import found, script, template, told

SAYS = "this result is emitted on every call, as an event that never changes"
META = ["---", "apiVersion: meta.script.fn.crossplane.io/v1beta1", "kind: Results", "results:"]
HELLO = '{"severity": "Normal", "message": "hello"}'
FATAL = '{"severity": "Fatal", "message": "hello"}'


CONSTANT = {
    "starlark": (script(f'return {{"results": [{HELLO}]}}'), "5:27"),
    "builder": (script("rsp = response()", 'rsp.event("hello")', "return rsp.build()"), "6:7"),
    "builder-warning": (
        script("rsp = response()", 'rsp.warning("hello")', "return rsp.build()"),
        "6:7",
    ),
    "jinja": (template("JinjaTemplate", *META, "- message: hello"), "6:3"),
    "jinja-with-a-value": (
        template("JinjaTemplate", "{% set a = xr.kind %}", *META, "- message: hello {{ a }}"),
        "7:3",
    ),
    "gotemplate": (template("GoTemplate", *META, "- message: hello"), "6:3"),
}


@pytest.mark.parametrize(("text", "place"), CONSTANT.values(), ids=CONSTANT)
def test_result_of_every_call_is_found(tmp_path: Path, text: str, place: str) -> None:
    """It stands in no condition and no loop, and nothing may return before it."""
    (finding,) = found(tmp_path, text).findings
    assert told(finding) == ("constant-event", place, SAYS)
    assert finding.severity == "warning"


FINE = {
    "if": script("if req:", f'    return {{"results": [{HELLO}]}}', "return {}"),
    "after-a-return": script("if req:", "    return {}", f'return {{"results": [{HELLO}]}}'),
    "comprehension": script('return {"results": [{"message": m} for m in []]}'),
    "fatal": script(f'return {{"results": [{FATAL}]}}'),
    "builder-if": script(
        "rsp = response()", "if req:", '    rsp.event("hello")', "return rsp.build()"
    ),
    "jinja-if": template("JinjaTemplate", "{% if a %}", *META, "- message: hello", "{% endif %}"),
    "jinja-for": template(
        "JinjaTemplate", *META, "{% for a in b %}", "- message: hello", "{% endfor %}"
    ),
    "jinja-fatal": template("JinjaTemplate", *META, "- message: hello", "  severity: Fatal"),
    "go-if": template(
        "GoTemplate", "{{ if .observed.composite }}", *META, "- message: hello", "{{ end }}"
    ),
    "no-meta-kind": template("GoTemplate", "kind: Results", "results:", "- message: hello"),
}


@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_other_results_are_left_alone(tmp_path: Path, text: str) -> None:
    """What happens under a condition may be what the condition tells of."""
    findings = found(tmp_path, text).findings
    assert [finding.rule for finding in findings if finding.rule != "unknown-name"] == []
