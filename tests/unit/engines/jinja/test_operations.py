"""The place of an operation that fails while a template runs."""

import pytest
from support import programs

from function_script.engines.jinja import engine as jinja

# A template, and the text at the place.
CASES = (
    ('{% if n > "1" %}{% endif %}', '> "1"'),
    ('{{ 1 < n < "4" }}', '< "4"'),
    ("{{ n == 1 }}{{ (t + 1) == 2 or n > 0 }}", "+ 1"),
    ('{{ ("a" ~ (t + 1)) + 3 }}', "+ 1"),
    ('{{ n - "1" }}', '- "1"'),
    ("{{ t / 2 }} {{ n / 2 }}", "/ 2"),
    ('{{ "a" in t }}{{ "b" not in n }}', "in n"),
    ("{% for a in n %}{% endfor %}", "n %}"),
    ("{% for k, v in o %}{% endfor %}", "k, v"),
    ("{% macro f(x) %}{{ x }}{% endmacro %}{{ f(1) }}{{ f(1, 2) }}", "f(1, 2)"),
    ("{% macro f(x) %}{{ x }}{% endmacro %}{{ f(1) }}{{ f }}", "f }}"),
    ("{{ n() }}", "n()"),
    ('{{ "a" if n > 1 else "b" }}{{ "c" if n > "1" }}', '> "1"'),
    ('{% if n\n  > "1" %}{% endif %}', '> "1"'),
    ("{{ o | tojson(indent=1) }}", "tojson"),
    ("{{ n + 1 }}{% for a in t %}{{ a }}{% endfor %}{% for a in n %}{% endfor %}", "n %}{% endfor"),
    ('{% set n = "ü" %}{{ "ü" + n }}{{ n ~ (n + 1) }}', "+ 1"),
    ("{% set k, v = o %}", "k, v"),
)
SETUP = '{% set n = 3 %}{% set t = "abc" %}{% set o = {"abc": 1} %}'


@pytest.mark.parametrize(("text", "place"), CASES)
def test_failure_points_at_the_operation(text: str, place: str) -> None:
    """The operator, the value of a loop, or the function of a call."""
    whole = f"{SETUP}\n{text}"
    problem = programs.problem(jinja, programs.program(whole))
    assert problem.span is not None
    line = whole.split("\n")[problem.span.line - 1]
    assert line[(problem.span.column or 1) - 1 :].startswith(place)


@pytest.mark.parametrize(
    ("template", "hint"),
    [
        ('{{ {"a": 1} + {"b": 2} }}', "write merge(object, other)"),
        ('{{ [1] + "a" }}', "write list + [item]"),
        ("{{ [1] + {} }}", "write list + [item]"),
        (
            '{{ "a" + 1 }}',
            "join texts and values with ~; a text becomes a number with `text | int`",
        ),
        ('{{ "a" + [1] }}', None),
        ('{{ "a" + none }}', None),
    ],
)
def test_hint_of_a_sum_is_for_its_types(template: str, hint: str | None) -> None:
    """What cannot be joined with ~ has another hint, or none."""
    assert programs.problem(jinja, programs.program(template)).hint == hint
