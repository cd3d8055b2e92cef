"""What `check` finds in templates that render, beside the catalogue of tests/diagnostics."""

import pytest
from support import programs

from function_script.engines.jinja.lint import LINT
from function_script.request.program import Program

# A template, the text at the place, part of the message, and part of the hint.
DOUBTS = (
    (
        "{% set f = 0 %}{% for a in spec %}{% if a %}{% set f = 1 %}{% endif %}{% endfor %}{{ f }}",
        "f = 1",
        "one turn",
        "ns.f",
    ),
    ("{% set unread = 1 %}", "unread", "never read", "take the tag out"),
    ("  {% if spec %}b: 1{% endif %}", "{%", "indentation", "{%+"),
    ('{{ "true" != (spec is defined) }}', "spec is", "always true", "one type"),
    ('{% if spec.a == "b" or "c" %}{% endif %}', '"c"', "always true", " in ["),
    ("{% for a in spec %}{{ loop.index == 0 }}{% endfor %}", "0 }}", "never is", "loop.first"),
    (
        "{% for a in spec %}{{ loop.index0 != loop.length }}{% endfor %}",
        "loop.length",
        "never is",
        "loop.last",
    ),
    ("{{ spec.users | unique('name') }}", "'name'", "a switch", 'unique(attribute="name")'),
)
FINE = (
    "{% for a in spec %}{% set n = a %}{{ n }}{% endfor %}",
    "{% set n = 1 %}{% for a in spec %}{% set n = a | upper %}{{ n }}{% endfor %}{{ n }}",
    "{% set m = namespace(n=0) %}{% for a in spec %}{% set m.n = m.n + 1 %}{% endfor %}{{ m.n }}",
    "{% set n = 1 %}{% for a in spec %}{% set n = n + 1 %}{% include 'm' %}{% endfor %}",
    "{% set _ = 1 %}",
    "{% set n = log(1) %}",
    "{% if spec %}b: 1{% endif %}",
    "a: {b: 1,\n  {% if spec %}c: 1{% endif %}}",
    "a:\n  {% if spec %}\n  b: 1\n  {% endif %}",
    '{{ spec.size == "3" }}',
    "{{ spec | length == 2 }}",
    '{% if spec.a or "b" == spec.c %}{% endif %}',
    '{{ spec.b | default("a") }}',
    '{{ ("a" if spec else "b") | default(1) }}',
    "a: {spec: 1}\n",
    "{% for a in spec %}{{ loop.index0 == 0 }}{{ loop.index == loop.length }}{% endfor %}",
    "{{ spec.users | sort(true, attribute='name') }}",
    "a: { other.b }\n",
)


def _program(text: str) -> Program:
    return programs.program(text, {"m": "{% set own = 1 %}{{ n }}"})


@pytest.mark.parametrize(("text", "place", "message", "hint"), DOUBTS)
def test_doubt_is_found_at_its_place(text: str, place: str, message: str, hint: str) -> None:
    (problem,) = LINT.find_doubts(_program(text))
    assert message in problem.message
    assert hint in (problem.hint or "")
    assert problem.span is not None
    assert text[(problem.span.column or 1) - 1 :].startswith(place)


@pytest.mark.parametrize(
    "begin", ["{{ a }}: b", "{{ a }}" * 40 + " b"], ids=["one value", "many values"]
)
def test_lines_between_values_are_text(begin: str) -> None:
    text = f"{begin}\napiVersion: v1\nkind: Pod\nc: {{{{ d }}}}\n"
    assert [kind for _, kind in LINT.find_kinds(_program(text))] == ["Pod"]


@pytest.mark.parametrize("text", FINE)
def test_uncertain_programs_have_no_finding(text: str) -> None:
    """No false alarm; what a module sets may be read by others."""
    assert [*LINT.find_doubts(_program(text))] == []
