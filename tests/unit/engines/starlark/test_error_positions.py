"""Errors in functions that the interpreter inlines: goldens show the places, this the run."""

import json
from collections.abc import Callable

import pytest
from support import programs

from function_script.engines.starlark import engine as starlark
from function_script.engines.starlark import interpreter
from function_script.request.program import Program

SMALL = "def small(x):\n    return x['a']\n\n"
CALL = """\
error: Key `a` was not found
 --> script:4:23
  |
4 | def main(req): return small(req)
  |                       ^^^^^^^^^^
  |
"""
FAILURE = interpreter.read(CALL)


def place(text: str) -> str:
    """Where the script is said to fail."""
    return str(programs.problem(starlark, programs.script(text)).span)


def test_printed_text_is_printed_once(capfd: pytest.CaptureFixture[str]) -> None:
    """The second run is silent, while modules are loaded and after."""
    text = f"print('top')\n{SMALL}def main(req):\n    print('main')\n    return small(req)\n"
    assert place(text) == "script:3:12"
    assert capfd.readouterr().err == "top\nmain\n"


def test_long_run_is_not_repeated_to_its_end() -> None:
    """The call is blamed: the same on every machine, and for the price of a short run."""
    loop = "def main(req):\n    for i in range({}):\n        pass\n    return small(req)\n"
    assert place(SMALL + loop.format(1_000)) == "script:2:12"
    assert place(SMALL + loop.format(3_000_000)) == "script:7:12"


def test_second_run_that_ends_otherwise_is_not_believed() -> None:
    """As when the text of a script changed that a script looks at."""
    program = programs.script(SMALL + "def main(req): return small(req)")
    others: list[Callable[[Program], str]] = [
        lambda _: "",
        lambda _: CALL.replace("Key `a`", "Key `b`"),
        lambda _: "no text of the interpreter",
    ]
    for run in others:
        assert interpreter.correct_position(FAILURE, program, run) == FAILURE


def test_inlining_looks_into_calls_only() -> None:
    """An operator that fails is where it fails."""

    def run(_program: Program) -> str:
        pytest.fail("a second run")

    program = programs.script(SMALL + "def main(req): return req['name']")
    assert interpreter.correct_position(FAILURE, program, run) == FAILURE


def test_words_of_an_author_are_as_they_are() -> None:
    words = "a\0b; Unrepresentable number of from_json"
    script = programs.script(f"def main(req):\n    fail({json.dumps(words)})\n")
    assert programs.problem(starlark, script).message == words


def test_place_is_the_called_name_and_not_its_like() -> None:
    call = 'rsp.condition("A", False, "x y z a", str(condition))'
    text = f"def main(req):\n    rsp, condition = response(), 1\n    {call}\n    return rsp\n"
    assert place(text) == "script:3:31"
