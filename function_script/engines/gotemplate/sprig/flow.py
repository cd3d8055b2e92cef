"""sprig's defaults and decisions: ``default``, ``empty``, ``ternary``, ``fail``.

What Go calls empty is what is false in Python: see values.py.
"""

from __future__ import annotations

from typing import Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Function


def default(fallback: object, *given: object) -> object:
    """The value that is given, or the fallback for one that is empty."""
    return given[0] if given and given[0] else fallback


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
    Function(name="default", takes="any any...", call=default, makes=False),
    Function(name="empty", takes="any", call=_empty, gives="bool"),
    Function(name="coalesce", takes="any...", call=_coalesce, makes=False),
    Function(name="all", takes="any...", call=_all, gives="bool"),
    Function(name="any", takes="any...", call=_any, gives="bool"),
    Function(name="ternary", takes="any any bool", call=_ternary, makes=False),
    Function(name="fail", takes="string", call=_fail, gives="string"),
)
