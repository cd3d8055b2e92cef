"""Plain HTTP for those without a certificate: /metrics, /livez, /readyz.

The server's life starts and stops it. It runs in a thread of its own, so that a busy server still
says how it is, and gives no client more than a moment, a few bytes and one of a few connections.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Self

from function_script.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

_MAX_HEAD_BYTES = 8 * 1024
_MAX_CONNECTIONS = 32
_PATIENCE_SECONDS = 5.0
_PLAIN = "text/plain; charset=utf-8"
# A client that went away, was slow or says too much; and the end of the server.
_ENDS = (
    OSError,
    TimeoutError,
    asyncio.IncompleteReadError,
    asyncio.LimitOverrunError,
    asyncio.CancelledError,
)


class Answer(NamedTuple):
    """What a path says; ``status`` is HTTP's."""

    status: int
    body: bytes
    content_type: str = _PLAIN


class Probes:
    """Listens on ``address`` (HOST:PORT) at once, answers within the ``with`` block.

    ``pages`` are called in the probes' thread. Raises InputError when the address cannot be used.
    """

    def __init__(self, address: str, pages: Mapping[str, Callable[[], Answer]]) -> None:
        self._pages = pages
        self._connections = 0
        self._socket = _listen(address)
        self.port: int = self._socket.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="probes", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()
        self._loop.close()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._meet, sock=self._socket, limit=_MAX_HEAD_BYTES)
        await self._stopping.wait()
        server.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request; whoever is too slow or too many is hung up on."""
        self._connections += 1
        try:
            if self._connections <= _MAX_CONNECTIONS:
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(_response(head, self._pages))
                    await writer.drain()
                    writer.close()
                    await writer.wait_closed()
        except _ENDS:
            writer.transport.abort()
        finally:
            self._connections -= 1
            with suppress(OSError):
                writer.close()


def _response(head: bytes, pages: Mapping[str, Callable[[], Answer]]) -> bytes:
    method, _, rest = head.partition(b" ")
    path = rest.partition(b" ")[0].partition(b"?")[0].decode("ascii", "replace")
    answer = _answer(method, path, pages)
    lines = [
        f"HTTP/1.1 {answer.status} {_REASONS[answer.status]}",
        f"Content-Type: {answer.content_type}",
        f"Content-Length: {len(answer.body)}",
        "Connection: close",
        *(["Allow: GET, HEAD"] if answer.status == _NOT_ALLOWED else []),
    ]
    text = ("\r\n".join(lines) + "\r\n\r\n").encode()
    return text if method == b"HEAD" else text + answer.body


def _answer(method: bytes, path: str, pages: Mapping[str, Callable[[], Answer]]) -> Answer:
    if path not in pages:
        return Answer(404, b"not found\n")
    if method not in {b"GET", b"HEAD"}:
        return Answer(_NOT_ALLOWED, b"only GET\n")
    return pages[path]()


_NOT_ALLOWED = 405
_REASONS = {
    200: "OK",
    404: "Not Found",
    _NOT_ALLOWED: "Method Not Allowed",
    503: "Service Unavailable",
}


def _listen(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        family = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, int(port)), family=family, backlog=_MAX_CONNECTIONS)
    except OSError as error:
        raise InputError.of(
            f'cannot listen on "{address}": it is in use, not allowed or not an address of this '
            f"host",
            hint="choose another with --metrics-address",
        ) from error
