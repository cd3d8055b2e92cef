"""Hints for mistakes that are not in the catalogue of tests/diagnostics."""

import pytest
import starlark as starlark_pyo3
from support import programs

from function_script.engines.starlark import engine as starlark
from function_script.engines.starlark import interpreter, predeclared
from function_script.request.values import Object

# A line of main, or a whole script where there is a line break, and part of its hint.
CASES = (
    ("raise x", "stop with `fail(message)`"),
    ("assert req", "if not condition"),
    ("class A:\n        pass", "there are no classes"),
    ("del req", "value.pop(key)"),
    ("global x", "constants"),
    ("nonlocal x", "of the outer function"),
    ("with x:\n        pass", "no files or other resources"),
    ("yield 1", "collect the values in a list"),
    ("return false", "write False"),
    ("return sum([1])", "add up in a loop"),
    ("return round(1.5)", "int(x + 0.5)"),
    ("return open('x')", "there are no files"),
    ("return math.sqrt(2)", "no math module"),
    ("return time.now()", "there is no clock"),
    ("return random.random()", "there is no randomness"),
    ("return os.environ", "no environment variables"),
    ("x = 1\n@y\ndef f():\n    pass", "no decorators"),
    ("é = 1", "names are ASCII"),
    ("return 2 ** 3", "there is no power"),
    ("return 2 // default is two", "comments begin with #"),
    ("<!-- no comment -->\n    return {}", "comments begin with #"),
    ("return {'a': 1 // the first one\n    }", "comments begin with #"),
    ("x = 2 // the team's default", "comments begin with #"),
    ("x = 4 // len(x y)", "a comma is missing before it"),
    ("for k, v := range req {\n        pass", "write `for key, value in dict.items():`"),
    ("if req:\n    # nothing\n    return {}", "an empty one is `pass`"),
    ("return req['observed']['vpc']['x']", 'observed has no "vpc", but composite, resources'),
    ("return req['composite']['spec']", 'write req["observed"]["composite"]'),
    ("return req['spec1']", 'the request has no "spec1", but'),
    ("return get_observed({}, 'a')", "the first argument is the request"),
    ("x = ()\n    x.append(1)", "a tuple does not change"),
    ("return {'name: 'web', 'x': 1}", "a quote is missing, or one inside of a text is"),
    ("rsp = response()\n    rsp['db'] = {}", "such as rsp.resource(name, body)"),
    ("rsp = response()\n    rsp.db = {}", "such as rsp.resource(name, body)"),
    ("return '{} of {}' % (1, 2)", "a text has one %s for each value"),
    ("return '100% of %d' % 1", "a percent sign is written %%"),
    ("return '%.1f' % 1", "neither a width nor a precision"),
    ("return '%v' % 1", "write %s"),
    ("return {'output': {'a'.lower: 1}}", "call it, with parentheses"),
    ("rsp = response()\n    rsp['conditions'] = []", "write rsp.condition(type"),
    ("rsp = response()\n    rsp.warning('a', reason = 'not_found')", 'write "NotFound"'),
    ("rsp = response()\n    rsp.warning('Gone', 'it is gone')", "first, the reason second"),
    ("return connection_secret({'a': None})", "leave the key out until it has a value"),
    ("return connection_secret({'a': 1})", "make it a text"),
    ("s = struct(a = 1)\n    s.a = 2", "another one with struct(...)"),
    ("for a of req:\n        pass", "write `in`"),
    ("return [c for i, c in 'ab']", "write enumerate(text.elems())"),
    ("return [a for a, b req.items()]", "`in` is missing before it"),
    ("return 1 if req = 2 else 3", "compare with `==`"),
    ("return {k = v for k, v in req.items()}", "write `:`"),
    ("return [a if a for a in req]", "a filter comes last"),
    ("return 5 \u2013 3", "write -"),
    ("return req.xr.metadata", "write get_xr(req)"),
    ("return get_annotation(req, 'a')", "write get_xr(req), or"),
    ("f = lambda x: y = x", "a lambda has one expression"),
    ("return ('the team's network', '')", "a quote is missing, or one inside of a text is"),
    ('x = """a\n    return x', 'close the text with """'),
    ("return ', '.join([{}])", "str(item) of a number, or a field of a dict"),
    (
        "rsp = response()\n    rsp.resource('a', {}, depends_on = [len])\n    return rsp",
        "in quotes",
    ),
    ("return {**req}", "merge dicts with `a | b`"),
    ("return [*req]", "join lists with `a + b`"),
    ("if (x := 1):\n        pass", "on a line of its own"),
    ("if req:\n    pass", "indent the lines of a block"),
    ("return req.get('a').get('b')", 'the request has no "a", but'),
    ("req.append(1)", "value[key] = ..."),
    ("return [].name", "take one item of the list"),
    ("return len(req.get('a'))", 'the request has no "a", but'),
    ("req.a = 1", "set with brackets"),
    ("return {'medium': 1}['Medium']", 'did you mean "medium"?'),
    ("x = get(req, 'a')\n    return dns1123(x)", "it is None: get(value, path, default) takes a"),
    ("return stable_id('a', '8')", "write 8"),
    ('return range("3")', "write 3"),
    ("return pick({}, 'a')", 'write ["a"]'),
    ("x = [1]\n    x += 80", "write x += [80]"),
    ('x = "a" "b"', "join texts with `+`"),
    ('return {"a": b"}', "close the text with the quote"),
    ("return [0] * 2.0", "int(value)"),
    ("return 1 < 'a'", "int(text)"),
    ("return dict((1, 2", "close it with )"),
    ("return dns1123(1)", "write str(1)"),
    ("return indent('a', 'b')", "write indent(text"),
    ("return stable_choice('a')", 'write ["a"]'),
    ("return stable_choice('a', 'b')", "write stable_choice(choices, key='')"),
    ("x = {'a': 1}\n    x['a']++", "write `x['a'] += 1`"),
    ("return sorted(get_xr(req, 'spec.gone'))", 'has no "gone", but count, null'),
    ("return len(get_xr(req, 'spec.gone'))", "it is None: get(value, path, default) takes a"),
    ("return {}.get('a', default = 1)", "arguments of get have no names: leave `default =` out"),
    ("return getattr(req, 'observed')", "read a field with brackets"),
    ("return max([])", "test the length first"),
    ("return {[1]: 2}", "keys are texts"),
    ("rsp = response()\n    rsp.resource('a', [{}])", "a name and a call of its own"),
    (
        "rsp = response()\n    rsp.resource('a', 'apiVersion: v1')",
        "from_yaml(text) reads an object",
    ),
    (
        "def p(rsp, name, body): rsp.resource(body, name)\ndef main(req): p(response(), 'a', {})",
        "write rsp.resource(name, body",
    ),
    (
        "A = ['a']\ndef pick(key): return stable_choice(key, A)\ndef main(req): pick('b')",
        "write stable_choice(choices, key",
    ),
    # A lookup of the request, by any getter.
    ("return get_xr(req, 'spec')['conut']", 'resource.spec has no "conut", did you mean "count"?'),
    ("return get_xr(req, 'spec.conut').split(':')", 'did you mean "count"?'),
    ("return get_xr(req, 'spec').length", "write len(value)"),
    ("return get(req, 'observed.composite')['resourc']", 'did you mean "resource"?'),
    ("return (get_xr(req, 'spec') or {})['conut']", 'did you mean "count"?'),
    (
        "return get_xr(req, 'spec')['null']['a']",
        '"null" of observed.composite.resource.spec is None;',
    ),
)


