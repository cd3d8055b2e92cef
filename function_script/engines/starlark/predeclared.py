"""The predeclared names of scripts: the shared library and the prelude, in a frozen module.

They are bound in each module before its own text runs, so the text begins at line 1 and may bind
any of the names anew.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import starlark
from starlark import LibraryExtension

from function_script.engines.library import FUNCTIONS, Call, Function
from function_script.engines.starlark import interpreter
from function_script.engines.starlark.errors import PRELUDE, recorded, refuse
from function_script.request.program import Scope
from function_script.request.values import Readable

# In this order: each may use the names of those before it.
FILES = ("objects", "resources", "request", "response")
_GLOBALS = starlark.Globals.extended_by(
    [
        LibraryExtension.StructType,
        LibraryExtension.Json,
        LibraryExtension.Partial,
        LibraryExtension.Typing,
    ]
)
_PUBLIC = re.compile(r"^def ([a-z]\w*)\(", re.MULTILINE)
_SCOPE: ContextVar[Scope | None] = ContextVar("scope", default=None)


@contextmanager
def seeded_run(scope: Scope) -> Iterator[None]:
    """Run a script inside of ``with``: the scope is the root of its stable choices."""
    token = _SCOPE.set(scope)
    try:
        yield
    finally:
        _SCOPE.reset(token)


def text(file: str) -> str:
    """Return the source of one of FILES."""
    return (Path(__file__).parent / "prelude" / f"{file}.star").read_text(encoding="utf-8")


def _with_seed(function: Function) -> Call:
    def call(*arguments: Readable, **named: Readable) -> Readable:
        scope = _SCOPE.get()
        if scope is None:
            # A value of the top level is shared by all composite resources.
            raise ValueError(f"cannot call {function.name} outside of main")
        return function.call_seeded(scope, *arguments, **named)

    return call


def _frozen() -> tuple[starlark.FrozenModule, tuple[str, ...]]:
    module = starlark.Module()
    texts = [text(file) for file in FILES]
    prelude = [name for source in texts for name in _PUBLIC.findall(source)]
    # A function of the prelude replaces the one of the library that has its name.
    others = [function for function in FUNCTIONS if function.name not in prelude]
    for function in others:
        call = _with_seed(function) if function.is_seeded else function.call
        module.add_callable(function.name, recorded(call))
    # For the prelude's own errors; no script has this name.
    module.add_callable("refuse", refuse)
    for source in texts:
        starlark.eval(module, starlark.parse(PRELUDE, source, interpreter.DIALECT), _GLOBALS)
    return module.freeze(), (*prelude, *(function.name for function in others))


_MODULE, NAMES = _frozen()


# Without re-export: `load("lib.star", "get")` must not find our `get` in the user's module.
_dialect = starlark.Dialect.standard()
_dialect.enable_load_reexport = False
_names = ", ".join(f'"{name}"' for name in NAMES)
_BINDING = starlark.parse(PRELUDE, f'load("prelude", {_names})', _dialect)
_LOADER = starlark.FileLoader(lambda _: _MODULE)


def module() -> starlark.Module:
    """Return a new module in which all NAMES are bound."""
    new = starlark.Module()
    starlark.eval(new, _BINDING, _GLOBALS, _LOADER)
    return new
