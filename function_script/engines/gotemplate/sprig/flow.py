"""sprig's defaults and decisions: ``default``, ``empty``, ``ternary``, ``fail``.

Go's empty values are the false ones in Python: see values.py.
"""

from typing import Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Function


def default(fallback: object, *values: object) -> object:
    """Return the value, or the fallback for an empty one."""
    return values[0] if values and values[0] else fallback


def _empty(value: object) -> bool:
    return not value


def _coalesce(*values: object) -> object:
    return next(filter(None, values), None)


def _all(*values: object) -> bool:
    return all(values)


def _any(*values: object) -> bool:
    return any(values)


def _ternary(yes: object, no: object, condition: object) -> object:
    return yes if condition else no


def _fail(message: str) -> str:
    raise CallError(message)


FUNCTIONS: Final = (
    Function(name="default", parameters="any any...", call=default, allocates=False),
    Function(name="empty", parameters="any", call=_empty, returns="bool"),
    Function(name="coalesce", parameters="any...", call=_coalesce, allocates=False),
    Function(name="all", parameters="any...", call=_all, returns="bool"),
    Function(name="any", parameters="any...", call=_any, returns="bool"),
    Function(name="ternary", parameters="any any bool", call=_ternary, allocates=False),
    Function(name="fail", parameters="string", call=_fail, returns="string"),
)
