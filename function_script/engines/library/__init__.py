"""The functions of Starlark and Jinja: one table, from which languages, docs and editors are fed.

Pure, deterministic, size-bounded: values in, a value out, ValueError with a message otherwise.
A language decides how it exposes them, never what they are called or do.
"""

from __future__ import annotations

from function_script.engines.library import (
    connection,
    dicts,
    encoding,
    formats,
    hashing,
    naming,
    networking,
    regex,
    resources,
    text,
    units,
)
from function_script.engines.library.function import Call, Function, Group, Parameter

FUNCTIONS: tuple[Function, ...] = (
    *dicts.FUNCTIONS,
    *resources.FUNCTIONS,
    *connection.FUNCTIONS,
    *naming.FUNCTIONS,
    *text.FUNCTIONS,
    *formats.FUNCTIONS,
    *encoding.FUNCTIONS,
    *hashing.FUNCTIONS,
    *regex.FUNCTIONS,
    *networking.FUNCTIONS,
    *units.FUNCTIONS,
)

__all__ = ["FUNCTIONS", "Call", "Function", "Group", "Parameter"]
