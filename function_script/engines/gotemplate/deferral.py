"""Values that do not exist, in steps with ``missing: Defer``: what is left where they were used.

Called by the code of such templates: an action that fails for them leaves a gap where its text was
to stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from function_script.engines.gotemplate import missing
from function_script.engines.gotemplate.errors import (
    EvalError,
    FieldError,
    GoError,
    NoValueError,
)
from function_script.engines.gotemplate.values import MISSING

if TYPE_CHECKING:
    from function_script.engines.gotemplate.run import Run

# Those that have something to put in the place of a variable that could not be computed.
ACCEPTS_POISON: Final = frozenset({"coalesce", "default", "empty"})
# What a field of nothing is, by the words of FieldError.
_NOTHING: Final = frozenset({"null", "absent", "map"})


class Poison:
    """The value of a variable that could not be computed: even to test it is an error."""

    __slots__ = ()

    def _refuse(self, *_: object) -> NoReturn:
        raise NoValueError

    __bool__ = __getitem__ = __eq__ = get = _refuse
    __hash__ = None  # type: ignore[assignment] # nothing may look it up


POISON: Final = Poison()


def absent(value: object) -> object:
    """``value``, or no value for a variable that could not be computed."""
    return MISSING if value is POISON else value


def poison(error: GoError) -> Poison:
    """What a variable is instead of the value that failed."""
    _check_missing(error)
    return POISON


def leave_gap(run: Run, error: GoError) -> None:
    """Leave a gap in the main text; in a text that is captured it is an error."""
    if run.is_capturing:
        raise error
    _check_missing(error)
    run.gaps.append((len(run.parts), error))


def fail_without_gap(error: GoError) -> NoReturn:
    """Fail at the same place in a way that leaves no gap."""
    raise EvalError(error.text).with_traceback(error.__traceback__) from error


def _check_missing(error: GoError) -> None:
    """Raise ``error`` again unless it is about a value that does not exist."""
    if isinstance(error, FieldError) and error.kind not in _NOTHING:
        raise error


def code_globals() -> dict[str, object]:
    """What the code of such templates can name besides or instead of the usual."""
    return {
        **missing.code_globals(),
        "absent": absent,
        "FAILURES": (NoValueError, FieldError),
        "POISON": POISON,
        "leave_gap": leave_gap,
        "poison": poison,
        "fail_without_gap": fail_without_gap,
    }
