"""Notes about what a rendering shows otherwise than a cluster does."""

from collections.abc import Iterator
from typing import Final

from function_script.documents import Document
from function_script.engines.registry import LANGUAGES
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.tools import manifests

_CREATION: Final = ("metadata", "creationTimestamp")
# In legacy XRs, Crossplane's fields are directly below spec.
_PLACES: Final = (("spec",), ("spec", "crossplane"))


def find_clock_reads(composition: Document, xr: Object) -> Iterator[str]:
    """Yield a note if a program reads the clock, and the XR has no creation time to show.

    The clock stands still: `now` is the time at which the XR was made.
    """
    if isinstance(objects.find_path(xr, _CREATION), str) or not any(
        name in composition.text
        for language in LANGUAGES.values()
        for name in language.clock_functions
    ):
        return
    from function_script.tools import author_positions, step_inputs  # noqa: PLC0415 - slow

    for step_input in step_inputs.find_ours(composition):
        try:
            step = step_inputs.parse(step_input)
        except InputError:
            # The run reports it.
            continue
        for mention in step.language.lint.find_clock_reads(step.program):
            span = author_positions.find_outer(mention.span, step_input) or mention.span
            yield (
                f"{mention.text} is 1970-01-01T00:00:00Z at {span}: it is the time at which the XR "
                "was made, and this XR has no metadata.creationTimestamp, as it has in a cluster"
            )
            return


def find_other_revision(composition: Object, xr: Object) -> str | None:
    """Return the note for an XR whose selector does not match the labels of a Composition.

    A CompositionRevision has the labels of the Composition that it is a copy of, so that a cluster
    would not use this one.
    """
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