def _hint(line: str) -> str:
    text = line if "def main" in line else f"def main(req):\n    {line}"
    script = programs.script(f"{text}\n")
    observed = {"composite": {"resource": {"spec": {"count": 1, "null": None}}}, "resources": {}}
    return programs.problem(starlark, script, programs.scope(observed=observed)).hint or ""


@pytest.mark.parametrize(
    "line",
    [
        "x = 'a'\n    return x.get('b')",
        "x = [] // x",
        "return '{0}-{1}'.format('a')",
        "x = {}\n    x['x'] = x\n    response().status(x)",
        "x = get_xr(req, 'spec.null')\n    x['a'] = 1",
        "x = (1, 2)\n    x[0] = 3",
        "return [1] + (2, 3)",
        "def a(pair):\n        return pair['nmae']\n    return a({'name': 1})",
        'return {"a": "b" "c"}',
        "return json.encode([1], indent = 2)",
        "return json.decode('[]', default = 1)",
        "return {'large': 1}['xlarge']",
        "return connection_secret({'a': []})",
        "x = {'a': None}\n    return x['a'] + 1",
        "x = {'a': None}\n    return x.length",
        "x = get_xr(req, 'spec.count')\n    return range(str(x))",
        "return sorted(None)",
        "return 'abc'[0:2:0]",
        "return {'output': {None: 1}}",
        "rsp = response()\n    rsp.event('a', 'B', 'XR')",
        'return ("say "hello" now", "")',
        "rsp = response()\n    rsp.results.append({})",
        "def p(rsp, name, body): rsp.resource(name, body)\ndef main(req): p(response(), {}, 'a')",
    ],
)
def test_origin_of_a_value_is_not_guessed(line: str) -> None:
    assert _hint(line) == ""


@pytest.mark.parametrize(("line", "said"), CASES, ids=[line.split("\n")[0] for line, _ in CASES])
def test_mistake_gets_its_hint(line: str, said: str) -> None:
    assert said in _hint(line)


