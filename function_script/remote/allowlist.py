"""The hosts from which an operator allows programs."""

import re
from collections.abc import Iterable
from typing import Final

from function_script.remote.reference import RemoteReference

_ENTRY: Final = re.compile(r"[\w.\[\]:-]+(?:/[\w.~+-]+)*/?", re.ASCII)


class Allowlist:
    """Entries ``HOST`` or ``HOST/PREFIX``, whose prefix ends at a slash of an address.

    Raises ValueError for an entry of another form.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self._prefixes = tuple(_parse(entry) for entry in entries)

    def allows(self, reference: RemoteReference) -> bool:
        """Report whether the reference is on an allowed host and below its prefix."""
        host, slash, path = reference.address.partition("/")
        address = f"{host.lower()}{slash}{path.removesuffix('.git')}/"
        return any(address.startswith(prefix) for prefix in self._prefixes)


def _parse(entry: str) -> str:
    if not _ENTRY.fullmatch(entry):
        raise ValueError(f'"{entry}" is no HOST or HOST/PREFIX such as ghcr.io/acme')
    host, slash, path = entry.rstrip("/").removesuffix(".git").partition("/")
    return f"{host.lower()}{slash}{path}/"
