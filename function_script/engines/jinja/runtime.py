"""The names that generated code imports. Nothing else may call these through it."""

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
    key,
    less,
    less_or_equal,
    modulo,
    multiply,
    negate,
    power,
    settable,
    subtract,
    turns,
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
    "turns",
    "unequal",
]
