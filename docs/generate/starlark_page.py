"""The prelude as a section of the documentation, and all names of scripts as stubs for editors."""

from __future__ import annotations

import ast
import re

from generate import library_page

from function_script.engines.starlark import manual, signatures

_GENERATED_BY = "Written by `make goldens`."
_STUB_HEAD = f'''\
"""The names that scripts find, for editors that read stubs.

{_GENERATED_BY}
"""

from collections.abc import Callable

from _typeshed import Incomplete

'''
_STUB_TYPES = {
    "dict": "dict[str, Incomplete]",
    "struct": "Response",
    "list": "list[Incomplete]",
    "tuple": "tuple[Incomplete, ...]",
    "typing.Callable": "Callable[[], dict[str, Incomplete]]",
}


def prelude() -> str:
    """Return the prelude's section of `docs/reference/starlark.md`."""
    request = [_entry(function) for function in manual.find_functions("request")]
    response = [_entry(function) for function in manual.find_functions("response")]
    response += [_entry(function, of=manual.RESPONSE) for function in manual.find_methods()]
    return "\n".join(["### Request\n", *request, "### Response\n", *response])


def stubs() -> str:
    """Return the file `prelude.pyi`: the library, the prelude, and a response's functions."""
    methods = "\n".join(_stub(function, "    ") for function in manual.find_methods())
    response = f'class Response:\n    """What ``response()`` gives."""\n\n{methods}'
    own = [_stub(each) for file in ("request", "response") for each in manual.find_functions(file)]
    shared = library_page.stubs().partition("\n\n\n")[2].replace("Any", "Incomplete")
    return "\n".join([_STUB_HEAD, response, *own, shared])


def _entry(function: ast.FunctionDef, of: str = "") -> str:
    summary, example = manual.describe(function)
    lines = [f"- **`{signatures.read(function, of).usage}`**", f"  {summary}"]
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
