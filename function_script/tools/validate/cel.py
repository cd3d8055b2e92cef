"""CEL for Kubernetes on top of cel-python, in the process that evaluates rules.

It is a process of its own, so that an endless rule can be killed: `evaluator` starts it. The first
line of stdout, an empty JSON object, reports that it is ready. Then each line of stdin is a task
and each line of stdout its reply, both JSON. Memory is limited where the system can.

CEL's errors are values: an operation on an error is that error; `&&`, `||`, `?:` may drop it.
cel-python reports two errors at `&&` or `||` as operands of wrong types, so a rule that reads
absent fields would look like one that cannot be evaluated. See "Logical Operators" and "Macros" in
the language definition.
"""

import inspect
import json
import sys
from collections.abc import Callable, Iterable
from functools import cache, partial, wraps
from typing import Final, cast

import lark
from celpy import Environment, Runner, celtypes, evaluation
from celpy.adapter import json_to_cel
from celpy.celparser import CELParseError

from function_script.request.values import Object, Value
from function_script.sandbox import system
from function_script.tools import structural_schema
from function_script.tools.validate.cel_functions import FUNCTIONS, PARSED, Function, parse
from function_script.tools.validate.evaluator import RuleError, UnsupportedError

_MEMORY_BYTES: Final = 2 << 30
# Kubernetes escapes field names that CEL cannot read.
_ESCAPES: Final = (
    ("__", "__underscores__"),
    (".", "__dot__"),
    ("-", "__dash__"),
    ("/", "__slash__"),
)
_RESERVED: Final = frozenset(
    [
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for"),
        *("function", "if", "import", "let", "loop", "package", "namespace", "return", "var"),
        *("void", "while"),
    ]
)
# The grammar's names for calls, and the macros, which are not functions.
_CALLS: Final = ("ident_arg", "dot_ident_arg", "member_dot_arg")
_MACROS: Final = ("has", "all", "exists", "exists_one", "map", "filter", "dyn")
_MISSING: Final = "no such member in mapping: "
# cel-python's text for every ValueError of a conversion; the cause follows in its arguments.
_OVERFLOW: Final = "return error for overflow"
# CEL's values are of subclasses of these.
_PLAIN: Final = (bool, int, float, str, list)
_ITERATING_MACROS: Final = frozenset({"all", "exists", "exists_one", "filter", "map"})

_Operator = Callable[[object, object], object]


def main() -> None:
    """Reply to tasks until stdin ends."""
    system.limit_address_space(_MEMORY_BYTES)
    schemas: dict[int, Object] = {}
    _write({})
    for line in sys.stdin:
        task = json.loads(line)
        if "schema" in task:
            schemas[task["schema_id"]] = task["schema"]
        schema = schemas[task["schema_id"]]
        try:
            result = evaluate(str(task["expression"]), task["value"], schema, task["old"])
            reply: Object = {"value": result}
        except RuleError as error:
            reply = {"fault": str(error)}
        except UnsupportedError as error:
            reply = {"unsupported": str(error)}
        except (RecursionError, MemoryError):
            reply = {"unsupported": "it is too expensive"}
        except Exception as error:  # noqa: BLE001 - a fault of the evaluator does not make the object invalid
            reply = {"unsupported": f"the evaluator failed: {type(error).__name__}"}
        _write(reply)


def _write(reply: Object) -> None:
    sys.stdout.write(f"{json.dumps(reply)}\n")
    sys.stdout.flush()


