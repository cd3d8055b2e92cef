"""Addresses to listen on, and why one cannot be used, in the words of the operating system."""

from __future__ import annotations

import errno
import socket
from contextlib import closing
from typing import Final

from function_script.errors import InputError

_NO_IPV6: Final = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)
_HINTS: Final = {
    errno.EADDRINUSE: "another process has it, or another flag of this command names it",
    errno.EACCES: "ports below 1024 need a privilege (CAP_NET_BIND_SERVICE)",
    errno.EADDRNOTAVAIL: "[::] is every address of this host, IPv4 and IPv6",
}


def listen(address: str, backlog: int) -> socket.socket:
    """Listen on HOST:PORT; [::] means both families, as far as the host has them.

    Raises OSError.
    """
    host, _, text = address.rpartition(":")
    host, port = host.strip("[]"), int(text)
    if host == "::" and not socket.has_dualstack_ipv6():
        host = "0.0.0.0"  # noqa: S104 - every address is what :: means
    if host == "::":
        try:
            return socket.create_server(
                ("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=backlog
            )
        except OSError as error:
            if error.errno not in _NO_IPV6:
                raise
            host = "0.0.0.0"  # noqa: S104 - every address is what :: means
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    return socket.create_server((host, port), family=family, backlog=backlog)


def refuse(address: str, flag: str, error: OSError | None = None) -> InputError:
    """Return the error of a server that could not listen.

    Without ``error`` the address is tried once more: gRPC's library does not say what was wrong.
    """
    error = error or _try(address)
    if error is None:
        return InputError.of(f'cannot listen on "{address}" ({flag}): gRPC refuses it')
    if isinstance(error, socket.gaierror):
        reason, hint = "its host has no address here", _HINTS[errno.EADDRNOTAVAIL]
    else:
        reason = (error.strerror or str(error)).partition(" (while")[0].lower()
        hint = _HINTS.get(error.errno or 0, f"choose another with {flag}")
    return InputError.of(f'cannot listen on "{address}" ({flag}): {reason}', hint=hint)


def _try(address: str) -> OSError | None:
    try:
        with closing(listen(address, 1)):
            return None
    except OSError as error:
        return error
