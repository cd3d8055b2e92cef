"""The shutdown of a TCP connection by its client's address.

gRPC's library has no API to close a connection of a server.
"""

import ipaddress
import os
import socket
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

_FOLDER = Path("/proc/self/fd")
_FAMILIES = (socket.AF_INET, socket.AF_INET6)


def shut_down(peer: str) -> bool:
    """Shut down the connection of ``peer``, in gRPC's spelling such as ipv4:192.0.2.1:5000.

    gRPC then reads the end of the stream and closes its socket. Return False if no such connection
    exists.
    """
    address = _parse(peer)
    if address is None:
        return False
    for entry in _FOLDER.iterdir():
        with suppress(OSError, ValueError):
            duplicate = os.dup(int(entry.name))
            try:
                connection = socket.socket(fileno=duplicate)
            except OSError:
                os.close(duplicate)
                continue
            with connection:
                if connection.family not in _FAMILIES:
                    continue
                if _normalized(*connection.getpeername()[:2]) == address:
                    connection.shutdown(socket.SHUT_RDWR)
                    return True
    return False


def _parse(peer: str) -> tuple[str, int] | None:
    family, _, rest = peer.partition(":")
    host, _, port = unquote(rest).rpartition(":")
    if family not in {"ipv4", "ipv6"} or not port.isdecimal():
        return None
    return _normalized(host.strip("[]"), int(port))


def _normalized(host: str, port: int) -> tuple[str, int]:
    """Return the address with ::ffff:a.b.c.d, which dual-stack sockets have, as a.b.c.d."""
    address = ipaddress.ip_address(host)
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address), port
