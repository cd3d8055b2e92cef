"""What a registry is shown: credentials as they are, or a token that they are exchanged for."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib import parse as urls

from function_script.tools import bounded, manifests
from function_script.tools.xpkg import credentials
from function_script.tools.xpkg.references import is_loopback
from function_script.tools.xpkg.transport import HttpRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.tools.xpkg.references import Reference
    from function_script.tools.xpkg.transport import Client, HttpResponse
    from function_script.values import Object

# One header may have several challenges.
_CHALLENGE: Final = re.compile(r"(?i)(?:^|,)\s*(basic|bearer)\b((?:(?!,\s*(?:basic|bearer)\b).)*)")
_PARAMETER: Final = re.compile(r'(\w+)="([^"]*)"')
_STATUSES: Final = {status.value for status in HTTPStatus}
_MAX_SAID: Final = 500
_TOKEN: Final = re.compile(r"[\x21-\x7e]+")


class RefusedError(Exception):
    """There is no authorization to have."""

    def __init__(self, text: str, *, hint: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint


class Authorizer:
    """Holds the Authorization header for a repository; "" until the registry asks for one."""

    def __init__(
        self, reference: Reference, actions: str, client: Client, *, is_plain_allowed: bool
    ) -> None:
        self.header = ""
        self._reference = reference
        self._actions = actions
        self._client = client
        self._is_plain_allowed = is_plain_allowed

    def authorize(self, response: HttpResponse) -> bool:
        """Get what the registry's answer asks for; False when there is nothing new to try.

        Raises RefusedError, NoAnswerError, and InputError for credentials that cannot be read.
        """
        schemes = {
            scheme.lower(): dict(_PARAMETER.findall(parameters))
            for text in response.headers.get_all("WWW-Authenticate") or ()
            for scheme, parameters in _CHALLENGE.findall(text)
        }
        known = credentials.find(self._reference.credentials_key)
        before = self.header
        if "bearer" in schemes:
            self.header = f"Bearer {self._token(schemes['bearer'], known)}"
        elif "basic" in schemes and known is not None:
            self.header = known.basic
        return self.header != before

    def _token(self, challenge: Mapping[str, str], known: credentials.Credentials | None) -> str:
        """A token of the service that the registry trusts, for everything we are going to do."""
        realm = challenge.get("realm", "")
        if not self._may_be_asked(realm):
            raise RefusedError(f'it names "{realm}" as its token service, which is not HTTPS')
        response = self._client.send(*self._question(realm, challenge, known))
        if not response.is_fine:
            raise RefusedError(
                f"its token service refuses ({reason(response)})",
                hint=f"log in again: docker login {self._reference.host}",
            )
        found = _read_object(response.body)
        token = manifests.text_at(found, "token") or manifests.text_at(found, "access_token")
        if not _TOKEN.fullmatch(token):
            raise RefusedError("its token service gives no token")
        return token

    def _may_be_asked(self, realm: str) -> bool:
        """Whether credentials may go there: over TLS, or without leaving this machine."""
        try:
            parts = urls.urlsplit(realm)
            is_here = self._reference.is_loopback and is_loopback(parts.netloc)
        except ValueError:
            return False
        if parts.scheme == "https":
            return bool(parts.netloc)
        return parts.scheme == "http" and (is_here or self._is_plain_allowed)

    def _question(
        self, realm: str, challenge: Mapping[str, str], known: credentials.Credentials | None
    ) -> tuple[HttpRequest, str]:
        scope = f"repository:{self._reference.repository}:{self._actions}"
        wanted = {"service": challenge.get("service", ""), "scope": scope}
        if known is not None and known.identity_token:
            grant = {"grant_type": "refresh_token", "refresh_token": known.identity_token}
            form = urls.urlencode({**wanted, **grant, "client_id": "function-script"}).encode()
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            return HttpRequest("POST", realm, form, headers), ""
        joint = "&" if urls.urlsplit(realm).query else "?"
        url = f"{realm}{joint}{urls.urlencode(wanted)}"
        return HttpRequest("GET", url), "" if known is None else known.basic


def _read_object(body: bytes) -> Object:
    """The JSON object of an answer; {} for anything else."""
    try:
        found = bounded.read_json(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def reason(response: HttpResponse) -> str:
    """What the registry says itself, or the name of the status."""
    problems = manifests.objects_at(_read_object(response.body), "errors")
    texts = [manifests.text_at(problem, "message") for problem in problems]
    said = "; ".join(text for text in texts if text)[:_MAX_SAID]
    name = HTTPStatus(response.status).phrase.lower() if response.status in _STATUSES else ""
    return f"HTTP {response.status}: {said or name or 'no reason given'}"
