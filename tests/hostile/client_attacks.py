"""Attacks by clients on the port of the service; each returns its measurement."""

import gzip
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import NamedTuple, Self

import grpc
from e2e.authority import Identity
from e2e.serving import Server, call, method
from support import builders, raw_http2
from support.raw_http2 import (
    DATA,
    END_STREAM,
    INITIAL_WINDOW,
    PING,
    RST,
    SETTINGS,
    WINDOW,
    RawClient,
    frame,
    message,
    setting,
)

from function_script.proto.v1 import run_function_pb2 as pb

MIB = 1 << 20
BODY = "def main(req):\n"
GOOD = builders.request(
    builders.starlark(BODY + "    return {'context': {'good': 'yes'}}\n"),
    observed=builders.observed("good"),
)
SLOW = builders.request(
    builders.starlark(BODY + "    for i in range(100000000):\n        pass\n    return {}\n")
)


def request_of_size(size: int, name: str = "demo") -> bytes:
    """Return a request for an XR whose response has a little more than this many bytes."""
    state = {"resources": {"big": {"resource": {"kind": "A", "s": "x" * size}}}}
    step = builders.starlark(BODY + "    return {}\n")
    observed = builders.observed(name)
    return builders.request(step, observed=observed, desired=state).SerializeToString()


LARGE = request_of_size(3_900_000)


def is_answered(response: pb.RunFunctionResponse) -> bool:
    """Report whether a response is that of the good program."""
    return response.context.fields["good"].string_value == "yes"


class Target(NamedTuple):
    """A running server, and the identity of a client."""

    server: Server
    identity: Identity

    def channel(self) -> grpc.Channel:
        """Open a connection of a good client."""
        return self.server.channel(self.identity)

    def connect(self, settings: bytes = b"") -> RawClient:
        """Open a connection of raw frames."""
        return RawClient(self.server.address, self.identity, settings=settings)

    def is_well(self) -> bool:
        """Report whether a new good client has its answer within five seconds."""
        with self.channel() as channel:
            try:
                return is_answered(call(channel, GOOD, timeout=5.0))
            except grpc.RpcError:
                return False


class Peak:
    """The maximum memory of a server within the block, in bytes."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.size = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(0.02):
            self.size = max(self.size, self._server.resident_bytes())


def clients_that_go_away(target: Target, number: int) -> None:
    """Request large responses, read 64 KiB of each, and disconnect."""
    body = message(LARGE)
    for _ in range(number):
        with target.connect(setting(INITIAL_WINDOW, MIB)) as client:
            client.send(frame(WINDOW, 0, 0, struct.pack(">I", MIB)))
            stream = client.open()
            client.send_body(stream, body, seconds=5.0)
            client.send(frame(DATA, END_STREAM, stream))
            received = 0
            while received < 64 * 1024 and (received_frame := client.receive()) is not None:
                received += len(received_frame.payload) if received_frame.kind == DATA else 0


def readers_without_a_window(target: Target, streams: int, requests: Sequence[bytes]) -> ExitStack:
    """Have responses made, and never let one be sent; returns the open connections.

    Each request has a connection of its own, with so many streams.
    """
    stack = ExitStack()
    for body in map(message, requests):
        client = stack.enter_context(target.connect(setting(INITIAL_WINDOW, 0)))
        for _ in range(streams):
            stream = client.open()
            client.send_body(stream, body, seconds=5.0)
            client.send(frame(DATA, END_STREAM, stream))
    return stack


def compressed_bombs(target: Target, connections: int, streams: int) -> ExitStack:
    """Send requests of 60 KB that are 60 MiB after decompression; return the connections."""
    body = message(gzip.compress(bytes(60 * MIB), 9, mtime=0), compressed=True)
    stack = ExitStack()
    for _ in range(connections):
        client = stack.enter_context(target.connect())
        for _ in range(streams):
            stream = client.open(extra=[("grpc-encoding", "gzip")])
            client.send_body(stream, body, seconds=0.2)
            client.send(frame(DATA, END_STREAM, stream))
    return stack


def cancelled_beside_good(target: Target, cancelled: int, good: int) -> int:
    """Cancel slow calls of a connection with good calls; return the number that is answered."""
    with target.channel() as channel:
        call(channel, GOOD)
        slow = [method(channel).future(SLOW, timeout=60.0) for _ in range(cancelled)]
        waiting = [method(channel).future(GOOD, timeout=60.0) for _ in range(good)]
        for each in slow:
            each.cancel()
        answered = 0
        for each in waiting:
            with suppress(grpc.RpcError):
                answered += is_answered(each.result())
    return answered


def silent_connections(target: Target, number: int, new_clients: int) -> int:
    """Keep so many silent connections open; return the number of new clients with an answer."""
    end = threading.Event()
    thread = threading.Thread(target=stay_silent, args=(target.server.address, number, end))
    thread.start()
    try:
        time.sleep(2.0)
        return sum(target.is_well() for _ in range(new_clients))
    finally:
        end.set()
        thread.join()


def stay_silent(address: str, number: int, end: threading.Event) -> None:
    """Keep so many connections open that send nothing, until ``end``; reopen closed ones."""
    host, _, port = address.rpartition(":")
    connections: list[socket.socket] = []
    while not end.wait(0.2):
        connections = [each for each in connections if not has_ended(each)]
        with suppress(OSError):
            while len(connections) < number and not end.is_set():
                connections.append(socket.create_connection((host, int(port)), timeout=2.0))
    for each in connections:
        each.close()


def has_ended(connection: socket.socket) -> bool:
    """Report whether the other side has closed a silent connection."""
    connection.settimeout(0)
    try:
        return not connection.recv(1)
    except BlockingIOError:
        return False
    except OSError:
        return True


def half_uploads(target: Target, connections: int) -> ExitStack:
    """Announce large requests and send half of each; return the open connections."""
    stack, size = ExitStack(), 30 * MIB
    prefix = struct.pack(">BI", 0, 2 * size)

    def upload() -> None:
        client = stack.enter_context(target.connect())
        with suppress(OSError):
            client.send_body(client.open(), prefix + bytes(size), seconds=1.0)

    with ThreadPoolExecutor(4) as threads:
        for future in [threads.submit(upload) for _ in range(connections)]:
            future.result()
    return stack


def floods() -> dict[str, Callable[[], bytes]]:
    """Return what makes some 20,000 frames of each kind that makes no progress, by its name."""
    block = raw_http2.headers()
    number = 20_000
    opened = frame(raw_http2.HEADERS, 4, 1, block)
    piece = b"\x00\x01a\x01b" * 100
    return {
        "pings": lambda: frame(PING, 0, 0, bytes(8)) * number,
        "settings": lambda: frame(SETTINGS, 0, 0, setting(INITIAL_WINDOW, 1)) * number,
        "empty data": lambda: opened + frame(DATA, 0, 1) * number,
        "window updates": lambda: frame(WINDOW, 0, 0, struct.pack(">I", 1)) * number,
        "resets": lambda: b"".join(
            frame(raw_http2.HEADERS, 4, stream, block) + frame(RST, 0, stream, bytes(4))
            for stream in range(1, number, 2)
        ),
        "continuations": lambda: (
            frame(raw_http2.HEADERS, 0, 1, block)
            + frame(raw_http2.CONTINUATION, 0, 1, piece) * 1_000
        ),
        "bytes of data one by one": lambda: opened + frame(DATA, 0, 1, b"\0") * number,
    }
