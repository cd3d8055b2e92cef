"""The measures that confine a worker, as the worker itself reports them at its birth.

A worker packs one frame; the pool unpacks it and combines those of its workers.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from function_script.sandbox.refusals import Call, CallRefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# In place of an errno: the system answered "done", and the measure is not in force.
NOT_IN_FORCE: Final = -1


class Measure(Enum):
    """One measure; the values appear in logs and metrics."""

    SYSTEM_CALLS = "system_calls"
    PRIVILEGES = "privileges"
    MEMORY = "memory"
    PROCESSES = "processes"
    DESCRIPTORS = "descriptors"
    FILE_SIZE = "file_size"
    CORE_DUMPS = "core_dumps"
    PARENT_DEATH = "parent_death"
    INSPECTION = "inspection"


# The call that was refused (0: none) with its errno, then an errno for each measure (0: in force).
_FRAME = struct.Struct(f"<Bi{len(Measure)}i")


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """``missing`` has the measures that are not in force, with the errno that says why."""

    missing: Mapping[Measure, int] = field(default_factory=dict)

    @property
    def is_full(self) -> bool:
        """Whether every measure is in force."""
        return not self.missing

    def reason(self, measure: Measure) -> str:
        """Say why ``measure`` is missing; an empty text when it is in force."""
        number = self.missing.get(measure, 0)
        if number == 0:
            return ""
        return "it has no effect" if number == NOT_IN_FORCE else os.strerror(number)

    def summary(self) -> str:
        """Say it in one line: ``full``, or which measures are missing and why."""
        if self.is_full:
            return "full"
        return "partial: without " + self.gaps()

    def gaps(self) -> str:
        """List the missing measures with their reasons."""
        return ", ".join(f"{each.value} ({self.reason(each)})" for each in self.missing)


UNKNOWN: Final = Confinement(missing=dict.fromkeys(Measure, NOT_IN_FORCE))
"""The confinement of a worker that does not exist yet: none."""


def combine(confinements: Iterable[Confinement]) -> Confinement:
    """Return what holds for all of them."""
    missing: dict[Measure, int] = {}
    for confinement in confinements:
        missing |= confinement.missing
    return Confinement(missing={each: missing[each] for each in Measure if each in missing})


def pack(confinement: Confinement) -> bytes:
    """Return the frame of a worker that was born."""
    return _FRAME.pack(0, 0, *(confinement.missing.get(each, 0) for each in Measure))


def pack_refusal(refusal: CallRefusedError) -> bytes:
    """Return the frame of a worker that cannot be born."""
    return _FRAME.pack(refusal.call, refusal.errno, *([NOT_IN_FORCE] * len(Measure)))


def unpack(frame: bytes) -> Confinement:
    """Return the confinement in a frame.

    Raises CallRefusedError when the frame says so, ValueError for any other bytes.
    """
    if len(frame) != _FRAME.size:
        raise ValueError(f"a frame of {len(frame)} bytes")
    call, errno, *numbers = _FRAME.unpack(frame)
    if call:
        raise CallRefusedError(Call(call), errno)
    missing = {each: number for each, number in zip(Measure, numbers, strict=True) if number}
    return Confinement(missing=MappingProxyType(missing))
