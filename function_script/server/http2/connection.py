"""One HTTP/2 connection (RFC 9113): frames in, calls opened; answers out, as windows allow.

The listener makes one for each client. Whatever a client sends, nothing is raised to the event
loop, and what is kept of it is bounded: a client that breaks a rule loses its stream or its
connection, one that only makes work runs out of credit.
"""

# How bytes become a call, and an answer bytes:
#
#   data_received > _read > _dispatch > _on_headers > _on_block > House.open_call
#                                     > _on_data    > call.receive ... call.end
#   stream.respond > Outbound.send > (windows are open)   transport.write
#                                  > (else) stream.outbox ... _on_window_update > transport.write
#
# Streams are in `_streams` until both sides have ended them. An id below `_last_id` that is not
# there is closed; `_dropped` has those that we ended before the client was done, whose frames may
# still be on their way and mean nothing.

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, Protocol, cast

from function_script.server.http2 import frames, heads
from function_script.server.http2.credit import Credit
from function_script.server.http2.frames import Code, GoAwayError, ResetError
from function_script.server.http2.outbound import Outbound
from function_script.server.http2.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.server.http2.stream import Call

MAX_STREAMS: Final = 1_000
# A request of the usual size never waits for a window; larger ones have theirs opened on the way.
_STREAM_WINDOW: Final = 1 << 20
_WINDOW: Final = 16 << 20
_GREETING: Final = frames.settings(
    {
        frames.MAX_CONCURRENT_STREAMS: MAX_STREAMS,
        frames.INITIAL_WINDOW_SIZE: _STREAM_WINDOW,
        frames.MAX_HEADER_LIST_SIZE: heads.MAX_LIST_BYTES,
    }
) + frames.window_update(0, _WINDOW - frames.FIRST_WINDOW)
_MAX_DROPPED: Final = 1_000
# For a handshake; then, between two looks at whether the client is still there.
_FIRST_LOOK_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 20.0
_DRAIN_SECONDS: Final = 1.0
_DRAIN_PING: Final = b"draining"
_ALIVE_PING: Final = b"are you?"


class House(Protocol):
    """What a connection belongs to."""

    def open_call(self, head: heads.Head, stream: Stream) -> Call:
        """What stands behind a new stream."""

    def join(self, connection: Connection) -> None:
        """A connection is there."""

    def leave(self, connection: Connection) -> None:
        """A connection has ended."""


