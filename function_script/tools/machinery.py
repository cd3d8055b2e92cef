"""Crossplane's own fields of an XR, by the scope of its XRD.

Any version of Crossplane may run a program, so these are the fields of all versions.
"""

from collections.abc import Mapping
from typing import Final

from function_script.tools import xrds

# Fields of spec in an XR of Crossplane v1, and of spec.crossplane in v2.
_MOVED: Final = (
    "compositionRef",
    "compositionRevisionRef",
    "compositionRevisionSelector",
    "compositionSelector",
    "compositionUpdatePolicy",
    "resourceRefs",
)
_REMOVED: Final = (
    "claimRef",
    "environmentConfigRefs",
    "publishConnectionDetailsTo",
    "writeConnectionSecretToRef",
)
_LEGACY: Final[Mapping[str, tuple[str, ...]]] = {
    "spec": (*_MOVED, *_REMOVED),
    "status": ("claimConditionTypes", "conditions", "connectionDetails"),
}
_MODERN: Final[Mapping[str, tuple[str, ...]]] = {
    "spec": ("crossplane",),
    "status": ("conditions", "crossplane"),
}
_OWN: Final = frozenset(
    (part, name)
    for fields in (_LEGACY, _MODERN)
    for part, names in fields.items()
    for name in names
)


def fields(scope: str) -> Mapping[str, tuple[str, ...]]:
    """Return the names of the fields of ``spec`` and ``status``."""
    return _LEGACY if scope == xrds.LEGACY else _MODERN


def is_own(part: str, name: str) -> bool:
    """Report whether a field of ``spec`` or ``status`` is Crossplane's, in any scope."""
    return (part, name) in _OWN


def advise(part: str, name: str) -> str | None:
    """Return a hint for one of these fields that an XR does not have; None for other fields."""
    if part == "spec" and name in _MOVED:
        return f"Crossplane v2 has it below spec.crossplane: spec.crossplane.{name}"
    if (part, name) == ("spec", "crossplane"):
        return "XRs of scope LegacyCluster have its fields directly below spec"
    if name not in ("conditions", "crossplane") and is_own(part, name):
        return "only XRs of scope LegacyCluster have it"
    return None
