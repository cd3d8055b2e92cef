"""The types of expressions that are certain without a run.

Names are followed to the one value that they are bound to: in their function, or outside of all
functions. What only a run knows has no type.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from function_script.engines.starlark import signatures
from function_script.engines.starlark.analysis import syntax
from function_script.engines.starlark.analysis.names import Bindings, Value
from function_script.engines.starlark.analysis.request_reads import trace

_MAX_HOPS: Final = 10
# Functions that ask for a value's type or attributes: what follows may suit another one.
_TESTS: Final = frozenset({"getattr", "hasattr", "isinstance", "type"})
_CONSTANTS: Final[dict[type, str]] = {
    bool: "bool",
    int: "int",
    float: "float",
    str: "string",
    type(None): "NoneType",
}
_NODES: Final[dict[type, str]] = {
    ast.Compare: "bool",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.JoinedStr: "string",
    ast.List: "list",
    ast.ListComp: "list",
    ast.Tuple: "tuple",
}
_CALLS: Final = {
    **{name: name for name in ("bool", "dict", "float", "int", "list", "tuple")},
    "hasattr": "bool",
    "len": "int",
    "sorted": "list",
    "struct": "struct",
    **dict.fromkeys(("repr", "str", "type"), "string"),
}
_STRING_METHODS: Final = {
    **dict.fromkeys(
        (
            *("capitalize", "format", "join", "lower", "lstrip", "replace", "removeprefix"),
            *("removesuffix", "rstrip", "strip", "title", "upper"),
        ),
        "string",
    ),
    **dict.fromkeys(("split", "rsplit", "splitlines"), "list"),
    **dict.fromkeys(("endswith", "startswith", "isdigit", "isalpha", "isalnum"), "bool"),
    **dict.fromkeys(("count", "find", "index", "rfind", "rindex"), "int"),
}
_NUMBERS: Final = frozenset({"int", "float"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scope:
    """The lines of a function, or of a whole source: the names that it binds, and their values.

    ``parameters`` are those of a function that the script itself calls.
    """

    lines: range
    names: frozenset[str]
    values: Mapping[str, Value]
    parameters: frozenset[str] = frozenset()


class Kinds:
    """The types of the expressions of one source, whose program has the sources ``trees``.

    ``facts`` are types that a run has shown.
    """

    def __init__(
        self,
        tree: ast.Module,
        trees: Sequence[ast.Module] = (),
        facts: Mapping[ast.expr, str] = MappingProxyType({}),
    ) -> None:
        self.facts = facts
        # The parameters that get a response, by the first lines of their functions.
        self._responses = {
            (function.lineno, name)
            for function, lookups, of_tree in trace(trees or (tree,))
            for name, path in lookups.parts.items()
            if of_tree is tree and path == (signatures.RESPONSE,) and name != signatures.RESPONSE
        }
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        top = Bindings.of(node for node in tree.body if not isinstance(node, ast.FunctionDef))
        names = top.variables.union(top.loaded, (function.name for function in functions))
        self._top = _Scope(lines=range(0), names=names, values=top.single_values())
        self._scopes = [self._scope_of(function) for function in functions]
        self._tested = {
            (ast.unparse(node.args[0]), self._at(node).lines.start)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args
            if node.func.id in _TESTS
        }

    def _scope_of(self, function: ast.FunctionDef) -> _Scope:
        bindings = Bindings.of([function])
        # A name that a function binds anywhere is its own in all of it.
        hidden = bindings.variables.union(bindings.functions)
        is_main = function.name == "main"
        outer = {name: each for name, each in self._top.values.items() if name not in hidden}
        return _Scope(
            lines=range(function.lineno, (function.end_lineno or function.lineno) + 1),
            names=self._top.names | hidden,
            values={**outer, **bindings.single_values()},
            parameters=frozenset(() if is_main else syntax.positional_of(function)),
        )

    def _at(self, node: ast.expr) -> _Scope:
        return next((each for each in self._scopes if node.lineno in each.lines), self._top)

    def is_predeclared(self, node: ast.expr) -> bool:
        """Report whether an expression is a name to which the script gives no meaning."""
        return isinstance(node, ast.Name) and node.id not in self._at(node).names

    def is_parameter(self, node: ast.expr) -> bool:
        """Report whether an expression is a parameter, whose value the script passes elsewhere."""
        return isinstance(node, ast.Name) and node.id in self._at(node).parameters

    def of(self, node: ast.expr | None, hops: int = _MAX_HOPS) -> str | None:
        """Return the type of an expression; None if it is not certain."""
        if node is not None and node in self.facts:
            return self.facts[node]
        match node:
            case ast.Constant(value=value):
                return _CONSTANTS.get(type(value))
            case ast.Name() if hops:
                return self._of_name(node, hops - 1)
            case ast.Call() | ast.BinOp():
                return self._of_result(node, hops)
            case _:
                return _NODES.get(type(node))

    def _of_name(self, node: ast.Name, hops: int) -> str | None:
        scope = self._at(node)
        # Behind a test of its type, a name may stand for a value of another one.
        if (node.id, scope.lines.start) in self._tested:
            return None
        value = scope.values.get(node.id)
        if value is not None:
            return None if value.is_item else self.of(value.expression, hops)
        if node.id == "json" and self.is_predeclared(node):
            return "namespace"
        if node.id in signatures.functions() and self.is_predeclared(node):
            return "function"
        is_response = (scope.lines.start, node.id) in self._responses
        return signatures.RESPONSE if is_response else None

    def _of_result(self, node: ast.Call | ast.BinOp, hops: int) -> str | None:
        match node:
            case ast.Call(func=ast.Name(id=name) as function) if self.is_predeclared(function):
                return _CALLS.get(name) or signatures.kind_of_result(name)
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _STRING_METHODS:
                return _STRING_METHODS[attr] if self.of(value, hops) == "string" else None
            case ast.BinOp(left=left, op=ast.Mod()) if self.of(left, hops) == "string":
                return "string"
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                one, two = self.of(left, hops), self.of(right, hops)
                return one if one == two else None
            case _:
                return None


def can_be_equal(one: str, two: str) -> bool:
    """Report whether values of two types may be equal: numbers are, and a value of one type."""
    return one == two or {one, two} <= _NUMBERS
