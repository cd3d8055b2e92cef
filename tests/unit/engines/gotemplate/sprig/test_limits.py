"""What sprig's functions may make: a template cannot use them to take memory or time."""

import contextlib
import tracemalloc

import pytest
from support.timing import taking_less

from function_script.engines.gotemplate.errors import LimitExceededError
from function_script.engines.gotemplate.plain import GoFailure, render_text
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.sprig import defaults
from function_script.request.limits import Limits

# Each would make something huge out of something small; tests/hostile has the usual ones.
BOMBS = [
    pytest.param("replace `` .text .text", id="replace between characters"),
    pytest.param("wrapWith 1 .text .text", id="wrapWith"),
    pytest.param("regexReplaceAll `x` .text .text", id="regexReplaceAll"),
    pytest.param("regexReplaceAll `(x+)` .text `$1$1$1$1` | repeat 900", id="groups, repeated"),
    pytest.param("regexReplaceAllLiteral `` .text .text", id="regexReplaceAllLiteral"),
    pytest.param("regexFindAll `` (repeat 900 .text) -1", id="regexFindAll"),
    pytest.param("splitList `` (repeat 900 .text)", id="splitList"),
    pytest.param("split `x` (repeat 900 .text)", id="split"),
    pytest.param("concat .many .many .many .many .many .many .many .many .many", id="concat"),
    pytest.param("shuffle (repeat 900 .text)", id="shuffle"),
    pytest.param("fromJson (printf `[%s1]` (repeat 200000 `1,`))", id="fromJson"),
    pytest.param("merge (dict) .wide", id="merge of what is shared"),
    pytest.param("mergeOverwrite .wide .other", id="mergeOverwrite of what is shared"),
    pytest.param("has .wide (list .other)", id="has of what is shared"),
]


def _data() -> dict[str, object]:
    """Texts, lists, and maps that are small in memory and huge once written out."""
    wide: object = {"k": "v"}
    other: object = {"k": "v"}
    for _ in range(40):
        wide = {"a": wide, "b": wide}
        other = {"a": other, "b": other}
    return {
        "text": "x" * 2000,
        "many": list(range(20_000)),
        "trees": [{"n": number} for number in range(30_000)],
        "wide": wide,
        "other": other,
    }


@pytest.mark.parametrize("expression", BOMBS)
def test_bomb_is_refused_in_advance(expression: str) -> None:
    with taking_less(2.5), pytest.raises(GoFailure, match="limit"):
        render_text(f"{{{{ $x := {expression} }}}}", _data())  # type: ignore[arg-type] # shared on purpose


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param('printf (repeat 20000 "%999[1]d") 1', id="verbs"),
        pytest.param('printf "%999v" (until 20000)', id="items"),
        pytest.param('printf "%999v" (list (until 5000) (until 5000))', id="nested items"),
        pytest.param('js (repeat 500000 "<")', id="escapes"),
    ],
)
def test_long_text_is_refused_without_much_memory(expression: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(GoFailure, match="characters, the limit is"):
            render_text(f"{{{{ {expression} }}}}", {})
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


SLOW = [
    pytest.param("regexMatch `(a+)+$` (printf `%sb` (repeat 50000 `a`))", id="nested repetition"),
    pytest.param("regexMatch `(x*)*y` .text", id="nested stars"),
    pytest.param("semverCompare (printf `1%s!` (repeat 20000 `  `)) `1.0.0`", id="blanks"),
    pytest.param("semverCompare (repeat 3000 `1 - 2 `) `1.0.0`", id="ranges"),
    pytest.param("semverCompare (printf `%s!` (repeat 5000 `1  `)) `1.0.0`", id="constraints"),
    pytest.param("snakecase (repeat 20000 `aB1 `)", id="words"),
    pytest.param("b64dec (repeat 100000 `a\n`)", id="line breaks"),
    pytest.param("mustFromJson (repeat 90 `[`)", id="brackets"),
    pytest.param("int (repeat 100000 `9`)", id="digits"),
    pytest.param("float64 (repeat 100000 `9`)", id="digits of a float"),
    pytest.param("atoi (repeat 100000 `9`)", id="digits of atoi"),
    pytest.param("duration (repeat 100000 `9`)", id="digits of a duration"),
    pytest.param("durationRound (repeat 20000 `1h`)", id="parts of a duration"),
    pytest.param("round 1.5 9223372036854775807", id="places"),
    pytest.param("urlParse (printf `http://h/%s` (repeat 50000 `%20`)) | urlJoin", id="escapes"),
    pytest.param("date (repeat 20000 `2006 `) 0", id="layout"),
    pytest.param("toDate (repeat 5000 `2006 `) (repeat 5000 `2024 `)", id="long date"),
    pytest.param("wrap 1 (repeat 50000 `a `)", id="lines"),
    pytest.param("uniq .trees", id="uniq of many maps"),
    pytest.param("has (dict) .trees", id="has in many maps"),
    pytest.param("clean (repeat 50000 `../a/`)", id="path"),
]


@pytest.mark.parametrize("expression", SLOW)
def test_hostile_texts_take_linear_time(expression: str) -> None:
    with taking_less(1.5), contextlib.suppress(GoFailure):
        render_text(f"{{{{ $x := {expression} }}}}", _data())  # type: ignore[arg-type] # shared on purpose


def test_deep_value_exceeds_the_levels_of_json() -> None:
    """A limit of depth that an operator raised is no reason for an empty text."""
    allocator = Run({}, Limits(depth=500), "")
    deep: list[object] = []
    for _ in range(300):
        deep = [deep]
    with pytest.raises(LimitExceededError, match="254 levels"):
        defaults.marshal(allocator, deep)
