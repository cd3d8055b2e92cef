"""sprig's functions against committed vectors: what Go's engine with sprig 3.3 makes of them.

A vector is an expression on one line and its result on the next: ``=`` and the text it prints, or
``!`` and the error without its place, both as JSON texts. Errors have Go's words or our own. A
comment says what the next ones show.
"""

import copy
import json
import re
from pathlib import Path

import pytest

from function_script.engines.gotemplate import registry
from function_script.engines.gotemplate.plain import GoFailure, render_text

FOLDER = Path(__file__).parent / "vectors"
# What the expressions may use. Integers are int64, as in a request.
ROOT = {
    "n": None,
    "i": 3,
    "f": 1.5,
    "t": True,
    "s": "text",
    "l": [3, "a", None, {"z": 1}],
    "texts": ["b", "a", "c"],
    "m": {"a": 2, "b": {"c": 5}, "n": None},
}


def _vectors() -> list[object]:
    vectors: list[object] = []
    for path in sorted(FOLDER.glob("*.txt")):
        lines = path.read_text().split("\n")
        for number, line in enumerate(lines):
            if line[:2] in {"= ", "! "}:
                expression = lines[number - 1]
                name = f"{path.stem}-{number}-{expression}"
                vectors.append(pytest.param(expression, line, id=name))
    return vectors


VECTORS = _vectors()


def _outcome(expression: str) -> str:
    try:
        text = render_text(f"{{{{ {expression} }}}}", copy.deepcopy(ROOT))
    except GoFailure as failure:
        return f"! {failure.text.partition('>: ')[2]}"
    return f"= {text}"


@pytest.mark.parametrize(("expression", "expected"), VECTORS)
def test_expression_gives_gos_result(expression: str, expected: str) -> None:
    assert _outcome(expression) == expected[:2] + json.loads(expected[2:])


def test_function_has_a_vector() -> None:
    """Only random functions have none: Go has no fixed result for them."""
    words = set()
    for path in FOLDER.glob("*.txt"):
        words.update(re.findall(r"\w+", path.read_text()))
    names = {function.name for function in registry.SPRIG if function.option != "stable_values"}
    assert names - words == set()
