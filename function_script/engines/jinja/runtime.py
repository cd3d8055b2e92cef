"""The names that generated code imports, like `jinja2.runtime`; nothing else imports them here."""

from __future__ import annotations

from function_script.engines.jinja.operators import (
    add,
    affirm,
    check_key,
    check_settable,
    concatenate,
    contains,
    divide,
    equal,
    floor_divide,
    greater,
    greater_or_equal,
    iterate,
    less,
    less_or_equal,
    modulo,
    multiply,
    negate,
    power,
    subtract,
    take_slice,
    unequal,
)
from function_script.engines.jinja.output import to_text
from function_script.engines.jinja.undefined import Absent

__all__ = [
    "Absent",
    "add",
    "affirm",
    "check_key",
    "check_settable",
    "concatenate",
    "contains",
    "divide",
    "equal",
    "floor_divide",
    "greater",
    "greater_or_equal",
    "iterate",
    "less",
    "less_or_equal",
    "modulo",
    "multiply",
    "negate",
    "power",
    "subtract",
    "take_slice",
    "to_text",
    "unequal",
]
