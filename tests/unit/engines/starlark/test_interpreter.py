"""The interpreter's words are those that the adapter reads: a new version shows what it changed."""

import pytest
import starlark
from support.timing import taking_less

from function_script.engines.starlark import interpreter, predeclared

# An expression or lines, and what their error is: the code and the arguments.
ERRORS = (
    ('fail("a")', "fail", {"text": "a"}),
    ("json.encode(len)", "data", {"type": "function"}),
    ("to_json(len)", "data", {"type": "function"}),
    ("quote({(1, 2): 3})", "data", {"type": "list"}),
    ('quote(int("9" * 5000))', "data", {"type": "integer"}),
    ("x = []\nx.append(x)\nto_json(x)", "cycle", {}),
    ("x = {}\nx[1] = x\njson.encode(x)", "cycle", {}),
    ('quantity("5GB")', "raised", {"text": "cannot call quantity: '5GB' is no quantity such as"}),
    ("quantity(5)", "raised", {"text": "cannot call quantity: text: must be a string"}),
    ("def f(): return 1 + f()\nf()", "calls", {}),
    ("[].a", "attribute", {"type": "list", "name": "a"}),
    ('{}["a"]', "key", {"key": '`"a"`'}),
    ("[][0]", "index", {}),
    ('1 < "a"', "compare", {"left": "int", "right": "string"}),
    ("sorted([1, None])", "compare", {"left": "NoneType", "right": "int"}),
    ('1 + "a"', "operator", {"operator": "+", "left": "int", "right": "string"}),
    ('None["a"]', "operator", {"operator": "[]", "left": "NoneType", "right": "string"}),
    ('"a" in None', "operator", {"operator": "in", "left": "string", "right": "NoneType"}),
    ("None | {}", "union", {}),
    ("None | [1]", "union", {}),
    ("[x for x in 1]", "items", {"type": "int"}),
    ("len(None)", "items", {"type": "NoneType"}),
    ("x = 1\nx()", "call", {"type": "int"}),
    ("x = {}\nx.a = 1", "field", {}),
    ('"%d" % "a"', "verb", {}),
    ("get_xr()", "arguments", {}),
    ("get_xr(1, 2, 3, 4)", "arguments", {}),
    ("get_xr({}, a = 1)", "arguments", {}),
    ("[].append(1, 2)", "arguments", {}),
    ("get_xr(1)", "type", {"type": "int", "name": "req"}),
    ('",".join([1])', "joined", {}),
    ('range("3")', "position", {"position": "1", "type": "string"}),
    ('range(1, "3")', "position", {"position": "2", "type": "string"}),
    ("int(None)", "position", {"position": "", "type": "NoneType"}),
    ('chr("a")', "parameter", {"type": "string"}),
    ('"a".split(1)', "parameter", {"type": "int", "name": "sep"}),
    ("{}.get(1, default = 2)", "arguments", {"name": "default"}),
    ('getattr({}, "a")', "attribute", {"type": "dict", "name": "a"}),
    ("max([])", "empty", {}),
    ("{[1]: 2}", "hash", {"type": "list"}),
    ('def f() -> int: return "a"\nf()', "returns", {"type": "string", "expected": "int"}),
    ('[1]["a"]', "item", {"type": "string"}),
    ("[1][1.0]", "whole", {}),
    ("range(3000000000)", "large", {}),
    ('int("a")', "number", {"text": "a"}),
    ('float("a")', "number", {"text": "a"}),
    ('"%s %s" % (1,)', "format", {}),
    ('"%5d" % 1', "format", {}),
    ('"%(a)s" % {"a": 1}', "format", {}),
    ('"{} {}".format(1)', "format", {}),
    ("def f():\n  a, b = [1]\nf()", "unpack", {}),
    ("def f(): (1,)[0] = 2\nf()", "frozen", {}),
    ("def f():\n  s = struct(a = 1)\n  s.a = 2\nf()", "struct", {}),
    ("def f():\n  x = {1: 2}\n  for k in x: x[2] = 3\nf()", "changed", {}),
    ("1 // 0", "zero", {}),
    ("def f():\n  return x\n  x = 1\nf()", "local", {"name": "x"}),
    ("abc", "undefined", {"name": "abc"}),
    ("x =\t1", "tab", {}),
    ("while 1: pass", "keyword", {}),
    ("“a”", "character", {}),
    ("é = 1", "character", {}),
    ("`a`", "character", {}),
    ("1 < 2 < 3", "chain", {}),
    ("if 1\n  pass", "colon", {}),
    ("x = 1\n  y = 2", "indentation", {}),
    ("if 1:\n    a = 1\n  b = 2\n", "dedent", {}),
    ("if 1:\npass", "block", {}),
    ("x = 1 if 2\n", "else", {}),
    ("{1, 2}", "pair", {}),
    ("x = 5 5", "unexpected", {}),
    ("x = 'a", "quote", {}),
    ('f"{a[1]}"', "fstring", {}),
    ("def f():\n  load('a', 'b')", "load", {}),
    ("load('a')", "load", {}),
)
# Met by the tests of limits: `time-is-up` of the catalogue, and requests that are nested deeply.
ELSEWHERE = {"time", "nested"}


def error_of(text: str) -> interpreter.Failure:
    """What the interpreter says of a script."""
    module = predeclared.module()
    try:
        tree = starlark.parse("script", text, interpreter.DIALECT)
        starlark.eval(module, tree, interpreter.GLOBALS)
    except starlark.StarlarkError as error:
        return interpreter.read(str(error))
    pytest.fail("no error")


@pytest.mark.parametrize(("text", "code", "arguments"), ERRORS, ids=[row[0] for row in ERRORS])
def test_error_has_its_code_and_arguments(text: str, code: str, arguments: dict[str, str]) -> None:
    failure = error_of(text)
    assert failure.code == code
    assert failure.spot is not None
    for name, value in arguments.items():
        assert failure.arguments[name].startswith(value)


@pytest.mark.parametrize("word", ["a", " ", '"', "`", "a."])
@pytest.mark.parametrize("text", ["fail: x{}x", "Cannot parse `{}`", "{} (repr: {})"])
def test_long_text_is_read_in_no_time(text: str, word: str) -> None:
    with taking_less(0.03):
        interpreter.read("error: " + text.replace("{}", word * 20_000))


def test_row_without_an_error_is_not_there() -> None:
    """No row waits for words that the interpreter does not have."""
    codes = {code for _, code, _ in ERRORS} | ELSEWHERE
    assert {row.code for row in interpreter._ROWS} == codes
