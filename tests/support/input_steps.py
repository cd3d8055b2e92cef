"""Steps of inputs, parsed as those of a request are."""

from function_script import inputs, wire
from function_script.request.limits import Limits
from function_script.request.values import Object

NOTHING = inputs.ProgramSources(
    context=lambda _: None, required=lambda *_: None, remote=lambda _: None
)
"""The sources of a request with an empty context, in which Crossplane has looked for nothing."""


def parse(value: Object, ceilings: Limits, sources: inputs.ProgramSources = NOTHING) -> inputs.Step:
    """Parse an input in the bytes of a request."""
    return inputs.parse_cached(wire.encode_struct(value), ceilings, sources)
