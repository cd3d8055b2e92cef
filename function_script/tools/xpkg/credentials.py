"""Credentials for registries: those of `docker login`, and tokens that they are exchanged for.

Credential helpers (``docker-credential-…``) run as Docker runs them. Nothing is ever written.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib import parse as urls

from function_script.request.remote.login import Login, find_in_config, to_host
from function_script.request.values import Object
from function_script.texts.errors import InputError, cause_of
from function_script.tools import bounded, manifests
from function_script.tools.xpkg import transport
from function_script.tools.xpkg.references import Reference, is_loopback

# The name under which Docker stores the credentials of its own registry.
_DOCKER_HUB_KEY: Final = "https://index.docker.io/v1/"
# A helper returns this user if its secret is an identity token.
_TOKEN_USER: Final = "<token>"  # noqa: S105 - a marker, not a secret
_HELPER_SECONDS: Final = 60.0
_HELPER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


# One header may have several challenges.
_CHALLENGE: Final = re.compile(r"(?i)(?:^|,)\s*(basic|bearer)\b((?:(?!,\s*(?:basic|bearer)\b).)*)")
_PARAMETER: Final = re.compile(r'(\w+)="([^"]*)"')
_STATUSES: Final = {status.value for status in HTTPStatus}
_MAX_CHARACTERS: Final = 500
_TOKEN: Final = re.compile(r"[\x21-\x7e]+")


def find(host: str) -> Login | None:
    """Find Docker's credentials for a registry; None if there are none. Raises InputError."""
    config = _read_config()
    key = _DOCKER_HUB_KEY if to_host(host) == "docker.io" else host
    helper = manifests.texts_at(config, "credHelpers").get(key)
    helper = helper or manifests.text_at(config, "credsStore")
    credentials = _run_helper(helper, key) if helper else None
    if credentials is not None:
        return credentials
    try:
        return find_in_config(config, host)
    except ValueError as error:
        raise InputError.of(
            f"cannot read credentials: {error}", hint=f"log in again: docker login {host}"
        ) from error


def _read_config() -> Object:
    directory = os.environ.get("DOCKER_CONFIG")
    try:
        path = (Path(directory) if directory else Path.home() / ".docker") / "config.json"
    except RuntimeError:
        # A user without a home directory, as in a container, has not logged in.
        return {}
    try:
        config = bounded.read_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        cause = cause_of(error) if isinstance(error, OSError) else error
        raise InputError.of(f'cannot read credentials from "{path}": {cause}') from error
    return config if isinstance(config, dict) else {}


def _run_helper(helper: str, key: str) -> Login | None:
    """Run a credential helper; it fails if it has no credentials."""
    name = f"docker-credential-{helper}"
    if not _HELPER.fullmatch(helper):
        raise InputError.of(
            f'cannot get credentials for "{key}": {helper!r} is not the name of a credential helper'
        )
    program = shutil.which(name)
    if program is None:
        raise InputError.of(
            f'cannot get credentials for "{key}": Docker\'s configuration asks "{name}", '
            "which is not installed"
        )
    try:
        process = subprocess.run(  # noqa: S603 - the program that the user's own configuration names
            [program, "get"],
            input=key.encode(),
            capture_output=True,
            check=False,
            timeout=_HELPER_SECONDS,
        )
        # A helper without credentials for this registry exits with 1.
        output = bounded.read_object(process.stdout) if process.returncode == 0 else {}
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise InputError.of(f'cannot get credentials for "{key}" from "{name}"') from error
    user, secret = (manifests.text_at(output, part) for part in ("Username", "Secret"))
    if user == _TOKEN_USER:
        return Login(identity_token=secret)
    return Login(user=user, password=secret) if secret else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """The options of connections to a registry, or a git server.

    ``plain_http``: without TLS; ``plain_http_hint`` says how to allow it, where that is possible.
    ``ca_file`` has further authorities. ``find_login`` returns the login for a host, by
    default that of `docker login`.
    """

    plain_http: bool = False
    plain_http_hint: str | None = None
    ca_file: Path | None = None
    find_login: Callable[[str], Login | None] = find
    allows_plain_login: bool = True
    patience: transport.Patience = transport.PATIENCE


class Authorizer:
    """Holds login and Authorization header for a repository; empty until the registry asks."""

    def __init__(
        self, reference: Reference, actions: str, client: transport.Client, trust: Trust
    ) -> None:
        self.header = ""
        self.login = Login()
        self._reference = reference
        self._actions = actions
        self._client = client
        self._trust = trust

    def authorize(self, response: transport.HttpResponse) -> bool:
        """Get the authorization that a response requires; False if there is nothing new to try.

        Raises NoAnswerError, and InputError for credentials that cannot be read.
        """
        schemes = {
            scheme.lower(): dict(_PARAMETER.findall(parameters))
            for text in response.headers.get_all("WWW-Authenticate") or ()
            for scheme, parameters in _CHALLENGE.findall(text)
        }
        login = self._trust.find_login(self._reference.host)
        if login is not None and response.url.startswith("http:"):
            self._check_plain(self._reference.host)
        self.login = login or self.login
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
            text = f'it names "{realm}" as its token service, which is not HTTPS'
            raise transport.NoAnswerError(text)
        if login is not None and realm.startswith("http:"):
            self._check_plain(realm)
        response = self._client.send(*self._build_request(realm, challenge, login))
        if not response.is_success:
            raise transport.NoAnswerError(
                f"its token service refuses ({reason(response)})",
                hint=f"log in again: docker login {self._reference.host}",
            )
        reply = _read_object(response.body)
        token = manifests.text_at(reply, "token") or manifests.text_at(reply, "access_token")
        if not _TOKEN.fullmatch(token):
            raise transport.NoAnswerError("its token service gives no token")
        return token

    def _check_plain(self, address: str) -> None:
        """Raise NoAnswerError where credentials must not be sent without TLS."""
        if not self._trust.allows_plain_login:
            text = f"{address} has no TLS, and credentials are sent over TLS only"
            raise transport.NoAnswerError(text)

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
    ) -> tuple[transport.HttpRequest, str]:
        scope = f"repository:{self._reference.repository}:{self._actions}"
        parameters = {"service": challenge.get("service", ""), "scope": scope}
        if login is not None and login.identity_token:
            grant = {"grant_type": "refresh_token", "refresh_token": login.identity_token}
            form = urls.urlencode({**parameters, **grant, "client_id": "function-script"}).encode()
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            return transport.HttpRequest("POST", realm, form, headers), ""
        joint = "&" if urls.urlsplit(realm).query else "?"
        url = f"{realm}{joint}{urls.urlencode(parameters)}"
        return transport.HttpRequest("GET", url), "" if login is None else login.basic


def _read_object(body: bytes) -> Object:
    """Read a JSON object; {} for anything else."""
    try:
        return bounded.read_object(body)
    except ValueError:
        return {}


def reason(response: transport.HttpResponse) -> str:
    """Return the registry's own message, or the name of the status."""
    problems = manifests.objects_at(_read_object(response.body), "errors")
    texts = [manifests.text_at(problem, "message") for problem in problems]
    message = " ".join("; ".join(filter(None, texts)).split())[:_MAX_CHARACTERS]
    name = HTTPStatus(response.status).phrase.lower() if response.status in _STATUSES else ""
    return f"HTTP {response.status}: {message or name or 'no reason given'}"
