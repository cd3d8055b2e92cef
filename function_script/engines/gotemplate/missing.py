"""Missing values in templates of our own kind: the runtime of their generated code.

Tests and defaults treat a missing value as absent, as Go does. Every other use is an error with the
path that does not exist. A null is a value.
"""

from itertools import islice
from typing import Final, NoReturn

from function_script.engines.gotemplate import runtime
from function_script.engines.gotemplate.errors import EvalError, NoValueError
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.values import MISSING

# Suggestions are searched among at most this many names of at most this length.
_MAX_NAMES: Final = 1_000
_MAX_LENGTH: Final = 64


def raise_missing(start: object = MISSING, prefix: str = "", *names: str) -> NoReturn:
    """Raise NoValueError for ``names`` below ``start``, which the template calls ``prefix``."""
    path = prefix
    for name in names:
        if start is MISSING or start is None:
            raise NoValueError(path, null=start is None)
        path += _step(name)
        if not isinstance(start, dict):
            raise NoValueError(path, name)
        if name not in start:
            keys = (key for key in start if type(key) is str and len(key) <= _MAX_LENGTH)
            raise NoValueError(path, name[:_MAX_LENGTH], tuple(islice(keys, _MAX_NAMES)))
        start = start[name]
    raise NoValueError


def _step(name: str) -> str:
    text = name if len(name) <= _MAX_LENGTH else f"{name[:_MAX_LENGTH]}…"
    return f".{text}" if name.isidentifier() else f'["{text}"]'


def format_value(run: Run, value: object) -> str:
    """Return the text that an action prints for a value other than a string; a null as in YAML."""
    return "null" if value is None else Run.format_value(run, value)


def reject_null(value: object) -> object:
    """Return ``value``; raise EvalError for a null, which is nothing to iterate over."""
    if value is None:
        raise EvalError("range can't iterate over null")
    return value


def code_globals() -> dict[str, object]:
    """Return the global names that such code has in addition to the usual, or instead."""
    return {
        "raise_missing": raise_missing,
        "format_value": format_value,
        "elements": lambda value: runtime.elements(reject_null(value)),
        "pairs": lambda value: runtime.pairs(reject_null(value)),
    }
