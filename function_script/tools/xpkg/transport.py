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
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, Self
from urllib import parse as urls
from urllib import request as url_requests

from function_script import __version__
from function_script.request.remote.login import Login
from function_script.tools.progress import Progress
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
        self.hint = hint
        self.is_transient = is_transient
        self.needs_plain_http = needs_plain_http


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
        self._context = context
        self._patience = patience
        # Those that variables of the environment name.
        self._proxies = url_requests.getproxies() if uses_proxies else {}

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
        scheme, host, port = origin(request.url)
        headers = {
            **request.headers,
            "User-Agent": f"function-script/{__version__}",
            "Connection": "close",
        }
        if authorization:
            headers["Authorization"] = authorization
        size = 0
        if isinstance(request.data, Body):
            size = request.data.size_bytes
            request.data.seek(0)
            # Without a length it would be sent in chunks, which is another kind of upload.
            headers["Content-Length"] = str(size)
        parts = urls.urlsplit(request.url)
        target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        name = parts.netloc
        place: tuple[str, int | None] = host, port
        slack = (size + request.max_bytes) / _SLOWEST_BYTES_PER_SECOND
        with _Deadline(self._patience.exchange_seconds + slack) as deadline:
            try:
                proxy, proxy_headers = self._find_proxy(scheme, parts.netloc)
                if proxy is not None:
                    place, name = (proxy.hostname or "", proxy.port), proxy.netloc
                seconds = self._patience.silence_seconds
                with closing(
                    http.client.HTTPSConnection(*place, timeout=seconds, context=self._context)
                    if scheme == "https"
                    else http.client.HTTPConnection(*place, timeout=seconds)
                ) as connection:
                    if proxy is not None and scheme == "https":
                        connection.set_tunnel(host, port, proxy_headers)
                    elif proxy is not None:
                        target, headers = request.url, {**headers, **proxy_headers}
                    return _exchange(connection, target, request, headers, deadline)
            except (OSError, http.client.HTTPException, ValueError) as error:
                name = name.rpartition("@")[2]
                raise _explain(error, name, request, deadline) from error

    def _find_proxy(self, scheme: str, host: str) -> tuple[urls.SplitResult | None, dict[str, str]]:
        """Return the proxy for a host, if there is one, and what it gets as headers."""
        text = self._proxies.get(scheme)
        if not text or url_requests.proxy_bypass(host):
            return None, {}
        proxy = urls.urlsplit(text if "://" in text else f"//{text}")
        if not proxy.username:
            return proxy, {}
        user, password = map(urls.unquote, (proxy.username, proxy.password or ""))
        return proxy, {"Proxy-Authorization": Login(user=user, password=password).basic}


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


def _exchange(
    connection: http.client.HTTPConnection,
    target: str,
    request: HttpRequest,
    headers: Mapping[str, str],
    deadline: _Deadline,
) -> HttpResponse:
    connection.connect()
    deadline.watch(connection.sock)
    try:
        connection.request(request.method, target, request.data, headers)
    except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError, ssl.SSLZeroReturnError):
        # A server that closes early may have sent a response, which is read.
        if deadline.is_over:
            raise
    with connection.getresponse() as reader:
        body = _read(reader, request, deadline)
        return HttpResponse(
            status=reader.status, url=request.url, headers=reader.headers, body=body
        )


def _read(reader: http.client.HTTPResponse, request: HttpRequest, deadline: _Deadline) -> bytes:
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
    cause: Exception, host: str, request: HttpRequest, deadline: _Deadline
) -> NoAnswerError:
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
            hint=hint if isinstance(request.data, Body) else None,
            is_transient=True,
        )
    if isinstance(cause, http.client.BadStatusLine):
        return NoAnswerError(f"{host} does not answer in HTTP")
    words = getattr(cause, "strerror", None) or str(cause)
    # A name such as URL is no plain word.
    start = words[:1].lower() if words[1:2].islower() else words[:1]
    return NoAnswerError(f"{host}: {start}{words[1:]}")
