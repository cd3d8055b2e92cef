"""Admission: the open calls of a server, and the memory that their messages may hold.

gRPC's library bounds neither. A request that is not read holds one stream window; a request that is
read may grow to the size limit, and a response stays in memory until the client takes it or
disconnects. The gRPC server opens every call here, and a call is closed when its task ends.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from function_script.limits import MIB
from function_script.server import compression, log, memory, sockets
from function_script.server.rpc import RpcError, Status, record_rejection

if TYPE_CHECKING:
    import grpc
    from google.protobuf.message import Message

    Context: TypeAlias = grpc.aio.ServicerContext[bytes, Message]

_LOG = logging.getLogger(__name__)
# Above the 1,000 requests that may wait for a worker, so that the queue's own limit answers first.
MAX_CALLS: Final = 2_000
# The time to send a request, and the time to take a response.
MAX_SECONDS: Final = 60.0
_CHECK_SECONDS: Final = 0.1
# The interval while many requests arrive slowly, which could fill the memory in 0.1 s.
_FREQUENT_CHECK_SECONDS: Final = 0.02
_MAX_SLOW_READS: Final = 4
# Most calls need less time to receive a complete request, or to send a response.
_STALL_SECONDS: Final = 0.02
_MIN_HELD_BYTES: Final = 256 * MIB
_MAX_REQUESTS_HELD: Final = 4
_SMALL_BYTES: Final = 1 * MIB
_SMALL_RESERVE_BYTES: Final = 64 * MIB
# One connection in this many is shed at a time.
_SHED_DIVISOR: Final = 4


class Stage(Enum):
    """The progress of a call."""

    READING = 1
    EVALUATING = 2
    SENDING = 3


class Call:
    """One open call. ``held_bytes`` is the size of its request or, later, of its response."""

    __slots__ = ("context", "held_bytes", "rejection", "stage", "stage_start", "task")

    def __init__(self, context: Context, task: asyncio.Task[object]) -> None:
        self.context: Final = context
        self.task: Final = task
        self.stage = Stage.READING
        self.stage_start = time.monotonic()
        self.held_bytes = 0
        self.rejection: RpcError | None = None

    def enter(self, stage: Stage) -> None:
        """Move to a stage, whose time begins now."""
        self.stage, self.stage_start = stage, time.monotonic()

    def reject(self, text: str) -> None:
        """End the read in progress, so that it returns an error with ``text``."""
        if self.stage is Stage.READING and self.rejection is None:
            self.rejection = _error(text)
            self.task.cancel()


class Admission:
    """All open calls of one server. Every method runs in ``loop``."""

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
        self._trimmer: memory.HeapTrimmer | None = None
        self._has_activity = False
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._calls)

    def open(self, context: Context) -> Call:
        """Register the call of the current task; it is closed when that task ends."""
        task = asyncio.current_task(self._loop)
        if task is None:
            raise RuntimeError("calls are opened by the task that handles them")
        call = Call(context, task)
        text = "this server has too many open calls"
        if len(self._calls) >= MAX_CALLS and not self._shed(text):
            call.rejection = _error(text)
        self._calls[task] = call
        task.add_done_callback(self._close)
        if self._trimmer is None:
            self._trimmer = memory.HeapTrimmer()
            self._baseline_bytes = memory.resident_bytes()
        self._has_activity = True
        if self._timer is None:
            self._timer = self._loop.call_later(_CHECK_SECONDS, self._check, self._trimmer)
        return call

    async def read(self, call: Call, max_bytes: int | None = None) -> bytes | RpcError | None:
        """Return the next message of the call, None at its end, or the error to answer it with.

        A compressed message is decompressed, to ``max_bytes`` at most (by default the largest
        request). Raises CancelledError if the client cancels the call.
        """
        if call.rejection is not None:
            return record_rejection(call.rejection)
        if call.stage is not Stage.READING:
            call.enter(Stage.READING)
        try:
            message = await call.context.read()
        except asyncio.CancelledError:
            if call.rejection is None:
                raise
            call.task.uncancel()
            return record_rejection(call.rejection)
        if not isinstance(message, bytes):
            return None
        if not compression.is_gzip(message):
            return self._reserve(call, len(message)) or message
        return await self._decompress(call, message, max_bytes or self._max_request_bytes)

    def send(self, call: Call, size: int) -> None:
        """Record that a response of ``size`` bytes is handed to gRPC."""
        self._release(call)
        call.enter(Stage.SENDING)
        call.held_bytes = size
        self._responses_bytes += size
        if self._responses_bytes > self._max_held_bytes:
            self._shed("clients do not take their responses")

    def stop(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()

    def _reserve(self, call: Call, size: int) -> RpcError | None:
        """Reserve memory for a request of ``size`` bytes; return an error if there is none.

        The memory of the call's message before is free by now.
        """
        self._release(call)
        call.enter(Stage.EVALUATING)
        # The reserve admits small requests while large ones of other clients fill the memory.
        reserve = _SMALL_RESERVE_BYTES if size <= _SMALL_BYTES else 0
        if self._requests_bytes + size > self._max_held_bytes + reserve:
            text = "the requests at hand are all that this server can hold"
            return record_rejection(_error(text))
        call.held_bytes = size
        self._requests_bytes += size
        return None

    async def _decompress(self, call: Call, message: bytes, max_bytes: int) -> bytes | RpcError:
        """Return the content of a gzip message, and reserve its memory beforehand."""
        size = compression.declared_size(message)
        if size > max_bytes:
            text = f"the request has {size} bytes after decompression, the limit is {max_bytes}"
            return record_rejection(_error(text))
        rejection = self._reserve(call, size + len(message))
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
        """Join the slices, with a turn of the event loop for each of them."""
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

    def _check(self, trimmer: memory.HeapTrimmer) -> None:
        """End calls that take too long, and trim the heap. Repeats until the process is idle."""
        for call in self._stalled(MAX_SECONDS, Stage.READING):
            call.reject(f"the request was not complete after {MAX_SECONDS:g} s")
        late = self._stalled(MAX_SECONDS, Stage.SENDING)
        for peer in {call.context.peer() for call in late}:
            _drop(peer, "its client did not take a response in time")
        resident = memory.resident_bytes()
        if resident - self._baseline_bytes > self._max_held_bytes:
            # Requests under evaluation use memory, too, so calls that make progress are spared.
            text = "requests and responses on their way take too much memory"
            self._shed(text, only_stalled=True)
        if self._has_activity:
            trimmer.note_activity()
            self._has_activity = bool(self._calls)
        trimmer.trim_if_due(resident)
        slow_reads = len(self._stalled(_STALL_SECONDS, Stage.READING))
        seconds = _FREQUENT_CHECK_SECONDS if slow_reads > _MAX_SLOW_READS else _CHECK_SECONDS
        self._timer = None
        if not trimmer.is_settled:
            self._timer = self._loop.call_later(seconds, self._check, trimmer)

    def _stalled(self, seconds: float, *stages: Stage) -> list[Call]:
        """Return the calls that have been at one of these stages for longer than ``seconds``."""
        start = time.monotonic() - seconds
        return [
            call
            for call in self._calls.values()
            if call.stage in stages and call.stage_start < start
        ]

    def _shed(self, reason: str, *, only_stalled: bool = False) -> bool:
        """End calls of the connections that hold most for longest; return False if there are none.

        Calls that are not stalled are ended only if none is, and not with ``only_stalled``.
        """
        stages = (Stage.READING, Stage.SENDING)
        candidates = self._stalled(_STALL_SECONDS, *stages)
        if not candidates and not only_stalled:
            candidates = self._stalled(0, *stages)
        calls_by_peer: defaultdict[str, list[Call]] = defaultdict(list)
        weights: defaultdict[str, float] = defaultdict(float)
        now = time.monotonic()
        for call in candidates:
            peer = call.context.peer()
            calls_by_peer[peer].append(call)
            weights[peer] += (call.held_bytes or MIB) * (now - call.stage_start)
        peers = sorted(weights, key=weights.__getitem__, reverse=True)
        for peer in peers[: len(peers) // _SHED_DIVISOR + 1]:
            calls = sorted(calls_by_peer[peer], key=lambda call: call.stage_start)
            for call in calls[: len(calls) // 2 + 1]:
                call.reject(reason)
            if any(call.stage is Stage.SENDING for call in calls):
                _drop(peer, reason)
        return bool(peers)


def _drop(peer: str, reason: str) -> None:
    if sockets.shut_down(peer):
        _LOG.warning("dropped a connection: %s", reason, extra=log.fields(client=peer))


def _error(text: str) -> RpcError:
    return RpcError(status=Status.RESOURCE_EXHAUSTED, text=text)
