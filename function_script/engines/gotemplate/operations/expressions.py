"""Expressions: constants, variables, fields, checks of arguments, calls."""

from itertools import islice
from typing import Final, cast

from function_script.engines.gotemplate import errors, runtime, values
from function_script.engines.gotemplate.function import AnyCall, Function, Injects
from function_script.engines.gotemplate.run import Expression, Frame, RandomNumbers
from function_script.engines.gotemplate.runtime import MissingKey
from function_script.engines.gotemplate.syntax.nodes import Site

_MISSING: Final = values.MISSING
_POISON: Final = values.POISON
# A string below this length is not worth charging for.
_SMALL: Final = 64
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
    """Two expressions in order; the value is that of the second."""

    def __init__(self, first: Expression, second: Expression) -> None:
        self.first: Expression = first
        self.second: Expression = second

    def evaluate(self, frame: Frame) -> object:
        """Evaluate both."""
        self.first.evaluate(frame)
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


# Checks of arguments


class Argument(Expression):
    """An argument for a parameter of a type; a value of ``kind`` is one of the type for certain."""

    def __init__(
        self, operand: Expression, kind: type[object] | None, type_name: str, site: Site
    ) -> None:
        self.operand: Expression = operand
        self.kind: type[object] | None = kind
        self.type_name: str = type_name
        self.site: Site = site

    def evaluate(self, frame: Frame) -> object:
        """Return the value as the function gets it; raises EvalError."""
        value = self.operand.evaluate(frame)
        if type(value) is self.kind:
            return value
        frame.site = self.site
        return runtime.check_argument(value, self.type_name)


class Origin:
    """The origin of a value: ``names`` are the fields below ``start``, which may be read again.

    ``prefix`` is the template's text of the start: empty for the dot.
    """

    def __init__(self, start: Expression, prefix: str, names: tuple[str, ...]) -> None:
        self.start: Expression = start
        self.prefix: str = prefix
        self.names: tuple[str, ...] = names

    def explain(self, frame: Frame) -> errors.NoValueError:
        """Return the error for the name that has no value."""
        path = self.prefix
        # To read the start again costs something only where it fails.
        start = self.start.evaluate(frame)
        for name in self.names:
            if start is _MISSING or start is None:
                return errors.NoValueError(path, null=start is None)
            text = name if len(name) <= _MAX_LENGTH else f"{name[:_MAX_LENGTH]}…"
            path += f".{text}" if name.isidentifier() else f'["{text}"]'
            if not isinstance(start, dict):
                return errors.NoValueError(path, name)
            if name not in start:
                keys = (key for key in start if type(key) is str and len(key) <= _MAX_LENGTH)
                names = tuple(islice(keys, _MAX_NAMES))
                return errors.NoValueError(path, name[:_MAX_LENGTH], names)
            start = start[name]
        return errors.NoValueError(null=start is None)


class RequiredValue(Expression):
    """A value that must exist."""

    def __init__(self, operand: Expression, origin: Origin, site: Site) -> None:
        self.operand: Expression = operand
        self.origin: Origin = origin
        self.site: Site = site

    def evaluate(self, frame: Frame) -> object:
        """Return the value; raises NoValueError."""
        value = self.operand.evaluate(frame)
        if value is _MISSING:
            frame.site = self.site
            raise self.origin.explain(frame)
        return value


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
            raise errors.EvalError(text, errors.Code.NULL_AS_VALUE)
        return value


# Calls of functions, of methods and of templates


class Call(Expression):
    """A call with any number of arguments; ``key`` is that of its random numbers."""

    def __init__(
        self, function: Function, arguments: list[Expression], site: Site, key: str = ""
    ) -> None:
        self.arguments: list[Expression] = arguments
        self.site: Site = site
        self.key: str = key
        # Of the function only what each run asks for: its own class is not compiled.
        self.call: AnyCall = function.call
        self.cost: int = function.cost
        self.has_run: bool = function.injects is Injects.RUN
        self.has_random: bool = function.injects is Injects.RANDOM
        self.measures_text: bool = function.returns == "string" and function.allocates
        self.measures: bool = function.returns == "any" and function.allocates

    def evaluate(self, frame: Frame) -> object:
        """Evaluate the arguments in order, then call, and charge for the size of the result."""
        arguments: list[object] = []
        for argument in self.arguments:
            # A comprehension takes stack of its own in plain Python.
            arguments.append(argument.evaluate(frame))  # noqa: PERF401 # see above
        # The arguments have set sites of their own, so that of the call is set behind them.
        run = frame.run
        frame.site = self.site
        if self.cost:
            run.spend(self.cost)
        if self.has_run:
            result = self.call(run, *arguments)
        elif self.has_random:
            result = self.call(RandomNumbers(run, self.key), *arguments)
        else:
            result = self.call(*arguments)
        if self.measures:
            run.measure(result)
        elif self.measures_text and isinstance(result, str) and len(result) > _SMALL:
            run.check_string(len(result))
        return result


class CallMethod(Expression):
    """A call of a method; no value without a receiver, whose place is ``start``."""

    def __init__(  # noqa: PLR0913, PLR0917 # the parts of the call, and its two places
        self,
        receiver: Expression,
        names: tuple[str, ...],
        arguments: list[Expression],
        missing: MissingKey,
        start: Site,
        site: Site,
    ) -> None:
        self.receiver: Expression = receiver
        self.names: tuple[str, ...] = names
        self.arguments: list[Expression] = arguments
        self.missing: MissingKey = missing
        self.start: Site = start
        self.site: Site = site

    def evaluate(self, frame: Frame) -> object:
        """Find the method, evaluate the arguments, then call."""
        receiver = self.receiver.evaluate(frame)
        frame.site = self.start
        # Go looks for the method first: an unknown one is the error, whatever its arguments do.
        method = runtime.find_method(receiver, self.names, self.missing)
        if method is None:
            return _MISSING
        arguments = [argument.evaluate(frame) for argument in self.arguments]
        frame.site = self.site
        return runtime.call_method(receiver, self.names[-1], method, arguments)


class Include(Expression):
    """``include``: the text of another template; ``levels`` is the depth of what is around it.

    It runs the template itself: 200 templates inside of each other take the stack of few calls.
    """

    def __init__(self, name: Expression, data: Expression, levels: int, site: Site) -> None:
        self.name: Expression = name
        self.data: Expression = data
        self.levels: int = levels
        self.site: Site = site

    def evaluate(self, frame: Frame) -> object:
        """Return the text."""
        name = cast("str", self.name.evaluate(frame))
        data = self.data.evaluate(frame)
        frame.site = self.site
        run = frame.run
        outer = run.begin_include(name, self.levels)
        parts = run.parts
        try:
            run.templates[name].render(run, data)
        finally:
            # Also after an error, behind which a step that leaves gaps goes on.
            run.end_include(outer)
        run.check_string(sum(map(len, parts)))
        return "".join(parts)


class FirstOf(Expression):
    """The first operand that decides, or the last one: ``truth`` is true for ``or``."""

    def __init__(self, operands: list[Expression], *, truth: bool) -> None:
        self.operands: list[Expression] = operands
        self.truth: bool = truth

    def evaluate(self, frame: Frame) -> object:
        """Evaluate operands until one decides."""
        value: object = None
        for operand in self.operands:
            value = operand.evaluate(frame)
            if bool(value) is self.truth:
                break
        return value
