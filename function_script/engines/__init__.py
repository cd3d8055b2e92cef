"""The table of languages. Adding one is a module, a line here, a folder of scripts, a CRD."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from function_script.engines.base import Engine
    from function_script.engines.reads import FieldAccess
    from function_script.program import Program

# Imported when first asked for: a local render pays for one language, not for three.
ENGINES = {
    "starlark": "function_script.engines.starlark",
    "jinja": "function_script.engines.jinja",
    "gotemplate": "function_script.engines.gotemplate",
}


@cache
def get(language: str) -> Engine:
    """The engine of a language; KeyError for one that is not in the table."""
    return cast("Engine", importlib.import_module(ENGINES[language]))


def find_reads(language: str, program: Program) -> list[FieldAccess]:
    """What a program that compiles certainly reads of the request; for tools."""
    folder = f"{ENGINES[language]}.analysis" if language == "starlark" else ENGINES[language]
    module = importlib.import_module(f"{folder}.request_reads")
    return cast("list[FieldAccess]", module.find(program))


def sorts_keys(language: str) -> bool:
    """Whether the language sorts the keys of what it is given by itself (Starlark does)."""
    return language == "starlark"
