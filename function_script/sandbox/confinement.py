"""The measures that confine a worker, and the frame in which a new worker reports them.

The worker packs one frame; the pool unpacks it and combines the reports of its workers.
"""

import os
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Final

from function_script.sandbox.spawn_errors import Call, CallRefusedError

# Instead of an errno: the call succeeded, and the measure is still not in force.
NOT_IN_FORCE: Final = -1


class Measure(Enum):
    """A measure; the values appear in logs and metrics."""

    SYSTEM_CALLS = "system_calls"
    PRIVILEGES = "privileges"
    MEMORY = "memory"
    PROCESSES = "processes"
    DESCRIPTORS = "descriptors"
    FILE_SIZE = "file_size"
    CORE_DUMPS = "core_dumps"
    PARENT_DEATH = "parent_death"
    INSPECTION = "inspection"


# The refused call (0: none) with its errno, then an errno for each measure (0: in force).
_FRAME = struct.Struct(f"<Bi{len(Measure)}i")


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """The confinement of a worker; ``missing`` maps measures that are not in force to an errno."""

    missing: Mapping[Measure, int] = field(default_factory=dict)

    @property
    def is_full(self) -> bool:
        """Report whether every measure is in force."""
        return not self.missing

    def reason(self, measure: Measure) -> str:
        """Return why ``measure`` is missing; empty when it is in force."""
        number = self.missing.get(measure, 0)
        if number == 0:
            return ""
        return "it has no effect" if number == NOT_IN_FORCE else os.strerror(number)

    def summary(self) -> str:
        """Return one line: ``full``, or the missing measures with their reasons."""
        if self.is_full:
            return "full"
        return "partial: without " + self.describe_missing()

    def describe_missing(self) -> str:
        """Return the missing measures with their reasons, as a list in words."""
        return ", ".join(f"{each.value} ({self.reason(each)})" for each in self.missing)


UNKNOWN: Final = Confinement(missing=dict.fromkeys(Measure, NOT_IN_FORCE))
"""The confinement before the first worker: no measure is in force."""


def combine(confinements: Iterable[Confinement]) -> Confinement:
    """Return the confinement that all of them have."""
    missing: dict[Measure, int] = {}
    for confinement in confinements:
        missing |= confinement.missing
    return Confinement(missing={each: missing[each] for each in Measure if each in missing})


def pack(confinement: Confinement) -> bytes:
    """Return the frame of a worker that is ready."""
    return _FRAME.pack(0, 0, *(confinement.missing.get(each, 0) for each in Measure))


def pack_refusal(refusal: CallRefusedError) -> bytes:
    """Return the frame of a worker that cannot start."""
    return _FRAME.pack(refusal.call, refusal.errno, *([NOT_IN_FORCE] * len(Measure)))


def unpack(frame: bytes) -> Confinement:
    """Parse the frame of a new worker.

    Raise CallRefusedError for a worker that cannot start, ValueError for any other bytes.
    """
    if len(frame) != _FRAME.size:
        raise ValueError(f"a frame of {len(frame)} bytes")
    call, errno, *numbers = _FRAME.unpack(frame)
    if call:
        raise CallRefusedError(Call(call), errno)
    missing = {each: number for each, number in zip(Measure, numbers, strict=True) if number}
    return Confinement(missing=MappingProxyType(missing))
