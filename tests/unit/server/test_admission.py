"""Admission: the calls that are ended when memory is short."""

import asyncio

import pytest

from function_script.limits import MIB
from function_script.server import admission, memory, sockets
from function_script.server.admission import Admission

PEER = "ipv4:192.0.2.1:5000"


class Context:
    """The part of gRPC's context that admission needs."""

    def peer(self) -> str:
        return PEER


def test_call_that_makes_progress_is_spared_when_memory_is_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Requests under evaluation use the memory, and ending other calls would not free it."""
    resident_bytes = 0
    peers: list[str] = []
    monkeypatch.setattr(memory, "resident_bytes", lambda: resident_bytes)
    monkeypatch.setattr(sockets, "shut_down", peers.append)

    async def send() -> None:
        nonlocal resident_bytes
        calls = Admission(asyncio.get_running_loop(), MIB)
        call = calls.open(Context())  # type: ignore[arg-type] # a part of it
        calls.send(call, 10)
        resident_bytes = 1 << 40
        trimmer = memory.HeapTrimmer()
        calls._check(trimmer)
        assert peers == []
        call.stage_start -= 2 * admission._STALL_SECONDS
        calls._check(trimmer)
        assert peers == [PEER]
        calls.stop()

    asyncio.run(send())
