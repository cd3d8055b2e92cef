"""Values that do not exist, in steps with ``missing: Defer``: where they may not be used.

Called by the code of such templates. Tests and defaults take them as absent, as always; whatever
makes something of a value refuses them, and leaves a gap where the action's text was to stand.
"""

from __future__ import annotations

from typing import Final, NoReturn

from function_script.engines.gotemplate import loops
from function_script.engines.gotemplate.faults import EvalError, FieldError, GoError, NoValueError
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.values import MISSING

# Functions that are made for values which may not be there.
TOLERANT: Final = frozenset(
    {
        *("all", "and", "any", "coalesce", "default", "dig", "empty", "eq", "hasKey", "kindIs"),
        *("ne", "not", "or", "ternary", "getExternalName", "getResourceCondition"),
        *("isDeleting", "unreadyReason"),
    }
)
# Those that have something to put in the place of a variable that could not be computed.
FORGIVING: Final = frozenset({"coalesce", "default", "empty"})
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


def need(value: object) -> object:
    """``value``, if there is one."""
    if value is None or value is MISSING or value is POISON:
        raise NoValueError
    return value


def absent(value: object) -> object:
    """``value``, or no value for a variable that could not be computed."""
    return MISSING if value is POISON else value


def poison(error: GoError) -> Poison:
    """What a variable is instead of the value that failed."""
    _check_missing(error)
    return POISON


def defer(run: Run, error: GoError) -> None:
    """Leave a gap in the main text; in a text that is captured it is an error."""
    if run.is_capturing:
        raise error
    _check_missing(error)
    run.gaps.append((len(run.parts), error))


def stop(error: GoError) -> NoReturn:
    """Fail at the same place in a way that leaves no gap."""
    raise EvalError(error.text).with_traceback(error.__traceback__) from error


def _check_missing(error: GoError) -> None:
    """Raise ``error`` again unless it is about a value that does not exist."""
    if isinstance(error, FieldError) and error.kind not in _NOTHING:
        raise error


def helpers() -> dict[str, object]:
    """What the code of such templates can name besides or instead of the usual."""
    return {
        "absent": absent,
        "FAILURES": (NoValueError, FieldError),
        "defer": defer,
        "need": need,
        "poison": poison,
        "stop": stop,
        "show": lambda run, value: Run.show(run, need(value)),
        "elements": lambda value: loops.elements(need(value)),
        "pairs": lambda value: loops.pairs(need(value)),
    }
