"""CEL's errors as values: an operation on an error is that error; `&&`, `||`, `?:` may drop it.

cel-python reports two errors at `&&` or `||` as operands of wrong types, so a rule that reads
absent fields would look like one that cannot be evaluated. See "Logical Operators" and "Macros" in
the language definition.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Final, cast

import lark
from celpy import Runner, celtypes
from celpy.evaluation import CELEvalError, Context, Evaluator, Result

from function_script.tools.validate.cel_functions import PARSERS

Function = Callable[..., object]  # type: ignore[explicit-any] # of any arguments
_Operator = Callable[[object, object], object]

_MACROS: Final = frozenset({"all", "exists", "exists_one", "filter", "map"})


class RuntimeFaultError(CELEvalError):
    """An error that every evaluator of CEL raises for the same input."""


def strict(function: Function) -> Function:
    """Wrap a function: it returns the first error among its arguments, and its own errors.

    TypeError is raised: the types of the arguments have no such function.
    """

    @wraps(function)
    def call(*arguments: object) -> object:
        for argument in arguments:
            if isinstance(argument, CELEvalError):
                return argument
        try:
            return function(*arguments)
        except ZeroDivisionError:
            return RuntimeFaultError("division by zero")
        except (KeyError, IndexError, ValueError) as error:
            return RuntimeFaultError(_text(error, arguments))

    return call


def _text(error: KeyError | IndexError | ValueError, arguments: tuple[object, ...]) -> str:
    if isinstance(error, KeyError):
        return f"no such key: {arguments[-1]}"
    if isinstance(error, IndexError):
        return f"index out of bounds: {', '.join(map(str, arguments[1:]))}"
    return str(error) or "the value is out of range"


def both(left: object, right: object) -> object:
    """Evaluate `&&`: false beats an error on either side; of two errors the left one remains."""
    return _decide(left, right, decisive=False)


def either(left: object, right: object) -> object:
    """Evaluate `||`: true beats an error on either side."""
    return _decide(left, right, decisive=True)


def _decide(left: object, right: object, *, decisive: bool) -> object:
    sides = (left, right)
    for side in sides:
        if isinstance(side, celtypes.BoolType) and bool(side) is decisive:
            return side
    for side in sides:
        if isinstance(side, CELEvalError):
            return side
    if not all(isinstance(side, celtypes.BoolType) for side in sides):
        raise TypeError("no such overload")
    return right


def choose(condition: object, left: object, right: object) -> object:
    """Evaluate `?:`: an error of the condition is the result; the other side does not count."""
    if isinstance(condition, CELEvalError):
        return condition
    if not isinstance(condition, celtypes.BoolType):
        raise TypeError("no such overload")
    return left if condition else right


def item(of: object, key: object) -> object:
    """Evaluate `of[key]`; unlike Python's, an index does not count from the end."""
    if isinstance(of, celtypes.ListType):
        if not isinstance(key, int) or isinstance(key, celtypes.BoolType):
            raise TypeError("no such overload")
        if key < 0:
            raise IndexError
    return cast("celtypes.MapType", of)[cast("celtypes.StringType", key)]


class FaultRunner(Runner):
    """A runner that evaluates with the macros below."""

    def evaluate(self, context: Context) -> celtypes.Value:
        """Return the expression's value; raises CELEvalError."""
        return _Evaluator(ast=self.ast, activation=self.new_activation()).evaluate(context)


class _Evaluator(Evaluator):
    """An evaluator whose macros treat errors as operators do."""

    def sub_evaluator(self, ast: lark.Tree[lark.Token]) -> Evaluator:
        return _Evaluator(ast, activation=self.activation)

    def function_eval(
        self, name_token: lark.Token, exprlist: Iterable[Result] | None = None
    ) -> Result:
        """Evaluate a function; texts are converted as Go does it."""
        if isinstance(exprlist, CELEvalError):
            return exprlist
        arguments = list(exprlist or ())
        parser = PARSERS.get(str(name_token))
        if parser is not None and len(arguments) == 1 and isinstance(arguments[0], str):
            return cast("Result", strict(parser)(arguments[0]))
        return super().function_eval(name_token, exprlist)

    def macro_has_eval(self, exprlist: lark.Tree[lark.Token]) -> celtypes.BoolType:
        """Evaluate `has(a.b.c)`: it tests for c; an absent a.b is an error."""
        tree = exprlist
        while tree.data != "member_dot" and len(tree.children) == 1:
            tree = cast("lark.Tree[lark.Token]", tree.children[0])
        if tree.data == "member_dot":
            holder = self.visit(cast("lark.Tree[lark.Token]", tree.children[0]))
            if isinstance(holder, CELEvalError):
                return cast("celtypes.BoolType", holder)
        return super().macro_has_eval(exprlist)

    def member_dot_arg(self, tree: lark.Tree[lark.Token]) -> Result:
        name = str(tree.children[1])
        if name in {"all", "exists"}:
            return self._fold(tree, both if name == "all" else either, name == "all")
        if name == "min":
            # cel-python's own macro; to CEL it is a function.
            member = self.visit(cast("lark.Tree[lark.Token]", tree.children[0]))
            return self.method_eval(member, cast("lark.Token", tree.children[1]))
        try:
            return cast("Result", super().member_dot_arg(tree))
        except CELEvalError as error:
            if name not in _MACROS:
                raise
            return cast("Result", error)

    def _fold(self, tree: lark.Tree[lark.Token], operator: _Operator, start: bool) -> Result:  # noqa: FBT001 - the fold's first value
        member = self.visit(cast("lark.Tree[lark.Token]", tree.children[0]))
        if isinstance(member, CELEvalError):
            return member
        evaluate = self.build_ss_macro_eval(tree)
        result: object = celtypes.BoolType(start)
        for item in cast("celtypes.ListType", member):
            result = operator(result, evaluate(item))
        return cast("Result", result)
