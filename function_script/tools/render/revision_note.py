"""A note about an XR that would not use this Composition in a cluster: it selects other revisions.

A CompositionRevision has the labels of the Composition that it is a copy of.
"""

from typing import Final

from function_script.tools import manifests
from function_script.values import Object

# In legacy XRs, Crossplane's fields are directly below spec.
_PLACES: Final = (("spec",), ("spec", "crossplane"))


def find(composition: Object, xr: Object) -> str | None:
    """Return the note for an XR whose selector does not match the labels of a Composition."""
    for place in _PLACES:
        # An XR with the policy Manual keeps its revision, whatever it selects.
        if manifests.text_at(xr, *place, "compositionUpdatePolicy") == "Manual":
            continue
        selector = ("compositionRevisionSelector", "matchLabels")
        labels = manifests.labels(composition)
        for key, value in sorted(manifests.texts_at(xr, *place, *selector).items()):
            if labels.get(key) != value:
                other = f'has "{labels[key]}"' if key in labels else "does not have it"
                return (
                    f'{manifests.describe(xr)} selects revisions with label {key}="{value}", '
                    f"the Composition {other}: in a cluster, another revision composes it"
                )
    return None
