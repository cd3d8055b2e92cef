"""Programs and scopes for the tests of engines, and the problem that an engine has with them."""

from collections.abc import Mapping

import pytest

from function_script.engines.language import Engine
from function_script.request.lazy import Lazy
from function_script.request.limits import Limits
from function_script.request.program import Program, Scope
from function_script.request.values import Object, Readable, Value
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError
from function_script.texts.source import Source


def program(
    text: str, modules: Mapping[str, str] | None = None, *, name: str = "inline", **options: Value
) -> Program:
    """A program in the field ``name``, with modules."""
    items = (modules or {}).items()
    return Program(
        main=Source(name=name, text=text),
        modules={name: Source(name=f"modules[{name}]", text=body) for name, body in items},
        options=options,
    )


def script(text: str, modules: Mapping[str, str] | None = None) -> Program:
    """A program in Starlark."""
    return program(text, modules, name="script")


def scope(params: Object | None = None, seed: str = "", **parts: Readable) -> Scope:
    """A request of these parts alone."""
    return Scope(
        request=Lazy.of(parts, parts.__getitem__), params=params or {}, uid=seed, seed=seed
    )


def problem(engine: Engine, failing: Program, of: Scope | None = None) -> Diagnostic:
    """The first problem of a program that fails."""
    with pytest.raises(FatalError) as caught:
        engine.evaluate(failing, of or scope(), Limits())
    return caught.value.diagnostics[0]


def refusal(engine: Engine, refused: Program) -> Diagnostic:
    """The only problem of a program that does not compile."""
    with pytest.raises(FatalError) as caught:
        engine.check(refused, Limits())
    (diagnostic,) = caught.value.diagnostics
    return diagnostic
