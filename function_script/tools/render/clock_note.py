"""The note that the clock stands still: `now` is the time at which the XR was made."""

from collections.abc import Iterator

from function_script import objects
from function_script.documents import Document
from function_script.errors import InputError
from function_script.tools import author_positions, step_inputs
from function_script.values import Object

_CREATION: objects.Path = ("metadata", "creationTimestamp")


def find(composition: Document, xr: Object) -> Iterator[str]:
    """Yield a note if a program reads the clock, and the XR has no creation time to show."""
    if isinstance(objects.find_path(xr, _CREATION), str):
        return
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
