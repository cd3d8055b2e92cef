"""Authorization at a registry: credentials, or a token that they are exchanged for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib import parse as urls

from function_script.remote.login import Login
from function_script.tools import bounded, manifests
from function_script.tools.xpkg.references import is_loopback
from function_script.tools.xpkg.transport import HttpRequest
from function_script.values import Object

if TYPE_CHECKING:
    from function_script.tools.xpkg.references import Reference
    from function_script.tools.xpkg.registry import Trust
    from function_script.tools.xpkg.transport import Client, HttpResponse

# One header may have several challenges.
_CHALLENGE: Final = re.compile(r"(?i)(?:^|,)\s*(basic|bearer)\b((?:(?!,\s*(?:basic|bearer)\b).)*)")
_PARAMETER: Final = re.compile(r'(\w+)="([^"]*)"')
_STATUSES: Final = {status.value for status in HTTPStatus}
_MAX_CHARACTERS: Final = 500
_TOKEN: Final = re.compile(r"[\x21-\x7e]+")


class RefusedError(Exception):
    """The registry or its token service grants no authorization."""

    def __init__(self, text: str, *, hint: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint


class Authorizer:
    """Holds the Authorization header for a repository; "" until the registry asks for one."""

    def __init__(self, reference: Reference, actions: str, client: Client, trust: Trust) -> None:
        self.header = ""
        self._reference = reference
        self._actions = actions
        self._client = client
        self._trust = trust

    def authorize(self, response: HttpResponse) -> bool:
        """Get the authorization that a response requires; False if there is nothing new to try.

        Raises RefusedError, NoAnswerError, and InputError for credentials that cannot be read.
        """
        schemes = {
            scheme.lower(): dict(_PARAMETER.findall(parameters))
            for text in response.headers.get_all("WWW-Authenticate") or ()
            for scheme, parameters in _CHALLENGE.findall(text)
        }
        login = self._trust.find_login(self._reference.credentials_key)
        if login is not None and response.url.startswith("http:"):
            self._check_plain(self._reference.host)
        before = self.header
        if "bearer" in schemes:
            self.header = f"Bearer {self._fetch_token(schemes['bearer'], login)}"
        elif "basic" in schemes and login is not None:
            self.header = login.basic
        return self.header != before

    def _fetch_token(self, challenge: Mapping[str, str], login: Login | None) -> str:
        """Fetch a token for all our actions from the service that the registry trusts."""
        realm = challenge.get("realm", "")
        if not self._is_trusted(realm):
            raise RefusedError(f'it names "{realm}" as its token service, which is not HTTPS')
        if login is not None and realm.startswith("http:"):
            self._check_plain(realm)
        response = self._client.send(*self._build_request(realm, challenge, login))
        if not response.is_success:
            raise RefusedError(
                f"its token service refuses ({reason(response)})",
                hint=f"log in again: docker login {self._reference.host}",
            )
        reply = _read_object(response.body)
        token = manifests.text_at(reply, "token") or manifests.text_at(reply, "access_token")
        if not _TOKEN.fullmatch(token):
            raise RefusedError("its token service gives no token")
        return token

    def _check_plain(self, address: str) -> None:
        """Raise RefusedError where credentials must not be sent without TLS."""
        if not self._trust.allows_plain_login:
            raise RefusedError(f"{address} has no TLS, and credentials are sent over TLS only")

    def _is_trusted(self, realm: str) -> bool:
        """Report whether credentials may be sent there: over TLS, or on this machine."""
        try:
            parts = urls.urlsplit(realm)
            is_here = self._reference.is_loopback and is_loopback(parts.netloc)
        except ValueError:
            return False
        if parts.scheme == "https":
            return bool(parts.netloc)
        return parts.scheme == "http" and (is_here or self._trust.plain_http)

    def _build_request(
        self, realm: str, challenge: Mapping[str, str], login: Login | None
    ) -> tuple[HttpRequest, str]:
        scope = f"repository:{self._reference.repository}:{self._actions}"
        parameters = {"service": challenge.get("service", ""), "scope": scope}
        if login is not None and login.identity_token:
            grant = {"grant_type": "refresh_token", "refresh_token": login.identity_token}
            form = urls.urlencode({**parameters, **grant, "client_id": "function-script"}).encode()
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            return HttpRequest("POST", realm, form, headers), ""
        joint = "&" if urls.urlsplit(realm).query else "?"
        url = f"{realm}{joint}{urls.urlencode(parameters)}"
        return HttpRequest("GET", url), "" if login is None else login.basic


def _read_object(body: bytes) -> Object:
    """Read a JSON object; {} for anything else."""
    try:
        value = bounded.read_json(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def reason(response: HttpResponse) -> str:
    """Return the registry's own message, or the name of the status."""
    problems = manifests.objects_at(_read_object(response.body), "errors")
    texts = [manifests.text_at(problem, "message") for problem in problems]
    message = "; ".join(text for text in texts if text)[:_MAX_CHARACTERS]
    name = HTTPStatus(response.status).phrase.lower() if response.status in _STATUSES else ""
    return f"HTTP {response.status}: {message or name or 'no reason given'}"
