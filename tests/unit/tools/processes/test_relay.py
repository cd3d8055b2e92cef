"""The relay between a Unix socket and a port."""

import os
import selectors
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from function_script.tools.processes.relay import Relay

SIZE = 5_000_000


class Loop:
    """A relay in a thread, in front of a server that sends back what it receives."""

    def __init__(self, peer: int, port: int = 0) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))
        port = port or self.server.getsockname()[1]
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind("")
        self.listener.listen()
        self.selector = selectors.DefaultSelector()
        Relay(self.listener, port, peer, self.selector).start()
        self.is_over = False
        self.threads = [
            threading.Thread(target=self.run, daemon=True),
            threading.Thread(target=self.echo, daemon=True),
        ]
        for thread in self.threads:
            thread.start()

    def run(self) -> None:
        while not self.is_over:
            for key, events in self.selector.select(0.05):
                key.data(events)

    def echo(self) -> None:
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            # The connection of a client that is closed too early.
            with connection, suppress(ConnectionError):
                while data := connection.recv(65536):
                    connection.sendall(data)

    def connect(self) -> socket.socket:
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(20)
        client.connect(self.listener.getsockname())
        return client

    def close(self) -> None:
        self.is_over = True
        self.threads[0].join(5)
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        self.threads[1].join(5)
        self.listener.close()
        self.selector.close()


@pytest.fixture
def loop() -> Iterator[Loop]:
    running = Loop(os.getuid())
    yield running
    running.close()


def test_relay_passes_bytes_in_both_directions_and_the_end(loop: Loop) -> None:
    data = bytes(range(256)) * (SIZE // 256)
    answer = bytearray()
    with loop.connect() as client:

        def send() -> None:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send)
        sender.start()
        while chunk := client.recv(1 << 16):
            answer += chunk
        sender.join()
    assert bytes(answer) == data


def test_relay_bounds_what_it_keeps_for_a_slow_reader(loop: Loop) -> None:
    """A client that sends and never reads is stopped by the sockets' buffers."""
    with loop.connect() as client:
        client.settimeout(0.3)
        count = 0
        with suppress(TimeoutError):
            while count < 100 << 20:
                count += client.send(bytes(1 << 16))
        assert count < 100 << 20


@pytest.mark.parametrize("other_user", [1, 0], ids=["of-another-user", "when-nothing-listens"])
def test_relay_closes_a_connection(other_user: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    running = Loop(os.getuid() + other_user, 0 if other_user else port)
    try:
        with running.connect() as client:
            assert client.recv(1) == b""
    finally:
        running.close()
