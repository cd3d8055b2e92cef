"""A repository in an OCI registry: push and pull blobs and manifests over its HTTP API.

A token is sent to the registry's own origin only. Content is verified by digest and size. Requests
are retried, after the pause that the registry asks for.
"""

import time
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final
from urllib import parse as urls

from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.tools import bounded
from function_script.tools.progress import Progress
from function_script.tools.xpkg import certificates, credentials, images, transport
from function_script.tools.xpkg.image_loader import MAX_JSON_BYTES
from function_script.tools.xpkg.references import Reference
from function_script.tools.xpkg.transport import Body

_TRANSIENT_STATUSES: Final = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
}
# A longer Retry-After is a failure.
_LONGEST_PAUSE: Final = 60.0
# Responses of Go's server and nginx to a client without TLS.
_TLS_EXPECTED: Final = (
    b"HTTP request to an HTTPS server",
    b"HTTP request was sent to HTTPS port",
)
_PAGE_TAGS: Final = 1000
_MAX_PAGES: Final = 100
_MANIFEST_TYPES: Final = (
    images.MANIFEST_TYPE,
    images.INDEX_TYPE,
    images.OCI_MANIFEST_TYPE,
    "application/vnd.docker.distribution.manifest.list.v2+json",
)


class RegistryError(InputError):
    """A registry does not give or take something; ``cause`` says why, and not what."""

    cause: str = ""


def retry(
    operation: Callable[[], transport.HttpResponse],
    notify: Callable[[str], None],
    pauses: Sequence[float] = transport.PATIENCE.pauses,
    sleep: Callable[[float], object] = time.sleep,
) -> transport.HttpResponse:
    """Return the first response that is final, or the last one. Raises NoAnswerError.

    An operation with a transient failure is run again; ``notify`` gets a line before a pause.
    """
    for pause in pauses:
        try:
            response = operation()
        except transport.NoAnswerError as failure:
            if not failure.is_transient:
                raise
            cause, seconds = str(failure), pause
        else:
            retry_after = read_pause(response)
            seconds = pause if retry_after is None else retry_after
            if response.status not in _TRANSIENT_STATUSES or seconds > _LONGEST_PAUSE:
                return response
            cause = f"HTTP {response.status}"
        notify(f"{cause}: trying again in {seconds:g} s")
        sleep(seconds)
    return operation()


