"""The prelude as a section of the documentation, and all names of scripts as stubs for editors."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from generate import library_page

from function_script.engines.starlark import predeclared
from function_script.engines.starlark.analysis import syntax

if TYPE_CHECKING:
    from collections.abc import Iterator

_GENERATED_BY = "Written by `make goldens`."
BEGIN = f"<!-- {_GENERATED_BY} -->\n"
END = "<!-- End of what is written. -->\n"
_STUB_HEAD = f'''\
"""The names that scripts find, for editors that read stubs.

{_GENERATED_BY}
"""

from collections.abc import Callable

from _typeshed import Incomplete

'''
# A response's functions are those of the prelude, bound to their first parameter.
_BOUND = re.compile(r"^ +(\w+) = partial\(_\1, \w+\),$", re.MULTILINE)
_STUB_TYPES = {
    "dict": "dict[str, Incomplete]",
    "struct": "Response",
    "list": "list[Incomplete]",
    "tuple": "tuple[Incomplete, ...]",
    "typing.Callable": "Callable[[], dict[str, Incomplete]]",
}


def prelude() -> str:
    """Return the prelude's section of `docs/reference/starlark.md`."""
    request = [_entry(function) for function in _functions("request")]
    response = [_entry(function) for function in _functions("response")]
    response += [_entry(function, of="rsp.") for function in _methods()]
    return "\n".join([BEGIN, "### Request\n", *request, "### Response\n", *response, END])


def stubs() -> str:
    """Return the file `prelude.pyi`: the library, the prelude, and a response's functions."""
    methods = "\n".join(_stub(function, "    ") for function in _methods())
    response = f'class Response:\n    """What ``response()`` gives."""\n\n{methods}'
    own = [_stub(each) for file in ("request", "response") for each in _functions(file)]
    shared = library_page.stubs().partition("\n\n\n")[2].replace("Any", "Incomplete")
    return "\n".join([_STUB_HEAD, response, *own, shared])


def _definitions(file: str) -> dict[str, ast.FunctionDef]:
    tree = syntax.parse(predeclared.text(file)) or ast.Module(body=[], type_ignores=[])
    return {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}


def _functions(file: str) -> list[ast.FunctionDef]:
    return [each for name, each in _definitions(file).items() if not name.startswith("_")]


def _methods() -> Iterator[ast.FunctionDef]:
    definitions = _definitions("response")
    for name in _BOUND.findall(predeclared.text("response")):
        function = definitions[f"_{name}"]
        function.name = name
        del function.args.args[0]
        yield function


def _entry(function: ast.FunctionDef, of: str = "") -> str:
    for argument in function.args.args:
        argument.annotation = None
    summary, _, example = (ast.get_docstring(function) or "").partition("\n\nExample: ")
    lines = [f"- **`{of}{function.name}({ast.unparse(function.args)})`**", f"  {summary}"]
    return "\n".join([*lines, f"  `{example}`\n" if example else ""])


def _stub(function: ast.FunctionDef, indent: str = "") -> str:
    for argument in function.args.args:
        argument.annotation = _stub_type(argument.annotation)
    if indent:
        function.args.args.insert(0, ast.arg(arg="self"))
    returns = ast.unparse(_stub_type(function.returns))
    if indent and function.returns is None:
        returns = "None"
    text = (ast.get_docstring(function, clean=False) or "").replace("\n    ", f"\n{indent}    ")
    return (
        f"{indent}def {function.name}({ast.unparse(function.args)}) -> {returns}:\n"
        f'{indent}    """{text}"""\n'
    )


def _stub_type(annotation: ast.expr | None) -> ast.expr:
    text = "Incomplete" if annotation is None else ast.unparse(annotation)
    text = re.sub(r"[\w.]+", lambda word: _STUB_TYPES.get(word[0], word[0]), text)
    return ast.parse(text, mode="eval").body
