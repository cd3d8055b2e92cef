"""What goes out on a connection: at once where windows allow, else when the client opens them.

The connection owns it and streams send through it. Frames are gathered and written together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.server.http2 import frames
from function_script.server.http2.frames import Code, GoAwayError, ResetError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from function_script.server.http2.stream import Stream

# What one stream sends before the next has its turn, when windows are scarce.
_TURN_BYTES: Final = 64 * 1024
_WRITE_BUFFER_BYTES: Final = 1 << 20
_LAST = frames.END_STREAM | frames.END_HEADERS


class Outbound:
    """``on_sent`` is called with a stream whose last byte is written, and how many it had."""

    def __init__(
        self, transport: asyncio.Transport, on_sent: Callable[[Stream, int], None]
    ) -> None:
        transport.set_write_buffer_limits(high=_WRITE_BUFFER_BYTES)
        self._transport = transport
        self._on_sent = on_sent
        self._gathered: list[bytes] = []
        self._blocked: dict[int, Stream] = {}
        self._window = frames.FIRST_WINDOW
        self._frame_bytes = frames.FRAME_BYTES
        self.first_window = frames.FIRST_WINDOW
        """What a new stream may send."""
        self.is_gathering = False
        """Whether ``flush`` will be called anyway, so that sending need not."""
        self._is_paused = False

    def write(self, frame: bytes) -> None:
        """A frame that no window holds back."""
        self._gathered.append(frame)

    def flush(self) -> None:
        """Hand over what was gathered."""
        if self._gathered:
            gathered, self._gathered = self._gathered, []
            self._transport.write(gathered[0] if len(gathered) == 1 else b"".join(gathered))

    def pause(self) -> None:
        """The client takes answers slower than they come."""
        self._is_paused = True

    def resume(self) -> None:
        """It has taken most of them."""
        self._is_paused = False
        self._pump()
        self.flush()

    def configure(self, values: dict[int, int], streams: dict[int, Stream]) -> None:
        """Do as the client's SETTINGS say; raises GoAwayError."""
        self._frame_bytes = values.get(frames.MAX_FRAME_SIZE, self._frame_bytes)
        window = values.get(frames.INITIAL_WINDOW_SIZE, self.first_window)
        for stream in streams.values():
            stream.send_window += window - self.first_window
            if stream.send_window > frames.MAX_WINDOW:
                raise GoAwayError(Code.FLOW_CONTROL_ERROR, "a window is too large")
        self.first_window = window
        self._pump()

    def open_window(self, stream: Stream | None, increment: int) -> None:
        """The client takes more, on a stream or (None) in all. Raises either fault."""
        window = increment + (self._window if stream is None else stream.send_window)
        if not increment or window > frames.MAX_WINDOW:
            code = Code.FLOW_CONTROL_ERROR if increment else Code.PROTOCOL_ERROR
            if stream is None:
                raise GoAwayError(code, "a window cannot be opened by that much")
            raise ResetError(code)
        if stream is None:
            self._window = window
        else:
            stream.send_window = window
        if self._blocked:
            self._pump()

    def send(self, stream: Stream, head: bytes, body: bytes, trailers: bytes) -> None:
        """Header block, body and last header block, each if there is any, in this order."""
        size, number = len(body), stream.id
        if head:
            stream.has_head = True
            flags = frames.END_HEADERS if body or trailers else _LAST
            self._gathered.append(frames.pack(frames.HEADERS, flags, number, head))
        if stream.outbox or size > min(self._window, stream.send_window, self._frame_bytes):
            stream.outbox.append(memoryview(body))
            stream.trailers = trailers
            self._blocked[number] = stream
            self._pump()
        else:
            if body:
                self._window -= size
                stream.send_window -= size
                self._gathered.append(frames.pack(frames.DATA, 0, number, body))
            if trailers:
                self._end(stream, trailers, size)
        if not self.is_gathering:
            self.flush()

    def drop(self, stream: Stream) -> None:
        """Send no more of it."""
        self._blocked.pop(stream.id, None)
        stream.outbox.clear()

    def _end(self, stream: Stream, trailers: bytes, size: int) -> None:
        self._gathered.append(frames.pack(frames.HEADERS, _LAST, stream.id, trailers))
        self._on_sent(stream, size)

    def _pump(self) -> None:
        """Let streams that wait for a window send in turn, as far as it goes."""
        has_moved = True
        while has_moved and self._blocked:
            has_moved = False
            for stream in list(self._blocked.values()):
                has_moved |= self._send_some(stream)

    def _send_some(self, stream: Stream) -> bool:
        room = min(self._window, stream.send_window, _TURN_BYTES)
        has_moved = False
        while stream.outbox and room > 0 and not self._is_paused:
            body = stream.outbox[0]
            piece = body[: min(room, self._frame_bytes)]
            room -= len(piece)
            self._window -= len(piece)
            stream.send_window -= len(piece)
            self._gathered.append(frames.pack(frames.DATA, 0, stream.id, piece))
            has_moved = True
            if len(piece) == len(body):
                stream.outbox.popleft()
            else:
                stream.outbox[0] = body[len(piece) :]
            stream.sent += len(piece)
        if not stream.outbox:
            del self._blocked[stream.id]
            if stream.trailers:
                self._end(stream, stream.trailers, stream.sent)
        return has_moved
