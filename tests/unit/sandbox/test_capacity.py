"""The number of slots, from the limits of a container."""

import pytest

from function_script.request.limits import MIB
from function_script.sandbox import capacity
from function_script.sandbox.capacity import CgroupLimits

NEEDED = capacity.needed_processes(2)


@pytest.mark.parametrize(
    ("limits", "workers", "slow"),
    [
        pytest.param(CgroupLimits(cpus=0.1, memory_bytes=256 * MIB), 2, 4, id="small"),
        pytest.param(CgroupLimits(cpus=64.0, processes=NEEDED), None, 4, id="just enough"),
        pytest.param(CgroupLimits(processes=NEEDED + 10), 2, 14, id="some more processes"),
        pytest.param(CgroupLimits(processes=3), 2, 1, id="too few processes"),
    ],
)
def test_slots_follow_from_the_limits(
    monkeypatch: pytest.MonkeyPatch, limits: CgroupLimits, workers: int | None, slow: int
) -> None:
    """There is always at least one slow slot."""
    monkeypatch.setattr(capacity, "read_limits", lambda: limits)
    if workers is not None:
        assert capacity.cpu_count() >= workers
    assert capacity.max_slow_slots(MIB if limits.memory_bytes is None else 256 * MIB, 2) == slow


def test_slots_are_bounded() -> None:
    """Whatever the container allows, some programs can run, and not too many."""
    assert capacity.cpu_count() >= 2
    assert capacity.heavy_slots() >= 1
    assert capacity.max_slow_slots(memory_bytes=1 << 50, workers=2) == 4
    assert capacity.max_slow_slots(memory_bytes=1, workers=2) == 64
