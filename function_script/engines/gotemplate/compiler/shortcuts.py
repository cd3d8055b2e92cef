"""Shortcuts of frequent functions, by the types of their arguments."""

import re
from itertools import pairwise
from typing import Final

from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.compiler.values import Value, certain
from function_script.engines.gotemplate.operations import shortcuts
from function_script.engines.gotemplate.operations.calls import Callee
from function_script.engines.gotemplate.operations.expressions import Constant, NoneForMissing
from function_script.engines.gotemplate.operations.frame import Expression
from function_script.engines.gotemplate.sites import Site

_MISSING: Final = values.MISSING
# A text of more pieces than this is measured before it is built.
_MAX_PIECES: Final = 8
_VERB: Final = re.compile(r"%[svd%]")
_TESTS: Final = {
    "%s": shortcuts.ANY_TEXT,
    "%d": shortcuts.ANY_INTEGER,
    "%v": shortcuts.ANY_PLAIN,
}
_TEXTS: Final = frozenset({"printf", "print", "quote"})
_OTHERS: Final = frozenset({"default", "empty", "not", "list", "tuple", "dict", "hasKey"})


def shorten(callee: Callee, arguments: list[Value], site: Site) -> Value | None:
    """Return the value of a call by an operation of its own; None without one.

    Such an operation charges for a text itself, and other results cost nothing.
    """
    name = callee.name
    if name in _TEXTS:
        return _shorten_text(callee, arguments, site)
    if name in shortcuts.OPERATORS:
        is_pair = len(arguments) == 2  # noqa: PLR2004 - `eq` may compare with more
        return _shorten_comparison(callee, arguments, site) if is_pair else None
    return _shorten_other(name, arguments) if name in _OTHERS else None


def _shorten_text(callee: Callee, arguments: list[Value], site: Site) -> Value | None:
    if callee.name == "printf":
        return _shorten_printf(callee, arguments, site)
    if callee.name == "print":
        return _shorten_print(callee, arguments, site)
    if len(arguments) != 1:
        return None
    return certain(shortcuts.Quote(callee, _expressions(arguments), site), "string")


def _shorten_other(name: str, arguments: list[Value]) -> Value | None:
    match name:
        case "default":
            return _shorten_default(arguments)
        case "dict":
            return _shorten_dict(arguments)
        case "list" | "tuple":
            return certain(shortcuts.NewList([any_expression(value) for value in arguments]))
        case "hasKey":
            entries, key = _expressions(arguments)
            return certain(shortcuts.HasKey(entries, key), "bool")
        case _:
            return certain(shortcuts.Not(arguments[0].expression), "bool")


def any_expression(value: Value) -> Expression:
    """Return the expression of a value for a parameter of type ``any``: None for nil."""
    return NoneForMissing(value.expression) if value.nil else value.expression


def _expressions(arguments: list[Value]) -> list[Expression]:
    return [value.expression for value in arguments]


def _literal(value: Value) -> str | None:
    """Return the text of a constant; None for anything else."""
    expression = value.expression
    constant = expression.value if isinstance(expression, Constant) else None
    return constant if isinstance(constant, str) else None


def _shorten_comparison(callee: Callee, arguments: list[Value], site: Site) -> Value:
    last = arguments[1].expression
    if callee.name in {"eq", "ne"} and isinstance(last, Constant) and last.value is _MISSING:
        expected = callee.name == "eq"
        return certain(shortcuts.IsNil(arguments[0].expression, expected=expected), "bool")
    return certain(shortcuts.Comparison(callee, _expressions(arguments), site), "bool")


def _shorten_printf(callee: Callee, arguments: list[Value], site: Site) -> Value | None:
    template = _literal(arguments[0])
    if template is None or len(arguments) > _MAX_PIECES:
        return None
    verbs = [verb for verb in _VERB.findall(template) if verb != "%%"]
    if len(verbs) != len(arguments) - 1 or "%" in _VERB.sub("", template) or not verbs:
        return None
    pieces = [""]
    end = 0
    for match in _VERB.finditer(template):
        pieces[-1] += template[end : match.start()]
        end = match.end()
        if match[0] == "%%":
            pieces[-1] += "%"
        else:
            pieces.append("")
    pieces[-1] += template[end:]
    joined = shortcuts.Joined(
        callee,
        _expressions(arguments[1:]),
        site,
        pieces,
        [_TESTS[verb] for verb in verbs],
        [template],
    )
    return certain(joined, "string")


def _shorten_print(callee: Callee, arguments: list[Value], site: Site) -> Value | None:
    """Shorten ``print``, which puts a blank only between two arguments that are not strings."""
    texts = [value.type == "string" for value in arguments]
    if len(arguments) > _MAX_PIECES or True not in texts:
        return None
    is_joined = all(left or right for left, right in pairwise(texts))
    test = shortcuts.ANY_PLAIN if is_joined else shortcuts.ANY_TEXT
    pieces = [""] * (len(arguments) + 1)
    tests = [shortcuts.ANY_TEXT if is_text else test for is_text in texts]
    joined = shortcuts.Joined(callee, _expressions(arguments), site, pieces, tests, [])
    return certain(joined, "string")


def _shorten_default(arguments: list[Value]) -> Value | None:
    if len(arguments) != 2:  # noqa: PLR2004 # a default and what is given
        return None
    fallback, value = arguments
    default = shortcuts.Default(any_expression(fallback), value.expression)
    return Value(default, nil=fallback.nil, null=fallback.nil)


def _shorten_dict(arguments: list[Value]) -> Value | None:
    if len(arguments) % 2:
        return None
    keys = []
    for value in arguments[::2]:
        key = _literal(value)
        if key is None:
            return None
        keys.append(key)
    entries = [any_expression(value) for value in arguments[1::2]]
    return certain(shortcuts.NewDict(keys, entries))
