"""Credentials of a step for a host, and their scope in caches."""

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from function_script.request.values import Readable

_CONFIG_KEYS: Final = (".dockerconfigjson", "config.json")
_DOCKER_HUB: Final = frozenset({"index.docker.io", "registry-1.docker.io"})
# Git servers take a token as the password of this user.
TOKEN_USER: Final = "x-access-token"  # noqa: S105 - the name of a user


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A user and a password, or an identity token of a registry."""

    user: str = ""
    password: str = field(default="", repr=False)
    identity_token: str = field(default="", repr=False)

    @property
    def basic(self) -> str:
        """Return the value of an Authorization header."""
        return f"Basic {base64.b64encode(f'{self.user}:{self.password}'.encode()).decode()}"

    def mask(self, text: str, authorization: str = "") -> str:
        """Return the text of a host without secrets, which it may repeat."""
        headers = (self.basic, authorization)
        values = (header.partition(" ")[2] for header in headers)
        for secret in filter(None, (self.password, self.identity_token, *values)):
            text = text.replace(secret, "***")
        return text


def scope(data: Mapping[str, bytes] | None) -> str:
    """Return the scope of content that credentials give access to; "" without credentials.

    Content that was fetched with credentials is for requests with the same ones only.
    """
    if data is None:
        return ""
    digest = hashlib.sha256()
    for name in sorted(data):
        for part in (name.encode(), data[name]):
            # With their lengths, without which two different Secrets could give the same bytes.
            digest.update(b"%d:" % len(part) + part)
    return digest.hexdigest()


def of_step(data: Mapping[str, bytes], host: str) -> Login:
    """Return the login in a Secret's data for a host. Raises ValueError."""
    texts = {name: _to_text(name, value) for name, value in data.items() if name != "ca.crt"}
    for key in _CONFIG_KEYS:
        if key in texts:
            login = of_docker_config(texts[key], host)
            if login is None:
                raise ValueError(f'"{key}" has no entry for {host}')
            return login
    user, password, token = (texts.get(key, "") for key in ("username", "password", "token"))
    if token and not password:
        return Login(user=user or TOKEN_USER, password=token)
    if user and password:
        return Login(user=user, password=password)
    keys = ".dockerconfigjson, username and password, or token"
    raise ValueError(f"they have none of {keys}")


def of_docker_config(text: str, host: str) -> Login | None:
    """Return the login for a host in Docker's configuration; None without one.

    Raises ValueError. Credential helpers are not run.
    """
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("the configuration of Docker is no JSON") from error
    return find_in_config(config, host)


def find_in_config(config: Readable, host: str) -> Login | None:
    """Return the login for a host in the value of Docker's configuration; None without one.

    Raises ValueError.
    """
    entries = config.get("auths") if isinstance(config, Mapping) else None
    for name, entry in entries.items() if isinstance(entries, Mapping) else ():
        if to_host(name) != to_host(host) or not isinstance(entry, Mapping):
            continue
        user, password, encoded, token = (
            value if isinstance(value := entry.get(key), str) else ""
            for key in ("username", "password", "auth", "identitytoken")
        )
        if encoded:
            try:
                user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
            except (binascii.Error, UnicodeDecodeError) as error:
                raise ValueError(f"auth of {host} is no base64 of USER:PASSWORD") from error
        # Docker removes these bytes, too.
        password = password.rstrip("\0")
        if (user and password) or token:
            return Login(user=user, password=password, identity_token=token)
    return None


def to_host(name: str) -> str:
    """Return the host of a name such as ``https://index.docker.io/v1/``; of that one docker.io."""
    host = name.removeprefix("https://").removeprefix("http://").partition("/")[0].lower()
    return "docker.io" if host in _DOCKER_HUB else host


def _to_text(name: str, value: bytes) -> str:
    try:
        return value.decode().strip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(f'"{name}" is not UTF-8 text') from error
