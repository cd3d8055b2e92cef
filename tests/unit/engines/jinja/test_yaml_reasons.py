"""The expression that makes a rendered line no YAML."""

import pytest

from function_script.engines.jinja import yaml_reasons
from function_script.source import Source

# The template's line, the lines that it rendered, and the hint.
CASES = (
    ("  {{ a | to_yaml }}", ["  x: 1", "y: 2"], "{{ a | to_yaml | indent(2) }}"),
    ("  k: {{ a | to_yaml }}", ["  k: x: 1", "y: 2"], "{{ a | to_yaml | nindent(4) }}"),
    ("k: {{ to_yaml(a) }}", ["k: x: 1", "y: 2"], "{{ to_yaml(a) | nindent(2) }}"),
    ("k: {{ a.b }}", ["k: x: y", "z"], "{{ a.b | quote }}"),
    ("k: '{{ a }}'", ["k: 'it's'"], "{{ a | quote }}, without quotes"),
    ('- "{{ a }}"', ['- "a"b"'], "{{ a | quote }}, without quotes"),
    ("k: {{ a }}", ["k: x: y"], "{{ a | quote }}"),
    ("k: {{ a }}", ["k: *x"], "{{ a | quote }}"),
)
UNCERTAIN = (
    ("k: {{ a }}", ["k: x"]),
    ("k: {{ a }} and {{ b }}", ["k: x: y and z"]),
    ("k: {{ a | quote }}", ['k: "x: y"']),
    ("k: {{ m() }}", ["k: x: y"]),
    ("  {{ a | to_yaml | indent(2) }}", ["  x: 1", "  y: 2"]),
    ("k: x: y", ["k: x: y"]),
)


@pytest.mark.parametrize(("line", "rendered", "hint"), CASES)
def test_reason_is_the_expression(line: str, rendered: list[str], hint: str) -> None:
    """Its place, and the text to write."""
    reason = yaml_reasons.explain(Source(name="inline", text=f"a: 1\n{line}"), 2, rendered)
    assert reason is not None
    span, said = reason
    assert hint in said
    assert line[(span.column or 1) - 1 :].startswith(line.partition("{{ ")[2][:1])


@pytest.mark.parametrize(("line", "rendered"), UNCERTAIN)
def test_uncertain_error_has_no_reason(line: str, rendered: list[str]) -> None:
    """The parser's own words are better."""
    assert yaml_reasons.explain(Source(name="inline", text=f"a: 1\n{line}"), 2, rendered) is None
