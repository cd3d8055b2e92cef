"""The library of Starlark and Jinja: one table for languages, documentation and editors.

Every function is pure, deterministic and bounded in size, and raises only ValueError. A language
decides how it exposes a function, and changes neither its name nor its behaviour.
"""

from function_script.engines.library import encoding, naming, networking, regex, resources, text
from function_script.engines.library.function import (
    ArgumentError,
    Call,
    Function,
    Group,
    Parameter,
)

_GROUPS = (
    *(resources.OBJECTS, resources.RESOURCES, resources.CONNECTION, naming.GROUP, text.TEXT),
    *(encoding.FORMATS, encoding.ENCODING, encoding.HASHING, regex.GROUP, networking.GROUP),
    text.UNITS,
)
FUNCTIONS: tuple[Function, ...] = tuple(
    function for group in _GROUPS for function in group.functions
)

__all__ = ["FUNCTIONS", "ArgumentError", "Call", "Function", "Group", "Parameter"]
