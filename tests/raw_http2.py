"""Both ends of HTTP/2 for tests: our transport in a thread, and a client of hand-made frames."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from typing import TYPE_CHECKING, NamedTuple, Self

from hpack import Decoder, Encoder
from patience import PATIENCE_SECONDS

from function_script.limits import MIB
from function_script.server import transport
from function_script.server.http2.health import Health, Serving
from function_script.server.http2.listener import Port
from function_script.server.http2.router import Router
from function_script.server.transport import Incoming, Outcome, Refusal, Status

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

MAX_REQUEST_BYTES = 1 * MIB
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, END_HEADERS, PADDED, WITH_PRIORITY = 1, 4, 8, 32
PATH = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
HEAD = [
    (":method", "POST"),
    (":scheme", "http"),
    (":path", PATH),
    (":authority", "test"),
    ("content-type", "application/grpc"),
    ("te", "trailers"),
]


class Recorder:
    """Answers as many bytes as asked for, and remembers what it was given.

    While it ``holds``, answers are ``held`` instead of given.
    """

    def __init__(self) -> None:
        self.calls: list[Incoming] = []
        self.cancelled = 0
        self.held: list[Callable[[], None]] = []
        self.holds = False

    def answer(self, call: Incoming) -> Outcome:
        """``data`` is a decimal number, or something to refuse."""
        self.calls.append(call)
        if not call.data.strip().isdigit():
            return Refusal(status=Status.RESOURCE_EXHAUSTED, text="10 % is too much: \N{SNOWMAN}")
        return bytes(int(call.data))

    def start(self, call: Incoming, respond: Callable[[Outcome], None]) -> Callable[[], None]:
        """The same, at once, unless it ``holds``."""
        outcome = self.answer(call)
        if self.holds:
            self.held.append(lambda: respond(outcome))
        else:
            respond(outcome)
        return self._cancel

    def _cancel(self) -> None:
        self.cancelled += 1


class InLoop:
    """Our own transport in a thread."""

    def __init__(self, recorder: Recorder) -> None:
        self.loop = asyncio.new_event_loop()
        self.failures: list[object] = []
        self.loop.set_exception_handler(lambda _, context: self.failures.append(context))
        self.health = Health(transport.SERVICES)
        self.health.set(Serving.SERVING)
        router = Router(self.health)
        router.add_service(recorder, MAX_REQUEST_BYTES)
        self.listener = Port(self.loop, router, None)
        self.port = self.listener.bind("127.0.0.1:0")
        self.loop.call_soon(self.listener.open)
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()

    def call(self, task: Callable[[], object]) -> None:
        """Have ``task`` done in the loop, and wait for that."""
        done = threading.Event()
        self.loop.call_soon_threadsafe(lambda: (task(), done.set()))
        assert done.wait(PATIENCE_SECONDS)

    def stop(self) -> None:
        """End it; nothing may have been raised into the loop."""

        async def close() -> None:
            self.listener.close()
            self.listener.abort()
            await asyncio.sleep(0.01)

        asyncio.run_coroutine_threadsafe(close(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
        assert self.failures == []


class Frame(NamedTuple):
    """One frame that came."""

    kind: int
    flags: int
    stream: int
    payload: bytes

    @property
    def code(self) -> int:
        """The error code of a RST_STREAM or GOAWAY."""
        at = 4 if self.kind == GOAWAY else 0
        return int.from_bytes(self.payload[at : at + 4], "big")


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """A frame's bytes."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def message(data: bytes, *, compressed: bool = False) -> bytes:
    """A gRPC message with its prefix."""
    return struct.pack(">BI", compressed, len(data)) + data


class RawClient:
    """A connection that has shaken hands, unless ``greets`` is False."""

    def __init__(self, port: int, *, greets: bool = True, settings: bytes = b"") -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
        self._rest = b""
        self.encoder = Encoder()
        self.decoder = Decoder()
        if greets:
            self.send(PREFACE + frame(SETTINGS, 0, 0, settings))
            self.until(SETTINGS, flags=1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Send bytes; the server may have hung up already."""
        try:
            self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            return

    def block(self, head: list[tuple[str, str]] | None = None) -> bytes:
        """A header block, of a call by default."""
        return self.encoder.encode(HEAD if head is None else head)

    def call(self, stream: int, data: bytes = b"3", *, head: object = None) -> bytes:
        """The frames of a whole call."""
        block = self.block(head)  # type: ignore[arg-type] # a list of pairs, or None
        return frame(HEADERS, END_HEADERS, stream, block) + frame(
            DATA, END_STREAM, stream, message(data)
        )

    def next(self) -> Frame | None:
        """The next frame; None when the server has hung up."""
        while len(self._rest) < 9 or len(self._rest) < 9 + int.from_bytes(self._rest[:3], "big"):
            try:
                new = self._socket.recv(65_536)
            except ConnectionResetError:
                return None
            if not new:
                return None
            self._rest += new
        size = int.from_bytes(self._rest[:3], "big")
        kind, flags, stream = struct.unpack(">BBI", self._rest[3:9])
        payload, self._rest = self._rest[9 : 9 + size], self._rest[9 + size :]
        return Frame(kind, flags, stream, payload)

    def until(self, kind: int, *, flags: int = 0) -> Frame:
        """The next frame of that kind with at least these flags; fails when there is none."""
        while (found := self.next()) is not None:
            if found.kind == kind and found.flags & flags == flags:
                return found
        raise AssertionError(f"no frame of kind {kind} came")

    def all(self) -> list[Frame]:
        """Everything until the server hangs up."""
        found = []
        while (one := self.next()) is not None:
            found.append(one)
        return found

    def response(self, stream: int) -> tuple[dict[str, str], bytes]:
        """Headers and trailers together, and the body, of a stream."""
        fields: dict[str, str] = {}
        body = b""
        while (found := self.next()) is not None:
            if found.kind == HEADERS:
                fields |= {
                    str(name): str(value) for name, value in self.decoder.decode(found.payload)
                }
            if found.stream != stream:
                continue
            assert found.kind != RST, found
            if found.kind == DATA:
                body += found.payload
            if found.kind in {HEADERS, DATA} and found.flags & END_STREAM:
                return fields, body
        raise AssertionError("the server has hung up")
