"""The fields of the request that the functions of the prelude look into.

Written by hand after prelude/*.star; the tests of `pruning` call every getter.
"""

import ast
from collections.abc import Mapping, Sequence
from typing import Final

from function_script.engines.starlark.analysis.paths import Path
from function_script.request.objects import ENVIRONMENT, WATCHED
from function_script.request.program import ANY

# For a name that the script writes out.
_NAMED: Final[Mapping[str, Sequence[Path]]] = {
    "get_observed": [("observed", "resources")],
    "is_observed": [("observed", "resources")],
    "get_desired": [("desired", "resources")],
    "get_connection_details": [("observed", "resources")],
    "get_required": [("required_resources",), ("extra_resources",)],
    "get_credentials": [("credentials",)],
}
# In any case.
_WHOLE: Final[Mapping[str, Sequence[Path]]] = {
    **_NAMED,
    # Without a name, the composite resource's own.
    "get_connection_details": [("observed", "resources"), ("observed", "composite")],
    "get_environment": [("context", ENVIRONMENT)],
    "get_watched": [("required_resources", WATCHED), ("extra_resources", WATCHED)],
    "has_capability": [("meta",)],
    "get_xr": [("observed", "composite")],
}
OBJECT_GETTERS: Final[Mapping[str, tuple[Path, int]]] = {
    "get_xr": (("observed", "composite", "resource"), 0),
    "get_observed": (("observed", "resources"), 1),
    "get_desired": (("desired", "resources"), 1),
}
"""Getters that give a resource's object: the path, and how many names follow in the call."""

_OBJECT: Final = "resource"


def branches(getter: str, name: object) -> Sequence[Path]:
    """Return the branches that a call with the request looks into; all for an unknown function.

    ``name`` is the second argument where the script writes it out.
    """
    if getter in _NAMED and isinstance(name, str):
        return [(*path, name) for path in _NAMED[getter]]
    return _WHOLE.get(getter, [()])


def read_field(getter: str, arguments: Sequence[ast.AST]) -> tuple[Path, str] | None:
    """Return the object that a call reads a field of, and the field's path in it.

    ``arguments`` follow the request. A name that is computed may be that of ANY resource. None
    where the script does not write out the field, or reads the whole object.
    """
    if getter not in OBJECT_GETTERS:
        return None
    path, count = OBJECT_GETTERS[getter]
    positional = arguments[: count + 1]
    if any(isinstance(argument, (ast.Starred, ast.keyword)) for argument in positional):
        return None
    texts = [_text(argument) for argument in positional]
    field = texts.pop() if len(texts) > count else None
    if field is None:
        return None
    names = [ANY if text is None else text for text in texts]
    return (*path, *names, *([_OBJECT] if names else [])), field


def _text(argument: ast.AST) -> str | None:
    value = argument.value if isinstance(argument, ast.Constant) else None
    return value if isinstance(value, str) else None
