"""The functions of sprig 3.3, in groups; table.py joins them with Go's and the peer's own.

Results are Go's to the byte, oddities included. What is not the same twice, and what would reach
out of the sandbox, is refused with a reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.engines.gotemplate.sprig import (
    casing,
    ciphers,
    clock,
    constraints,
    dates,
    decimals,
    derived_password,
    dicts,
    encoding,
    flow,
    json_functions,
    lists,
    numbers,
    paths,
    random_values,
    reflection,
    regex,
    text,
    unavailable,
    url_functions,
    wrapping,
)

if TYPE_CHECKING:
    from function_script.engines.gotemplate.function import Function, Unavailable

FUNCTIONS: Final[tuple[Function, ...]] = (
    *text.FUNCTIONS,
    *casing.FUNCTIONS,
    *wrapping.FUNCTIONS,
    *numbers.FUNCTIONS,
    *decimals.FUNCTIONS,
    *flow.FUNCTIONS,
    *json_functions.FUNCTIONS,
    *dicts.FUNCTIONS,
    *lists.FUNCTIONS,
    *reflection.FUNCTIONS,
    *encoding.FUNCTIONS,
    *regex.FUNCTIONS,
    *dates.FUNCTIONS,
    *clock.FUNCTIONS,
    *paths.FUNCTIONS,
    *url_functions.FUNCTIONS,
    *constraints.FUNCTIONS,
    *random_values.FUNCTIONS,
    *derived_password.FUNCTIONS,
    *ciphers.FUNCTIONS,
)
REFUSALS: Final[tuple[Unavailable, ...]] = unavailable.REFUSALS
