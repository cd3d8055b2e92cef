"""Calls of many messages: health that is watched, and reflection.

Called by the stream. A talk hands each message to its service as soon as it is whole; what it
says back goes out at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from function_script.server.http2 import calls
from function_script.server.transport import Refusal, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.server.http2.stream import Stream

_PREFIX_BYTES: Final = 5
# Names of services and of files: anything larger is a mistake or an attack.
_MAX_BYTES: Final = 64 * 1024


class Listener(Protocol):
    """A service that hears messages."""

    def __call__(self, message: bytes, stream: Stream) -> Callable[[], None] | None:
        """Say something by way of ``stream``; what is returned is called when it ends."""


class Talk:
    """``ends_with_request``: the last word is said when the caller has said its own."""

    def __init__(self, listener: Listener, stream: Stream, *, ends_with_request: bool) -> None:
        self._listener = listener
        self._stream = stream
        self._ends_with_request = ends_with_request
        self._heard = b""
        self._is_open = True
        self._endings: list[Callable[[], None]] = []

    def receive(self, piece: memoryview) -> None:
        """Hand over the messages that are whole."""
        self._heard += bytes(piece)
        while self._is_open and len(self._heard) >= _PREFIX_BYTES:
            end = _PREFIX_BYTES + int.from_bytes(self._heard[1:_PREFIX_BYTES], "big")
            if end > _MAX_BYTES:
                self._refuse(calls.too_large(_MAX_BYTES))
            elif len(self._heard) < end:
                return
            else:
                whole, self._heard = self._heard[:end], self._heard[end:]
                self._hear(whole)

    def end(self) -> None:
        """The caller has said all."""
        if self._is_open and self._heard:
            text = "the last message is cut off"
            self._refuse(Refusal(status=Status.INTERNAL, text=text))
        elif self._is_open and self._ends_with_request:
            self._is_open = False
            self._stream.finish(Status.OK)

    def cancel(self) -> None:
        """The caller has gone."""
        self._is_open = False
        for ending in self._endings:
            ending()

    def _hear(self, whole: bytes) -> None:
        message = calls.unframed(whole[:_PREFIX_BYTES], whole[_PREFIX_BYTES:], None, _MAX_BYTES)
        if isinstance(message, Refusal):
            self._refuse(message)
            return
        ending = self._listener(message, self._stream)
        if ending is not None:
            self._endings.append(ending)

    def _refuse(self, refusal: Refusal) -> None:
        self._is_open = False
        self._stream.finish(refusal.status, refusal.text)
