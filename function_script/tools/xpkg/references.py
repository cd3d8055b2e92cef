"""Names of images in registries: ``registry.example.org/team/apps:v1.0.0``."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final

from function_script.request.remote.login import to_host
from function_script.texts.errors import InputError

_NAME: Final = r"\[[0-9a-fA-F:]+\](?::\d+)?|localhost|[\w-]+:\d+|[\w-]+(?:\.[\w-]+)+(?::\d+)?"
_HOST: Final = rf"(?P<host>{_NAME})"
_REPOSITORY: Final = r"(?P<repository>[a-z0-9]+(?:[._/-]+[a-z0-9]+)*)"
_TAG: Final = r"(?::(?P<tag>[\w][\w.-]{0,127}))?"
_DIGEST: Final = r"(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
_REFERENCE: Final = re.compile(f"{_HOST}/{_REPOSITORY}{_TAG}{_DIGEST}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """An image in a registry; ``version`` is a tag or a digest. ``host`` may have a port."""

    host: str
    repository: str
    version: str

    def __str__(self) -> str:
        return f"{self.name}{'@' if self.is_pinned else ':'}{self.version}"

    @property
    def name(self) -> str:
        """Return the registry and the repository, without a version."""
        return f"{self.host}/{self.repository}"

    @property
    def is_pinned(self) -> bool:
        """Report whether the version is a digest."""
        return ":" in self.version

    @property
    def api_host(self) -> str:
        """Return the host of the registry's API."""
        return "registry-1.docker.io" if to_host(self.host) == "docker.io" else self.host

    @property
    def is_loopback(self) -> bool:
        """Report whether the registry is on this machine."""
        return is_loopback(self.host)

    @property
    def object_name(self) -> str:
        """Return the name of the Function that Crossplane installs as another package's dependency.

        The repository becomes a DNS label: separators become hyphens, other signs are dropped.
        """
        label = re.sub(r"[^a-z0-9-]", "", re.sub("[./:]", "-", self.repository[:63]))
        return label.strip("-")


def is_loopback(host: str) -> bool:
    """Report whether a host, perhaps with a port, is this machine."""
    name = re.sub(r":\d+\Z", "", host).strip("[]").lower()
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def parse_tag(text: str) -> Reference:
    """Parse the reference of a tag to push. Raises InputError for a digest."""
    reference = parse(text)
    if reference.is_pinned:
        raise InputError.of(f'cannot push to "{text}": a digest is no tag')
    return reference


def parse(text: str) -> Reference:
    """Parse a reference with registry and version. Raises InputError."""
    match = _REFERENCE.fullmatch(text)
    version = match and (match["digest"] or match["tag"])
    if not match or not version:
        raise InputError.of(
            f'cannot read "{text}" as the name of a package in a registry',
            hint="name the registry and the version: registry.example.org/team/apps:v1.0.0",
        )
    return Reference(host=match["host"], repository=match["repository"], version=version)
