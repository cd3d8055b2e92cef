"""The Starlark engine: what it keeps between runs, what it builds, what it never lets through."""

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import programs
from support.results import whole

from function_script.engines.starlark import build, interpreter
from function_script.engines.starlark import engine as starlark
from function_script.request.lazy import Lazy
from function_script.request.limits import Limits
from function_script.request.program import Program
from function_script.request.values import Object, Readable, Value
from function_script.texts.errors import DocumentError, InputError, LimitError, ProgramError

LIMITS = Limits()


def _program(text: str, **modules: str) -> Program:
    return programs.script(text, {f"{name}.star": body for name, body in modules.items()})


def _run(text: str, **parts: Readable) -> Object:
    return whole(starlark.evaluate(_program(text), programs.scope(**parts), LIMITS))


def test_request_parts_are_built_when_reached() -> None:
    built = []

    def resource(name: str) -> Object:
        built.append(name)
        return {"resource": {"kind": name}}

    names = ("a", "b", "c")
    resources = Lazy({name: lambda name=name: resource(name) for name in names})
    observed = Lazy({"resources": lambda: resources, "composite": lambda: resource("xr")})
    text = 'def main(req):\n    return {"output": get_observed(req, "b")}\n'
    assert _run(text, observed=observed) == {"output": {"kind": "b"}}
    assert built == ["b"]


def test_seed_does_not_outlive_its_run() -> None:
    """A stable choice follows the seed of the run, though the script is built once."""
    program = _program('def main(req):\n    return {"output": stable_id("a")}\n')
    first, second, again = (
        starlark.evaluate(program, programs.scope(seed=seed), LIMITS).value
        for seed in ("x", "y", "x")
    )
    assert first == again != second


def test_scripts_are_built_once() -> None:
    options = interpreter.limited_options(LIMITS)
    text = 'load("a.star", "x")\ndef main(req):\n    return {"output": {"x": x}}\n'
    one = build.script(_program(text, a="x = 1\n"), LIMITS, options)
    assert build.script(_program(text, a="x = 1\n"), LIMITS, options) is one
    assert build.script(_program(text, a="x = 2\n"), LIMITS, options) is not one


def test_script_that_was_built_obeys_the_limits_of_each_run() -> None:
    program = _program('def main(req):\n    return {"output": {"a": [[1, 2], [3, 4]]}}\n')
    for _ in range(2):
        starlark.evaluate(program, programs.scope(), LIMITS)
        for limits in (Limits(nodes=5), Limits(depth=3)):
            with pytest.raises(LimitError):
                starlark.evaluate(program, programs.scope(), limits)


def test_main_that_a_module_lacks_is_its_own() -> None:
    """The script has a main, and loads another one."""
    program = _program('load("a.star", m = "main")\ndef main(req):\n    return {}\n', a="x = 1\n")
    with pytest.raises(ProgramError, match='module has no symbol "main"'):
        starlark.evaluate(program, programs.scope(), LIMITS)


def test_failed_builds_are_not_kept() -> None:
    """An error is found anew each time: it may have been the fault of a limit."""
    program = _program("for i in range(1 << 30):\n    pass\n")
    for _ in range(2):
        with pytest.raises(LimitError):
            starlark.check(program, Limits(timeout_seconds=0.02))


def test_check_does_not_run_main() -> None:
    """A check finds what shows at the top level, and not what main would do."""
    starlark.check(_program('def main(req):\n    fail("ran")\n'), LIMITS)
    with pytest.raises(ProgramError, match="not defined"):
        starlark.check(_program("def main(req):\n    return nmae\n"), LIMITS)


def test_modules_count_for_the_source_limit() -> None:
    program = _program('load("a.star", "x")\n', a="x = 1\n" * 20)
    with pytest.raises(LimitError, match="a source of 140 bytes"):
        starlark.check(program, Limits(source_bytes=100))


def test_modules_nest_to_a_depth() -> None:
    chain = {f"m{i}": f'load("m{i + 1}.star", "x")\n' for i in range(100)}
    program = _program('load("m0.star", "x")\n', **chain, m100="x = 1\n")
    with pytest.raises(ProgramError, match="more than 50 modules deep") as caught:
        starlark.check(program, LIMITS)
    assert str(caught.value.diagnostics[0].span) == "modules[m49.star]:1:1"


def test_module_is_loaded_once() -> None:
    program = _program(
        'load("a.star", "a")\nload("b.star", "b")\ndef main(req):\n    return {"same": a == b}\n',
        a='load("c.star", "c")\na = c\n',
        b='load("c.star", "c")\nb = c\n',
        c="c = [1]\n",
    )
    assert starlark.evaluate(program, programs.scope(), LIMITS).value == {"same": True}


@pytest.mark.parametrize("value", [math.nan, math.inf], ids=["nan", "inf"])
def test_requests_never_hold_other_numbers_than_json(value: float) -> None:
    """What is no number in JSON arrives as None."""
    assert _run('def main(req):\n    return {"x": req["a"]}\n', a={"n": value}) == {
        "x": {"n": None}
    }


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4),
    max_leaves=20,
)


@given(value=VALUES)
def test_values_come_through_unchanged(value: Value) -> None:
    text = 'def main(req):\n    return {"output": req["input"]["value"]}\n'
    assert _run(text, input={"value": value}) == {"output": value}


def test_characters_come_through_unchanged() -> None:
    """Alone, since some are written as escapes and some are not; the planes above are alike."""
    text = 'def main(req):\n    return {"output": req["input"]}\n'
    codes = [*range(0xD800), *range(0xE000, 0x12000), *range(0x10F000, sys.maxunicode + 1)]
    value: Value = {"texts": [chr(code) for code in codes]}
    assert _run(text, input=value) == {"output": value}


@given(value=VALUES)
def test_results_are_checked_wherever_they_are_wrong(value: Value) -> None:
    """A value that JSON does not know is found at any depth."""
    text = (
        'def main(req):\n    return {"output": {"v": req["input"]["value"], "bad": [[range(1)]]}}\n'
    )
    with pytest.raises(DocumentError, match=r"output\.bad\[0\]\[0\] has type range"):
        _run(text, input={"value": value})


@pytest.mark.parametrize("depth", [150, 300], ids=["for the interpreter", "for the encoder"])
def test_requests_nested_too_deeply_are_refused(depth: int) -> None:
    """What the interpreter cannot read is told as such, whoever finds out."""
    value: Value = 1
    for _ in range(depth):
        value = [value]
    with pytest.raises(LimitError, match="request is nested too deeply"):
        _run("def main(req):\n    return req\n", input={"a": value})


def test_half_a_character_is_no_script() -> None:
    """A text that is no UTF-8 is refused where it stands."""
    with pytest.raises(ProgramError, match="surrogate"):
        _run('def main(req):\n    return {"a": "\ud800"}\n')
    with pytest.raises(InputError, match="hand the request"):
        _run("def main(req):\n    return req\n", input={"a": "\ud800"})