def evaluate(expression: str, value: Value, schema: Object, old: Value = None) -> bool | str:
    """Evaluate a rule or a message's expression for ``value``, described by ``schema``.

    ``old`` is the value before a change, if there is one. Raises RuleError or UnsupportedError.
    """
    try:
        names = {"self": _to_cel(value, schema)}
        if old is not None:
            names["oldSelf"] = _to_cel(old, schema)
        runner = _compile(expression)
        # With the macros below.
        result = _Evaluator(runner.ast, runner.new_activation()).evaluate(names)
    except evaluation.CELEvalError as error:
        text = str(error.args[0]) if error.args else str(error)
        if isinstance(error, RuntimeFaultError):
            raise RuleError(text) from error
        if text.startswith(_MISSING):
            name = text.removeprefix(_MISSING).strip("'")
            raise RuleError(f"no such key: {name}") from error
        if text == _OVERFLOW:
            cause = error.args[-1]
            raise RuleError(str(cause[0]) if cause else "it is out of range") from error
        if "overload" in text:
            text = "the types of its operands do not go together"
        raise UnsupportedError(text.partition(" (in activation")[0].partition("\n")[0]) from error
    if isinstance(result, (bool, celtypes.BoolType)):
        return bool(result)
    if isinstance(result, str):
        return str(result)
    raise RuleError("it gives no boolean")


@cache
def _environment() -> Environment:
    return Environment()


@cache
def _functions() -> dict[str, evaluation.CELFunction]:
    functions = cast(
        "dict[str, Function]", {**evaluation.base_functions, **FUNCTIONS, "_[_]": item}
    )
    strict_functions = {
        # Classes are types as well, as in `type(self) == int`.
        name: function if inspect.isclass(function) else strict(function)
        for name, function in functions.items()
    }
    return cast(
        "dict[str, evaluation.CELFunction]",
        {**strict_functions, "_&&_": both, "_||_": either, "_?_:_": choose},
    )


@cache
def _compile(expression: str) -> Runner:
    try:
        parsed = _environment().compile(expression)
    except CELParseError as error:
        raise UnsupportedError("cannot parse it") from error
    names = {*evaluation.base_functions, *FUNCTIONS, *_MACROS}
    for tree in parsed.iter_subtrees():
        if tree.data in _CALLS:
            name = next(str(child) for child in tree.children if isinstance(child, str))
            if name not in names:
                raise UnsupportedError(f'there is no function "{name}" here')
    return _environment().program(parsed, functions=_functions())


def _to_cel(value: Value, schema: Object) -> celtypes.Value:
    """Convert a value; the schema separates integers from doubles, and times from strings."""
    if isinstance(value, dict):
        fields, others = structural_schema.properties(schema), structural_schema.additional(schema)
        return celtypes.MapType(
            {
                celtypes.StringType(_escape_name(key) if key in fields else key): _to_cel(
                    part, fields.get(key, others or {})
                )
                for key, part in value.items()
                if part is not None or key not in fields  # a null field is an absent one
            }
        )
    if isinstance(value, list):
        below = structural_schema.items(schema) or {}
        return celtypes.ListType([_to_cel(item, below) for item in value])
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        is_double = schema.get("type") == "number"
        return celtypes.DoubleType(value) if is_double else celtypes.IntType(int(value))
    if isinstance(value, str):
        return _to_text(value, schema)
    return json_to_cel(value)


def _to_text(value: str, schema: Object) -> celtypes.Value:
    match schema.get("format"):
        case "date-time" | "date":
            return celtypes.TimestampType(value)
        case "duration":
            return celtypes.DurationType(value)
        case _:
            return celtypes.StringType(value)


def _escape_name(name: str) -> str:
    if name in _RESERVED:
        return f"__{name}__"
    for text, escape in _ESCAPES:
        name = name.replace(text, escape)
    return name


class RuntimeFaultError(evaluation.CELEvalError):
    """An error that every evaluator of CEL raises for the same input."""


def strict(function: Function) -> Function:
    """Wrap a function: it returns the first error among its arguments, and its own errors.

    A plain result becomes one of CEL. TypeError is raised: the types of the arguments have no such
    function.
    """

    @wraps(function)
    def call(*arguments: object) -> object:
        for argument in arguments:
            if isinstance(argument, evaluation.CELEvalError):
                return argument
        try:
            result = function(*arguments)
            return json_to_cel(cast("Value", result)) if type(result) in _PLAIN else result
        except ZeroDivisionError:
            return RuntimeFaultError("division by zero")
        except KeyError:
            return RuntimeFaultError(f"no such key: {arguments[-1]}")
        except IndexError:
            return RuntimeFaultError(f"index out of bounds: {', '.join(map(str, arguments[1:]))}")
        except ValueError as error:
            return RuntimeFaultError(str(error) or "the value is out of range")

    return call


