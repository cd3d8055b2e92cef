"""Admission: the calls and connections that are ended when memory is short."""

import asyncio
import errno
import itertools
import os
import time
from collections.abc import Callable
from collections.abc import Set as AbstractSet

import pytest
from support.timing import PATIENCE_SECONDS

from function_script.request.limits import MIB
from function_script.server import admission, connections, memory
from function_script.server.admission import Admission, Call

PEER = "ipv4:192.0.2.1:5000"
OTHER = "ipv6:%5B::ffff:192.0.2.2%5D:5001"
ADDRESSES = {PEER: ("192.0.2.1", 5000), OTHER: ("192.0.2.2", 5001)}


class Context:
    """The part of gRPC's context that admission needs."""

    def __init__(self, peer: str) -> None:
        self._peer = peer

    def peer(self) -> str:
        return self._peer

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return (("traceparent", "00"),)


class Machine:
    """The memory of the process, what the system counts, and the connections that were closed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.resident_bytes = 0
        self.received = dict.fromkeys(ADDRESSES.values(), 1_000)
        self.dropped: list[object] = []
        # Longer than a busy machine may keep a test waiting.
        monkeypatch.setattr(admission, "_STALL_SECONDS", 10.0)
        monkeypatch.setattr(memory, "resident_bytes", lambda: self.resident_bytes)
        monkeypatch.setattr(connections, "_count_received", lambda _: self.received)
        monkeypatch.setattr(connections, "shut_down", self._shut_down)

    def _shut_down(self, addresses: AbstractSet[object]) -> int:
        self.dropped += sorted(addresses, key=str)
        return len(addresses)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """The machine of a test."""
    return Machine(monkeypatch)


def run(test: Callable[[Admission], None]) -> None:
    async def start() -> None:
        calls = Admission(asyncio.get_running_loop(), MIB)
        test(calls)
        calls.stop()

    asyncio.run(start())


def open_stalled(calls: Admission, peer: str) -> Call:
    call = calls.open(Context(peer))  # type: ignore[arg-type] # a part of it
    call.stage_start -= 2 * admission._STALL_SECONDS
    return call


def test_call_that_makes_progress_is_spared_when_memory_is_short(machine: Machine) -> None:
    """Requests under evaluation use the memory, and ending other calls would not free it."""

    def check(calls: Admission) -> None:
        call = open_stalled(calls, PEER)
        calls.send(call, 2 * MIB)
        machine.resident_bytes = 1 << 40
        calls._check()
        assert machine.dropped == []
        call.stage_start -= 2 * admission._STALL_SECONDS
        calls._check()
        assert machine.dropped == [ADDRESSES[PEER]]

    run(check)


def test_call_that_holds_nothing_is_spared_when_another_connection_fills_the_memory(
    machine: Machine,
) -> None:
    """The bytes that a connection sent and no call has read are in gRPC's memory."""

    def check(calls: Admission) -> None:
        call = open_stalled(calls, PEER)
        machine.resident_bytes = 1 << 40
        calls._check()
        assert machine.dropped == []
        machine.received[ADDRESSES[OTHER]] += 16 * MIB
        calls._check()
        assert machine.dropped == [ADDRESSES[OTHER]]
        assert call.rejection is None

    run(check)


def test_bytes_of_a_message_that_was_read_are_not_held(machine: Machine) -> None:
    def check(calls: Admission) -> None:
        machine.received[ADDRESSES[PEER]] += 16 * MIB
        calls.connections.find(PEER).messages += 1
        machine.resident_bytes = 1 << 40
        calls._check()
        assert machine.dropped == []

    run(check)


def test_connection_that_cancels_most_of_its_calls_is_dropped(machine: Machine) -> None:
    async def open_and_cancel(calls: Admission, peer: str) -> None:
        calls.open(Context(peer))  # type: ignore[arg-type] # a part of it
        await asyncio.sleep(60)

    async def start() -> None:
        calls = Admission(asyncio.get_running_loop(), MIB)
        # A scan would count from zero again.
        calls.stop()
        calls.connections.find(OTHER).messages = 2 * admission._MAX_RESETS
        for peer in ADDRESSES:
            tasks = [
                asyncio.ensure_future(open_and_cancel(calls, peer))
                for _ in range(admission._MAX_RESETS)
            ]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    asyncio.run(start())
    assert machine.dropped == [ADDRESSES[PEER]]


def test_scans_while_memory_is_short_leave_most_of_the_time(
    monkeypatch: pytest.MonkeyPatch, machine: Machine
) -> None:
    """Two thousand connections take long to look at, and shortage may last."""
    scans: list[float] = []

    def count_received(_: object) -> dict[tuple[str, int], int]:
        scans.append(time.monotonic())
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass
        return machine.received

    monkeypatch.setattr(connections, "_count_received", count_received)

    def check(calls: Admission) -> None:
        machine.resident_bytes = 1 << 40
        end = time.monotonic() + PATIENCE_SECONDS
        while len(scans) < 4:
            assert time.monotonic() < end
            calls._check()
        assert all(later - scan >= 0.1 for scan, later in itertools.pairwise(scans))

    run(check)


def test_checks_go_on_after_one_without_a_descriptor(
    monkeypatch: pytest.MonkeyPatch, machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    """Calls that take too long would never be ended again."""

    def count_received(_: object) -> dict[tuple[str, int], int]:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(connections, "_count_received", count_received)

    def check(calls: Admission) -> None:
        calls.stop()
        calls._check()
        assert not calls._timer.cancelled()

    run(check)
    assert "too many open files" in caplog.text.lower()
    assert machine.dropped == []


def test_scarce_connections_are_those_of_the_host_with_most_that_never_called(
    monkeypatch: pytest.MonkeyPatch, machine: Machine
) -> None:
    """A client that called keeps its connection, and so does a new one of another host."""
    monkeypatch.setattr(admission.channel_args, "max_connections", lambda: 100)
    silent = [("192.0.2.9", 6_000 + port) for port in range(90)]

    def check(calls: Admission) -> None:
        calls.connections.find(PEER).messages += 1
        machine.received |= dict.fromkeys(silent, 0)
        calls._check()
        assert machine.dropped == silent[: len(silent) + len(ADDRESSES) - 75]

    run(check)
