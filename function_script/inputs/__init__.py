"""A step's input: from the object in the Composition to a frozen Step, or every problem in it.

Nothing in a cluster validates or defaults a function's input, so this package does; it agrees
with the CRDs in input_crds/. It knows languages by their descriptors only.
"""

from function_script.inputs.parsing import (
    LANGUAGES,
    PEERS,
    find_kind,
    find_named_kind,
    find_reference,
    has_our_type,
    is_meant_for_us,
    parse_cached,
    parse_without_sources,
)
from function_script.inputs.requirements import Required
from function_script.inputs.step import (
    FindInput,
    MissingContent,
    ProgramSources,
    ReadinessOptions,
    Step,
)

__all__ = [
    "LANGUAGES",
    "PEERS",
    "FindInput",
    "MissingContent",
    "ProgramSources",
    "ReadinessOptions",
    "Required",
    "Step",
    "find_kind",
    "find_named_kind",
    "find_reference",
    "has_our_type",
    "is_meant_for_us",
    "parse_cached",
    "parse_without_sources",
]
