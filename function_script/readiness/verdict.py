"""What a rule says of an object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from function_script.values import Readable


class Verdict(NamedTuple):
    """``why`` an object is not ready follows its name: ``does not exist yet``; else it is empty.

    It holds nothing that changes while the object stays as it is: no times, no free texts of
    controllers. Who reports it would otherwise report news where there are none.
    """

    is_ready: bool
    why: str = ""


Check: TypeAlias = Callable[[Mapping[str, Readable]], Verdict]

READY = Verdict(is_ready=True)


def not_ready(why: str) -> Verdict:
    """The verdict on an object that is not ready."""
    return Verdict(is_ready=False, why=why)
