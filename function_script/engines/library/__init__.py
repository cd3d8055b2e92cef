"""The library of Starlark and Jinja: one table for languages, documentation and editors.

Every function is pure, deterministic and bounded in size, and raises only ValueError. A language
decides how it exposes a function, and changes neither its name nor its behaviour.
"""

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
from function_script.engines.library.function import (
    ArgumentError,
    Call,
    Function,
    Group,
    Parameter,
)

_MODULES = (
    dicts,
    resources,
    connection,
    naming,
    text,
    formats,
    encoding,
    hashing,
    regex,
    networking,
    units,
)
FUNCTIONS: tuple[Function, ...] = tuple(
    function for module in _MODULES for function in module.GROUP.functions
)

__all__ = ["FUNCTIONS", "ArgumentError", "Call", "Function", "Group", "Parameter"]
