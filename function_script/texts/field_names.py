"""Hints about names of fields: lists of them, and what authors take for parts of a request."""

from collections.abc import Iterable
from typing import Final

_MAX_NAMES: Final = 8
# Fields that Crossplane adds to an XR, in any version, and that Kubernetes adds to any object.
_MACHINERY: Final = frozenset(
    {
        *("claimConditionTypes", "claimRef", "compositionRef", "compositionRevisionRef"),
        *("compositionRevisionSelector", "compositionSelector", "compositionUpdatePolicy"),
        *("conditions", "connectionDetails", "crossplane", "environmentConfigRefs"),
        *("publishConnectionDetailsTo", "resourceRefs", "writeConnectionSecretToRef"),
        *("creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers"),
        *("generateName", "generation", "managedFields", "ownerReferences", "resourceVersion"),
        *("selfLink", "uid"),
    }
)
_XR: Final = "observed.composite.resource"
ROOTS: Final = ("apiVersion", "kind", "metadata", "spec", "status")
"""The fields of every XR, which an XRD has, too."""
_HELM: Final = ("Capabilities", "Chart", "Files", "Template")
_SHORT: Final = {
    **dict.fromkeys(("xr", "oxr", "XR"), _XR),
    "composite": "observed.composite",
    "resource": _XR,
    "resources": "observed.resources",
    "connectionDetails": "observed.composite.connectionDetails",
}
_IN_SCRIPTS: Final = {
    **dict.fromkeys(("xr", "oxr", "XR", "resource"), "get_xr(req)"),
    "composite": 'req["observed"]["composite"]',
    "resources": 'req["observed"]["resources"]',
    "connectionDetails": "get_connection_details(req)",
}


def listed(names: Iterable[str], most: int = _MAX_NAMES) -> str:
    """Return the first names by the alphabet as a text; it ends with ``…`` if there are more.

    Those of Crossplane and Kubernetes are the last.
    """
    ordered = sorted(names, key=lambda name: (name in _MACHINERY, name))
    return ", ".join([*ordered[:most], *["…"] * (len(ordered) > most)])


def is_of_helm(name: str) -> bool:
    """Report whether a name is a part of a chart's data, and no misspelt field."""
    return name in {"Values", "Release", *_HELM}


def advise_root(name: str, prefix: str | None, *, has_params: bool = True) -> str | None:
    """Return the hint for a name that authors take for a part of a request.

    ``prefix`` begins a path in the author's language; None: a script. ``has_params``: as an input.
    """
    if name in ROOTS and prefix is None:
        return f'write get_xr(req, "{name}")'
    if name in _IN_SCRIPTS and prefix is None:
        return f"write {_IN_SCRIPTS[name]}"
    prefix = prefix or ""
    if name in ROOTS:
        return f"the XR is {prefix}{_XR}: write {prefix}{_XR}.{name}"
    if name in _SHORT:
        return f"write {prefix}{_SHORT[name]}"
    if name == "Values":
        params = f", or the input's {prefix}params" * has_params
        return f"Helm's values are {prefix}{_XR}.spec here{params}"
    if name == "Release":
        return f"a release is the XR here: {prefix}{_XR}.metadata has its name and namespace"
    if name in _HELM:
        return f"this is no chart: there are {prefix}observed, {prefix}desired, {prefix}context"
    return None
