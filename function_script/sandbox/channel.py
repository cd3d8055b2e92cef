"""The worker's end of its line to the pool: requests come in, receipts and payloads go out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from function_script.sandbox.ipc import Request, receive

if TYPE_CHECKING:
    import socket

    from function_script.sandbox.ipc import Receipt
    from function_script.sandbox.shared_memory import SharedMemory


class Channel(ABC):
    """Carries one request at a time; a response and its report may have ``capacity_bytes``."""

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes

    @abstractmethod
    def receive(self) -> Request | None:
        """Wait for the next request; None: the pool has hung up."""

    @abstractmethod
    def read(self, length: int) -> bytes:
        """Return the ``length`` bytes that a request has announced."""

    @abstractmethod
    def put_limits(self, timeout_seconds: float, memory_bytes: int) -> None:
        """Tell the pool the limits in force, which it reads when the worker has died."""

    @abstractmethod
    def send(self, receipt: Receipt, response: bytes, report: bytes) -> None:
        """Answer the request; the caller has compared the lengths with the capacity."""


class SharedMemoryChannel(Channel):
    """Has frames on a socket of packets, and all else in a box."""

    def __init__(self, connection: socket.socket, box: SharedMemory) -> None:
        super().__init__(box.capacity_bytes)
        self._connection = connection
        self._box = box

    def receive(self) -> Request | None:
        """Wait for the next request; None: the pool has hung up."""
        frame = receive(self._connection)
        return Request.unpack(frame) if frame else None

    def read(self, length: int) -> bytes:
        """Return the ``length`` bytes that a request has announced."""
        return self._box.get(length)

    def put_limits(self, timeout_seconds: float, memory_bytes: int) -> None:
        """Tell the pool the limits in force, which it reads when the worker has died."""
        self._box.put_limits(timeout_seconds, memory_bytes)

    def send(self, receipt: Receipt, response: bytes, report: bytes) -> None:
        """Answer the request; the caller has compared the lengths with the capacity."""
        self._box.put(response, report)
        self._connection.send(receipt.pack())
