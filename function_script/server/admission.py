"""Admission: the open calls of a server, its connections, and the memory that they may hold.

gRPC's library bounds none. A request that is not read holds one stream window; a request that is
read may grow to the size limit, a response stays in memory until the client takes it or
disconnects, and headers of 16 MiB may come before a client has acknowledged the server's settings.
The gRPC server opens every call here, and a call is closed when its task ends.

gRPC's core is configured to pass compressed messages on as they arrive (see channel_args), because
it would decompress them before the server can count their bytes. The core also hides the
grpc-encoding header, so a gzip message is recognized by its first two bytes: a protobuf message
cannot begin with them, because 0x1f is a tag of wire type 7, which does not exist. The header of
deflate (0x78) is a valid tag, so deflate stays disabled.
"""

from __future__ import annotations

import asyncio
import logging
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from function_script.request.limits import MIB
from function_script.server import channel_args, connections, log, memory
from function_script.server.connections import Connection, Connections
from function_script.server.rpc import RpcError, Status, record_rejection
from function_script.texts.errors import cause_of

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
_SCAN_SECONDS: Final = 1.0
# While memory is short, scans take at most one part in so many of a CPU.
_SCAN_DIVISOR: Final = 5
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
# A connection may hold so much without being suspected when memory is short.
_UNSUSPECTED_BYTES: Final = 1 * MIB
# The calls that a connection may cancel between two scans before their message is read, if they
# are more than those that it lets be read: a sound client may cancel all calls that it has open.
_MAX_RESETS: Final = 1_000
# The share of all connections beyond which those are closed that have never completed a message.
_SCARCE_SHARE: Final = 0.75
# About half a millisecond of CPU time.
SLICE_BYTES: Final = 256 * 1024
_MAGIC: Final = b"\x1f\x8b"
# RFC 1952: a member ends with the size of its content, modulo 2^32.
_SIZE_BYTES: Final = 4
# zlib's wbits for a gzip header and trailer.
_GZIP: Final = 16 + zlib.MAX_WBITS
# The decompressor copies the input that it has not consumed yet.
_INPUT_BYTES: Final = 64 * 1024


class Stage(Enum):
    """The progress of a call."""

    READING = 1
    EVALUATING = 2
    SENDING = 3


class Call:
    """One open call. ``held_bytes`` is the size of its request or, later, of its response."""

    __slots__ = (
        *("connection", "context", "held_bytes", "rejection", "stage", "stage_start", "task"),
        "has_message",
    )

    def __init__(
        self, context: Context, connection: Connection, task: asyncio.Task[object]
    ) -> None:
        self.context: Final = context
        self.connection: Final = connection
        self.task: Final = task
        self.has_message = False
        self.stage = Stage.READING
        self.stage_start = time.monotonic()
        self.held_bytes = 0
        self.rejection: RpcError | None = None

    def enter(self, stage: Stage) -> None:
        """Move to a stage, whose time begins now."""
        self.stage, self.stage_start = stage, time.monotonic()

    def count_bytes(self) -> int:
        """Return the memory that the call is known to hold: its metadata, or its response."""
        if self.stage is Stage.READING:
            return sum(
                len(key) + len(value) for key, value in self.context.invocation_metadata() or ()
            )
        return self.held_bytes

    def reject(self, text: str) -> None:
        """End the read in progress, so that it returns an error with ``text``."""
        if self.stage is Stage.READING and self.rejection is None:
            self.rejection = _error(text)
            self.task.cancel()


