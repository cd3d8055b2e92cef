"""A hostile client in a process of its own: ``python attacker.py FLOOD ADDRESS [CERTIFICATES]``.

It floods until it is killed. Floods of frames go to a port of gRPC, in plain text or with the
certificates of a directory, over one connection at a time and twenty a second; pages go to the port
of HTTP, from sixteen clients. ``work`` is the control: instead of an address it gets the share of a
CPU that it is to use, and it opens no connection.
"""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from e2e.authority import Identity  # noqa: E402 - the tests' folder is on the path now
from hostile.client_attacks import GOOD, floods, has_ended, stay_silent  # noqa: E402 - the same
from support.raw_http2 import (  # noqa: E402 - the same
    CONTINUATION,
    DATA,
    END_STREAM,
    FRAME_BYTES,
    HEADERS,
    RST,
    RawClient,
    frame,
    headers,
    message,
)

_END_HEADERS = 4
_CANCEL = (8).to_bytes(4, "big")
_CALLS = 5_000
_HTTP_CLIENTS = 16
_SILENT = 900
_HOLDERS = 40
_CONTINUATIONS = 900
_RESETTERS = 2
_RESET_CALLS = 400
_SECONDS = 5.0
_PAUSE_SECONDS = 0.05
_HEALTH = "/grpc.health.v1.Health/Check"
_REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
# ServerReflectionRequest with list_services.
_LIST = b"\x3a\x01*"


def calls_of_services() -> dict[str, Callable[[], bytes]]:
    """Return what makes floods of calls that are answered without a worker, by their names."""
    streams = range(1, 2 * _CALLS, 2)
    opened = frame(HEADERS, _END_HEADERS, 1, headers(_REFLECTION))
    return {
        "health checks": lambda: b"".join(_call(stream, _HEALTH, b"") for stream in streams),
        "health checks of nonsense": lambda: b"".join(
            _call(stream, _HEALTH, b"\xff") for stream in streams
        ),
        "reflection": lambda: opened + _CALLS * frame(DATA, 0, 1, message(_LIST)),
    }


def pages() -> dict[str, bytes]:
    """Return floods of plain HTTP by their names."""
    return {
        f"GET {path}": f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode()
        for path in ("/readyz", "/metrics")
    } | {"no HTTP": b"\x16\x03\x01" * 100}


def _call(stream: int, path: str, data: bytes) -> bytes:
    opened = frame(HEADERS, _END_HEADERS, stream, headers(path))
    return opened + frame(DATA, END_STREAM, stream, message(data))


def flood_frames(data: bytes, address: str, identity: Identity | None) -> None:
    """Acknowledge SETTINGS, send frames and read nothing more; reconnect after the end."""
    while True:
        with suppress(OSError), RawClient(address, identity) as client:
            client.socket.settimeout(_SECONDS)
            client.receive()
            while True:
                for at in range(0, len(data), FRAME_BYTES):
                    client.socket.sendall(data[at : at + FRAME_BYTES])
        time.sleep(_PAUSE_SECONDS)


def flood_pages(request: bytes, address: str) -> None:
    """Request a page again and again, as many clients at once."""

    def ask() -> None:
        while True:
            with suppress(OSError), _connect(address) as connection:
                connection.sendall(request)
                while connection.recv(1 << 16):
                    pass

    _repeat(ask, _HTTP_CLIENTS)


def flood_handshakes(address: str) -> None:
    """Begin handshakes that cannot succeed."""

    def shake() -> None:
        while True:
            with suppress(OSError), _connect(address) as connection:
                connection.sendall(b"\x16\x03\x01\x00\x05nonsense")
                connection.recv(100)

    _repeat(shake, _HTTP_CLIENTS)


def hold_headers(address: str, identity: Identity | None) -> None:
    """Send 14.4 MB of a header block over each connection, and neither end it nor hang up.

    SETTINGS are not acknowledged. A connection that the server closes is opened again.
    """
    piece = (b"\x00\x01a\x7f\xa1\x1e" + b"b" * 4_000) * 4
    block = frame(HEADERS, 0, 1, headers()) + frame(CONTINUATION, 0, 1, piece) * _CONTINUATIONS

    def hold() -> None:
        while True:
            with suppress(OSError), RawClient(address, identity) as client:
                client.socket.settimeout(_SECONDS)
                client.socket.sendall(block)
                while not has_ended(client.socket):
                    time.sleep(_PAUSE_SECONDS)
            time.sleep(_PAUSE_SECONDS)

    _repeat(hold, _HOLDERS)


def reset_calls(address: str, identity: Identity | None, *, lasts: bool) -> None:
    """Send whole calls, and cancel each at once.

    ``lasts``: the connection acknowledges SETTINGS and goes on, else it is replaced.
    """
    body = frame(DATA, END_STREAM, 0, message(GOOD.SerializeToString()))

    def call(stream: int) -> bytes:
        number = stream.to_bytes(4, "big")
        data = body[:5] + number + body[9:]
        return (
            frame(HEADERS, _END_HEADERS, stream, headers()) + data + frame(RST, 0, stream, _CANCEL)
        )

    def flood() -> None:
        while True:
            with suppress(OSError), RawClient(address, identity) as client:
                client.socket.settimeout(_SECONDS)
                stream = 1
                while True:
                    calls = range(stream, stream + 2 * _RESET_CALLS, 2)
                    client.socket.sendall(b"".join(map(call, calls)))
                    stream = calls.stop
                    if not lasts:
                        time.sleep(_PAUSE_SECONDS)
                        break
                    client.drain(_PAUSE_SECONDS)
            time.sleep(_PAUSE_SECONDS)

    _repeat(flood, _RESETTERS)


def work(share: float) -> None:
    """Use this share of a CPU, in slices of a hundredth of a second."""
    while True:
        end = time.monotonic() + 0.01
        used = time.process_time() + 0.01 * share
        while time.process_time() < used:
            pass
        time.sleep(max(end - time.monotonic(), 0.0))


@contextmanager
def attacking(flood: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a flood in a process of its own within the block; yield the process once it floods."""
    command = [sys.executable, str(Path(__file__)), flood, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.read(1)
            yield process
            assert process.poll() is None, f"{flood} ended by itself"
        finally:
            process.kill()


def _connect(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=_SECONDS)


def _repeat(run: Callable[[], None], count: int) -> None:
    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def read_identity(directory: Path) -> Identity:
    """Read the files of a directory as a server or client has them."""
    texts = [(directory / name).read_bytes() for name in ("tls.crt", "tls.key", "ca.crt")]
    return Identity(certificate=texts[0], key=texts[1], authority=texts[2])


def main() -> None:
    """Flood until the process is killed."""
    flood, address, *rest = sys.argv[1:]
    identity = read_identity(Path(rest[0])) if rest else None
    runs: dict[str, Callable[[], None]] = {
        "handshakes": lambda: flood_handshakes(address),
        "silence": lambda: stay_silent(address, _SILENT, threading.Event()),
        "work": lambda: work(float(address)),
        "unfinished headers": lambda: hold_headers(address, identity),
        "reset calls": lambda: reset_calls(address, identity, lasts=False),
        "reset calls on a connection that lasts": lambda: reset_calls(
            address, identity, lasts=True
        ),
        **{name: partial(flood_pages, data, address) for name, data in pages().items()},
        **{
            name: partial(flood_frames, make() if name == flood else b"", address, identity)
            for name, make in (floods() | calls_of_services()).items()
        },
    }
    sys.stdout.write("!")
    sys.stdout.flush()
    runs[flood]()


if __name__ == "__main__":
    main()
