"""Missing values in steps with ``missing: Defer``: the runtime of their generated code.

An action that fails because a value does not exist leaves a gap in place of its text.
"""

from typing import Final, NoReturn

from function_script.engines.gotemplate import errors, missing
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.values import MISSING

# Functions with a substitute for a variable that could not be computed.
ACCEPTS_POISON: Final = frozenset({"coalesce", "default", "empty"})
# Kinds of FieldError that mean a missing value.
_NOTHING: Final = frozenset({"null", "absent", "map"})


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
    if isinstance(error, errors.FieldError) and error.kind not in _NOTHING:
        raise error


def code_globals() -> dict[str, object]:
    """Return the global names of the code of such templates."""
    return {
        **missing.code_globals(),
        "absent": absent,
        "FAILURES": (errors.NoValueError, errors.FieldError),
        "POISON": POISON,
        "leave_gap": leave_gap,
        "poison": poison,
        "fail_without_gap": fail_without_gap,
    }