def decide(left: object, right: object, *, decisive: bool) -> object:
    """Evaluate `&&` or `||`: the decisive value beats an error on either side.

    Of two errors the left one remains.
    """
    sides = (left, right)
    for side in sides:
        if isinstance(side, celtypes.BoolType) and bool(side) is decisive:
            return side
    for side in sides:
        if isinstance(side, evaluation.CELEvalError):
            return side
    if not all(isinstance(side, celtypes.BoolType) for side in sides):
        raise TypeError("no such overload")
    return right


both: Final = partial(decide, decisive=False)
either: Final = partial(decide, decisive=True)


def choose(condition: object, left: object, right: object) -> object:
    """Evaluate `?:`: an error of the condition is the result; the other side does not count."""
    if isinstance(condition, evaluation.CELEvalError):
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


class _Evaluator(evaluation.Evaluator):
    """An evaluator whose macros treat errors as operators do."""

    def sub_evaluator(self, ast: lark.Tree[lark.Token]) -> evaluation.Evaluator:
        return _Evaluator(ast, activation=self.activation)

    def function_eval(
        self, name_token: lark.Token, exprlist: Iterable[evaluation.Result] | None = None
    ) -> evaluation.Result:
        """Evaluate a function; texts are converted as Go does it."""
        if isinstance(exprlist, evaluation.CELEvalError):
            return exprlist
        arguments = list(exprlist or ())
        name = str(name_token)
        if name in PARSED and len(arguments) == 1 and isinstance(arguments[0], str):
            return cast("evaluation.Result", strict(parse)(name, arguments[0]))
        return super().function_eval(name_token, exprlist)

    def macro_has_eval(self, exprlist: lark.Tree[lark.Token]) -> celtypes.BoolType:
        """Evaluate `has(a.b.c)`: it tests for c; an absent a.b is an error."""
        tree = exprlist
        while tree.data != "member_dot" and len(tree.children) == 1:
            tree = cast("lark.Tree[lark.Token]", tree.children[0])
        if tree.data == "member_dot":
            holder = self.visit(cast("lark.Tree[lark.Token]", tree.children[0]))
            if isinstance(holder, evaluation.CELEvalError):
                return cast("celtypes.BoolType", holder)
        return super().macro_has_eval(exprlist)

    def member_dot_arg(self, tree: lark.Tree[lark.Token]) -> evaluation.Result:
        name = str(tree.children[1])
        if name in {"all", "exists"}:
            return self._fold(tree, both if name == "all" else either, name == "all")
        if name == "min":
            # cel-python's own macro; to CEL it is a function.
            member = self.visit(cast("lark.Tree[lark.Token]", tree.children[0]))
            return self.method_eval(member, cast("lark.Token", tree.children[1]))
        try:
            return cast("evaluation.Result", super().member_dot_arg(tree))
        except evaluation.CELEvalError as error:
            if name not in _ITERATING_MACROS:
                raise
            return cast("evaluation.Result", error)

    def _fold(
        self,
        tree: lark.Tree[lark.Token],
        operator: _Operator,
        start: bool,  # noqa: FBT001 - the fold's first value
    ) -> evaluation.Result:
        member = self.visit(cast("lark.Tree[lark.Token]", tree.children[0]))
        if isinstance(member, evaluation.CELEvalError):
            return member
        evaluate_item = self.build_ss_macro_eval(tree)
        result: object = celtypes.BoolType(start)
        for element in cast("celtypes.ListType", member):
            result = operator(result, evaluate_item(element))
        return cast("evaluation.Result", result)
