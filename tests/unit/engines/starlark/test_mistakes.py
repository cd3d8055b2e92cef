"""What `check` finds in scripts that compile: what fails, and what nobody can mean."""

import pytest

from function_script.engines.starlark.lint import LINT
from function_script.program import Program
from function_script.source import Source

# Lines of main, the text at the place, part of the message, and part of the hint.
FAILURES = (
    ('return "7".zfill(2)', "zfill", 'no attribute "zfill"', '"0" * (width'),
    ('return ["a"].push("b")', "push", 'no attribute "push"', "list.append(item)"),
    ('return {"a": 1}.has_key("a")', "has_key", 'no attribute "has_key"', "key in value"),
    ('return {"a": 1}.a', "a\n", 'no attribute "a"', '["a"]'),
    ('x = "a"\n    return x.uper()', "uper", 'no attribute "uper"', '"upper"'),
    ("TOP += 1\n    return TOP", "TOP += 1", "cannot change", "local name"),
    ('LIST.append("a")\n    return LIST', "LIST.append", "cannot change", "list(LIST)"),
    ('DICT["a"] = 1\n    return DICT', 'DICT["a"]', "cannot change", "merge({}, DICT)"),
    ('return get_xr("spec", req)', '"spec"', 'argument "req"', "get_xr(req, path=None"),
    ('return get_observed("a")', '"a"', 'argument "req"', "get_observed(req, name"),
    (
        "return is_observed(req)",
        "is_observed",
        "takes 2 arguments, not 1",
        "is_observed(req, name)",
    ),
    ('return int("10Gi")', '"10Gi"', 'cannot read "10Gi"', "quantity"),
    ('return int("1.5")', '"1.5"', 'cannot read "1.5"', "int(float("),
    ('return "{:02d}".format(1)', '"{:02d}"', "no specifications", "pad in front"),
    ('return "a" + 1', "1\n", "cannot add", "str(value)"),
    ('return len(req) > "1"', '"1"', "cannot compare", "int(text)"),
    ("rsp = response()\n    rsp.ready(True)", "def main", "returns nothing", "`return rsp`"),
)
DOUBTS = (
    ('return len(req) == "1"', '"1"', "always false", "quotes"),
    ('return type(req) == "object"', '"object"', "always false", 'write "dict"'),
    ("return type(req) == dict", "dict\n", "always false", '== "dict"'),
    ('if req["a"] == "b" or "c":\n        pass\n    return {}', '"c"', "always true", " in ["),
    ('x = []\n    y = x.append("a")\n    return y', 'x.append("a")', "gives None", "and then x"),
    ('unread = "a"\n    return {}', "unread", "never read", "take it out"),
    (
        'return get_observed(req, "a", "resource.status")',
        '"resource.status"',
        'no field "resource"',
        'write "status"',
    ),
)
# Lines that look alike, and that are right or that only a run knows.
FINE = (
    'return "7".upper()',
    'x = "a"\n    x = req["x"]\n    return x.zfill(2)',
    "def zfill(x):\n        return x\n    return zfill(req)",
    "count = 0\n    count += 1\n    return count",
    'LIST = []\n    LIST.append("a")\n    return LIST',
    "return get_xr(req)",
    'return get_xr(**{"req": req})',
    'return int("10")',
    'return "{}-{{:02d}}".format(1)',
    'return req["size"] == "3"',
    'return 1 == 1.0 and type(req) == "dict"',
    'return req["a"] == "b" or req["c"]',
    'return req.get("a") or "b"',
    "_unread = 1\n    return {}",
    "unread = print(1)\n    return {}",
    "x = 0\n    x += 1\n    return {}",
    'fail("stop")',
    'a = ["x"]\n    a.append("y")\n    return a',
)


def _program(lines: str) -> Program:
    text = f"TOP = 0\nLIST = []\nDICT = {{}}\n\ndef main(req):\n    {lines}\n"
    return Program(main=Source(name="script", text=text))


@pytest.mark.parametrize(("lines", "place", "message", "hint"), FAILURES)
def test_failure_is_found_at_its_place(lines: str, place: str, message: str, hint: str) -> None:
    """One finding, at the very word."""
    program = _program(lines)
    (problem,) = LINT.find_failures(program)
    assert message in problem.message
    assert hint in (problem.hint or "")
    assert problem.span is not None
    line = f"{program.main.text.split(chr(10))[problem.span.line - 1]}\n"
    assert line[(problem.span.column or 1) - 1 :].startswith(place)


@pytest.mark.parametrize(("lines", "place", "message", "hint"), DOUBTS)
def test_doubt_is_found_at_its_place(lines: str, place: str, message: str, hint: str) -> None:
    """One finding, at the very word."""
    program = _program(lines)
    (problem,) = LINT.find_doubts(program)
    assert message in problem.message
    assert hint in (problem.hint or "")
    assert problem.span is not None
    line = f"{program.main.text.split(chr(10))[problem.span.line - 1]}\n"
    assert line[(problem.span.column or 1) - 1 :].startswith(place)


@pytest.mark.parametrize("lines", FINE)
def test_uncertain_programs_have_no_finding(lines: str) -> None:
    """No false alarm."""
    program = _program(lines)
    assert [*LINT.find_failures(program), *LINT.find_doubts(program)] == []
