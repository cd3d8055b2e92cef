"""References to programs in registries and repositories, and the hosts that an operator allows."""

import hashlib
import json
import posixpath
import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Final, Literal, TypeAlias

Transport: TypeAlias = Literal["oci", "git"]
_SHORT_DIGITS: Final = 12
_ENTRY: Final = re.compile(r"[\w.\[\]:-]+(?:/[\w.~+-]+)*/?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteReference:
    """A file or a folder in an artifact of a registry, or in a commit of a repository.

    ``location`` is ``HOST/REPOSITORY`` of a registry or the URL of a repository; ``version`` is a
    digest or a commit. An empty ``path`` is the whole content. ``credentials`` is a name among the
    step's credentials, or "".
    """

    transport: Transport
    location: str
    version: str
    path: str = ""
    credentials: str = ""

    def __str__(self) -> str:
        if self.transport == "oci":
            return f"oci {self.location}@{self.version}"
        return f"git {self.location} at {self.version}"

    @property
    def key(self) -> str:
        """Return a digest of all fields."""
        return hashlib.sha256(json.dumps(astuple(self)).encode()).hexdigest()

    @property
    def address(self) -> str:
        """Return host and path without a scheme, as the operator allows them."""
        if self.transport == "oci":
            return self.location
        host, slash, path = self.location.partition("://")[2].partition("/")
        return f"{host.lower()}{slash}{path}"

    @property
    def host(self) -> str:
        """Return the host, with its port if it has one."""
        return self.address.partition("/")[0]

    def name_of(self, file: str) -> str:
        """Return the name of one of the files for messages: ``HOST/REPO@VERSION/PATH/FILE``."""
        digits = self.version.removeprefix("sha256:")[:_SHORT_DIGITS]
        location = self.address.removesuffix(".git")
        return posixpath.join(f"{location}@{digits}", self.path, file).rstrip("/")


class Allowlist:
    """Entries ``HOST`` or ``HOST/PREFIX``, whose prefix ends at a slash of an address.

    Raises ValueError for an entry of another form.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self._prefixes = tuple(_parse(entry) for entry in entries)

    def allows(self, reference: RemoteReference) -> bool:
        """Report whether the reference is on an allowed host and below its prefix."""
        host, slash, path = reference.address.partition("/")
        # Servers have one repository both with the ending and without it.
        address = f"{host.lower()}{slash}{path.removesuffix('.git')}/"
        return any(address.startswith(prefix) for prefix in self._prefixes)


def _parse(entry: str) -> str:
    if not _ENTRY.fullmatch(entry):
        raise ValueError(f'"{entry}" is no HOST or HOST/PREFIX such as ghcr.io/acme')
    host, slash, path = entry.rstrip("/").removesuffix(".git").partition("/")
    return f"{host.lower()}{slash}{path}/"
