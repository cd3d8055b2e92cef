"""The manual of Starlark scripts. The library's functions have an entry of their own."""

import ast
import re
from collections.abc import Iterator

from function_script.engines import language
from function_script.engines.language import Entry
from function_script.engines.starlark import predeclared, signatures
from function_script.engines.starlark.analysis import syntax

# A response's functions are those of the prelude, bound to their first parameter.
_BOUND = re.compile(r"^ +(\w+) = partial\(_\1, \w+\),$", re.MULTILINE)
RESPONSE = "rsp."


def entries() -> Iterator[Entry]:
    """Yield the language's own names, and the functions of the prelude and of a response."""
    yield from language.read_table(__package__)
    for file in ("request", "response"):
        for function in find_functions(file):
            yield _entry(function, f"functions of the {file}")
    for function in find_methods():
        yield _entry(function, "functions of the response", RESPONSE)


def find_functions(file: str) -> list[ast.FunctionDef]:
    """Return the public functions of a file of the prelude."""
    return [each for name, each in _definitions(file).items() if not name.startswith("_")]


def find_methods() -> Iterator[ast.FunctionDef]:
    """Yield the functions of a response, without the parameter that they are bound to."""
    definitions = _definitions("response")
    for name in _BOUND.findall(predeclared.text("response")):
        function = definitions[f"_{name}"]
        function.name = name
        del function.args.args[0]
        yield function


def describe(function: ast.FunctionDef) -> tuple[str, str]:
    """Return the summary and the example of a function."""
    summary, _, example = (ast.get_docstring(function) or "").partition("\n\nExample: ")
    return summary, example


def _entry(function: ast.FunctionDef, section: str, owner: str = "") -> Entry:
    summary, example = describe(function)
    return Entry(
        name=owner + function.name,
        section=section,
        summary=summary,
        usage=signatures.read(function, owner).usage,
        details=(example,) if example else (),
    )


def _definitions(file: str) -> dict[str, ast.FunctionDef]:
    tree = syntax.parse(predeclared.text(file)) or ast.Module(body=[], type_ignores=[])
    return {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
