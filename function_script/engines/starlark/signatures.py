"""The signatures of predeclared functions, and the attributes of values: for errors and lint."""

import ast
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, cast

import starlark
from starlark import LibraryExtension

# Read when the module is imported: a worker opens no files.
_STUBS: Final = (Path(__file__).parent / "prelude.pyi").read_text(encoding="utf-8")
_SAMPLES: Final = {"string": '""', "list": "[]", "dict": "{}", "namespace": "json"}
_UNKNOWN: Final = frozenset({"Callable", "Incomplete"})


class Parameter(NamedTuple):
    """A parameter: the names of the types that it takes; none for any."""

    name: str
    types: frozenset[str]
    is_required: bool


class Signature(NamedTuple):
    """A predeclared function: how a call is written, its parameters, the types of its result."""

    usage: str
    parameters: tuple[Parameter, ...]
    result: frozenset[str]


@cache
def functions() -> dict[str, Signature]:
    """Return the signatures of predeclared functions by name."""
    tree = ast.parse(_STUBS)
    return {node.name: _signature(node) for node in tree.body if isinstance(node, ast.FunctionDef)}


@cache
def methods() -> dict[str, Signature]:
    """Return the signatures of a response's functions by name."""
    tree = ast.parse(_STUBS)
    response = next(node for node in tree.body if isinstance(node, ast.ClassDef))
    return {
        node.name: _signature(node, "rsp.", 1)
        for node in response.body
        if isinstance(node, ast.FunctionDef)
    }


@cache
def attributes() -> dict[str, tuple[str, ...]]:
    """Return the attributes of values by type, as the interpreter has them."""
    module = starlark.Module()
    names = starlark.Globals.extended_by([LibraryExtension.Json])
    return {
        kind: tuple(
            cast("list[str]", starlark.eval(module, starlark.parse("", f"dir({text})"), names))
        )
        for kind, text in _SAMPLES.items()
    }


def usage_of(call: ast.Call) -> str | None:
    """Return how the predeclared function that a call names is called; None for others."""
    match call.func:
        case ast.Name(id=name):
            signature = functions().get(name)
        case ast.Attribute(value=ast.Name(), attr=name):
            signature = methods().get(name)
        case _:
            return None
    return signature.usage if signature is not None else None


def _signature(node: ast.FunctionDef, prefix: str = "", skipped: int = 0) -> Signature:
    arguments = node.args.args[skipped:]
    first_default = len(arguments) - len(node.args.defaults)
    parameters = tuple(
        Parameter(argument.arg, _types(argument.annotation), index < first_default)
        for index, argument in enumerate(arguments)
    )
    texts = [
        argument.arg
        if index < first_default
        else f"{argument.arg}={ast.unparse(node.args.defaults[index - first_default])}"
        for index, argument in enumerate(arguments)
    ]
    usage = f"{prefix}{node.name}({', '.join(texts)})"
    return Signature(usage, parameters, _types(node.returns))


def _types(annotation: ast.expr | None) -> frozenset[str]:
    """Return the names of types in an annotation, as Starlark has them."""
    types: set[str] = set()
    pending = [annotation]
    while pending:
        match pending.pop():
            case ast.BinOp(left=left, right=right):
                pending += [left, right]
            case ast.Subscript(value=value):
                pending.append(value)
            case ast.Name(id=name) if name not in _UNKNOWN:
                types.add(_NAMES.get(name, name))
            case ast.Constant(value=None):
                types.add("NoneType")
            case _:
                return frozenset()
    return frozenset(types)


_NAMES: Final = {"str": "string"}
