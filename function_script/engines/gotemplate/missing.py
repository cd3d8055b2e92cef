"""Missing values in templates of our own kind: what their operations do about them.

Tests and defaults treat a missing value as absent, as Go does. Every other use is an error with the
path that does not exist. A null is a value. In a step with ``missing: Defer``, an action that fails
because a value does not exist leaves a gap in place of its text.
"""

from itertools import islice
from typing import Final, NoReturn

from function_script.engines.gotemplate import errors
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.syntax.nodes import Site
from function_script.engines.gotemplate.values import MISSING

# Suggestions are searched among at most this many names of at most this length.
_MAX_NAMES: Final = 1_000
_MAX_LENGTH: Final = 64


def raise_missing(start: object, prefix: str, names: tuple[str, ...]) -> NoReturn:
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


def poison(error: errors.GoError) -> Poison:
    """Return the value of a variable whose computation failed."""
    _check_missing(error)
    return POISON


def leave_gap(run: Run, error: errors.GoError, site: Site) -> None:
    """Record a gap in the main text for an error at a site; raise the error in captured text."""
    if run.is_capturing:
        raise error
    _check_missing(error)
    run.gaps.append((len(run.parts), error, site))


def fail_without_gap(error: errors.GoError) -> NoReturn:
    """Raise the error in a form that leaves no gap."""
    raise errors.EvalError(error.text, error.code, error.subject) from error


def _check_missing(error: errors.GoError) -> None:
    """Raise ``error`` again unless it is about a value that does not exist."""
    if isinstance(error, errors.FieldError) and error.kind not in _MISSING_KINDS:
        raise error
