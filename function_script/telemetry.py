"""What the log and the metrics say of a request: which XR, which step, which language.

The main path calls it, and the server for requests whose worker died. Identities only: nothing
else of a request may end up in a log.
"""

from __future__ import annotations

import time
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from function_script import cache, inputs, wire

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from function_script.inputs import Step


def read(data: bytes) -> Mapping[str, str]:
    """The facts in the bytes of a request, without those that are not in it; never raises.

    ``input`` is one of our kinds or "unknown", as far as apiVersion and kind tell; ``step`` is the
    input's ``metadata.name``, since Crossplane does not say which step it calls for.
    """
    found = wire.read_identity(data)
    kind = inputs.find_named_kind(found.input_api_version, found.input_kind)
    facts = {
        "api_version": found.api_version,
        "kind": found.kind,
        "namespace": found.namespace,
        "name": found.name,
        "uid": found.uid,
        "step": found.input_name,
        "input": found.input_kind if kind else "unknown",
        "language": inputs.LANGUAGES[kind] if kind else "",
    }
    return {key: value for key, value in facts.items() if value}


def count(facts: dict[str, str], composed: int) -> None:
    """Note how many resources the program stated, and how much of it had been read before."""
    looked_up, found = cache.reset_stats()
    facts["documents"] = str(composed)
    facts["looked_up"] = str(looked_up)
    facts["remembered"] = str(found)


def blame(facts: dict[str, str], error: Exception) -> None:
    """Note where a bug of ours is: places in code only, and no values, which may be secret."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{Path(frame.filename).stem}:{frame.lineno} in {frame.name}" for frame in frames]
    facts["bug"] = f"{type(error).__name__} at {' > '.join(places)}"


@contextmanager
def run_of(step: Step, facts: dict[str, str]) -> Iterator[None]:
    """Note what the input was read as, and how long the block took, also when it fails."""
    facts["input"], facts["language"] = step.kind, step.language
    began = time.perf_counter_ns()
    try:
        yield
    finally:
        facts["program_microseconds"] = str((time.perf_counter_ns() - began) // 1000)
