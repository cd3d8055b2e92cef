"""The FuncMap: all functions of templates by name, Go's, function-go-templating's and sprig's.

The parser reads it, which must know names, and the compiler.
"""

import importlib.util
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from function_script.engines.gotemplate import sprig
from function_script.engines.gotemplate.builtins import core, function_go_templating, own
from function_script.engines.gotemplate.function import Function

FUNCTIONS: Final[Mapping[str, Function]] = {
    function.name: function
    for function in (
        *core.FUNCTIONS,
        *function_go_templating.FUNCTIONS,
        *sprig.FUNCTIONS,
    )
}
# Functions that templates of our own kind have instead or in addition.
OWN_FUNCTIONS: Final[Mapping[str, Function]] = {
    function.name: function for function in (*own.GETTERS, *own.FUNCTIONS)
}
# Options of a step that some functions require.
OPTIONS: Final = ("stable_values", "crypto")
_NEEDED: Final = {
    "stable_values": "set options.stableValues: true to have it, with the same value every time",
    "crypto": "set options.crypto: true to have it",
}
_EXTRAS: Final = {"cryptography": "crypto"}


@lru_cache(maxsize=16)
def func_map(
    allowed: frozenset[str], *, is_own: bool = False, is_checked: bool = False
) -> Mapping[str, Function]:
    """Return the functions of a step with these options.

    ``is_own``: of our own kind. ``is_checked``: using a value that does not exist is an error.
    """
    candidates = {**FUNCTIONS, **(OWN_FUNCTIONS if is_own else {})}
    return {
        name: function
        for name, function in {
            **candidates,
            **(own.override_lookups(candidates) if is_checked else {}),
        }.items()
        if (not function.option or function.option in allowed) and _is_installed(function.package)
    }


def _is_installed(package: str) -> bool:
    return not package or importlib.util.find_spec(package) is not None


def unavailable_reason(name: str) -> str | None:
    """Return why a well-known function is unavailable; None for an unknown function."""
    function = FUNCTIONS.get(name)
    if function is None:
        return sprig.UNAVAILABLE.get(name)
    if not _is_installed(function.package):
        extra = f"function-script[{_EXTRAS[function.package]}]"
        return f"the package {function.package} is not installed here: install {extra}"
    return _NEEDED.get(function.option)
