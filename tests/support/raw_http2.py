"""A client of hand-made HTTP/2 frames, in plain text or over TLS, for attacks on a real server."""

import socket
import ssl
import struct
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Self

from e2e.authority import Identity
from support.timing import PATIENCE_SECONDS

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
ACK = END_STREAM = 1
END_HEADERS = 4
INITIAL_WINDOW = 4
FRAME_BYTES = 16_384
PATH = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
_FIRST_WINDOW = 65_535


class Frame(NamedTuple):
    """A frame that the server sent."""

    kind: int
    flags: int
    stream: int
    payload: bytes


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return a frame's bytes."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def setting(identifier: int, value: int) -> bytes:
    """Return one entry of a SETTINGS frame."""
    return struct.pack(">HI", identifier, value)


def message(data: bytes, *, compressed: bool = False) -> bytes:
    """Return a gRPC message with its prefix."""
    return struct.pack(">BI", compressed, len(data)) + data


def headers(path: str = PATH, extra: Iterable[tuple[str, str]] = ()) -> bytes:
    """Return the header block of a call: literals alone, without an index or Huffman's code."""
    pairs = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "test"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
        *extra,
    ]
    return b"".join(b"\x00" + _text(name) + _text(value) for name, value in pairs)


def _text(text: str) -> bytes:
    data = text.encode("latin-1")
    size = len(data)
    if size < 127:
        return bytes([size]) + data
    size -= 127
    head = [127]
    while size >= 128:
        head.append(size % 128 + 128)
        size //= 128
    return bytes([*head, size]) + data


def connect(address: str, identity: Identity | None = None) -> socket.socket:
    """Open a connection: in plain text, or over TLS as a client with an identity."""
    host, _, port = address.rpartition(":")
    plain = socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS)
    if identity is None:
        return plain
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # OpenSSL takes certificates of Crossplane's shape for self-signed; the attacker trusts anyone.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    with tempfile.TemporaryDirectory() as folder:
        files = identity.write(Path(folder))
        context.load_cert_chain(files / "tls.crt", files / "tls.key")
    return context.wrap_socket(plain)


class RawClient:
    """A connection that sends frames, and keeps to flow control only in ``send_body``."""

    def __init__(
        self, address: str, identity: Identity | None = None, *, settings: bytes = b""
    ) -> None:
        self.socket = connect(address, identity)
        self._received = b""
        self._next_stream = 1
        self._connection_window = _FIRST_WINDOW
        self._initial_window = _FIRST_WINDOW
        self._stream_windows: dict[int, int] = {}
        self.send(PREFACE + frame(SETTINGS, 0, 0, settings))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        """Send bytes as they are; the server may have hung up already."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            return

    def open(
        self, path: str = PATH, *, extra: Iterable[tuple[str, str]] = (), flags: int = 0
    ) -> int:
        """Begin a call; returns its stream."""
        stream, self._next_stream = self._next_stream, self._next_stream + 2
        self.send(frame(HEADERS, END_HEADERS | flags, stream, headers(path, extra)))
        return stream

    def call(self, data: bytes, *, extra: Iterable[tuple[str, str]] = ()) -> int:
        """Send a whole call with a small message; returns its stream."""
        stream = self.open(extra=extra)
        self.send(frame(DATA, END_STREAM, stream, message(data)))
        return stream

    def send_body(self, stream: int, data: bytes, *, seconds: float) -> int:
        """Send data as the windows open, until none opens for so long; returns the bytes sent."""
        self.socket.settimeout(seconds)
        sent = 0
        while sent < len(data):
            window = self._stream_windows.setdefault(stream, self._initial_window)
            size = min(self._connection_window, window, FRAME_BYTES, len(data) - sent)
            if size > 0:
                self.send(frame(DATA, 0, stream, data[sent : sent + size]))
                sent += size
                self._connection_window -= size
                self._stream_windows[stream] -= size
            elif self.receive() is None:
                break
        return sent

    def receive(self) -> Frame | None:
        """Return the next frame; None when the server has hung up or nothing comes in time."""
        while len(self._received) < 9 or len(self._received) < 9 + self._length():
            try:
                new = self.socket.recv(65_536)
            except (TimeoutError, ConnectionResetError, ssl.SSLError):
                return None
            if not new:
                return None
            self._received += new
        end = 9 + self._length()
        kind, flags, stream = struct.unpack(">BBI", self._received[3:9])
        received = Frame(kind, flags, stream, self._received[9:end])
        self._received = self._received[end:]
        self._note(received)
        return received

    def drain(self, seconds: float) -> None:
        """Take what comes within so long, and answer what must be answered."""
        end = time.monotonic() + seconds
        while (rest := end - time.monotonic()) > 0:
            self.socket.settimeout(rest)
            if self.receive() is None:
                return

    def receive_until(self, kind: int, stream: int, *, flags: int = 0) -> Frame:
        """Return the next such frame; AssertionError when there is none."""
        while (received := self.receive()) is not None:
            is_flagged = received.flags & flags == flags
            if received.kind == kind and received.stream == stream and is_flagged:
                return received
        raise AssertionError(f"no frame of kind {kind} came")

    def _length(self) -> int:
        return int.from_bytes(self._received[:3], "big")

    def _note(self, received: Frame) -> None:
        """Follow windows and settings, and answer what must be answered."""
        if received.kind == WINDOW:
            growth = int.from_bytes(received.payload, "big")
            if received.stream == 0:
                self._connection_window += growth
            else:
                window = self._stream_windows.setdefault(received.stream, self._initial_window)
                self._stream_windows[received.stream] = window + growth
        elif received.kind == SETTINGS and not received.flags & ACK:
            for at in range(0, len(received.payload), 6):
                identifier, value = struct.unpack(">HI", received.payload[at : at + 6])
                if identifier == INITIAL_WINDOW:
                    growth, self._initial_window = value - self._initial_window, value
                    for stream in self._stream_windows:
                        self._stream_windows[stream] += growth
            self.send(frame(SETTINGS, ACK, 0))
        elif received.kind == PING and not received.flags & ACK:
            self.send(frame(PING, ACK, 0, received.payload))
