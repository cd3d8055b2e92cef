"""Calls of functions, of methods and of templates, and expressions that stop early."""

from collections.abc import Callable
from typing import Final, TypeAlias, cast

from function_script.engines.gotemplate import runtime, values
from function_script.engines.gotemplate.function import Accepts, Function, Injects
from function_script.engines.gotemplate.run import Expression, Frame
from function_script.engines.gotemplate.runtime import MissingKey
from function_script.engines.gotemplate.syntax.nodes import Site

# The functions of templates have parameters of all kinds.
AnyCallable: TypeAlias = Callable[..., object]  # type: ignore[explicit-any] # see above
_MISSING: Final = values.MISSING
# A string below this length is not worth charging for.
_SMALL: Final = 64


class Callee:
    """A function with its facts at hand."""

    def __init__(self, function: Function) -> None:
        types = function.parameter_types
        self.name: str = function.name
        self.call: AnyCallable = cast("AnyCallable", function.call)
        self.types: tuple[str, ...] = types
        self.last: int = len(types) - 1
        self.is_variadic: bool = function.variadic
        self.returns: str = function.returns
        self.cost: int = function.cost
        self.mutates: bool = function.mutates
        self.accepts: Accepts = function.accepts
        self.has_run: bool = function.injects in {Injects.ALLOCATOR, Injects.RUN}
        self.has_random: bool = function.injects is Injects.RANDOM
        self.has_source: bool = function.injects is Injects.SOURCE
        self.measures_text: bool = function.returns == "string" and function.allocates
        self.measures: bool = function.returns == "any" and function.allocates

    def parameter_type(self, index: int) -> str:
        """Return the type of a parameter; the last one may take many arguments."""
        return self.types[min(index, self.last)]


class Call(Expression):
    """A call with any number of arguments; ``key`` is that of its random numbers."""

    def __init__(
        self, callee: Callee, arguments: list[Expression], site: Site, key: str = ""
    ) -> None:
        self.callee: Callee = callee
        self.arguments: list[Expression] = arguments
        self.site: Site = site
        self.key: str = key

    def evaluate(self, frame: Frame) -> object:
        """Evaluate the arguments in order, then call, and charge for the size of the result."""
        arguments: list[object] = []
        for argument in self.arguments:
            # A comprehension takes stack of its own in plain Python.
            arguments.append(argument.evaluate(frame))  # noqa: PERF401 # see above
        # The arguments have set sites of their own, so that of the call is set behind them.
        callee, run = self.callee, frame.run
        frame.site = self.site
        if callee.cost:
            run.spend(callee.cost)
        if callee.has_run:
            result = callee.call(run, *arguments)
        elif callee.has_random:
            result = callee.call(run.seed_random(self.key), *arguments)
        else:
            result = callee.call(*arguments)
        if callee.measures:
            run.measure(result)
        elif callee.measures_text and isinstance(result, str) and len(result) > _SMALL:
            run.check_string(len(result))
        return result


# Methods


class CallMethod(Expression):
    """A call of a method; no value without a receiver, whose place is ``start``."""

    def __init__(  # noqa: PLR0913, PLR0917 # the parts of the call, and its two places
        self,
        receiver: Expression,
        name: str,
        arguments: list[Expression],
        missing: MissingKey,
        start: Site,
        site: Site,
    ) -> None:
        self.receiver: Expression = receiver
        self.name: str = name
        self.arguments: list[Expression] = arguments
        self.missing: MissingKey = missing
        self.start: Site = start
        self.site: Site = site

    def evaluate(self, frame: Frame) -> object:
        """Find the method, evaluate the arguments, then call."""
        receiver = self.receiver.evaluate(frame)
        frame.site = self.start
        # Go looks for the method first: an unknown one is the error, whatever its arguments do.
        method = runtime.find_method(receiver, self.name, self.missing)
        if method is None:
            return _MISSING
        arguments = [argument.evaluate(frame) for argument in self.arguments]
        frame.site = self.site
        return runtime.call_method(receiver, self.name, method, arguments)


# Templates


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


# Operands that are evaluated until one decides


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
