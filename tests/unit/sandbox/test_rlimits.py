"""The memory limit of a worker, and the memory that it keeps between two runs."""

import ctypes
import mmap

import pytest

from function_script.request.limits import MIB
from function_script.sandbox.pool import Pool, PoolOptions
from function_script.step.telemetry import Answered


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="not the GNU C library")
def test_freed_memory_is_reused() -> None:
    """The kernel provides it once or twice for ten allocations."""
    megabytes, allocations = 4, 10
    with Pool(PoolOptions(module="support.sandbox_handlers", workers=1)) as pool:
        reply = pool.run(f"fill {megabytes}".encode(), 60.0)
    assert isinstance(reply, Answered)
    assert int(reply.response) < allocations / 2 * megabytes * MIB / mmap.PAGESIZE
