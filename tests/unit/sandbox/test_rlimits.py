"""What a worker does with memory between two runs."""

from __future__ import annotations

import ctypes
import mmap

import pytest

from function_script.limits import MIB
from function_script.sandbox import Answered, Pool, PoolOptions


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="not the GNU C library")
def test_freed_memory_is_kept_for_the_next_run() -> None:
    """Taken ten times, it is brought by the kernel once or twice, and not at every turn."""
    megabytes, turns = 4, 10
    with Pool(PoolOptions(module="support.sandbox_handlers", workers=1)) as pool:
        reply = pool.run(f"fill {megabytes}".encode(), 60.0)
    assert isinstance(reply, Answered)
    assert int(reply.response) < turns / 2 * megabytes * MIB / mmap.PAGESIZE