class Connection(asyncio.Protocol):
    """A client's connection, from its first byte to its last."""

    def __init__(self, house: House, loop: asyncio.AbstractEventLoop) -> None:
        self._house = house
        self._loop = loop
        self._transport: asyncio.Transport
        self._out: Outbound
        self._look: asyncio.TimerHandle
        self._rest = b""
        self._has_preface = self._has_settings = False
        self._is_over = self._is_draining = self._is_drained = False
        self._was_heard = self._was_asked = False
        self._blocks = heads.Blocks()
        self._credit = Credit(loop.time)
        self._streams: dict[int, Stream] = {}
        self._dropped: OrderedDict[int, None] = OrderedDict()
        self._last_id = 0
        self._window = _WINDOW
        self._handlers: dict[int, Callable[[int, int, memoryview], None]] = {
            frames.DATA: self._on_data,
            frames.HEADERS: self._on_headers,
            frames.PRIORITY: self._on_priority,
            frames.RST_STREAM: self._on_reset,
            frames.SETTINGS: self._on_settings,
            frames.PUSH_PROMISE: self._on_push,
            frames.PING: self._on_ping,
            frames.GOAWAY: self._on_goaway,
            frames.WINDOW_UPDATE: self._on_window_update,
            frames.CONTINUATION: self._on_continuation,
        }

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say what we accept; the client does so at the same time."""
        self._transport = cast("asyncio.Transport", transport)
        self._out = Outbound(self._transport, self._on_sent)
        self._look = self._loop.call_later(_FIRST_LOOK_SECONDS, self._look_after)
        self._out.write(_GREETING)
        self._out.flush()
        self._house.join(self)

    def data_received(self, data: bytes | memoryview) -> None:
        """Handle the frames that are complete; nothing is kept of ``data`` but copies."""
        if self._is_over:
            return
        self._was_heard = self._out.is_gathering = True
        try:
            self._rest = self._read(b"".join((self._rest, data)) if self._rest else data)
        except GoAwayError as fault:
            self._end(fault.code, str(fault))
        self._out.is_gathering = False
        self._out.flush()

    def take_rest(self) -> bytes:
        """The start of a frame that has not come in whole, for whoever gives it back in front."""
        rest, self._rest = self._rest, b""
        return rest

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002 - the protocol
        """Let go of everything."""
        self._is_over = True
        self._look.cancel()
        streams, self._streams = self._streams, {}
        for stream in streams.values():
            stream.call.cancel()
            stream.let_go()
        self._house.leave(self)

    def pause_writing(self) -> None:
        """The client takes answers slower than they come."""
        self._out.pause()

    def resume_writing(self) -> None:
        """It has taken most of them."""
        self._out.resume()

    # What the listener calls.

    def drain(self) -> None:
        """Take no more calls, and end with the last that is there."""
        if self._is_draining or self._is_over:
            return
        self._is_draining = True
        # Calls on their way still count: the last id is told when the PING is back.
        self._out.write(frames.goaway(frames.STREAM_MASK, Code.NO_ERROR, "shutting down"))
        self._out.write(frames.pack(frames.PING, 0, 0, _DRAIN_PING))
        self._out.flush()
        self._loop.call_later(_DRAIN_SECONDS, self._end_taking)

    def abort(self) -> None:
        """End at once."""
        self._is_over = True
        self._transport.abort()

    # Frames.

    def _read(self, data: bytes | memoryview) -> bytes:
        """Handle the frames in ``data``; what is left is the start of the next."""
        at, size = 0, len(data)
        if not self._has_preface:
            at = len(frames.PREFACE)
            if data[:at] != frames.PREFACE[:size]:
                raise GoAwayError(Code.PROTOCOL_ERROR, "this is not HTTP/2")
            if size < at:
                return bytes(data)
            self._has_preface = True
        view, unpack = memoryview(data), frames.HEAD.unpack_from
        while size - at >= frames.HEAD_BYTES:
            high, low, kind, flags, number = unpack(data, at)
            end = at + frames.HEAD_BYTES + (high << 8 | low)
            if end - at > frames.HEAD_BYTES + frames.FRAME_BYTES:
                raise GoAwayError(Code.FRAME_SIZE_ERROR, "a frame is too large")
            if end > size:
                break
            payload = view[at + frames.HEAD_BYTES : end]
            self._dispatch(kind, flags, number & frames.STREAM_MASK, payload)
            at = end
        return bytes(view[at:])

    def _dispatch(self, kind: int, flags: int, number: int, payload: memoryview) -> None:
        if self._blocks.is_open and kind != frames.CONTINUATION:
            raise GoAwayError(Code.PROTOCOL_ERROR, "a header block is interrupted")
        if not self._has_settings and kind != frames.SETTINGS:
            raise GoAwayError(Code.PROTOCOL_ERROR, "the first frame is not SETTINGS")
        handler = self._handlers.get(kind)
        if handler is None:
            self._credit.spend()
            return
        try:
            handler(flags, number, payload)
        except ResetError as fault:
            self._reset(number, fault.code)

    def _on_data(self, flags: int, number: int, payload: memoryview) -> None:
        size, is_last = len(payload), flags & frames.END_STREAM != 0
        self._take_from_window(size)
        stream = self._streams.get(number)
        if stream is None or stream.is_half_closed:
            self._on_stray(number, stream)
            return
        stream.receive_window -= size
        if stream.receive_window < 0:
            raise ResetError(Code.FLOW_CONTROL_ERROR)
        payload = frames.without_padding(flags, payload)
        if payload:
            stream.receive(payload)
        elif not is_last:
            self._credit.spend()
        if number not in self._streams:
            # It was answered, in view of what has come so far.
            return
        if is_last:
            stream.end()
        elif stream.receive_window < _STREAM_WINDOW // 2:
            self._out.write(frames.window_update(number, _STREAM_WINDOW - stream.receive_window))
            stream.receive_window = _STREAM_WINDOW

    def _take_from_window(self, size: int) -> None:
        self._window -= size
        if self._window < 0:
            raise GoAwayError(Code.FLOW_CONTROL_ERROR, "more data than the window allows")
        if self._window < _WINDOW // 2:
            self._out.write(frames.window_update(0, _WINDOW - self._window))
            self._window = _WINDOW

    def _on_headers(self, flags: int, number: int, payload: memoryview) -> None:
        block = self._blocks.begin(flags, number, payload)
        if block is not None:
            self._on_block(block)

    def _on_continuation(self, flags: int, number: int, payload: memoryview) -> None:
        block = self._blocks.go_on(flags, number, payload)
        if block is not None:
            self._on_block(block)

    def _on_block(self, block: heads.Block) -> None:
        number, is_last = block.number, block.flags & frames.END_STREAM != 0
        stream = self._streams.get(number)
        if stream is not None and not stream.is_half_closed:
            heads.check_trailers(block.fields)
            if not is_last:
                raise ResetError(Code.PROTOCOL_ERROR)
            stream.end()
        elif stream is not None or number <= self._last_id:
            self._on_stray(number, stream)
        else:
            self._last_id = number
            if block.is_malformed:
                raise ResetError(Code.PROTOCOL_ERROR)
            self._open(number, heads.check_request(block.fields), is_last=is_last)

    def _open(self, number: int, head: heads.Head, *, is_last: bool) -> None:
        if self._is_drained:
            # The client has been told that this one does not count.
            self._drop(number)
            return
        if len(self._streams) >= MAX_STREAMS:
            raise ResetError(Code.REFUSED_STREAM)
        stream = Stream(
            self._out,
            number,
            receive_window=_STREAM_WINDOW,
            send_window=self._out.first_window,
            now=self._loop.time(),
        )
        stream.expect(head.get(b"content-length"))
        self._streams[number] = stream
        stream.call = self._house.open_call(head, stream)
        if is_last:
            stream.end()

    def _on_stray(self, number: int, stream: Stream | None) -> None:
        """A frame for a stream that the client has ended, or we have, or nobody has opened."""
        if stream is not None:
            raise ResetError(Code.STREAM_CLOSED)
        if number in self._dropped:
            return
        if number > self._last_id or number == 0:
            raise GoAwayError(Code.PROTOCOL_ERROR, "a frame for a stream that is not open")
        raise GoAwayError(Code.STREAM_CLOSED, "a frame for a stream that is closed")

    def _on_priority(self, _: int, number: int, payload: memoryview) -> None:
        self._credit.spend()
        frames.check_priority(number, payload)

    def _on_reset(self, _: int, number: int, payload: memoryview) -> None:
        frames.read_only_number(payload)
        if number == 0 or number > self._last_id:
            raise GoAwayError(Code.PROTOCOL_ERROR, "RST_STREAM of no stream")
        self._credit.spend_on_reset()
        self._forget(number)

    def _on_settings(self, flags: int, number: int, payload: memoryview) -> None:
        values = frames.read_settings(flags, number, payload)
        if self._has_settings:
            self._credit.spend()
        self._has_settings = True
        if not flags & frames.ACK:
            self._out.write(frames.pack(frames.SETTINGS, frames.ACK, 0))
            self._out.configure(values, self._streams)

    def _on_push(self, _: int, __: int, ___: memoryview) -> None:
        raise GoAwayError(Code.PROTOCOL_ERROR, "clients push nothing")

    def _on_ping(self, flags: int, number: int, payload: memoryview) -> None:
        frames.check_ping(number, payload)
        self._credit.spend()
        if not flags & frames.ACK:
            self._out.write(frames.pack(frames.PING, frames.ACK, 0, payload))
        elif bytes(payload) == _DRAIN_PING:
            self._end_taking()

    def _on_goaway(self, _: int, number: int, __: memoryview) -> None:
        self._credit.spend()
        if number != 0:
            raise GoAwayError(Code.PROTOCOL_ERROR, "GOAWAY of a stream")

    def _on_window_update(self, _: int, number: int, payload: memoryview) -> None:
        increment = frames.read_only_number(payload)
        self._credit.spend()
        stream = self._streams.get(number)
        if number == 0 or stream is not None:
            self._out.open_window(stream, increment)
        elif number > self._last_id:
            raise GoAwayError(Code.PROTOCOL_ERROR, "a window of a stream that is not open")

    # Ends.

    def _on_sent(self, stream: Stream, size: int) -> None:
        """An answer is out. A client that was still sending is told that it need not."""
        self._credit.earn(size)
        if stream.is_half_closed:
            self._streams.pop(stream.id, None)
            stream.let_go()
        else:
            self._reset(stream.id, Code.NO_ERROR)
        self._end_when_drained()

    def _reset(self, number: int, code: Code) -> None:
        self._out.write(frames.reset(number, code))
        self._drop(number)
        self._forget(number)

    def _drop(self, number: int) -> None:
        self._dropped[number] = None
        if len(self._dropped) > _MAX_DROPPED:
            self._dropped.popitem(last=False)

    def _forget(self, number: int) -> None:
        """Nobody waits for this stream's answer any more."""
        stream = self._streams.pop(number, None)
        if stream is not None:
            self._out.drop(stream)
            stream.call.cancel()
            stream.let_go()
            self._end_when_drained()

    def _end_taking(self) -> None:
        if not self._is_drained and not self._is_over:
            self._is_drained = True
            self._out.write(frames.goaway(self._last_id, Code.NO_ERROR, "shutting down"))
            self._out.flush()
            self._end_when_drained()

    def _end_when_drained(self) -> None:
        if self._is_drained and not self._streams:
            self._out.flush()
            self._transport.close()

    def _end(self, code: Code, text: str) -> None:
        """Say why, and hang up."""
        self._is_over = True
        self._out.write(frames.goaway(self._last_id, code, text))
        self._out.flush()
        self._transport.close()

    def _look_after(self) -> None:
        """Whether the client is still there, and its calls get on."""
        if not self._has_settings or (self._was_asked and not self._was_heard):
            self.abort()
            return
        self._was_asked = not self._was_heard
        if self._was_asked:
            self._out.write(frames.pack(frames.PING, 0, 0, _ALIVE_PING))
        self._was_heard = False
        now = self._loop.time()
        for stream in [stream for stream in self._streams.values() if stream.is_late(now)]:
            self._reset(stream.id, Code.CANCEL)
        self._out.flush()
        self._look = self._loop.call_later(_LOOK_SECONDS, self._look_after)
