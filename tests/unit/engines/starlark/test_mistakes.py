"""What `check` finds in scripts that compile, beside the catalogue of tests/diagnostics."""

import pytest
from support import programs

from function_script.engines.starlark.lint import LINT
from function_script.request.program import Program

# Lines of main, the text at the place, part of the message, and part of the hint.
MISTAKES = (
    ('return ["a"].push("b")', "push", 'no attribute "push"', "list.append(item)"),
    ('return {"a": 1}.has_key("a")', "has_key", 'no attribute "has_key"', "key in value"),
    ('return {"a": 1}.a', "a\n", 'no attribute "a"', '["a"]'),
    ('x = "a"\n    return x.uper()', "uper", 'no attribute "uper"', '"upper"'),
    ("TOP += 1\n    return TOP", "TOP += 1", "cannot change", "local name"),
    ("return is_observed(req)", "is_observed", "name is missing", "is_observed(req, name)"),
    ("return get_xr()", "get_xr()", "get_xr: req is missing", "get_xr(req, path=None"),
    ("return sorted(5)", "5)", "iterable: must be a list", "write sorted(iterable"),
    ("return range('3')", "'3'", "must be an integer, not a string", "write 3"),
    ('return int("1.5")', '"1.5"', 'cannot read "1.5"', "int(float("),
    ('return "a" + 1', '"a" + 1', "cannot add", "str(value)"),
    ('return len(req) > "1"', 'len(req) > "1"', "cannot compare", "int(text)"),
    ("rsp = response()\n    fill(rsp)", "def main", "returns nothing", "`return rsp`"),
    ("rsp = response()\n    rsp.ready(True)\n    return response()", "rsp", "filled", "return rsp"),
    ('name = len(req)\n    return {"a": "{{ name }}"}', '"{{ name }}"', "a text here", "the value"),
    ('b = len(req)\n    return {"a": "${a}.${b}"}', '"${a}.${b}"', "${b} is a text here", "value"),
    ('return {"a": fill(req)}', "fill(req)", "always None", "fill returns nothing"),
    ("return type(req) == dict", "dict\n", "always false", '== "dict"'),
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
    'return {"a": stop(req), "b": {}.update({}), "c": [fill(req)]}',
    "rsp = response()\n    rsp.ready(True)\n    return rsp.build()",
    "rsp = response()\n    rsp.ready(True)\n    fill(rsp)\n    return response()",
    'a = ["x"]\n    a.append("y")\n    return a',
)


TOP = """\
TOP = 0
LIST = []

def fill(value):
    print(value)

def stop(value):
    fail(value)
"""


def _program(lines: str) -> Program:
    return programs.script(f"{TOP}\ndef main(req):\n    {lines}\n")


@pytest.mark.parametrize(("lines", "place", "message", "hint"), MISTAKES)
def test_mistake_is_found_at_its_place(lines: str, place: str, message: str, hint: str) -> None:
    program = _program(lines)
    (problem,) = [*LINT.find_failures(program), *LINT.find_doubts(program)]
    assert message in problem.message
    assert hint in (problem.hint or "")
    assert problem.span is not None
    line = f"{program.main.text.split(chr(10))[problem.span.line - 1]}\n"
    assert line[(problem.span.column or 1) - 1 :].startswith(place)


@pytest.mark.parametrize("lines", FINE)
def test_uncertain_programs_have_no_finding(lines: str) -> None:
    program = _program(lines)
    assert [*LINT.find_failures(program), *LINT.find_doubts(program)] == []


HELPERS = """\
def add(rsp, name):
    rsp.resouce(name, {})

def main(req):
    rsp = response()
    add(rsp, "a")
    CALL
    return rsp
"""


@pytest.mark.parametrize(
    ("call", "is_found"),
    [
        pytest.param("pass", True, id="only-responses"),
        pytest.param('add(response(), name = "b")', True, id="a-response-without-a-name"),
        pytest.param('add(struct(resouce = print), "b")', False, id="another-value"),
        pytest.param('add(req["x"], "b")', False, id="what-only-a-run-knows"),
        pytest.param("helper = add", False, id="passed-on"),
        pytest.param("add(*req)", False, id="spread"),
    ],
)
def test_response_in_a_helper_is_certain_only_if_all_calls_are(call: str, is_found: bool) -> None:
    program = programs.script(HELPERS.replace("CALL", call))
    messages = [problem.message for problem in LINT.find_failures(program)]
    assert any('no function "resouce"' in message for message in messages) is is_found


def test_response_in_a_helper_of_a_module_is_certain() -> None:
    helper = 'def add(rsp):\n    rsp.resouce("a", {})\n'
    main = 'load("lib.star", put = "add")\ndef main(req):\n    put(response())\n    return {}\n'
    (problem,) = LINT.find_failures(programs.script(main, {"lib.star": helper}))
    assert problem.span is not None
    assert problem.span.name == "modules[lib.star]"


UNCERTAIN = (
    'x = [2]\n    if hasattr(x, "sort"):\n        x.sort()\n    return {}',
    'x = "a"\n    if type(x) == "list":\n        x.append("b")\n    return {}',
    'rsp = response()\n    rsp = struct(resouce = print)\n    rsp.resouce("a")\n    return {}',
    'rsp = response() if req else struct(resouce = print)\n    rsp.resouce("a")\n    return {}',
    'for rsp in [response()]:\n        rsp.resouce("a", {})\n    return {}',
    'is_ready = lambda name: name\n    return is_ready("db")',
    'x = req.get("a")\n    return is_ready(x)',
    "arguments = [req]\n    return get_observed(*arguments)",
    'rsp = response()\n    rsp.resource("", {}, **req)\n    return {}',
    'rsp = response()\n    rsp.resource("a", {}, ready = None, moved_from = "b")\n    return rsp',
    'rsp = response()\n    rsp.resource("a", lambda: {}, depends_on = ("b",))\n    return rsp',
    "return is_ready(None)",
    'return get({"a": 1}, ["a"])',
    "return range(1, 3)",
)


@pytest.mark.parametrize("lines", UNCERTAIN, ids=[lines.split("\n")[0] for lines in UNCERTAIN])
def test_call_that_may_be_right_is_left_alone(lines: str) -> None:
    program = programs.script(f"def main(req):\n    {lines}\n")
    assert not [problem.message for problem in LINT.find_failures(program)]


def test_container_resources_are_no_composed_names() -> None:
    container = '{"resources": {"requests": req, "limits": {"cpu": "1"}}}'
    resources = f'{{"a": {{"resource": {container}}}}}'
    script = f'def main(req):\n    return {{"desired": {{"resources": {resources}}}}}\n'
    program = programs.script(script)
    assert LINT.find_composed_names(program) == {"a"}
