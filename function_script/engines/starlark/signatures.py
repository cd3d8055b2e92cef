"""The signatures of predeclared functions, and the attributes of values: for errors and lint."""

import ast
import copy
from functools import cache
from pathlib import Path
from typing import Final, cast

import starlark
from starlark import LibraryExtension

from function_script.engines.signatures import Parameter, Signature

# Read when the module is imported: a worker opens no files.
_STUBS: Final = (Path(__file__).parent / "prelude.pyi").read_text(encoding="utf-8")
# Functions of the language that get lists and numbers.
_BUILTINS: Final = """
def all(iterable: list | dict): ...
def any(iterable: list | dict): ...
def enumerate(iterable: list | dict, start: int = 0): ...
def len(value: str | list | dict): ...
def range(stop: int, *bounds: int): ...
def reversed(iterable: list): ...
def sorted(iterable: list | dict, *, key=None, reverse: bool = False): ...
"""
_SAMPLES: Final = {"string": '""', "list": "[]", "dict": "{}", "namespace": "json"}
RESPONSE: Final = "response"
# The types of annotations and of values, by the names of the library.
_TYPES: Final = {
    "bool": "boolean",
    "Callable": "function",
    "dict": "object",
    "float": "number",
    "function": "function",
    "int": "integer",
    "list": "list",
    "NoneType": "null",
    "Response": RESPONSE,
    RESPONSE: RESPONSE,
    "str": "string",
    "string": "string",
    "tuple": "list",
}
_RESULTS: Final = ("bool", "int", "list", "float", "dict", RESPONSE, "string")
_KINDS: Final = {_TYPES[kind]: kind for kind in _RESULTS}
# The functions of the language.
BUILTINS: Final = (
    *("abs", "all", "any", "bool", "chr", "dict", "dir", "enumerate", "fail", "filter", "float"),
    *("getattr", "hasattr", "hash", "int", "isinstance", "len", "list", "map", "max", "min", "ord"),
    *("partial", "print", "range", "repr", "reversed", "sorted", "str", "struct", "tuple", "type"),
    "zip",
)


def type_of_kind(kind: str | None) -> str:
    """Return the type of a value of Starlark's type ``kind``; "" of an unknown one."""
    return _TYPES.get(kind or "", kind or "")


def kind_of_result(name: str) -> str | None:
    """Return Starlark's type of what a predeclared function returns; None of others."""
    signature = functions().get(name)
    return _KINDS.get(signature.result) if signature is not None else None


@cache
def functions() -> dict[str, Signature]:
    """Return the signatures of predeclared functions by name."""
    trees = ast.parse(_STUBS), ast.parse(_BUILTINS)
    nodes = [node for tree in trees for node in tree.body]
    return {node.name: read(node) for node in nodes if isinstance(node, ast.FunctionDef)}


@cache
def methods() -> dict[str, Signature]:
    """Return the signatures of a response's functions by name."""
    tree = ast.parse(_STUBS)
    response = next(node for node in tree.body if isinstance(node, ast.ClassDef))
    return {
        node.name: read(node, "rsp.", 1)
        for node in response.body
        if isinstance(node, ast.FunctionDef)
    }


@cache
def attributes() -> dict[str, tuple[str, ...]]:
    """Return the attributes of values by type, as the interpreter has them."""
    module = starlark.Module()
    names = starlark.Globals.extended_by([LibraryExtension.Json])
    listed = {
        kind: tuple(
            cast("list[str]", starlark.eval(module, starlark.parse("", f"dir({text})"), names))
        )
        for kind, text in _SAMPLES.items()
    }
    return {**listed, RESPONSE: tuple(methods())}


def read(node: ast.FunctionDef, prefix: str = "", skipped: int = 0) -> Signature:
    """Return the signature of a definition, without its first ``skipped`` parameters."""
    positional = node.args.args[skipped:]
    required = len(positional) - len(node.args.defaults)
    parameters = [
        Parameter(argument.arg, _types(argument.annotation), index < required)
        for index, argument in enumerate(positional)
    ]
    if node.args.vararg is not None:
        types = _types(node.args.vararg.annotation)
        parameters.append(Parameter(node.args.vararg.arg, types, is_required=False))
    parameters += (
        Parameter(argument.arg, _types(argument.annotation), default is None, is_named_only=True)
        for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    )
    # The node may be one of a script, whose tree others read, too.
    arguments = copy.deepcopy(node.args)
    arguments.args = arguments.args[skipped:]
    for argument in (*arguments.args, *arguments.kwonlyargs, arguments.vararg or ast.arg("")):
        argument.annotation = None
    results = _types(node.returns)
    return Signature(
        name=node.name,
        usage=f"{prefix}{node.name}({ast.unparse(arguments)})",
        parameters=tuple(parameters),
        result=results[0] if len(results) == 1 else "",
        is_variadic=node.args.vararg is not None,
    )


def _types(annotation: ast.expr | None) -> tuple[str, ...]:
    """Return the types in an annotation; none where one of them may be anything."""
    match annotation:
        case ast.BinOp(left=left, right=right):
            one, two = _types(left), _types(right)
            return tuple(dict.fromkeys((*one, *two))) if one and two else ()
        case ast.Subscript(value=value):
            return _types(value)
        case ast.Name(id=name) if name in _TYPES:
            return (_TYPES[name],)
        case ast.Constant(value=None):
            return ("null",)
        case _:
            return ()
