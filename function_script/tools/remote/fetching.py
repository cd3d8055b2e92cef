"""Fetch the content of a reference: from the cache on disk, else from its host."""

import hashlib
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from function_script.inputs import beneath
from function_script.request.remote import content, login
from function_script.request.remote.reference import RemoteReference
from function_script.request.remote.store import FetchKey
from function_script.texts.errors import InputError
from function_script.tools.remote import git, oci
from function_script.tools.remote.selection import FetchError
from function_script.tools.xpkg.credentials import Trust
from function_script.tools.xpkg.transport import Patience

# A fetch that failed is tried again by the server, so that each is short.
PATIENCE: Final = Patience(exchange_seconds=30.0, silence_seconds=15.0, pauses=())
_FETCH_SECONDS: Final = 60.0
_MAX_CACHE_BYTES: Final = 256 << 20
_HASH_BYTES: Final = 32
# For this user only.
_MODE: Final = 0o600
# A name must not tell a weak password: of each guess, the hash takes a twentieth of a second.
_SCRYPT_COST: Final = 1 << 14


class DiskCache:
    """The contents below ``directory``, the least recently used ones removed beyond a bound.

    Each is in a file named by its reference and the scope of its credentials. The file has the
    digest of its content, so that a broken one is fetched again. Whoever can write into the
    directory can write programs.
    """

    def __init__(self, directory: Path, max_bytes: int = _MAX_CACHE_BYTES) -> None:
        self._directory = directory
        self._max_bytes = max_bytes

    def find(self, key: FetchKey) -> bytes | None:
        """Return encoded content; None for one that is not there or is broken."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        payload = data[_HASH_BYTES:]
        if hashlib.sha256(payload).digest() != data[:_HASH_BYTES]:
            return None
        # By this time the least recently used ones are found.
        with suppress(OSError):
            os.utime(path)
        return payload

    def put(self, key: FetchKey, payload: bytes) -> None:
        """Store content; without room on the disk it is not stored."""
        data = hashlib.sha256(payload).digest() + payload
        with suppress(OSError):
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Other processes that read the cache see a whole file, or none.
            name = self._path(key).name
            beneath.replace(beneath.resolve(self._directory), [name], data, mode=_MODE)
            # Beyond the bound, the least recently used ones go.
            files = [(each.stat(), each) for each in self._directory.iterdir() if each.is_file()]
            files.sort(key=lambda item: item[0].st_mtime)
            excess = sum(status.st_size for status, _ in files) - self._max_bytes
            for status, file in files:
                if excess <= 0:
                    return
                file.unlink(missing_ok=True)
                excess -= status.st_size

    def _path(self, key: FetchKey) -> Path:
        name = key.reference.key
        if key.scope:
            name = hashlib.scrypt(
                key.scope.encode(), salt=name.encode(), n=_SCRYPT_COST, r=8, p=1, dklen=_HASH_BYTES
            ).hex()
        return self._directory / name


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Options of fetches: where logins come from, and what is trusted.

    ``find_login`` returns the login for a host, where a step has no credentials. ``cache``
    None: nothing is on disk.
    """

    find_login: Callable[[str], login.Login | None]
    cache: DiskCache | None = None
    ca_file: Path | None = None
    plain_http: bool = False
    is_offline: bool = False

    def fetch(self, key: FetchKey, credentials: Mapping[str, bytes] | None = None) -> bytes:
        """Return encoded content. ``credentials`` are those of the step. Raises FetchError."""
        payload = None if self.cache is None else self.cache.find(key)
        if payload is not None:
            return payload
        if self.is_offline:
            raise FetchError("it is not in the cache, and --offline is set")
        try:
            if credentials is None:
                login_for_host = self.find_login(key.reference.host)
            else:
                login_for_host = login.of_step(credentials, key.reference.host)
        except (InputError, ValueError) as error:
            raise FetchError(f"cannot read the credentials: {error}") from error
        payload = content.encode(self._download(key.reference, login_for_host))
        if self.cache is not None:
            self.cache.put(key, payload)
        return payload

    def trust(self, login_for_host: login.Login | None) -> Trust:
        """Return the options of connections to a host."""
        return Trust(
            plain_http=self.plain_http,
            ca_file=self.ca_file,
            find_login=lambda _: login_for_host,
            allows_plain_login=False,
            patience=PATIENCE,
        )

    def _download(
        self, reference: RemoteReference, login_for_host: login.Login | None
    ) -> content.Content:
        trust = self.trust(login_for_host)
        if reference.transport == "git":
            return git.fetch(reference, trust)
        return _bounded(lambda: oci.fetch(reference, trust))


def _bounded(fetch: Callable[[], content.Content]) -> content.Content:
    """Return the result of ``fetch``, which has a minute for all its exchanges."""
    outcome: list[content.Content | FetchError] = []

    def run() -> None:
        try:
            outcome.append(fetch())
        except FetchError as error:
            outcome.append(error)
        except Exception as error:  # noqa: BLE001 - whatever a hostile registry finds
            outcome.append(FetchError(f"internal error ({type(error).__name__})"))

    # A pool of threads would wait for this one when the process ends.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(_FETCH_SECONDS)
    if not outcome:
        raise FetchError(f"it did not arrive within {_FETCH_SECONDS:.0f} s")
    (result,) = outcome
    if isinstance(result, FetchError):
        raise result
    return result
