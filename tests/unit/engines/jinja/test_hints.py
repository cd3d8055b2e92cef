"""Common syntax mistakes in Jinja: their positions and hints."""

from __future__ import annotations

import pytest

from function_script.engines.jinja import engine as jinja
from function_script.errors import FatalError
from function_script.limits import Limits
from function_script.program import Program
from function_script.source import Source

CASES = (
    ("{% if a = 1 %}{% endif %}", 9, 'unexpected "="', "compare with =="),
    ("{% if a == b = 1 %}{% endif %}", 14, 'unexpected "="', "compare with =="),
    ('{{ "a" }}{{ d("b) }}', 15, "a text is not closed", 'close it with "'),
    ("é\r\n{{ d('b) }}", 6, "a text is not closed", "close it with '"),
    ("{{ a && b }}", 6, 'unexpected "&"', "write `and`"),
    ("{{ !a }}", 4, 'unexpected "!"', "write `not`"),
    ("{{ a ? 1 : 2 }}", 6, 'unexpected "?"', "if condition else"),
    ("{{ $a }}", 4, 'unexpected "$"', "no $"),
    ("{{ a[0 }}", 5, 'bracket "[" is not closed', "close it with ]"),
    ("{{ (a }}", 4, 'bracket "(" is not closed', "close it with )"),
    ("{{ a) }}", 5, 'unexpected ")"', 'no "("'),
    ("{{ a }\n{{ b }}", 6, 'unexpected "}"', "two braces"),
    ("{% if a %}{% else if b %}{% endif %}", None, 'unexpected "if"', "write elif"),
    ("{{ a bc }}", 6, 'unexpected "bc"', "join values with ~"),
    ("{{ a 1 }}", 1, "unexpected integer", "join values with ~"),
    ("{% for a on b %}{% endfor %}", 10, 'unexpected "on"', "for item in list"),
)


@pytest.mark.parametrize(("text", "column", "said", "hint"), CASES, ids=[c[0] for c in CASES])
def test_mistake_is_told_at_its_place(text: str, column: int | None, said: str, hint: str) -> None:
    """The very character, what is wrong with it, and what to write instead."""
    program = Program(main=Source(name="inline", text=text))
    with pytest.raises(FatalError) as caught:
        jinja.check(program, Limits())
    (problem,) = caught.value.diagnostics
    assert problem.message == f"cannot compile template: {said}"
    assert problem.hint is not None
    assert hint in problem.hint
    assert problem.span is not None
    assert problem.span.line == (2 if "\r" in text else 1)
    if column is not None:
        assert problem.span.column == column
