"""Methods of Python and JavaScript as functions of Go."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from function_script.engines.gotemplate.corrections.terms import Term, call
from function_script.engines.gotemplate.corrections.tokens import Unreadable

# Makes the call of a value and the arguments of its method.
_Method: TypeAlias = Callable[[Term, Sequence[Term]], Term]


def find_method(name: str, count: int) -> _Method:
    """Return the method with a number of arguments; raises Unreadable if there is none."""
    method = _METHODS.get((name, count))
    if method is None:
        raise Unreadable
    return method


def _format(value: Term, arguments: Sequence[Term]) -> Term:
    text = value.text
    if not value.is_text or value.is_call or text.count("{}") != len(arguments) or "%" in text:
        raise Unreadable
    return call("printf", Term(text.replace("{}", "%v"), is_text=True), *arguments, is_text=True)


def _join(value: Term, arguments: Sequence[Term]) -> Term:
    """Return the call for ``",".join(xs)`` and for ``xs.join(",")``."""
    separator, items = (value, arguments[0]) if value.is_literal else (arguments[0], value)
    return call("join", separator, items, is_text=True)


def _get(value: Term, arguments: Sequence[Term]) -> Term:
    key, *default = arguments
    return call("dig", key, *default, value) if default else call("get", value, key)


def _subject_last(function: str, *, is_text: bool = False, is_boolean: bool = False) -> _Method:
    def make(value: Term, arguments: Sequence[Term]) -> Term:
        return call(function, *arguments, value, is_text=is_text, is_boolean=is_boolean)

    return make


_METHODS: Final[Mapping[tuple[str, int], _Method]] = {
    **{
        (name, 1): _subject_last("hasPrefix", is_boolean=True)
        for name in ("startswith", "startsWith")
    },
    **{(name, 1): _subject_last("hasSuffix", is_boolean=True) for name in ("endswith", "endsWith")},
    **{(name, 0): _subject_last("upper", is_text=True) for name in ("upper", "toUpperCase")},
    **{(name, 0): _subject_last("lower", is_text=True) for name in ("lower", "toLowerCase")},
    **{(name, 0): _subject_last("trim", is_text=True) for name in ("strip", "trim")},
    **{(name, 2): _subject_last("replace", is_text=True) for name in ("replace", "replaceAll")},
    **{("format", count): _format for count in range(1, 5)},
    ("get", 1): _get,
    ("get", 2): _get,
    ("join", 1): _join,
    ("keys", 0): _subject_last("keys"),
    ("split", 1): _subject_last("splitList"),
    ("title", 0): _subject_last("title", is_text=True),
    ("toString", 0): _subject_last("toString", is_text=True),
    ("values", 0): _subject_last("values"),
}
