"""Missing values in templates of our own kind: the runtime of their generated code.

Tests and defaults treat a missing value as absent, as Go does. Every other use is an error with the
path that does not exist. A null is a value. In a step with ``missing: Defer``, an action that fails
because a value does not exist leaves a gap in place of its text.
"""

from itertools import islice
from typing import Final, NoReturn

from function_script.engines.gotemplate import errors, runtime
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
            raise errors.NoValueError(path, null=start is None)
        path += _step(name)
        if not isinstance(start, dict):
            raise errors.NoValueError(path, name)
        if name not in start:
            keys = (key for key in start if type(key) is str and len(key) <= _MAX_LENGTH)
            raise errors.NoValueError(path, name[:_MAX_LENGTH], tuple(islice(keys, _MAX_NAMES)))
        start = start[name]
    raise errors.NoValueError


def _step(name: str) -> str:
    text = name if len(name) <= _MAX_LENGTH else f"{name[:_MAX_LENGTH]}…"
    return f".{text}" if name.isidentifier() else f'["{text}"]'


def format_value(run: Run, value: object) -> str:
    """Return the text that an action prints for a value other than a string; a null as in YAML."""
    return "null" if value is None else Run.format_value(run, value)


def reject_null(value: object) -> object:
    """Return ``value``; raise EvalError for a null, which is nothing to iterate over."""
    if value is None:
        raise errors.EvalError("range can't iterate over null")
    return value


def checking_globals() -> dict[str, object]:
    """Return the global names that such code has in addition to the usual, or instead."""
    return {
        "raise_missing": raise_missing,
        "format_value": format_value,
        "elements": lambda value: runtime.elements(reject_null(value)),
        "pairs": lambda value: runtime.pairs(reject_null(value)),
    }


# Gaps

# Functions with a substitute for a variable that could not be computed.
ACCEPTS_POISON: Final = frozenset({"coalesce", "default", "empty"})
# Kinds of FieldError that mean a missing value.
_MISSING_KINDS: Final = frozenset({"null", "absent", "map"})


class Poison:
    """The value of a variable that could not be computed: even to test it is an error."""

    __slots__ = ()

    def _refuse(self, *_: object) -> NoReturn:
        raise errors.NoValueError

    __bool__ = __getitem__ = __eq__ = get = _refuse
    __hash__ = None  # type: ignore[assignment] # nothing may look it up


POISON: Final = Poison()


def absent(value: object) -> object:
    """Return ``value``, or no value for a variable that could not be computed."""
    return MISSING if value is POISON else value


def poison(error: errors.GoError) -> Poison:
    """Return the value of a variable whose computation failed."""
    _check_missing(error)
    return POISON


def leave_gap(run: Run, error: errors.GoError) -> None:
    """Record a gap in the main text; raise the error where text is captured."""
    if run.is_capturing:
        raise error
    _check_missing(error)
    run.gaps.append((len(run.parts), error))


def fail_without_gap(error: errors.GoError) -> NoReturn:
    """Raise the error at the same place in a form that leaves no gap."""
    raise errors.EvalError(error.text).with_traceback(error.__traceback__) from error


def _check_missing(error: errors.GoError) -> None:
    """Raise ``error`` again unless it is about a value that does not exist."""
    if isinstance(error, errors.FieldError) and error.kind not in _MISSING_KINDS:
        raise error


def deferring_globals() -> dict[str, object]:
    """Return the global names of the code of templates that leave gaps."""
    return {
        **checking_globals(),
        "absent": absent,
        "FAILURES": (errors.NoValueError, errors.FieldError),
        "POISON": POISON,
        "leave_gap": leave_gap,
        "poison": poison,
        "fail_without_gap": fail_without_gap,
    }
