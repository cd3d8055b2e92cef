"""The names that generated code imports, like `jinja2.runtime`; nothing else imports them here."""

from __future__ import annotations

from function_script.engines.jinja.operators import (
    add,
    affirm,
    concatenate,
    contains,
    cut,
    divide,
    equal,
    floor_divide,
    greater,
    greater_or_equal,
    iterate,
    key,
    less,
    less_or_equal,
    modulo,
    multiply,
    negate,
    power,
    settable,
    subtract,
    unequal,
)
from function_script.engines.jinja.output import text
from function_script.engines.jinja.undefined import Absent

__all__ = [
    "Absent",
    "add",
    "affirm",
    "concatenate",
    "contains",
    "cut",
    "divide",
    "equal",
    "floor_divide",
    "greater",
    "greater_or_equal",
    "iterate",
    "key",
    "less",
    "less_or_equal",
    "modulo",
    "multiply",
    "negate",
    "power",
    "settable",
    "subtract",
    "text",
    "unequal",
]
