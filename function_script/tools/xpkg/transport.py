"""HTTP client for registries: responses are bounded in bytes and time, TLS is verified.

Redirects are followed for GET and HEAD only, never from HTTPS to HTTP, and without Authorization
to another origin.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, Self, cast
from urllib import error as url_errors
from urllib import parse as urls
from urllib import request as url_requests

from function_script import __version__
from function_script.tools.xpkg import certificates

if TYPE_CHECKING:
    from email.message import Message

MAX_ANSWER_BYTES: Final = 1 << 20
_SLOWEST_BYTES_PER_SECOND: Final = 32 * 1024
_CHUNK_BYTES: Final = 1 << 18
_READING: Final = ("GET", "HEAD")
_REDIRECTS: Final = {301, 302, 303, 307, 308}
_MAX_REDIRECTS: Final = 5
_PORTS: Final = {"http": http.client.HTTP_PORT, "https": http.client.HTTPS_PORT}


class Patience(NamedTuple):
    """Time limits of an exchange and between two reads, and the pauses before further attempts.

    An exchange also has the time of its bytes at the slowest rate.
    """

    exchange_seconds: float = 300.0
    silence_seconds: float = 120.0
    pauses: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0)


PATIENCE: Final = Patience()


class NoAnswerError(Exception):
    """There is no response to use. ``is_transient``: the same request may have one later.

    ``needs_plain_http``: the server does not speak TLS.
    """

    def __init__(
        self,
        text: str,
        *,
        hint: str | None = None,
        is_transient: bool = False,
        needs_plain_http: bool = False,
    ) -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint
        self.is_transient = is_transient
        self.needs_plain_http = needs_plain_http


class Progress(Protocol):
    """Receives progress and displays it."""

    def line(self, text: str) -> None:
        """Display the beginning of a step, or that it is not needed."""

    def share(self, part: float) -> None:
        """Display how much of the last line's step is done, from 0 to 1."""


class NullProgress:
    """Displays nothing."""

    def line(self, text: str) -> None:
        """Do nothing."""

    def share(self, part: float) -> None:
        """Do nothing."""


class Body(io.BytesIO):
    """Bytes to send, which report how much of them was read; can be sent again."""

    def __init__(self, data: bytes, progress: Progress) -> None:
        super().__init__(data)
        self.size_bytes = len(data)
        self._progress = progress

    def read(self, size: int | None = -1, /) -> bytes:
        """Read the next bytes, none at the end."""
        data = super().read(size)
        self._progress.share(self.tell() / self.size_bytes if self.size_bytes else 1.0)
        return data


class HttpRequest(NamedTuple):
    """A request; at most ``max_bytes`` of its response are read.

    ``progress`` gets the part of ``max_bytes`` that was read.
    """

    method: str
    url: str
    data: bytes | Body | None = None
    headers: Mapping[str, str] = {}
    max_bytes: int = MAX_ANSWER_BYTES
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A response; ``url`` is the URL after redirects."""

    status: int
    url: str
    headers: Message[str, str] = field(repr=False)  # finds names in any case
    body: bytes = field(repr=False)

    @property
    def is_success(self) -> bool:
        """Report whether the status is 2xx."""
        return http.HTTPStatus.OK <= self.status < http.HTTPStatus.MULTIPLE_CHOICES


def origin(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port. Raises NoAnswerError if ``url`` is not an HTTP URL."""
    try:
        parts = urls.urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError) as error:
        raise NoAnswerError(f"{url!r} is no address of HTTP") from error
    return parts.scheme, host, port


def join(base: str, location: str) -> str:
    """Resolve a Location header. Raises NoAnswerError."""
    try:
        return urls.urljoin(base, location)
    except ValueError as error:
        raise NoAnswerError(f"{location!r} is no address of HTTP") from error


class Client:
    """Sends requests one after the other, each on a connection of its own."""

    def __init__(
        self,
        context: ssl.SSLContext,
        patience: Patience,
        *,
        uses_proxies: bool,
    ) -> None:
        self._opener = url_requests.OpenerDirector()
        # None for redirects: `send` follows them by stricter rules than those of urllib.
        for handler in (
            # None: those that variables of the environment name.
            url_requests.ProxyHandler(None if uses_proxies else {}),
            _PlainHandler(),
            _SecureHandler(context=context),
            url_requests.HTTPDefaultErrorHandler(),
            url_requests.HTTPErrorProcessor(),
        ):
            self._opener.add_handler(handler)
        self._patience = patience

    def send(self, request: HttpRequest, authorization: str = "") -> HttpResponse:
        """Send a request, follow redirects, read the response. Raises NoAnswerError."""
        response = self._send(request, authorization)
        first = origin(request.url)
        for _ in range(_MAX_REDIRECTS):
            location = response.headers.get("Location")
            is_redirect = response.status in _REDIRECTS and request.method in _READING
            if not (is_redirect and location):
                return response
            target = join(response.url, location)
            if response.url.startswith("https:") and not target.startswith("https:"):
                raise NoAnswerError(f"it redirects from HTTPS to {target!r}")
            request = request._replace(url=target)
            response = self._send(request, authorization if origin(target) == first else "")
        raise NoAnswerError(f"it redirects more than {_MAX_REDIRECTS} times")

    def _send(self, request: HttpRequest, authorization: str) -> HttpResponse:
        origin(request.url)
        size = request.data.size_bytes if isinstance(request.data, Body) else 0
        slack = (size + request.max_bytes) / _SLOWEST_BYTES_PER_SECOND
        with _Deadline(self._patience.exchange_seconds + slack) as deadline:
            exchange = _Exchange(request, deadline)
            if authorization:
                exchange.add_unredirected_header("Authorization", authorization)
            try:
                return self._exchange(exchange, request)
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise _explain(error, exchange, deadline) from error

    def _exchange(self, exchange: _Exchange, request: HttpRequest) -> HttpResponse:
        try:
            reader = self._opener.open(exchange, timeout=self._patience.silence_seconds)
        except url_errors.HTTPError as error:
            reader = error
        with reader:
            body = _read(reader, request, exchange.deadline)
            return HttpResponse(
                status=reader.status or 0,
                url=request.url,
                headers=reader.headers,
                body=body,
            )


