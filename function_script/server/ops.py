"""The endpoints for operators, /metrics, /livez and /readyz, and their HTTP server."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import h11

from function_script.sandbox.confinement import Confinement
from function_script.sandbox.fetcher import Fetcher
from function_script.sandbox.pool import Pool
from function_script.server import log, metrics, rpc, sockets
from function_script.server.request_record import RequestRecord

if TYPE_CHECKING:
    from function_script.server.certificates import CertificateFiles


_MAX_HEAD_BYTES: Final = 8 * 1024
# The number of reads for one request; clients send theirs in one piece or two.
_MAX_RECEIVES: Final = 32
_MAX_CONNECTIONS: Final = 256
_BACKLOG: Final = 256
_MAX_SECONDS: Final = 5.0
# The share of one CPU for all connections: enough for some hundred requests a second.
_CPU_SHARE: Final = 0.08
# The CPU time after which the server sleeps to keep its share; a timer for less is not worth it.
_SLICE_SECONDS: Final = 0.002
# The share of one CPU for rendering each page, beside that.
_RENDERING_SHARE: Final = 0.04
_PLAIN: Final = "text/plain; charset=utf-8"
_METHOD_NOT_ALLOWED: Final = 405


class HttpResponse(NamedTuple):
    """The response of a page."""

    status: int
    body: bytes
    content_type: str = _PLAIN


class _Page:
    """A page that all requests which wait for it get from one rendering.

    A rendering begins after these requests have come, and waits where it would exceed its share
    of one CPU: many scrapes at once keep no probe waiting.
    """

    def __init__(self, render: Callable[[], HttpResponse]) -> None:
        self._render = render
        self._next: asyncio.Task[HttpResponse] | None = None
        self._earliest_start = 0.0
        self.seconds = 0.0
        """The CPU time of all renderings."""

    async def get(self) -> HttpResponse:
        """Return the next rendering."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_task(self._render_next())
        # A client that disconnects does not cancel the rendering that others wait for.
        return await asyncio.shield(self._next)

    async def _render_next(self) -> HttpResponse:
        await asyncio.sleep(self._earliest_start - time.monotonic())
        # Requests that come from here on wait for the next rendering.
        self._next = None
        start = time.thread_time()
        response = self._render()
        seconds = time.thread_time() - start
        self._earliest_start = time.monotonic() + seconds / _RENDERING_SHARE
        self.seconds += seconds
        return response


class OpsHttpServer:
    """Listens on ``address`` (HOST:PORT) from its construction, answers within a ``with`` block.

    ``pages`` are called in the server's thread. Raises InputError for an address that cannot be
    used.
    """

    def __init__(self, address: str, pages: Mapping[str, Callable[[], HttpResponse]]) -> None:
        self._pages = {path: _Page(render) for path, render in pages.items()}
        try:
            self._socket = sockets.listen(address, _BACKLOG)
        except OSError as error:
            raise sockets.listen_error(address, "--metrics-address", error) from error
        self._socket.setblocking(False)  # noqa: FBT003 - the name of the method says what is set
        self.port: int = self._socket.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._connections: dict[asyncio.Task[None], None] = {}
        self._thread = threading.Thread(target=self._run, name="ops-http", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()
        self._loop.close()
        self._socket.close()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        # With a name, because the loop itself keeps only a weak reference to a task.
        _accepting = self._loop.create_task(self._accept())
        await self._stopping.wait()
        # Of accepting, connections and renderings.
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self) -> None:
        """Accept connections one by one, and sleep after each slice of CPU time."""
        slice_start = self._seconds()
        while True:
            try:
                connection, _ = await self._loop.sock_accept(self._socket)
            except OSError:
                # The process has no free descriptor, or the client has disconnected.
                await asyncio.sleep(_MAX_SECONDS / 10)
                continue
            if len(self._connections) >= _MAX_CONNECTIONS:
                # The oldest connection is the slowest, and may be an attack.
                oldest = next(iter(self._connections))
                del self._connections[oldest]
                oldest.cancel()
            task = self._loop.create_task(self._handle(connection))
            self._connections[task] = None
            task.add_done_callback(lambda task: self._connections.pop(task, None))
            # The new task has its turn first, so that its CPU time counts.
            await asyncio.sleep(0)
            seconds = self._seconds() - slice_start
            if seconds > _SLICE_SECONDS:
                slice_start += seconds
                await asyncio.sleep(seconds / _CPU_SHARE)

    def _seconds(self) -> float:
        """Return the CPU time of connections, without that of renderings."""
        return time.thread_time() - sum(page.seconds for page in self._pages.values())

    async def _handle(self, connection: socket.socket) -> None:
        """Answer the one request of a connection."""
        with connection, suppress(OSError, TimeoutError):
            connection.setblocking(False)  # noqa: FBT003 - the name of the method says what is set
            async with asyncio.timeout(_MAX_SECONDS):
                protocol = h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_HEAD_BYTES)
                for _ in range(_MAX_RECEIVES):
                    data = await self._loop.sock_recv(connection, _MAX_HEAD_BYTES)
                    response = await self._receive(protocol, data)
                    if response or not data:
                        await self._loop.sock_sendall(connection, response)
                        return

    async def _receive(self, protocol: h11.Connection, data: bytes) -> bytes:
        """Read a piece of a request; return the response to a complete or invalid request."""
        try:
            protocol.receive_data(data)
            event = protocol.next_event()
        except h11.RemoteProtocolError as error:
            response = HttpResponse(error.error_status_hint, b"not a request that is served here\n")
            return _to_bytes(protocol, response, has_body=True)
        if not isinstance(event, h11.Request):
            return b""
        page = self._pages.get(event.target.partition(b"?")[0].decode("ascii", "replace"))
        if page is None:
            response = HttpResponse(404, b"not found\n")
        elif event.method not in {b"GET", b"HEAD"}:
            response = HttpResponse(_METHOD_NOT_ALLOWED, b"only GET\n")
        else:
            response = await page.get()
        return _to_bytes(protocol, response, has_body=event.method != b"HEAD")


