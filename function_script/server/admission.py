"""The calls that are open, and what they may hold: requests on their way, and unread responses.

gRPC's library bounds neither. An unread request holds one stream window; a request that is read may
grow to the size limit, and a response stays in memory until the client takes it or goes away.
The gRPC server opens every call here and closes it when it is over.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from enum import Enum
from typing import TYPE_CHECKING, Final

from function_script.limits import MIB
from function_script.server import compression, connections, log, memory
from function_script.server.rpc import RpcError, Status, record_rejection

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    import grpc
    from google.protobuf.message import Message

    Context: TypeAlias = grpc.aio.ServicerContext[bytes, Message]

_LOG = logging.getLogger(__name__)
# Above the 1,000 requests that may wait for a worker, so that their own limit answers first.
MAX_CALLS: Final = 2_000
# Time to send a request, and to take a response.
MAX_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.1
# Many requests that take long to arrive could fill the memory before the next look.
_HASTY_LOOK_SECONDS: Final = 0.02
_SLOW_READS: Final = 4
# A response or request that is complete is passed on within this time, mostly.
_STALL_SECONDS: Final = 0.02
# Free memory is given back so long after the last time: when the process has grown or is idle, and
# otherwise. A process is idle when it has had no call for that long.
_TRIM_SECONDS: Final = 5.0
_ROUTINE_TRIM_SECONDS: Final = 60.0
_MIN_HELD_BYTES: Final = 256 * MIB
_MAX_REQUESTS_HELD: Final = 4
_SMALL_BYTES: Final = 1 * MIB
_SMALL_RESERVE_BYTES: Final = 64 * MIB
_TRIM_SHARE: Final = 1.1
# One in so many connections is shed at a time.
_SHARE_SHED: Final = 4


class Stage(Enum):
    """How far a call has come."""

    READING = 1
    EVALUATING = 2
    SENDING = 3


class Call:
    """One open call. ``held_bytes`` is the size of its request or, later, of its response."""

    __slots__ = ("context", "held_bytes", "rejection", "since", "stage", "task")

    def __init__(self, context: Context, task: asyncio.Task[object]) -> None:
        self.context: Final = context
        self.task: Final = task
        self.stage = Stage.READING
        self.since = time.monotonic()
        self.held_bytes = 0
        self.rejection: RpcError | None = None

    def reject(self, text: str) -> None:
        """End the read that is in progress; it returns an error with ``text``."""
        if self.stage is Stage.READING and self.rejection is None:
            self.rejection = _error(text)
            self.task.cancel()


class Admission:
    """All open calls of one server. Everything happens in ``loop``."""

    def __init__(self, loop: asyncio.AbstractEventLoop, max_request_bytes: int) -> None:
        self._loop = loop
        self._max_request_bytes = max_request_bytes
        self._max_held_bytes = max(_MAX_REQUESTS_HELD * max_request_bytes, _MIN_HELD_BYTES)
        # Large messages are decompressed one at a time, a slice in each turn of the event loop.
        self._decompression = asyncio.Lock()
        self._calls: dict[asyncio.Task[object], Call] = {}
        self._requests_bytes = 0
        self._responses_bytes = 0
        self._baseline_bytes = 0
        self._floor_bytes = 0
        self._trimmed_at = 0.0
        self._active_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._calls)

    def open(self, context: Context) -> Call:
        """Register the call that the current task handles; it is closed when that task ends."""
        if not self._baseline_bytes:
            self._baseline_bytes = self._floor_bytes = memory.resident_bytes()
        task = asyncio.current_task(self._loop)
        if task is None:
            raise RuntimeError("calls are opened by the task that handles them")
        call = Call(context, task)
        self._active_at = call.since
        text = "this server has too many open calls"
        if len(self._calls) >= MAX_CALLS and not self._shed(text):
            call.rejection = _error(text)
        self._calls[task] = call
        task.add_done_callback(self._close)
        if self._timer is None:
            self._timer = self._loop.call_later(_LOOK_SECONDS, self._look)
        return call

    async def read(self, call: Call, max_bytes: int | None = None) -> bytes | RpcError | None:
        """Return the next message of the call, None at its end, or the error to answer it with.

        A message that is compressed is decompressed, if that yields no more than ``max_bytes``,
        which is the largest request by default. Raises CancelledError when the client has gone away.
        """
        if call.rejection is not None:
            return record_rejection(call.rejection)
        call.stage, call.since = Stage.READING, time.monotonic()
        try:
            data = await call.context.read()
        except asyncio.CancelledError:
            if call.rejection is None:
                raise
            call.task.uncancel()
            return record_rejection(call.rejection)
        if not isinstance(data, bytes):
            return None
        if not compression.is_gzip(data):
            return self._hold(call, len(data)) or data
        return await self._decompress(call, data, max_bytes or self._max_request_bytes)

    def send(self, call: Call, size: int) -> None:
        """Note that a response of ``size`` bytes is handed to gRPC."""
        self._release(call)
        call.stage, call.since, call.held_bytes = Stage.SENDING, time.monotonic(), size
        self._responses_bytes += size
        if self._responses_bytes > self._max_held_bytes:
            self._shed("clients do not take their responses")

    def stop(self) -> None:
        """End the timer."""
        if self._timer is not None:
            self._timer.cancel()

    def _hold(self, call: Call, size: int) -> RpcError | None:
        """Reserve memory for a request of ``size`` bytes; return an error if there is none."""
        call.stage, call.since = Stage.EVALUATING, time.monotonic()
        # Large requests of some clients do not keep out the small ones of others.
        reserve = _SMALL_RESERVE_BYTES if size <= _SMALL_BYTES else 0
        if self._requests_bytes + size > self._max_held_bytes + reserve:
            text = "the requests at hand are all that this server can hold"
            return record_rejection(_error(text))
        call.held_bytes = size
        self._requests_bytes += size
        return None

    async def _decompress(self, call: Call, message: bytes, max_bytes: int) -> bytes | RpcError:
        """Return the content of a gzip message, whose memory is reserved before it is needed."""
        size = compression.declared_size(message)
        if size > max_bytes:
            text = f"the request has {size} bytes after decompression, the limit is {max_bytes}"
            return record_rejection(_error(text))
        rejection = self._hold(call, size + len(message))
        if rejection is not None:
            return rejection
        slices = compression.decompress(message)
        try:
            if size + len(message) <= compression.SLICE_BYTES:
                data = b"".join(slices)
            else:
                data = await self._join(slices)
        except ValueError as error:
            text = f"cannot decompress the request: {error}"
            return record_rejection(RpcError(status=Status.INTERNAL, text=text))
        call.held_bytes -= len(message)
        self._requests_bytes -= len(message)
        return data

    async def _join(self, slices: Iterator[bytes]) -> bytes:
        """Return the slices as one, with a turn of the event loop for each of them."""
        parts = []
        async with self._decompression:
            for part in slices:
                parts.append(part)
                await asyncio.sleep(0)
            return b"".join(parts)

    def _release(self, call: Call) -> None:
        if call.stage is Stage.SENDING:
            self._responses_bytes -= call.held_bytes
        else:
            self._requests_bytes -= call.held_bytes
        call.held_bytes = 0

    def _close(self, task: asyncio.Task[object]) -> None:
        call = self._calls.pop(task, None)
        if call is not None:
            self._release(call)

    def _look(self) -> None:
        """End calls that take too long, and give memory back. Runs until the process is idle."""
        now = time.monotonic()
        for call in self._stalled(now, MAX_SECONDS, Stage.READING):
            call.reject(f"the request was not complete after {MAX_SECONDS:g} s")
        late = self._stalled(now, MAX_SECONDS, Stage.SENDING)
        for peer in {call.context.peer() for call in late}:
            _drop(peer, "its client did not take a response in time")
        resident = memory.resident_bytes()
        if resident - self._baseline_bytes > self._max_held_bytes:
            # Requests that are evaluated take memory, too: a call that goes on is not to blame.
            self._shed(
                "requests and responses on their way take too much memory", only_stalled=True
            )
        if self._calls:
            self._active_at = now
        is_idle = now - self._active_at >= _TRIM_SECONDS
        self._trim_if_due(now, is_needed=is_idle or resident > self._floor_bytes * _TRIM_SHARE)
        is_hasty = len(self._stalled(now, _STALL_SECONDS, Stage.READING)) > _SLOW_READS
        seconds = _HASTY_LOOK_SECONDS if is_hasty else _LOOK_SECONDS
        is_settled = self._trimmed_at - self._active_at >= _TRIM_SECONDS
        self._timer = None if is_settled else self._loop.call_later(seconds, self._look)

    def _trim_if_due(self, now: float, *, is_needed: bool) -> None:
        """Give free memory back, with little delay if that is needed.

        What calls hold is not free while they last. Therefore growth since the last time is not
        the only reason: the process is trimmed after them, and from time to time between them.
        """
        delay = _TRIM_SECONDS if is_needed else _ROUTINE_TRIM_SECONDS
        if now - self._trimmed_at >= delay:
            self._trimmed_at = now
            memory.trim()
            self._floor_bytes = memory.resident_bytes()

    def _stalled(self, now: float, seconds: float, *stages: Stage) -> list[Call]:
        """Return the calls that have been at one of these stages for so long."""
        return [
            call
            for call in self._calls.values()
            if call.stage in stages and now - call.since > seconds
        ]

    def _shed(self, reason: str, *, only_stalled: bool = False) -> bool:
        """End calls of the connections that hold most for longest; return False if there are none.

        Calls that are not stalled are ended only if none is, and not with ``only_stalled``.
        """
        now = time.monotonic()
        calls_by_peer: defaultdict[str, list[Call]] = defaultdict(list)
        stages = (Stage.READING, Stage.SENDING)
        calls = self._stalled(now, _STALL_SECONDS, *stages)
        if not calls and not only_stalled:
            calls = self._stalled(now, 0, *stages)
        for call in calls:
            calls_by_peer[call.context.peer()].append(call)

        def weigh(peer: str) -> float:
            return sum(
                (call.held_bytes or MIB) * (now - call.since) for call in calls_by_peer[peer]
            )

        peers = sorted(calls_by_peer, key=weigh, reverse=True)
        for peer in peers[: len(peers) // _SHARE_SHED + 1]:
            calls = sorted(calls_by_peer[peer], key=lambda call: call.since)
            for call in calls[: len(calls) // 2 + 1]:
                call.reject(reason)
            if any(call.stage is Stage.SENDING for call in calls):
                _drop(peer, reason)
        return bool(peers)


def _drop(peer: str, reason: str) -> None:
    if connections.shut_down(peer):
        _LOG.warning("dropped a connection: %s", reason, extra=log.fields(client=peer))


def _error(text: str) -> RpcError:
    return RpcError(status=Status.RESOURCE_EXHAUSTED, text=text)