class _Deadline:
    """Shuts a connection down when its time is over, which ends a blocking read or write."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.is_over = False
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()
        # A socket's own timeout begins anew with each piece that comes.
        self._timer = threading.Timer(seconds, self._expire)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()

    def watch(self, connection: socket.socket) -> None:
        """Apply the deadline to this connection."""
        with self._lock:
            # The time may be over before there is a connection.
            self._socket = connection
            if self.is_over:
                _shut(connection)

    def _expire(self) -> None:
        with self._lock:
            self.is_over = True
            if self._socket is not None:
                _shut(self._socket)


def _shut(connection: socket.socket) -> None:
    # shutdown() of an SSLSocket would remove the TLS layer while a thread reads.
    with suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


class _Exchange(url_requests.Request):
    """A request of urllib with its deadline."""

    def __init__(self, request: HttpRequest, deadline: _Deadline) -> None:
        if isinstance(request.data, Body):
            request.data.seek(0)
        super().__init__(request.url, data=request.data, method=request.method)
        self.deadline = deadline
        self.add_header("User-Agent", f"function-script/{__version__}")
        for name, value in request.headers.items():
            self.add_header(name, value)


class _Connection(http.client.HTTPConnection):
    """A connection with a deadline; its response may come before the whole request is sent."""

    deadline: _Deadline

    def connect(self) -> None:
        super().connect()
        self.deadline.watch(self.sock)

    def request(  # type: ignore[override] # the body is what `_Exchange` has
        self,
        method: str,
        url: str,
        body: Body | bytes | None = None,
        headers: Mapping[str, str] = {},
        *,
        encode_chunked: bool = False,
    ) -> None:
        """Send a request; a server that closes early may have sent a response, which is read."""
        try:
            super().request(method, url, body, headers, encode_chunked=encode_chunked)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError, ssl.SSLZeroReturnError):
            if self.deadline.is_over or self.sock is None:
                raise


class _SecureConnection(_Connection, http.client.HTTPSConnection):
    pass


class _PlainHandler(url_requests.HTTPHandler):
    def http_open(self, req: url_requests.Request) -> http.client.HTTPResponse:
        return self.do_open(_bind_deadline(_Connection, req), req)


class _SecureHandler(url_requests.HTTPSHandler):
    def __init__(self, *, context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._context = context

    def https_open(self, req: url_requests.Request) -> http.client.HTTPResponse:
        return self.do_open(_bind_deadline(_SecureConnection, req), req, context=self._context)


def _bind_deadline(kind: type[_Connection], exchange: url_requests.Request) -> type[_Connection]:
    """Return the class of connection with the deadline of a request."""
    # `do_open` makes the connection itself, and hands on nothing but arguments of http.client.
    deadline = cast("_Exchange", exchange).deadline
    return type(kind.__name__, (kind,), {"deadline": deadline})


def _read(
    reader: http.client.HTTPResponse | url_errors.HTTPError,
    request: HttpRequest,
    deadline: _Deadline,
) -> bytes:
    # Unlike a list of chunks, which is joined, it holds a large layer once.
    body = io.BytesIO()
    size = 0
    while chunk := reader.read(min(_CHUNK_BYTES, request.max_bytes + 1 - size)):
        size += body.write(chunk)
        if size > request.max_bytes:
            raise NoAnswerError(f"its answer has more than {request.max_bytes:,} bytes")
        if request.progress is not None:
            request.progress.share(size / request.max_bytes)
    if deadline.is_over:
        raise TimeoutError
    return body.getvalue()


def _explain(
    error: Exception, exchange: url_requests.Request, deadline: _Deadline
) -> NoAnswerError:
    cause = getattr(error, "reason", error) if isinstance(error, url_errors.URLError) else error
    host = exchange.host
    if deadline.is_over:
        return NoAnswerError(f"{host} did not answer within {deadline.seconds:.0f} s")
    if isinstance(cause, ssl.SSLError):
        text, hint = certificates.explain(cause, host)
        needs_plain_http = certificates.is_answer_without_tls(cause)
        return NoAnswerError(text, hint=hint, needs_plain_http=needs_plain_http)
    if isinstance(cause, TimeoutError):
        return NoAnswerError(f"{host} does not answer")
    if isinstance(cause, ConnectionRefusedError):
        return NoAnswerError(f"{host}: connection refused")
    if isinstance(cause, (ConnectionError, http.client.IncompleteRead)):
        hint = "a proxy in front of the registry may refuse uploads of this size"
        return NoAnswerError(
            f"{host}: the connection ended without an answer",
            hint=hint if isinstance(exchange.data, Body) else None,
            is_transient=True,
        )
    if isinstance(cause, http.client.BadStatusLine):
        return NoAnswerError(f"{host} does not answer in HTTP")
    words = getattr(cause, "strerror", None) or str(cause)
    return NoAnswerError(f"{host}: {words[:1].lower()}{words[1:]}")
