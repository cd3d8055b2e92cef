"""Programs and requests that must end in a FATAL that names the limit, in every language.

Data for test_served_bombs.py, which sends them to a real server.
"""

from typing import NamedTuple

from support import builders

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object

LIMIT = "limit"


class Bomb(NamedTuple):
    """A request. The FATAL has one of the parts in ``says``; without parts it may also succeed."""

    id: str
    request: pb.RunFunctionRequest
    says: tuple[str, ...]


def _program(id_: str, step_input: Object, *says: str) -> Bomb:
    return Bomb(id_, builders.request(step_input), says)


def _starlark(id_: str, lines: str, *says: str) -> Bomb:
    body = "".join(f"    {line}\n" for line in lines.splitlines())
    return _program(f"starlark-{id_}", builders.starlark(f"def main(req):\n{body}"), *says)


def _jinja(id_: str, inline: str, *says: str) -> Bomb:
    return _program(f"jinja-{id_}", builders.jinja(inline), *says)


def _go(id_: str, inline: str, *says: str) -> Bomb:
    return _program(f"gotemplate-{id_}", builders.gotemplate(inline), *says)


def _templates(id_: str, text: str, *says: str) -> list[Bomb]:
    return [_jinja(id_, text, *says), _go(id_, text, *says)]


def _deep(depth: int) -> Object:
    value: Object = {}
    for _ in range(depth):
        value = {"a": value}
    return value


HEAD = "apiVersion: v1\nkind: A\n"
ALIASES = "a0: &a0 [x]\n" + "".join(
    f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 30)
)
MERGES = "a0: &a0 {k: v}\n" + "".join(
    f"a{n}: &a{n}\n  <<: [*a{n - 1}, *a{n - 1}]\n  k{n}: v\n" for n in range(1, 30)
)
ITSELF = "a: &a [*a]\n"
ECHO = "def main(req):\n    return {'context': {'copy': req['context']}}\n"
# Texts that fall into few places of a table when hashing is not seeded.
COLLIDING = {f"{number * (1 << 32):x}": 1 for number in range(20_000)}

YAML = [
    *_templates("yaml-aliases", HEAD + ALIASES, LIMIT),
    # Thirty keys in all, whichever way they are merged: a mistake of another kind is found.
    *_templates("yaml-merges", HEAD + MERGES, LIMIT, "composition-resource-name"),
    *_templates("yaml-itself", HEAD + ITSELF, "itself", "alias", LIMIT),
    *_templates("yaml-flow-nesting", HEAD + "d: " + "[" * 20_000 + "]" * 20_000, "nested", "deep"),
    *_templates("yaml-block-nesting", HEAD + "d:\n" + "- " * 20_000 + "x\n", "nested", "deep"),
    *_templates("yaml-anchors", HEAD + "".join(f"k{n}: &k{n} x\n" for n in range(15_000))),
    *_templates("yaml-long-key", HEAD + "? " + "x" * 200_000 + "\n: 1\n"),
]
SIZE = [
    _starlark("text-of-100-mb", "return {'n': len('x' * 100000000 + 'y' * 400000000)}", LIMIT),
    _starlark("result-of-100-mb", "return {'context': {'s': 'x' * 100000000}}", LIMIT),
    _starlark("message-of-100-mb", "fail('x' * 100000000)", LIMIT, "fail", "xxx"),
    _jinja("text-of-100-mb", "{{ 'x' * 100000000 }}", LIMIT),
    _jinja("message-of-100-mb", "{{ fail('x' * 100000000) }}", LIMIT),
    _go("text-of-100-mb", '{{ repeat 100000000 "x" }}', LIMIT),
    _go("message-of-100-mb", '{{ fail (repeat 100000000 "x") }}', LIMIT),
]
NESTING = [
    Bomb("request-nested", builders.request(builders.starlark(ECHO), context=_deep(30)), ()),
    _starlark("script-nested", "x = " + "[" * 50_000 + "]" * 50_000, "crashed", LIMIT),
    _starlark(
        "output-nested", "x = {}\nfor i in range(90000):\n    x = {'a': x}\nreturn x", "nested"
    ),
    _jinja("script-nested", "{{ " + "[" * 5_000 + "]" * 5_000 + " }}", "nested"),
    _go("script-nested", "{{ " + "(list " * 5_000 + ")" * 5_000 + " }}", "nested"),
    *_templates("output-nested", HEAD + "d: " + '{"a": ' * 300 + "1" + "}" * 300, "nested", "deep"),
]
QUADRATIC = [
    _starlark(
        "quadratic-replace",
        "s = 'a' * 1000000\nfor i in range(100000):\n    s.replace('a', 'b')",
        LIMIT,
    ),
    _starlark(
        "quadratic-in", "xs = list(range(100000))\nfor i in range(100000):\n    -1 in xs", LIMIT
    ),
    _starlark(
        "quadratic-count", "s = 'ab' * 500000\nfor i in range(99999):\n    s.count('c')", LIMIT
    ),
    _jinja(
        "quadratic-unique",
        "{% for i in range(9999) %}{{ range(99999) | unique | list | length }}{% endfor %}",
        LIMIT,
    ),
    _jinja(
        "quadratic-append",
        "{% set n = namespace(l=[]) %}{% for i in range(99999) %}"
        "{% set n.l = n.l + [i] %}{% endfor %}",
        LIMIT,
    ),
    _go(
        "quadratic-has",
        "{{ $l := until 99999 }}{{ range $l }}{{ $_ := has -1 $l }}{{ end }}",
        LIMIT,
    ),
    Bomb(
        "hash-flooding",
        builders.request(builders.starlark(ECHO), context={"keys": COLLIDING}),
        (),
    ),
]
STREAMS = [
    _starlark("prints", "for i in range(10000000):\n    print('x' * 100)", "printed more than"),
    _starlark("print-of-100-mb", "print('x' * 100000000)", LIMIT, "printed more than"),
]
# Nothing of Python's or of the system's can be reached; each language's own attacks have more.
TRICKS = [
    _starlark("trick-import", "return {'context': {'a': __import__('os')}}", "cannot"),
    _starlark("trick-class", "return {'context': {'a': ''.__class__}}", "cannot"),
    _jinja("trick-subclasses", "{{ ().__class__.__base__.__subclasses__() }}", "cannot"),
    _jinja("trick-lipsum", '{{ lipsum.__globals__["os"].popen("id") }}', "cannot"),
    _jinja("trick-attr", '{{ "" | attr("__class__") }}', "cannot"),
    _go("trick-env", '{{ env "HOME" | required "no" }}', "cannot"),
    _go("trick-host", '{{ getHostByName "example.org" }}', "cannot"),
]
BOMBS = [*YAML, *SIZE, *NESTING, *QUADRATIC, *STREAMS, *TRICKS]
