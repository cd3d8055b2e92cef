"""The connections of clients: how much each has sent, and how to close one.

gRPC's library has no API for either, so this reads the descriptors of the process.
"""

import ipaddress
import os
import socket
import struct
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import unquote

# A client's host and port.
Address: TypeAlias = tuple[str, int]

_FOLDER: Final = Path("/proc/self/fd")
_FAMILIES: Final = (socket.AF_INET, socket.AF_INET6)
# tcpi_bytes_received in Linux's struct tcp_info.
_BYTES_RECEIVED: Final = struct.Struct("=128xQ")


class Connection:
    """A client's connection. ``pending_bytes`` is what it sent since it last completed a message.

    ``messages`` and ``resets`` count the messages that calls have received since the last
    `Connections.scan`, and the calls that the client has cancelled before they received any.
    """

    __slots__ = ("address", "has_messages", "messages", "pending_bytes", "received_bytes", "resets")

    def __init__(self, address: Address | None) -> None:
        self.address: Final = address
        self.messages = 0
        self.has_messages = False
        self.resets = 0
        self.received_bytes = 0
        self.pending_bytes = 0

    def note(self, received_bytes: int) -> None:
        """Note what it has sent in all. A message that came was sent after all that it holds."""
        new_bytes = received_bytes - self.received_bytes
        self.has_messages |= self.messages > 0
        self.pending_bytes = 0 if self.messages or new_bytes < 0 else self.pending_bytes + new_bytes
        self.received_bytes = received_bytes
        self.messages = self.resets = 0


class Connections:
    """The connections of a server, the oldest first; ``ports`` are those that it listens on."""

    def __init__(self) -> None:
        self.ports: Final[set[int]] = set()
        self._by_address: dict[Address | None, Connection] = {}

    def __iter__(self) -> Iterator[Connection]:
        return iter(self._by_address.values())

    def __len__(self) -> int:
        return len(self._by_address)

    def find(self, peer: str) -> Connection:
        """Return the connection of a peer in gRPC's spelling, such as ipv4:192.0.2.1:5000."""
        address = _parse(peer)
        connection = self._by_address.get(address)
        if connection is None:
            connection = self._by_address[address] = Connection(address)
        return connection

    def scan(self) -> None:
        """Forget connections that were closed, and read how much the others have sent."""
        sizes = _count_received(self.ports)
        # gRPC does not say when a connection ends, so its absence tells.
        for address in self._by_address.keys() - sizes.keys():
            del self._by_address[address]
        for address, received_bytes in sizes.items():
            if address not in self._by_address:
                self._by_address[address] = Connection(address)
            self._by_address[address].note(received_bytes)


def shut_down(addresses: AbstractSet[Address | None]) -> int:
    """Shut down the connections of these clients, so that gRPC closes their sockets; count them."""
    count = 0
    for connection in _sockets():
        with suppress(OSError):
            if _normalize(*connection.getpeername()[:2]) in addresses:
                connection.shutdown(socket.SHUT_RDWR)
                count += 1
    return count


def _count_received(ports: set[int]) -> dict[Address, int]:
    """Return the bytes that each client of these ports has sent; 0 if the kernel does not count."""
    sizes = {}
    for connection in _sockets():
        with suppress(OSError):
            if connection.getsockname()[1] in ports:
                address = _normalize(*connection.getpeername()[:2])
                sizes[address] = _bytes_received(connection)
    return sizes


def _bytes_received(connection: socket.socket) -> int:
    size = _BYTES_RECEIVED.size
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, size)
    # An older kernel returns less of the struct.
    return int(_BYTES_RECEIVED.unpack(info)[0]) if len(info) == size else 0


def _sockets() -> Iterator[socket.socket]:
    """Yield a duplicate of each socket of the internet, which is closed after its turn."""
    for entry in _FOLDER.iterdir():
        with suppress(OSError, ValueError):
            # gRPC may close its descriptor at any time, and another file could then have the
            # number.
            duplicate = os.dup(int(entry.name))
            try:
                connection = socket.socket(fileno=duplicate)
            except OSError:
                os.close(duplicate)
                continue
            with connection:
                if connection.family in _FAMILIES:
                    yield connection


# Parsing takes longer than the rest of an admission. There are 2,000 connections at most.
@lru_cache(maxsize=2_000)
def _parse(peer: str) -> Address | None:
    family, _, rest = peer.partition(":")
    host, _, port = unquote(rest).rpartition(":")
    if family not in {"ipv4", "ipv6"} or not port.isdecimal():
        return None
    return _normalize(host.strip("[]"), int(port))


def _normalize(host: str, port: int) -> Address:
    """Return the address with ::ffff:a.b.c.d, which dual-stack sockets have, as a.b.c.d."""
    return _normalize_host(host), port


@lru_cache(maxsize=1_000)
def _normalize_host(host: str) -> str:
    address = ipaddress.ip_address(host)
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)
