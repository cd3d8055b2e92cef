"""A repository in an OCI registry, over its HTTP API: blobs and manifests, up and down.

Called by `push` and `inspect`. Knows nothing of packages. Retries nothing but what the registry
refuses for want of credentials.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib import error as url_errors
from urllib import parse as urls
from urllib import request as http

from function_script import __version__
from function_script.errors import InputError
from function_script.tools import manifests
from function_script.tools.xpkg import credentials
from function_script.tools.xpkg.images import INDEX_TYPE, MANIFEST_TYPE, sha256
from function_script.tools.xpkg.progress import Body

if TYPE_CHECKING:
    from collections.abc import Mapping
    from email.message import Message

    from function_script.tools.xpkg.references import Reference
    from function_script.values import Object, Value

_SECONDS: Final = 300.0
_MANIFEST_TYPES: Final = (
    MANIFEST_TYPE,
    INDEX_TYPE,
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_CHALLENGE: Final = re.compile(r'(\w+)="([^"]*)"')


class _Asked(NamedTuple):
    method: str
    url: str
    data: bytes | Body | None = None
    headers: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    status: int
    headers: Message[str, str]  # finds names in any case
    body: bytes

    @property
    def is_fine(self) -> bool:
        return self.status < HTTPStatus.BAD_REQUEST


class Repository:
    """The repository of ``reference``; ``actions`` is ``pull`` or ``pull,push``."""

    def __init__(self, reference: Reference, actions: str) -> None:
        self.reference = reference
        self._base = f"{reference.address}/v2/{reference.repository}"
        self._actions = actions
        self._authorization = ""
        proxies = [http.ProxyHandler({})] if reference.is_loopback else []
        self._opener = http.build_opener(*proxies)

    def has_blob(self, digest: str) -> bool:
        """Whether the registry holds a blob already."""
        return self._send(_Asked("HEAD", f"{self._base}/blobs/{digest}")).is_fine

    def push_blob(self, body: Body, digest: str) -> None:
        """Upload a blob in one piece; raises InputError."""
        begun = self._expect(_Asked("POST", f"{self._base}/blobs/uploads/", b""))
        place = urls.urljoin(f"{self._base}/", begun.headers.get("Location", ""))
        joint = "&" if urls.urlsplit(place).query else "?"
        headers = {
            "Content-Type": "application/octet-stream",
            "Content-Length": str(body.size_bytes),
        }
        url = f"{place}{joint}digest={urls.quote(digest, safe='')}"
        self._expect(_Asked("PUT", url, body, headers))

    def push_manifest(self, data: bytes, media_type: str, version: str) -> None:
        """Put a manifest under a tag or its digest; raises InputError."""
        headers = {"Content-Type": media_type}
        self._expect(_Asked("PUT", f"{self._base}/manifests/{version}", data, headers))

    def pull_manifest(self, version: str) -> bytes:
        """The manifest of a tag or a digest; raises InputError."""
        headers = {"Accept": ", ".join(_MANIFEST_TYPES)}
        asked = _Asked("GET", f"{self._base}/manifests/{version}", headers=headers)
        return self._expect(asked).body

    def pull_blob(self, digest: str) -> bytes:
        """A blob, which is what its digest says; raises InputError."""
        data = self._expect(_Asked("GET", f"{self._base}/blobs/{digest}")).body
        if sha256(data) != digest:
            raise self._failure(f"what it gave as {digest} is something else")
        return data

    def _expect(self, asked: _Asked) -> _Answer:
        answer = self._send(asked)
        if answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise self._failure(
                f"the registry refuses the credentials ({_reason(answer)})"
                if self._authorization.startswith("Basic")
                else f"the registry does not let us ({_reason(answer)})",
                hint=f"log in with an account that may do it: docker login {self.reference.host}",
            )
        if not answer.is_fine:
            raise self._failure(_reason(answer))
        return answer

    def _send(self, asked: _Asked) -> _Answer:
        answer = self._call(asked)
        challenge = answer.headers.get("WWW-Authenticate", "")
        if answer.status == HTTPStatus.UNAUTHORIZED and self._authorize(challenge):
            answer = self._call(asked)
        return answer

    def _call(self, asked: _Asked) -> _Answer:
        if isinstance(asked.data, Body):
            asked.data.seek(0)
        request = http.Request(  # noqa: S310 - http and https only, see `Reference.address`
            asked.url, data=asked.data, method=asked.method, headers=dict(asked.headers)
        )
        request.add_header("User-Agent", f"function-script/{__version__}")
        if self._authorization and _same_host(asked.url, self._base):
            # Unredirected: storage that a registry sends us on to must not see it.
            request.add_unredirected_header("Authorization", self._authorization)
        return self._open(request)

    def _open(self, request: http.Request) -> _Answer:
        try:
            with self._opener.open(request, timeout=_SECONDS) as response:
                return _Answer(
                    status=response.status, headers=response.headers, body=response.read()
                )
        except url_errors.HTTPError as error:
            with error:
                return _Answer(status=error.code, headers=error.headers, body=error.read())
        except (OSError, ValueError) as error:
            cause = getattr(error, "reason", error)
            text = getattr(cause, "strerror", None) or str(cause)
            raise self._failure(text[:1].lower() + text[1:]) from error

    def _authorize(self, challenge: str) -> bool:
        """Get what the registry asks for; False when there is nothing new to try."""
        known = credentials.find(self.reference.credentials_key)
        scheme = challenge.partition(" ")[0].lower()
        before = self._authorization
        if scheme == "bearer":
            self._authorization = self._token(dict(_CHALLENGE.findall(challenge)), known)
        elif scheme == "basic" and known is not None:
            self._authorization = known.basic
        return self._authorization != before

    def _token(self, challenge: Mapping[str, str], known: credentials.Credentials | None) -> str:
        """A token of the service that the registry trusts, for everything we are going to do."""
        realm = challenge.get("realm", "")
        asked = {
            "service": challenge.get("service", ""),
            "scope": f"repository:{self.reference.repository}:{self._actions}",
        }
        if not realm.startswith("https://") and not self.reference.is_loopback:
            raise self._failure(f'it names "{realm}" as its token service, which is not HTTPS')
        if known is not None and known.identity_token:
            grant = {"grant_type": "refresh_token", "refresh_token": known.identity_token}
            form = urls.urlencode({**asked, **grant, "client_id": "function-script"}).encode()
            request = http.Request(realm, data=form)  # noqa: S310 - see above
        else:
            request = http.Request(f"{realm}?{urls.urlencode(asked)}")  # noqa: S310 - see above
            if known is not None:
                request.add_unredirected_header("Authorization", known.basic)
        answer = self._open(request)
        if not answer.is_fine:
            raise self._failure(
                f"its token service refuses ({_reason(answer)})",
                hint=f"log in again: docker login {self.reference.host}",
            )
        found = _read_object(answer.body)
        token = manifests.text_at(found, "token") or manifests.text_at(found, "access_token")
        return f"Bearer {token}"

    def _failure(self, cause: str, *, hint: str | None = None) -> InputError:
        verb = "push to" if "push" in self._actions else "read"
        return InputError.of(f'cannot {verb} "{self.reference}": {cause}', hint=hint)


def _same_host(url: str, base: str) -> bool:
    return urls.urlsplit(url).netloc == urls.urlsplit(base).netloc


def _reason(answer: _Answer) -> str:
    """What the registry says itself, or the name of the status."""
    problems = manifests.objects_at(_read_object(answer.body), "errors")
    texts = [manifests.text_at(problem, "message") for problem in problems]
    said = "; ".join(text for text in texts if text)
    name = HTTPStatus(answer.status).phrase.lower() if answer.status in _STATUSES else ""
    return f"HTTP {answer.status}: {said or name or 'no reason given'}"


_STATUSES: Final = {status.value for status in HTTPStatus}


def _read_object(data: bytes) -> Object:
    try:
        found: Value = json.loads(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
