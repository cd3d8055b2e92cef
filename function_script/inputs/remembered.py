"""A step's input from its bytes: parsed once, and then known by those bytes.

Called by the main path for every request, for Crossplane sends the input along each time. Go
writes the fields of an object in any order, so that one input is known by a few byte strings.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from function_script import objects, wire
from function_script.cache import ByteLruCache
from function_script.inputs import kinds
from function_script.inputs.parsing import parse
from function_script.inputs.program_source import INLINE

if TYPE_CHECKING:
    from function_script.inputs.step import ExternalState, Step
    from function_script.limits import Limits
    from function_script.values import Object

# A step takes about twice the bytes of its input: the bytes, and the texts of its programs.
_MEMO_BYTES = 4 << 20
_SIZE_FACTOR = 2
_STEP_BYTES = 2_000
_memo: ByteLruCache[tuple[bytes, Limits], Step] = ByteLruCache(
    _MEMO_BYTES, admit_on_second_miss=True, is_counted=True
)


def read(payload: bytes, ceilings: Limits, outside: ExternalState) -> Step:
    """The step of an input's Struct; see `parse`. A program outside of it is read each time."""
    key = (payload, ceilings)
    step = _memo.get(key)
    if step is None:
        value = wire.decode_struct(payload, sort_keys=True)
        step = parse(value, ceilings, outside)
        if _is_inside(value):
            _memo.put(key, step, size_bytes=len(payload) * _SIZE_FACTOR + _STEP_BYTES)
    if not step.params:
        return step
    # Whatever a program could do to its params must not reach the next run.
    return replace(step, params=cast("Object", objects.deep_copy(step.params)))


def _is_inside(value: Object) -> bool:
    """Whether the program stands in the input; without a source, a peer's is the operator's."""
    if value.get("modulesFrom") is not None:
        return False
    if value.get("source") is None:
        return value.get("apiVersion") == kinds.API_VERSION
    return value["source"] == INLINE
