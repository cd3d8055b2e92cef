"""Where long scalars are broken, and that they are read back whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function_script.documents import read_value, to_yaml
from function_script.limits import Limits

WORDS = "unready resources " * 6


PLAIN = f"""\
message: {WORDS[:79].rstrip()}
  resources unready resources end
"""
QUOTED = f"""\
a:
- message: 'x: {WORDS[:72].rstrip()}
    unready resources unready resources end'
"""
CASES = [
    ("plain", {"message": f"{WORDS}end"}, PLAIN),
    ("quoted in a list", {"a": [{"message": f"x: {WORDS}end"}]}, QUOTED),
    ("no blank", {"a": "x" * 100}, f"a: {'x' * 100}\n"),
]


@pytest.mark.parametrize(
    ("value", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_long_scalars_are_broken_at_a_blank(value: dict[str, str], expected: str) -> None:
    """The first single blank beyond column 80 becomes a line break."""
    assert to_yaml(value) == expected  # type: ignore[arg-type] # plain values


@given(st.text(alphabet="ab '\"\\:\n\tÄ#", max_size=400))
def test_broken_scalars_are_read_back_whole(text: str) -> None:
    """Folding loses nothing, however many blanks and quotes there are."""
    value = {"key": [{"inner": text}, text]}
    assert read_value(to_yaml(value), limits=Limits()) == value  # type: ignore[arg-type] # plain values