class Admission:
    """All open calls of one server. Every method runs in ``loop``."""

    def __init__(self, loop: asyncio.AbstractEventLoop, max_request_bytes: int) -> None:
        self.connections: Final = Connections()
        self._loop = loop
        self._max_request_bytes = max_request_bytes
        self._max_held_bytes = max(_MAX_REQUESTS_HELD * max_request_bytes, _MIN_HELD_BYTES)
        # Large messages are decompressed one at a time, a slice in each turn of the event loop.
        self._decompression = asyncio.Lock()
        self._calls: dict[asyncio.Task[object], Call] = {}
        self._requests_bytes = 0
        self._responses_bytes = 0
        self._baseline_bytes = memory.resident_bytes()
        self._trimmer = memory.HeapTrimmer()
        self._scan_end = 0.0
        self._scan_cost = 0.0
        self._has_activity = False
        self._has_dropped = False
        self._timer = loop.call_later(_SCAN_SECONDS, self._check)

    def open(self, context: Context) -> Call:
        """Register the call of the current task; it is closed when that task ends."""
        task = asyncio.current_task(self._loop)
        if task is None:
            raise RuntimeError("calls are opened by the task that handles them")
        call = Call(context, self.connections.find(context.peer()), task)
        text = "this server has too many open calls"
        if len(self._calls) >= MAX_CALLS and not self._shed(text):
            call.rejection = _error(text)
        self._calls[task] = call
        # However the handler ends: gRPC may cancel its task at any await.
        task.add_done_callback(self._close)
        self._has_activity = True
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
            # This cancellation was our own, and asyncio would count it against later timeouts.
            call.task.uncancel()
            return record_rejection(call.rejection)
        # At the end of a stream gRPC returns an object of its own, EOF.
        if not isinstance(message, bytes):
            return None
        call.has_message = True
        call.connection.messages += 1
        if not is_gzip(message):
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
        size = declared_size(message)
        if size > max_bytes:
            text = f"the request has {size} bytes after decompression, the limit is {max_bytes}"
            return record_rejection(_error(text))
        # Both are in memory until the last slice is decompressed.
        rejection = self._reserve(call, size + len(message))
        if rejection is not None:
            return rejection
        slices = decompress(message)
        try:
            if size + len(message) <= SLICE_BYTES:
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
        if call is None:
            return
        self._release(call)
        # A call without either was reset by its client.
        if call.has_message or call.rejection is not None:
            return
        connection = call.connection
        connection.resets += 1
        # Equal and not more, so that it is dropped once.
        if connection.resets == max(_MAX_RESETS, connection.messages):
            _drop({connection}, "it cancels most of its calls before they are read")

    def _check(self) -> None:
        """Call `_watch`, and again later, whether or not it fails."""
        seconds = _SCAN_SECONDS
        try:
            self._watch()
            slow_reads = len(self._stalled(_STALL_SECONDS, Stage.READING))
            is_filling = slow_reads > _MAX_SLOW_READS
            seconds = _FREQUENT_CHECK_SECONDS if is_filling else _CHECK_SECONDS
        except OSError as error:
            # There is no descriptor left to look into /proc with.
            _LOG.warning("cannot look for what fills the memory: %s", cause_of(error))
        finally:
            self._timer = self._loop.call_later(seconds, self._check)

    def _watch(self) -> None:
        """End calls that take too long, drop connections that fill the memory, trim the heap."""
        for call in self._stalled(MAX_SECONDS, Stage.READING):
            call.reject(f"the request was not complete after {MAX_SECONDS:g} s")
        # A response that gRPC has cannot be taken back, so its connection is closed.
        late = self._stalled(MAX_SECONDS, Stage.SENDING)
        _drop({call.connection for call in late}, "its client did not take a response in time")
        excess = self._count_excess()
        if excess > 0 and self._has_dropped:
            # gRPC has freed what they held, and the heap has it still.
            memory.trim()
            excess = self._count_excess()
        self._has_dropped = False
        now = time.monotonic()
        is_due = now - self._scan_end >= _SCAN_SECONDS
        has_scan = is_due or (
            excess > 0 and now - self._scan_end >= self._scan_cost * _SCAN_DIVISOR
        )
        if has_scan:
            used_seconds = time.thread_time()
            self.connections.scan()
            self._scan_cost = time.thread_time() - used_seconds
            # The pause begins at the end, however long the thread was kept off its CPU.
            self._scan_end = time.monotonic()
        if has_scan and excess > 0:
            self._relieve(excess)
        if is_due:
            self._make_room()
        self._trimmer.trim_if_due(memory.resident_bytes(), has_calls=self._has_activity)
        self._has_activity = bool(self._calls)

    def _count_excess(self) -> int:
        """Return the bytes beyond those that requests and responses may hold."""
        return memory.resident_bytes() - self._baseline_bytes - self._max_held_bytes

    def _relieve(self, excess: int) -> None:
        """End what holds this much memory, the largest first, by connections.

        A connection holds what it has sent and no call has read, and what its stalled calls hold.
        Requests under evaluation use memory, too, so calls that make progress are spared.
        """
        reason = "requests and responses on their way take too much memory"
        stalled: defaultdict[Connection, list[Call]] = defaultdict(list)
        for call in self._stalled(_STALL_SECONDS, Stage.READING, Stage.SENDING):
            stalled[call.connection].append(call)
        sizes = {
            connection: connection.pending_bytes
            + sum(call.count_bytes() for call in stalled[connection])
            for connection in self.connections
        }
        unwanted = set()
        for connection in sorted(sizes, key=sizes.__getitem__, reverse=True):
            if excess <= 0 or sizes[connection] < _UNSUSPECTED_BYTES:
                break
            excess -= sizes[connection]
            self._has_dropped = True
            for call in stalled[connection]:
                call.reject(reason)
            # The end of a read frees its memory; what has no call to end goes with its connection
            # alone.
            if all(call.stage is Stage.SENDING for call in stalled[connection]):
                unwanted.add(connection)
        _drop(unwanted, reason)

    def _make_room(self) -> None:
        """Close connections without a message when they are scarce, of the host with most first."""
        excess = len(self.connections) - int(_SCARCE_SHARE * channel_args.max_connections())
        if excess <= 0:
            return
        by_host: defaultdict[str, list[Connection]] = defaultdict(list)
        for connection in self.connections:
            if connection.address is not None and not connection.has_messages:
                by_host[connection.address[0]].append(connection)
        hosts = sorted(by_host.values(), key=len, reverse=True)
        unwanted = [connection for host in hosts for connection in host][:excess]
        _drop(set(unwanted), "connections are scarce, and it has sent no message")

    def _stalled(self, seconds: float, *stages: Stage) -> list[Call]:
        """Return the calls that have been at one of these stages for longer than ``seconds``."""
        start = time.monotonic() - seconds
        return [
            call
            for call in self._calls.values()
            if call.stage in stages and call.stage_start < start
        ]

    def _shed(self, reason: str) -> bool:
        """End calls of the connections that hold most for longest; return False if there are none.

        Calls that are not stalled are ended only if none is.
        """
        stages = (Stage.READING, Stage.SENDING)
        candidates = self._stalled(_STALL_SECONDS, *stages) or self._stalled(0, *stages)
        calls_by_connection: defaultdict[Connection, list[Call]] = defaultdict(list)
        weights: defaultdict[Connection, float] = defaultdict(float)
        now = time.monotonic()
        for call in candidates:
            calls_by_connection[call.connection].append(call)
            # A call that is being read holds an unknown part of a message.
            weights[call.connection] += (call.held_bytes or MIB) * (now - call.stage_start)
        heaviest = sorted(weights, key=weights.__getitem__, reverse=True)
        unwanted = set()
        for connection in heaviest[: len(heaviest) // _SHED_DIVISOR + 1]:
            calls = sorted(calls_by_connection[connection], key=lambda call: call.stage_start)
            for call in calls[: len(calls) // 2 + 1]:
                call.reject(reason)
            if any(call.stage is Stage.SENDING for call in calls):
                unwanted.add(connection)
        _drop(unwanted, reason)
        return bool(heaviest)


def _drop(unwanted: AbstractSet[Connection], reason: str) -> None:
    if not unwanted or not (count := connections.shut_down({each.address for each in unwanted})):
        return
    clients = [f"{each.address[0]}:{each.address[1]}" for each in unwanted if each.address]
    values = log.fields(client=clients[0], connections=count)
    _LOG.warning("dropped a connection: %s", reason, extra=values)


def _error(text: str) -> RpcError:
    return RpcError(status=Status.RESOURCE_EXHAUSTED, text=text)


def is_gzip(message: bytes) -> bool:
    """Report whether a message is compressed."""
    return message.startswith(_MAGIC)


def declared_size(message: bytes) -> int:
    """Return the decompressed size in bytes that a gzip message declares in its trailer."""
    return int.from_bytes(message[-_SIZE_BYTES:], "little")


def decompress(message: bytes) -> Iterator[bytes]:
    """Yield the content of a gzip message in slices of at most SLICE_BYTES.

    The slices together have exactly the declared size. Raises ValueError with the reason for a
    message that is not one complete gzip member of that size.
    """
    size = declared_size(message)
    decompressor = zlib.decompressobj(wbits=_GZIP)
    total = position = 0
    while not decompressor.eof:
        data = decompressor.unconsumed_tail
        if not data:
            data = message[position : position + _INPUT_BYTES]
            position += len(data)
        try:
            output = decompressor.decompress(data, SLICE_BYTES)
        except zlib.error as error:
            raise ValueError(str(error)) from error
        total += len(output)
        if total > size:
            raise ValueError(f"it has more than the {size} bytes that it declares")
        # All of the input is consumed, and the stream goes on.
        if not data and not output and not decompressor.eof:
            raise ValueError("it is truncated")
        yield output
    if decompressor.unused_data or position < len(message):
        raise ValueError("data follow the gzip stream")
