"""Crossplane's own fields of an XR, by the scope of its XRD.

Called to compare what a program reads. Any version of Crossplane may run it, so the fields of all
versions count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.tools import xrds

if TYPE_CHECKING:
    from collections.abc import Mapping

# Fields that stand directly below spec in an XR of Crossplane v1, and below spec.crossplane in v2.
_MOVED: Final = (
    "compositionRef",
    "compositionRevisionRef",
    "compositionRevisionSelector",
    "compositionSelector",
    "compositionUpdatePolicy",
    "resourceRefs",
)
_GONE: Final = (
    "claimRef",
    "environmentConfigRefs",
    "publishConnectionDetailsTo",
    "writeConnectionSecretToRef",
)
_LEGACY: Final[Mapping[str, tuple[str, ...]]] = {
    "spec": (*_MOVED, *_GONE),
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
    """The names of the fields below ``spec`` and ``status``."""
    return _LEGACY if scope == xrds.LEGACY else _MODERN


def is_own(part: str, name: str) -> bool:
    """Whether a field of ``spec`` or ``status`` is Crossplane's, in any scope."""
    return (part, name) in _OWN


def advise(part: str, name: str) -> str | None:
    """What to read in an XR that does not have one of these fields; None for any other field."""
    if part == "spec" and name in _MOVED:
        return f"Crossplane v2 has it below spec.crossplane: spec.crossplane.{name}"
    if name not in ("conditions", "crossplane") and is_own(part, name):
        return "only XRs of scope LegacyCluster have it"
    return None
