"""Results that are emitted on every call: what is found, and what is left alone."""

from pathlib import Path

import pytest
from support.check_helpers import found, ours, told

SAYS = "this result is emitted on every call, as an event that never changes"
META = ["---", "apiVersion: meta.script.fn.crossplane.io/v1beta1", "kind: Results", "results:"]
HELLO = '{"severity": "Normal", "message": "hello"}'
FATAL = '{"severity": "Fatal", "message": "hello"}'


def script(*lines: str) -> str:
    """A script with these lines in `main`."""
    body = (f"      {line}" for line in lines)
    return ours("StarlarkScript", "script: |", "  def main(req):", *body)


def template(kind: str, *lines: str) -> str:
    """A template with these lines."""
    return ours(kind, "inline: |", *(f"  {line}" for line in lines))


CONSTANT = [
    pytest.param(script(f'return {{"results": [{HELLO}]}}'), "5:27", id="starlark"),
    pytest.param(
        script("rsp = response()", 'rsp.event("hello")', "return rsp.build()"), "6:7", id="builder"
    ),
    pytest.param(
        script("rsp = response()", 'rsp.warning("hello")', "return rsp.build()"),
        "6:7",
        id="builder-warning",
    ),
    pytest.param(template("JinjaTemplate", *META, "- message: hello"), "6:3", id="jinja"),
    pytest.param(
        template("JinjaTemplate", "{% set a = xr.kind %}", *META, "- message: hello {{ a }}"),
        "7:3",
        id="jinja-with-a-value",
    ),
    pytest.param(template("GoTemplate", *META, "- message: hello"), "6:3", id="gotemplate"),
]


@pytest.mark.parametrize(("text", "place"), CONSTANT)
def test_result_of_every_call_is_found(tmp_path: Path, text: str, place: str) -> None:
    """It stands in no condition and no loop, and nothing may return before it."""
    (finding,) = found(tmp_path, text).findings
    assert told(finding) == ("constant-event", place, SAYS)
    assert finding.severity == "warning"


FINE = [
    pytest.param(script("if req:", f'    return {{"results": [{HELLO}]}}', "return {}"), id="if"),
    pytest.param(
        script("if req:", "    return {}", f'return {{"results": [{HELLO}]}}'), id="after-a-return"
    ),
    pytest.param(script('return {"results": [{"message": m} for m in []]}'), id="comprehension"),
    pytest.param(script(f'return {{"results": [{FATAL}]}}'), id="fatal"),
    pytest.param(
        script("rsp = response()", "if req:", '    rsp.event("hello")', "return rsp.build()"),
        id="builder-if",
    ),
    pytest.param(
        template("JinjaTemplate", "{% if a %}", *META, "- message: hello", "{% endif %}"),
        id="jinja-if",
    ),
    pytest.param(
        template("JinjaTemplate", *META, "{% for a in b %}", "- message: hello", "{% endfor %}"),
        id="jinja-for",
    ),
    pytest.param(
        template("JinjaTemplate", *META, "- message: hello", "  severity: Fatal"),
        id="jinja-fatal",
    ),
    pytest.param(
        template(
            "GoTemplate", "{{ if .observed.composite }}", *META, "- message: hello", "{{ end }}"
        ),
        id="go-if",
    ),
    pytest.param(
        template("GoTemplate", "kind: Results", "results:", "- message: hello"), id="no-meta-kind"
    ),
]


@pytest.mark.parametrize("text", FINE)
def test_other_results_are_left_alone(tmp_path: Path, text: str) -> None:
    """What happens under a condition may be what the condition tells of."""
    findings = found(tmp_path, text).findings
    assert [finding.rule for finding in findings if finding.rule != "unknown-name"] == []
