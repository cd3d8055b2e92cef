"""Sockets: addresses to listen on."""

import errno
import os
import socket
from typing import Final

from function_script.texts.errors import InputError

_NO_IPV6: Final = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)
_HINTS: Final = {
    errno.EADDRINUSE: "another process has it, or another flag of this command names it",
    errno.EACCES: "ports below 1024 need a privilege (CAP_NET_BIND_SERVICE)",
    errno.EADDRNOTAVAIL: "[::] is every address of this host, IPv4 and IPv6",
}


def listen(address: str, backlog: int) -> socket.socket:
    """Listen on HOST:PORT; [::] stands for IPv6 and IPv4, or IPv4 alone on a host without IPv6.

    Raises OSError.
    """
    host, _, number = address.rpartition(":")
    host, port = host.strip("[]"), int(number)
    if host == "::" and not socket.has_dualstack_ipv6():
        host = "0.0.0.0"  # noqa: S104 - :: means all addresses
    if host == "::":
        try:
            return socket.create_server(
                ("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=backlog
            )
        except OSError as error:
            if error.errno not in _NO_IPV6:
                raise
            host = "0.0.0.0"  # noqa: S104 - :: means all addresses
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    return socket.create_server((host, port), family=family, backlog=backlog)


def listen_error(address: str, flag: str, error: OSError | None = None) -> InputError:
    """Return the error for an address that cannot be used.

    Without ``error`` this listens once more, because gRPC's library does not report the reason.
    """
    if error is None:
        try:
            listen(address, 1).close()
        except OSError as os_error:
            error = os_error
    if error is None:
        return InputError.of(f'cannot listen on "{address}" ({flag}): gRPC refuses it')
    if isinstance(error, socket.gaierror):
        reason, hint = "its host has no address here", _HINTS[errno.EADDRNOTAVAIL]
    else:
        # Python's own text of a socket has the address once more.
        reason = (os.strerror(error.errno) if error.errno else str(error)).lower()
        hint = _HINTS.get(error.errno or 0, f"choose another with {flag}")
    return InputError.of(f'cannot listen on "{address}" ({flag}): {reason}', hint=hint)
