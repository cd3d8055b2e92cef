"""Expressions other than calls: constants, variables, fields, checks of arguments."""

from itertools import islice
from typing import Final, NoReturn

from function_script.engines.gotemplate import errors, runtime, values
from function_script.engines.gotemplate.run import Expression, Frame
from function_script.engines.gotemplate.runtime import MissingKey
from function_script.engines.gotemplate.syntax.nodes import Site

_MISSING: Final = values.MISSING
_POISON: Final = values.POISON
# Suggestions are searched among at most this many names of at most this length.
_MAX_NAMES: Final = 1_000
_MAX_LENGTH: Final = 64


class Constant(Expression):
    """A value that is the same in every run."""

    def __init__(self, value: object) -> None:
        self.value: object = value

    def evaluate(self, frame: Frame) -> object:  # noqa: ARG002 - of no use here
        """Return the value."""
        return self.value


class NewNil(Expression):
    """A typed nil, a new one each time."""

    def __init__(self, kind: type[object]) -> None:
        self.kind: type[object] = kind

    def evaluate(self, frame: Frame) -> object:  # noqa: ARG002 - of no use here
        """Return the nil map or the nil list."""
        return self.kind()


class Fail(Expression):
    """An expression that is certain to fail."""

    def __init__(self, error: errors.EvalError, site: Site) -> None:
        self.error: errors.EvalError = error
        self.site: Site = site

    def evaluate(self, frame: Frame) -> object:
        """Raise EvalError."""
        frame.site = self.site
        # Another one each time: an error that was raised has the frames of its run.
        raise errors.EvalError(self.error.text, self.error.code, self.error.subject)


# Slots


class Slot(Expression):
    """The value of a slot; ``changes``: it may be assigned again while it is visible."""

    def __init__(self, index: int) -> None:
        self.index: int = index
        self.changes: bool = False

    def evaluate(self, frame: Frame) -> object:
        """Return the value of the slot."""
        return frame.values[self.index]


class Store(Expression):
    """A value that a slot gets, too."""

    def __init__(self, operand: Expression, slot: int) -> None:
        self.operand: Expression = operand
        self.slot: int = slot

    def evaluate(self, frame: Frame) -> object:
        """Evaluate and store."""
        value = frame.values[self.slot] = self.operand.evaluate(frame)
        return value


class Sequence(Expression):
    """Two expressions in order; the value is that of the second.

    A slot gets the value of the first one, unless it is negative.
    """

    def __init__(self, first: Expression, second: Expression, slot: int = -1) -> None:
        self.first: Expression = first
        self.second: Expression = second
        self.slot: int = slot

    def evaluate(self, frame: Frame) -> object:
        """Evaluate both."""
        value = self.first.evaluate(frame)
        if self.slot >= 0:
            frame.values[self.slot] = value
        return self.second.evaluate(frame)


# Fields


class Fields(Expression):
    """A chain of fields by Go's rules."""

    def __init__(
        self, start: Expression, names: tuple[str, ...], missing: MissingKey, site: Site
    ) -> None:
        self.start: Expression = start
        self.names: tuple[str, ...] = names
        self.missing: MissingKey = missing
        self.site: Site = site

    def evaluate(self, frame: Frame) -> object:
        """Return the value at the end of the chain."""
        value = self.start.evaluate(frame)
        frame.site = self.site
        # `walk` would take poison for a value of an unknown type.
        if value is _POISON:
            raise errors.NoValueError
        return runtime.walk(value, self.names, self.missing)


# Nil, which is None inside of a container and MISSING elsewhere


class Replace(Expression):
    """A value, or another one in place of ``old``."""

    def __init__(self, operand: Expression, old: object, new: object) -> None:
        self.operand: Expression = operand
        self.old: object = old
        self.new: object = new

    def evaluate(self, frame: Frame) -> object:
        """Return the value."""
        value = self.operand.evaluate(frame)
        return self.new if value is self.old else value


def missing_for_nil(operand: Expression) -> Expression:
    """Return a value as it leaves a pipeline: MISSING for nil."""
    return Replace(operand, None, _MISSING)


# Checks of arguments


class ExactArgument(Expression):
    """An argument for a parameter that is one Python type.

    ``nil_is_missing``: it is the value of a pipeline, where a nil is no value.
    """

    def __init__(
        self,
        operand: Expression,
        kind: type[object],
        type_name: str,
        site: Site,
        *,
        nil_is_missing: bool,
    ) -> None:
        self.operand: Expression = operand
        self.kind: type[object] = kind
        self.type_name: str = type_name
        self.site: Site = site
        self.nil_is_missing: bool = nil_is_missing

    def evaluate(self, frame: Frame) -> object:
        """Return the value; raises EvalError for another type."""
        value = self.operand.evaluate(frame)
        if type(value) is not self.kind:
            frame.site = self.site
            is_missing = value is None and self.nil_is_missing
            runtime.refuse(_MISSING if is_missing else value, self.type_name)
        return value


class Argument(Expression):
    """An argument for a parameter of another type."""

    def __init__(self, operand: Expression, type_name: str, site: Site) -> None:
        self.operand: Expression = operand
        self.type_name: str = type_name
        self.site: Site = site

    def evaluate(self, frame: Frame) -> object:
        """Return the value as the function gets it; raises EvalError."""
        value = self.operand.evaluate(frame)
        frame.site = self.site
        return runtime.check_argument(value, self.type_name)


class RequiredValue(Expression):
    """A value that must exist; ``start``, ``prefix`` and ``names`` are its origin."""

    def __init__(
        self,
        operand: Expression,
        start: Expression,
        prefix: str,
        names: tuple[str, ...],
        site: Site,
    ) -> None:
        self.operand: Expression = operand
        self.start: Expression = start
        self.prefix: str = prefix
        self.names: tuple[str, ...] = names
        self.site: Site = site

    def evaluate(self, frame: Frame) -> object:
        """Return the value; raises NoValueError."""
        value = self.operand.evaluate(frame)
        if value is _MISSING:
            frame.site = self.site
            # To read the start again costs something only where it fails.
            raise_missing(self.start.evaluate(frame), self.prefix, self.names)
        return value


def raise_missing(start: object, prefix: str, names: tuple[str, ...]) -> NoReturn:
    """Raise NoValueError for ``names`` below ``start``, which the template calls ``prefix``."""
    path = prefix
    for name in names:
        if start is _MISSING or start is None:
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


class RequiredOrPoison(Expression):
    """A value that must not be poison; ``refuses_null``: nor a null, which may become a value."""

    def __init__(self, operand: Expression, site: Site, *, refuses_null: bool) -> None:
        self.operand: Expression = operand
        self.site: Site = site
        self.refuses_null: bool = refuses_null

    def evaluate(self, frame: Frame) -> object:
        """Return the value; raises NoValueError."""
        value = self.operand.evaluate(frame)
        if value is _POISON or (value is None and self.refuses_null):
            frame.site = self.site
            raise errors.NoValueError
        return value


class NotNull(Expression):
    """A value that must not be null."""

    def __init__(self, operand: Expression, site: Site) -> None:
        self.operand: Expression = operand
        self.site: Site = site

    def evaluate(self, frame: Frame) -> object:
        """Return the value; raises EvalError."""
        value = self.operand.evaluate(frame)
        if value is None:
            frame.site = self.site
            text = "it is null"
            raise errors.EvalError(text, errors.Code.NULL_AS_TEXT)
        return value