# A key below a resource whose name is computed.
COMPUTED = (
    ("get_observed(req, name)['status']['endpiont']", 'did you mean "endpoint"?'),
    ("get_observed(req, name)['sttaus']['id']", 'resources[].resource has no "sttaus", did you'),
    ("get(get_observed(req, name), 'status.endpiont').upper()", 'did you mean "endpoint"?'),
    ("req['observed']['resources'][name]['resource']['status']['endpiont']", '"endpoint"?'),
    # Another resource has the key, or the names are those of another kind.
    ("get_observed(req, name)['status']['endpoint']", ""),
    ("get_observed(req, name)['status']['gone']", ""),
    ("get_observed(req, name)['status']['ids']", ""),
    ("get_observed(req, 'a' + name)['status']", ""),
    ("get_desired(req, name)['spec']", ""),
)


@pytest.mark.parametrize(("lookup", "hint"), COMPUTED, ids=[each for each, _ in COMPUTED])
def test_computed_name_is_no_key(lookup: str, hint: str) -> None:
    """The pattern of all names is never written, nor advice that is about one name."""
    text = f"def main(req):\n    name = ''.join(['vpc'])\n    return {lookup}\n"
    statuses: dict[str, Object] = {"vpc": {"id": "a"}, "db": {"endpoint": "b", "id": "c"}}
    resources: Object = {name: {"resource": {"status": each}} for name, each in statuses.items()}
    scope = programs.scope(observed={"composite": {"resource": {}}, "resources": resources})
    message = programs.problem(starlark, programs.script(text), scope).hint or ""
    assert hint in message
    assert "*" not in message
    assert hint or "observed" not in message


MAINS = (
    ("def main(): return {}", "one argument", "write `def main(req):`"),
    ("def setup(req): pass", "must define main(req)", "begin with `def main(req):` and return a"),
    ("def compose(req, rsp): pass", "must define main(req)", "write `def main(req):`"),
    ("def main(a): return get_xr(req)", "is not defined", "the argument of main: pass it on"),
    ("def a(): pass\ndef main(req): return a()", "not NoneType", "a returns nothing"),
    ("def main(req): return req.get('a')", "not NoneType", "or what response() gives"),
    ("def main(req, rsp): return rsp", "one argument", "and begin with `rsp = response()`"),
    ("def main(req: dict[str, int]): return {}", "not of the type that main declares", "def main"),
    ("def main(req) -> dict: return response()", "of type struct is returned", "leave the decla"),
    ("def main(req): return 3", "a dict, not int", "or what response() gives"),
    ("def main(req): return {'a\"\\n': main}", r'the result of main: ["a\"\n"] has', "call it"),
    ("def main(req): return response(), []", "a dict, not tuple", "or what response() gives"),
    ("def main(req): return struct(a = 1).b", "of type struct has no attribute", None),
    ("def main(req): x: Response = response()", 'name "Response" is not defined', None),
    ("def main(req) -> Response: return {}", 'name "Response" is not defined', None),
    ("def a(x: list[int]): pass\ndef main(req): a(['b'])", 'annotation "list[int]"', None),
    ("def main(req):\n    x = 'a'\n    x[0] = 'b'", "of type string cannot be changed", "make a"),
    ("def main(req): x = req['a']++", "unexpected new line", None),
    ('load("lib.star", "a")', "the input has no modules", "the field modules of the input"),
)


@pytest.mark.parametrize(("script", "message", "hint"), MAINS, ids=[each for each, *_ in MAINS])
def test_wrong_main_gets_its_hint(script: str, message: str, hint: str | None) -> None:
    problem = programs.problem(starlark, programs.script(f"{script}\n"), programs.scope())
    assert message in problem.message
    assert (hint or "") in (problem.hint or "")
    assert hint is not None or problem.hint is None


def test_request_outside_of_main_gets_its_hint() -> None:
    """The request is no global name."""
    problem = programs.refusal(starlark, programs.script("x = req\n"))
    assert "the argument of main" in str(problem.hint)


def test_error_of_another_run_gives_no_hint() -> None:
    """A failed call of the library, whose error nobody has asked for, explains no later failure."""
    call = starlark_pyo3.parse("other", "dns1123(1)")
    with pytest.raises(starlark_pyo3.StarlarkError):
        starlark_pyo3.eval(predeclared.module(), call, interpreter.GLOBALS)
    assert "there are no sets" in _hint("return set([1])")


@pytest.mark.parametrize(
    ("first", "second", "line"),
    [
        ("lambda b: {}", "lambda a: {}", 7),
        ("lambda a: {}", "lambda a: {}", 3),
        ("lambda a: {}", "build", 3),
        ("lambda: get_xr()", "lambda a: {}", 7),
    ],
)
def test_function_of_a_resource_that_failed_is_the_one_that_ran(
    first: str, second: str, line: int
) -> None:
    """Main is the place if several may have run."""
    build = "def build(a):\n    return {}\n"
    body = f'if not req:\n        rsp.resource("x", {first})\n    rsp.resource("y", {second})'
    text = f"{build}def main(req):\n    rsp = response()\n    {body}\n    return rsp\n"
    span = programs.problem(starlark, programs.script(text)).span
    assert span is not None
    assert span.line == line
