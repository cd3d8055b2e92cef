"""Hints for names that authors take for parts of a request: the fields of an XR, Helm's values."""

from typing import Final

_XR: Final = "observed.composite.resource"
_OF_XR: Final = ("apiVersion", "kind", "metadata", "spec", "status")
_HELM: Final = ("Capabilities", "Chart", "Files", "Template")
_SHORT: Final = {
    **dict.fromkeys(("xr", "oxr", "XR"), _XR),
    "composite": "observed.composite",
    "resource": _XR,
    "resources": "observed.resources",
    "connectionDetails": "observed.composite.connectionDetails",
}


def advise(name: str, prefix: str = "") -> str | None:
    """Return the hint for a name at the root of a request that has no such part.

    ``prefix`` is what begins a path in the author's language.
    """
    if name in _OF_XR:
        return f"the XR is {prefix}{_XR}: write {prefix}{_XR}.{name}"
    if name in _SHORT:
        return f"write {prefix}{_SHORT[name]}"
    if name == "Values":
        return f"Helm's values are {prefix}{_XR}.spec here, or the input's {prefix}params"
    if name == "Release":
        return f"a release is the XR here: {prefix}{_XR}.metadata has its name and namespace"
    if name in _HELM:
        return f"this is no chart: there are {prefix}observed, {prefix}desired, {prefix}context"
    return None
