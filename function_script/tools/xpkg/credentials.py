"""Credentials for registries, as `docker login` stores them.

Credential helpers (``docker-credential-…``) run as Docker runs them. Nothing is ever written.
"""

import base64
import binascii
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from function_script.errors import InputError
from function_script.remote.login import Login
from function_script.tools import bounded, manifests
from function_script.values import Object

# A helper returns this user if its secret is an identity token.
_TOKEN_USER: Final = "<token>"  # noqa: S105 - a marker, not a secret
_HELPER_SECONDS: Final = 60.0
_HELPER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def find(key: str) -> Login | None:
    """Find Docker's credentials for a registry; None if there are none. Raises InputError."""
    config = _read_config()
    helper = manifests.texts_at(config, "credHelpers").get(key)
    helper = helper or manifests.text_at(config, "credsStore")
    credentials = _run_helper(helper, key) if helper else None
    if credentials is not None:
        return credentials
    for name, entry in manifests.object_at(config, "auths").items():
        if _host(name) == _host(key) and isinstance(entry, dict) and entry:
            return _from_entry(entry, name)
    return None


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
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise InputError.of(f'cannot read credentials from "{path}": {cause}') from error
    except ValueError as error:
        raise InputError.of(f'cannot read credentials from "{path}": {error}') from error
    return config if isinstance(config, dict) else {}


def _host(name: str) -> str:
    """Return the host of a name such as ``https://registry.example.org/v1/``."""
    return name.removeprefix("https://").removeprefix("http://").partition("/")[0]


def _from_entry(entry: Object, name: str) -> Login:
    user, password = (manifests.text_at(entry, key) for key in ("username", "password"))
    encoded = manifests.text_at(entry, "auth")
    if encoded:
        try:
            user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError) as error:
            raise InputError.of(
                f'cannot read credentials for "{name}": auth is no base64 of USER:PASSWORD',
                hint=f"log in again: docker login {_host(name)}",
            ) from error
    token = manifests.text_at(entry, "identitytoken")
    return Login(user=user, password=password.rstrip("\0"), identity_token=token)


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
        output = bounded.read_json(process.stdout) if process.returncode == 0 else {}
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise InputError.of(f'cannot get credentials for "{key}" from "{name}"') from error
    if not isinstance(output, dict):
        raise InputError.of(f'cannot get credentials for "{key}" from "{name}": it gives no object')
    user, secret = (manifests.text_at(output, part) for part in ("Username", "Secret"))
    if user == _TOKEN_USER:
        return Login(identity_token=secret)
    return Login(user=user, password=secret) if secret else None