def _to_bytes(protocol: h11.Connection, response: HttpResponse, *, has_body: bool) -> bytes:
    headers = [
        ("Content-Type", response.content_type),
        ("Content-Length", str(len(response.body))),
        ("Connection", "close"),
    ]
    if response.status == _METHOD_NOT_ALLOWED:
        headers.append(("Allow", "GET, HEAD"))
    head = protocol.send(h11.Response(status_code=response.status, headers=headers)) or b""
    return head + response.body if has_body else head


class OpsEndpoints:
    """The state and metrics of a server; the server sets ``is_serving``."""

    def __init__(
        self,
        pool: Pool,
        certificates: CertificateFiles | None,
        fetcher: Fetcher | None = None,
    ) -> None:
        self._pool = pool
        self._fetcher = fetcher
        self._certificates = certificates
        self._metrics = metrics.Metrics(self._gauges)
        self.observe: Callable[[RequestRecord], None] = self._metrics.observe
        """Count a finished request."""
        self.is_serving = False

    def open(self, address: str, stack: ExitStack) -> int:
        """Serve the pages until ``stack`` closes; return the port, or 0. Raises InputError."""
        if not address:
            return 0
        pages = {
            "/metrics": lambda: HttpResponse(200, self._metrics.render(), metrics.CONTENT_TYPE),
            "/livez": lambda: HttpResponse(200, b"ok\n"),
            "/readyz": self._readiness,
        }
        return stack.enter_context(OpsHttpServer(address, pages)).port

    def _readiness(self) -> HttpResponse:
        if not self.is_serving:
            return HttpResponse(503, b"not ready: not serving\n")
        if not self._pool.workers.is_available():
            return HttpResponse(503, b"not ready: no worker\n")
        return HttpResponse(200, f"ok\nconfinement: {self.confinement().summary()}\n".encode())

    def confinement(self) -> Confinement:
        """Return the confinement of all workers, as they reported it."""
        return self._pool.workers.confinement()

    def _gauges(self) -> metrics.Gauges:
        # The next connection uses it.
        certificate = None if self._certificates is None else self._certificates.read_newest()
        return metrics.Gauges(
            waiting=self._pool.scheduler.waiting,
            busy=self._pool.scheduler.busy,
            slow=self._pool.scheduler.slow,
            idle=self._pool.workers.idle,
            retired=self._pool.workers.retired,
            certificate_expiry=None if certificate is None else certificate.not_after,
            rejected=dict(rpc.rejected_by_status),
            dropped_lines=log.dropped_lines(),
            confinement=self.confinement(),
            remote_counts={} if self._fetcher is None else self._fetcher.store.counts,
            running_fetches=0 if self._fetcher is None else self._fetcher.store.running,
        )
