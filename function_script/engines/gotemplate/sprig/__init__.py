"""The functions of sprig 3.3, in groups; registry.py joins them with Go's.

Results are Go's to the byte, oddities included. Functions whose results change, and functions that
reach out of the sandbox, are unavailable, with a reason.
"""

from collections.abc import Mapping
from typing import Final

from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.sprig import (
    conversions,
    crypto,
    dates,
    defaults,
    dicts,
    encoding,
    lists,
    numbers,
    paths_and_urls,
    random_values,
    regex,
    semver,
    strings,
)

FUNCTIONS: Final[tuple[Function, ...]] = (
    *strings.FUNCTIONS,
    *numbers.FUNCTIONS,
    *defaults.FUNCTIONS,
    *defaults.WRITERS,
    *dicts.FUNCTIONS,
    *lists.FUNCTIONS,
    *conversions.FUNCTIONS,
    *encoding.FUNCTIONS,
    *regex.FUNCTIONS,
    *dates.FUNCTIONS,
    *paths_and_urls.FUNCTIONS,
    *semver.FUNCTIONS,
    *random_values.FUNCTIONS,
    *crypto.FUNCTIONS,
)
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
