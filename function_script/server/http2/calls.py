"""gRPC on a stream: messages out of bodies, deadlines, and what cannot be served.

Called by the stream. A message comes with a prefix of five bytes: whether it is compressed, and
its length.
"""

from __future__ import annotations

import time
import zlib
from typing import TYPE_CHECKING, Final

from function_script.limits import MIB
from function_script.server import transport
from function_script.server.http2.metadata import Metadata
from function_script.server.transport import Incoming, Refusal, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.server.http2.heads import Head
    from function_script.server.http2.stream import Stream
    from function_script.server.transport import Outcome, Service

_PREFIX_BYTES: Final = 5
_SECONDS: Final = {b"H": 3600.0, b"M": 60.0, b"S": 1.0, b"m": 1e-3, b"u": 1e-6, b"n": 1e-9}
_MAX_TIMEOUT_DIGITS: Final = 8
_GZIP: Final = 16 + zlib.MAX_WBITS
# What the caller of a call without a deadline waits: for ever.
_NO_DEADLINE: Final = float("inf")


class Budget:
    """Bytes of requests that are held at the same time, by all calls together."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0

    def take(self, size: int) -> bool:
        """Hold ``size`` bytes more, if that can be."""
        if self._held + size > self._most:
            return False
        self._held += size
        return True

    def give_back(self, size: int) -> None:
        """Hold that much less."""
        self._held -= size


class Refused:
    """A call that is not served: it is told so when its request is complete."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell

    def receive(self, piece: memoryview) -> None:
        """Nobody needs it."""

    def end(self) -> None:
        """Tell."""
        self._tell()

    def cancel(self) -> None:
        """It makes no difference."""


class Unary:
    """One message in, one out."""

    def __init__(
        self, service: Service, head: Head, stream: Stream, *, max_bytes: int, budget: Budget
    ) -> None:
        self._service = service
        self._head = head
        self._stream = stream
        self._max_bytes = max_bytes
        self._budget = budget
        self._prefix = b""
        self._parts: list[bytes] = []
        self._size = 0
        self._is_open = True
        self._cancel: Callable[[], None] | None = None
        self._deadline = _deadline(head.get(b"grpc-timeout"))

    def receive(self, piece: memoryview) -> None:
        """Keep it, within bounds."""
        missing = _PREFIX_BYTES - len(self._prefix)
        if missing:
            self._prefix += bytes(piece[:missing])
            piece = piece[missing:]
        if max(self._size + len(piece), _length(self._prefix)) > self._max_bytes:
            self._refuse(too_large(self._max_bytes))
        elif not self._budget.take(len(piece)):
            text = "the requests at hand are all that this server can hold; it is tried again"
            self._refuse(Refusal(status=Status.RESOURCE_EXHAUSTED, text=text))
        else:
            self._size += len(piece)
            self._parts.append(bytes(piece))

    def end(self) -> None:
        """Have the request answered."""
        # The one large copy of a request: more of them would cost more than reading it.
        body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        data = unframed(self._prefix, body, self._head.get(b"grpc-encoding"), self._max_bytes)
        if isinstance(data, Refusal):
            self._refuse(data)
            return
        if self._deadline is None:
            text = "grpc-timeout is not a number of up to eight digits and a unit"
            self._refuse(Refusal(status=Status.INTERNAL, text=text))
            return
        seconds = transport.time_to_answer(self._deadline - time.monotonic())
        if seconds <= 0:
            self._respond(transport.too_late())
            return
        call = Incoming(data=data, seconds=seconds, metadata=Metadata(self._head))
        self._cancel = self._service.start(call, self._respond)

    def cancel(self) -> None:
        """Nobody waits for the answer."""
        if self._is_open:
            self._close()
            if self._cancel is not None:
                self._cancel()

    def _respond(self, outcome: Outcome) -> None:
        if not self._is_open:
            return
        self._close()
        if isinstance(outcome, bytes):
            outcome = transport.sized(outcome)
        if isinstance(outcome, bytes):
            self._stream.respond(outcome)
        else:
            self._stream.finish(outcome.status, outcome.text)

    def _refuse(self, refusal: Refusal) -> None:
        if self._is_open:
            self._respond(transport.count(refusal))

    def _close(self) -> None:
        self._is_open = False
        self._budget.give_back(self._size)
        self._parts = []


def unframed(
    prefix: bytes, message: bytes, encoding: bytes | None, max_bytes: int
) -> bytes | Refusal:
    """The only message of a call, decompressed."""
    if len(prefix) < _PREFIX_BYTES or len(message) != _length(prefix):
        text = "the request is not exactly one message with its length"
        return Refusal(status=Status.INTERNAL, text=text)
    if not prefix[0]:
        return message
    if encoding != b"gzip":
        text = "the message is compressed in a way that is not served; gzip and identity are"
        return Refusal(status=Status.UNIMPLEMENTED, text=text)
    return _decompressed(message, max_bytes)


def _decompressed(message: bytes, max_bytes: int) -> bytes | Refusal:
    inflater = zlib.decompressobj(_GZIP)
    try:
        data = inflater.decompress(message, max_bytes)
    except zlib.error:
        return Refusal(status=Status.INTERNAL, text="the message is not in gzip format")
    if inflater.unconsumed_tail:
        return too_large(max_bytes)
    if not inflater.eof:
        return Refusal(status=Status.INTERNAL, text="the compressed message is cut off")
    return data


def _length(prefix: bytes) -> int:
    """What a prefix says, as soon as it is there."""
    return int.from_bytes(prefix[1:], "big") if len(prefix) == _PREFIX_BYTES else 0


def too_large(max_bytes: int) -> Refusal:
    """The request does not fit."""
    text = f"the request has more than {max_bytes / MIB:g} MiB, set by --max-recv-message-size"
    return Refusal(status=Status.RESOURCE_EXHAUSTED, text=text)


def _deadline(timeout: bytes | None) -> float | None:
    """When the caller stops waiting (monotonic seconds); None for what is no timeout."""
    if timeout is None:
        return _NO_DEADLINE
    digits, unit = timeout[:-1], timeout[-1:]
    if not digits.isdigit() or len(digits) > _MAX_TIMEOUT_DIGITS or unit not in _SECONDS:
        return None
    return time.monotonic() + int(digits) * _SECONDS[unit]
