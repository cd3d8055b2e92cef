"""The FuncMap: all functions of templates by name, Go's, function-go-templating's and sprig's.

The parser reads it, which must know names, and the compiler.
"""

import importlib.util
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from function_script.engines.gotemplate.builtins import core, function_go_templating, own
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.sprig import (
    conversions,
    crypto,
    dates,
    defaults,
    dicts,
    encoding,
    letter_case,
    lists,
    numbers,
    paths_and_urls,
    random_values,
    regex,
    semver,
    strings,
)

SPRIG: Final[tuple[Function, ...]] = (
    *(*strings.FUNCTIONS, *letter_case.FUNCTIONS, *numbers.FUNCTIONS),
    *(*defaults.FUNCTIONS, *defaults.WRITERS),
    *(*dicts.FUNCTIONS, *lists.FUNCTIONS, *conversions.FUNCTIONS, *encoding.FUNCTIONS),
    *(*regex.FUNCTIONS, *dates.FUNCTIONS, *paths_and_urls.FUNCTIONS, *semver.FUNCTIONS),
    *(*random_values.FUNCTIONS, *crypto.FUNCTIONS),
)
FUNCTIONS: Final[Mapping[str, Function]] = {
    function.name: function
    for function in (*core.FUNCTIONS, *function_go_templating.FUNCTIONS, *SPRIG)
}
MUTATING: Final = frozenset(name for name, function in FUNCTIONS.items() if function.mutates)
"""Functions that change their first argument."""
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
_ENVIRONMENT: Final = (
    "it reads the environment of the function's process: pass values through the composite "
    "resource, the context or the step's params"
)
_KEYS: Final = (
    "it makes a new key or certificate at every reconcile, which replaces the last one endlessly: "
    "let cert-manager or a provider make it once, and read it from an observed resource"
)
_SALT: Final = (
    "it draws a new salt at every reconcile, so its result never stays the same: keep the value in "
    "a secret and hash it where it is checked"
)
# Functions of sprig that we do not offer, with the reason, and what to use instead. A template
# that calls one is refused before it runs.
UNAVAILABLE: Final[Mapping[str, str]] = {
    "env": _ENVIRONMENT,
    "expandenv": _ENVIRONMENT,
    "getHostByName": "it asks the network, which templates cannot reach: pass the address through "
    "the composite resource, or let the consumer resolve the name",
    "genPrivateKey": _KEYS,
    "genCA": _KEYS,
    "genCAWithKey": _KEYS,
    "genSelfSignedCert": _KEYS,
    "genSelfSignedCertWithKey": _KEYS,
    "genSignedCert": _KEYS,
    "genSignedCertWithKey": _KEYS,
    "bcrypt": _SALT,
    "htpasswd": _SALT,
}


# Steps have few combinations of options, and a table has two hundred functions.
@lru_cache(maxsize=16)
def func_map(
    allowed: frozenset[str], *, is_own: bool = False, is_checked: bool = False
) -> Mapping[str, Function]:
    """Return the functions of a step with these options.

    ``is_own``: of our own kind. ``is_checked``: using a value that does not exist is an error.
    """
    functions = {**FUNCTIONS, **(OWN_FUNCTIONS if is_own else {})}
    if is_checked:
        functions |= own.override_lookups(functions)
    return {
        name: function
        for name, function in functions.items()
        if (not function.option or function.option in allowed) and _is_installed(function.package)
    }


def _is_installed(package: str) -> bool:
    return not package or importlib.util.find_spec(package) is not None


def unavailable_reason(name: str) -> str | None:
    """Return why a well-known function is unavailable; None for an unknown function."""
    function = FUNCTIONS.get(name)
    if function is None:
        return UNAVAILABLE.get(name)
    if not _is_installed(function.package):
        extra = f"function-script[{function.option}]"
        return f"the package {function.package} is not installed here: install {extra}"
    return _NEEDED.get(function.option)
