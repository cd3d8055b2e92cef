"""The functions of sprig that are unavailable, each with the reason and an alternative.

A template that calls one is refused before it runs.
"""

from typing import Final

from function_script.engines.gotemplate.function import Unavailable

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
UNAVAILABLE: Final = (
    Unavailable(name="env", reason=_ENVIRONMENT),
    Unavailable(name="expandenv", reason=_ENVIRONMENT),
    Unavailable(
        name="getHostByName",
        reason="it asks the network, which templates cannot reach: pass the address through the "
        "composite resource, or let the consumer resolve the name",
    ),
    *(
        Unavailable(name=name, reason=_KEYS)
        for name in (
            "genPrivateKey",
            "genCA",
            "genCAWithKey",
            "genSelfSignedCert",
            "genSelfSignedCertWithKey",
            "genSignedCert",
            "genSignedCertWithKey",
        )
    ),
    *(Unavailable(name=name, reason=_SALT) for name in ("bcrypt", "htpasswd")),
)