def read_pause(response: transport.HttpResponse) -> float | None:
    """Return the seconds of Retry-After, a number or a date; None without one."""
    text = (response.headers.get("Retry-After") or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        # Both times are by the clock of the registry.
        later, now = (
            parsedate_to_datetime(part) for part in (text, response.headers["Date"] or "")
        )
        return max(0.0, (later - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


class Repository:
    """The repository of ``reference``; ``actions`` is ``pull`` or ``pull,push``.

    All methods raise InputError. ``progress`` gets a line for each blob to push and before a retry,
    and the part of a blob that was sent or received.
    """

    def __init__(
        self,
        reference: Reference,
        actions: str,
        trust: credentials.Trust | None = None,
        progress: Progress | None = None,
    ) -> None:
        trust = trust or credentials.Trust()
        self.reference = reference
        self._base = f"{_address(reference, trust)}/v2/{reference.repository}"
        self._actions = actions
        self._plain_http_hint = trust.plain_http_hint
        context = certificates.build_context(trust.ca_file)
        self._client = transport.Client(
            context, trust.patience, uses_proxies=not reference.is_loopback
        )
        self._authorizer = credentials.Authorizer(reference, actions, self._client, trust)
        self._pauses = trust.patience.pauses
        self._progress = progress or Progress()

    def push_blob(self, data: bytes, platform: str = "") -> None:
        """Upload a blob of an image for a platform in one piece, unless the registry has it."""
        digest, size = images.sha256(data), images.size_text(len(data))
        line = f"{digest[:19]} {size} {platform}".rstrip()
        # Images of one function share layers, of hundreds of megabytes.
        if self._try(transport.HttpRequest("HEAD", f"{self._base}/blobs/{digest}")).is_success:
            self._progress.line(f"{line}: there already")
            return
        self._progress.line(f"{line}: pushing")
        body = Body(data, self._progress)
        # A failed upload begins again: its address may be invalid.
        response = self._retry(lambda: self._upload(body, digest))
        if response.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            raise self._failure(
                f"HTTP 413: a layer of {size} is too large for it",
                hint="raise the limit of the registry, or of the proxy in front of it",
            )
        self._check_digest(self._check_status(response), digest)

    def push_manifest(self, data: bytes, media_type: str, version: str) -> str:
        """Put a manifest under a tag or its digest, which is returned."""
        headers = {"Content-Type": media_type}
        request = transport.HttpRequest("PUT", f"{self._base}/manifests/{version}", data, headers)
        digest = images.sha256(data)
        self._check_digest(self._check_status(self._try(request)), digest)
        return digest

    def pull_manifest(self, version: str, size: int | None = None) -> bytes:
        """Pull the manifest of a tag or a digest; it must have ``size`` bytes if that is known."""
        headers = {"Accept": ", ".join(_MANIFEST_TYPES)}
        url = f"{self._base}/manifests/{version}"
        request = transport.HttpRequest("GET", url, headers=headers, max_bytes=MAX_JSON_BYTES)
        response = self._check_status(self._try(request))
        if ":" in version:
            self._verify(response.body, {"digest": version, "size": size})
        else:
            # Nobody knows the digest of a tag; what the registry says of it must be true at least.
            self._check_digest(response, images.sha256(response.body))
        return response.body

    def list_tags(self) -> list[str]:
        """Return all tags."""
        tags: list[str] = []
        query = ""
        for _ in range(_MAX_PAGES):
            url = f"{self._base}/tags/list?n={_PAGE_TAGS}{query}"
            request = transport.HttpRequest("GET", url, max_bytes=MAX_JSON_BYTES)
            response = self._check_status(self._try(request))
            try:
                listed = bounded.read_object(response.body).get("tags")
            except ValueError as error:
                raise self._failure(f"its list of tags: {error}") from error
            page = (
                [tag for tag in listed if isinstance(tag, str)] if isinstance(listed, list) else []
            )
            tags += page
            if not page or "Link" not in response.headers:
                break
            # The address in the header is not used: it may lead to another host.
            query = f"&last={urls.quote(page[-1])}"
        return tags

    def pull_blob(self, descriptor: Object, max_bytes: int) -> bytes:
        """Pull the blob that a descriptor names, of at most ``max_bytes``, and verify it."""
        try:
            digest, size = images.read_digest(descriptor), images.read_size(descriptor)
        except ValueError as error:
            raise self._failure(str(error)) from error
        if size is not None and size > max_bytes:
            most = images.size_text(max_bytes)
            text = f"{digest} has {images.size_text(size)}; at most {most} are read"
            raise self._failure(text)
        limit = max_bytes if size is None else size
        url = f"{self._base}/blobs/{digest}"
        request = transport.HttpRequest("GET", url, max_bytes=limit, progress=self._progress)
        data = self._check_status(self._try(request)).body
        self._verify(data, descriptor)
        return data

    def _upload(self, body: Body, digest: str) -> transport.HttpResponse:
        response = self._send(transport.HttpRequest("POST", f"{self._base}/blobs/uploads/", b""))
        if not response.is_success:
            return response
        location = response.headers.get("Location", "")
        url = transport.join(f"{self._base}/", location)
        if not location:
            raise transport.NoAnswerError("it names no address for an upload")
        if transport.origin(self._base)[0] == "https" and transport.origin(url)[0] != "https":
            raise transport.NoAnswerError(
                f"it names an address for uploads that is not HTTPS: {url!r}",
                hint="a proxy in front of it has to pass X-Forwarded-Proto",
            )
        joint = "&" if urls.urlsplit(url).query else "?"
        url += f"{joint}digest={urls.quote(digest, safe='')}"
        headers = {"Content-Type": "application/octet-stream"}
        return self._send(transport.HttpRequest("PUT", url, body, headers))

    def _try(self, request: transport.HttpRequest) -> transport.HttpResponse:
        return self._retry(lambda: self._send(request))

    def _retry(self, operation: Callable[[], transport.HttpResponse]) -> transport.HttpResponse:
        try:
            return retry(operation, self._progress.line, self._pauses)
        except transport.NoAnswerError as failure:
            hint = self._plain_http_hint if failure.needs_plain_http else failure.hint
            raise self._failure(str(failure), hint=hint) from failure

    def _send(self, request: transport.HttpRequest) -> transport.HttpResponse:
        """Send a request; authorize and send it again if the registry itself requires that.

        Another origin, such as the storage of uploads, gets no token, and cannot name a token
        service.
        """
        is_own = transport.origin(request.url) == transport.origin(self._base)
        response = self._client.send(request, self._authorizer.header if is_own else "")
        is_own_response = transport.origin(response.url) == transport.origin(self._base)
        if response.status != HTTPStatus.UNAUTHORIZED or not (is_own and is_own_response):
            return response
        is_new = self._authorizer.authorize(response)
        return self._client.send(request, self._authorizer.header) if is_new else response

    def _check_status(self, response: transport.HttpResponse) -> transport.HttpResponse:
        """Return the response of a successful request. Raises InputError for any other."""
        if response.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise self._failure(
                f"the registry refuses the credentials ({credentials.reason(response)})"
                if self._authorizer.header.startswith("Basic")
                else f"the registry does not let us ({credentials.reason(response)})",
                hint=f"log in with an account that may do it: docker login {self.reference.host}",
            )
        is_plain = self._base.startswith("http:")
        if is_plain and any(words in response.body for words in _TLS_EXPECTED):
            hint = "leave out --plain-http" if self._plain_http_hint else None
            raise self._failure("the registry speaks TLS", hint=hint)
        if not response.is_success:
            raise self._failure(credentials.reason(response))
        return response

    def _check_digest(self, response: transport.HttpResponse, digest: str) -> None:
        header = response.headers.get("Docker-Content-Digest", "")
        if header.startswith("sha256:") and header != digest:
            raise self._failure(f"it took {digest} for {header}")

    def _verify(self, data: bytes, descriptor: Object) -> None:
        try:
            images.verify_descriptor(data, descriptor)
        except ValueError as error:
            raise self._failure(str(error)) from error

    def _failure(self, cause: str, *, hint: str | None = None) -> RegistryError:
        cause = self._authorizer.login.mask(cause, self._authorizer.header)
        verb = "push to" if "push" in self._actions else "read"
        error = RegistryError.of(f'cannot {verb} "{self.reference}": {cause}', hint=hint)
        error.cause = cause
        return error


def _address(reference: Reference, trust: credentials.Trust) -> str:
    """Return the URL of the API: without TLS only by option, or on this machine."""
    if trust.plain_http:
        return f"http://{reference.api_host}"
    is_plain = reference.is_loopback and not certificates.speaks_tls(reference.api_host)
    return f"{'http' if is_plain else 'https'}://{reference.api_host}"
