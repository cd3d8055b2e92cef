"""Programs that try to hurt the server, in every language, and what their FATAL says.

Sent by soak.py beside good requests. ``tests/hostile`` has the long tables.
"""

from __future__ import annotations

from typing import NamedTuple

from programs import API_VERSION

_LIMIT = "limit"


class Attack(NamedTuple):
    """``says`` is part of the FATAL that it must end in."""

    name: str
    step_input: dict[str, object]
    says: str


def _starlark(name: str, lines: str, says: str = _LIMIT) -> Attack:
    body = "".join(f"    {line}\n" for line in lines.splitlines())
    script = f"def main(req):\n{body}"
    step_input = {"apiVersion": API_VERSION, "kind": "StarlarkScript", "script": script}
    return Attack(name, step_input, says)


def _jinja(name: str, inline: str, says: str = _LIMIT) -> Attack:
    step_input = {"apiVersion": API_VERSION, "kind": "JinjaTemplate", "inline": inline}
    return Attack(name, step_input, says)


def _gotemplate(name: str, template: str, says: str = _LIMIT) -> Attack:
    step_input = {"apiVersion": API_VERSION, "kind": "GoTemplate", "inline": template}
    return Attack(name, step_input, says)


_LOOPS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
_ALIASES = "a0: &a0 [x]\n" + "".join(
    f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 30)
)
ATTACKS = (
    _starlark("endless loop", "for i in range(2000000000):\n    pass"),
    _starlark("time in native code", "x = 3\nfor i in range(40):\n    x = x * x"),
    _starlark("large list", "return {'n': len([0] * 1000000000)}"),
    _starlark("growing text", "s = 'ab'\nfor i in range(60):\n    s = s + s"),
    _starlark("many objects", "return {'n': len([{'k': i} for i in range(100000000)])}"),
    _starlark("stack", "x = []\nfor i in range(1000):\n    x = [x]\njson.encode(x)", "crashed"),
    _starlark("large result", "return {'context': {'s': 'x' * 20000000}}"),
    _starlark("prints", "for i in range(10000000):\n    print('x' * 100)", "printed more than"),
    _starlark("mistake", "return {a=1}", "cannot"),
    _jinja("nested loops", _LOOPS),
    _jinja("large text", "{{ 'x' * 1000000000 }}"),
    _jinja("recursion", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"),
    _jinja("aliases", _ALIASES, "--nodes-limit"),
    _jinja("escape", '{{ "".__class__.__mro__ }}', "cannot"),
    _gotemplate("nested ranges", "{{ range 100000 }}{{ range 100000 }}{{ end }}{{ end }}"),
    _gotemplate("large text", '{{ repeat 10000000000 "x" }}'),
    _gotemplate("recursion", '{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}'),
    _gotemplate("mistake", "{{ nope }}", "cannot"),
)
