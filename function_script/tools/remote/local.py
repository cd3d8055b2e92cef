"""Remote programs in the author's commands: from `vendor/`, the user's cache, or their hosts.

The hosts are those that the Composition names. Logins are those of `docker login`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from function_script import wire
from function_script.errors import InputError
from function_script.problems import Problem
from function_script.remote import content
from function_script.remote.store import FetchKey
from function_script.tools.processes.options import PackageOptions, default_root
from function_script.tools.remote import vendored
from function_script.tools.remote.disk_cache import DiskCache
from function_script.tools.remote.errors import FetchError
from function_script.tools.remote.fetching import Source
from function_script.tools.xpkg import credentials as docker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from function_script.inputs import MissingContent
    from function_script.remote.login import Login
    from function_script.remote.reference import RemoteReference

_DOCKER_HUB: Final = "https://index.docker.io/v1/"


def source_of(packages: PackageOptions) -> Source:
    """Return the source of a command."""
    root = packages.root or default_root()
    return Source(
        find_login=_find_login,
        cache=DiskCache(root / "remote"),
        ca_file=_ca_file(),
        is_offline=packages.pull == "Never",
    )


def fetch(
    source: Source, reference: RemoteReference, credentials: Mapping[str, bytes] | None = None
) -> bytes:
    """Return encoded content from `vendor/`, the cache or its host. Raises FetchError."""
    payload = vendored.find(vendored.DEFAULT, replace(reference, credentials=""))
    return fetch_from_host(source, reference, credentials) if payload is None else payload


def fetch_from_host(
    source: Source, reference: RemoteReference, credentials: Mapping[str, bytes] | None = None
) -> bytes:
    """Return encoded content from the cache or its host. Raises FetchError."""
    return source.fetch(FetchKey(replace(reference, credentials=""), ""), credentials)


def find(reference: RemoteReference) -> content.Content | None:
    """Return content that is on this machine; None for other."""
    try:
        payload = fetch(source_of(PackageOptions(pull="Never")), reference)
    except (FetchError, InputError):
        return None
    return content.decode(payload)


def attach(data: bytes, missing: Sequence[MissingContent], source: Source) -> bytes:
    """Return a request with the contents that it lacks. Raises InputError."""
    step_credentials = wire.index_request(data).credentials
    payloads: dict[RemoteReference, bytes] = {}
    problems = []
    for path, reference in missing:
        try:
            login = step_credentials.get(reference.credentials)
            payloads[reference] = fetch(source, reference, login)
        except FetchError as error:
            text = f"cannot fetch {reference}: {error.reason}"
            problems.append(Problem(path, text, error.hint or None))
    if problems:
        raise InputError(*(problem.to_diagnostic() for problem in problems))
    return content.attach(data, payloads.items())


def _find_login(reference: RemoteReference) -> Login | None:
    try:
        return docker.find(_DOCKER_HUB if reference.host == "docker.io" else reference.host)
    except InputError as error:
        raise ValueError(str(error)) from error


def _ca_file() -> Path | None:
    """Return the file that OpenSSL reads by itself, for git, which does not."""
    name = os.environ.get("SSL_CERT_FILE")
    return Path(name) if name else None
