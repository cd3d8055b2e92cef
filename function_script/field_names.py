"""Lists of field names for hints: an author's own first, Crossplane's and Kubernetes' last."""

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


def in_order(names: Iterable[str]) -> list[str]:
    """Return names by the alphabet, those of Crossplane and Kubernetes last."""
    return sorted(names, key=lambda name: (name in _MACHINERY, name))


def listed(names: Iterable[str], most: int = _MAX_NAMES) -> str:
    """Return the first names as a text; it ends with ``…`` if there are more."""
    ordered = in_order(names)
    return ", ".join([*ordered[:most], *["…"] * (len(ordered) > most)])
