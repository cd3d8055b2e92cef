"""The endpoints of a pool, and their HTTP server: its responses, its bounds against clients."""

import http.client
import select
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress

import pytest
from support.timing import PATIENCE_SECONDS, wait_until

from function_script.sandbox.pool import Pool, PoolOptions
from function_script.server import ops
from function_script.server.ops import HttpResponse, OpsEndpoints, OpsHttpServer

GET = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
PAGES = {
    "/livez": lambda: HttpResponse(200, b"ok\n"),
    "/readyz": lambda: HttpResponse(503, b"not serving\n"),
    "/metrics": lambda: HttpResponse(200, b"x" * 1_000_000),
}


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a server with a long timeout, for a busy machine."""
    monkeypatch.setattr(ops, "_MAX_SECONDS", 300.0)
    with OpsHttpServer("127.0.0.1:0", PAGES) as server:
        yield server.port


def fetch(port: int, path: str, method: str = "GET") -> tuple[int, bytes]:
    """Return status and body of a page."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    with closing(connection):
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, response.read()


def connect(host: str, port: int) -> socket.socket:
    """Open a connection with a long timeout."""
    return socket.create_connection((host, port), timeout=PATIENCE_SECONDS)


def converse(port: int, text: bytes) -> bytes:
    """Send bytes, and return everything that the server sends."""
    with connect("127.0.0.1", port) as connection:
        connection.sendall(text)
        received = b""
        try:
            while part := connection.recv(65536):
                received += part
        except ConnectionResetError:
            pass
        return received


ANSWERS = [
    pytest.param("GET", "/livez", 200, b"ok\n", id="alive"),
    pytest.param("GET", "/livez?verbose", 200, b"ok\n", id="a query is ignored"),
    pytest.param("HEAD", "/livez", 200, b"", id="head only"),
    pytest.param("GET", "/readyz", 503, b"not serving\n", id="not ready"),
    pytest.param("GET", "/metrics", 200, b"x" * 1_000_000, id="large, in many writes"),
    pytest.param("GET", "/", 404, b"not found\n", id="unknown"),
    pytest.param("GET", "/../etc/passwd", 404, b"not found\n", id="no files"),
    pytest.param("POST", "/livez", 405, b"only GET\n", id="nothing to change"),
]


@pytest.mark.parametrize(("method", "path", "status", "body"), ANSWERS)
def test_page_is_answered(port: int, method: str, path: str, status: int, body: bytes) -> None:
    assert fetch(port, path, method) == (status, body)


def test_requests_that_wait_for_a_page_get_one_rendering() -> None:
    """A page of 0.1 s of CPU time for sixteen clients at once holds up no probe."""
    renderings = []

    def render() -> HttpResponse:
        end = time.thread_time() + 0.1
        while time.thread_time() < end:
            pass
        renderings.append(end)
        return HttpResponse(200, b"%d" % len(renderings))

    pages = {**PAGES, "/metrics": render}
    with OpsHttpServer("127.0.0.1:0", pages) as server, ThreadPoolExecutor(16) as clients:
        # The next rendering begins 2.5 s after this one, and most scrapes wait for it.
        assert fetch(server.port, "/metrics") == (200, b"1")
        scrapes = [clients.submit(fetch, server.port, "/metrics") for _ in range(16)]
        assert fetch(server.port, "/livez") == (200, b"ok\n")
        assert {scrape.result() for scrape in scrapes} <= {(200, b"2"), (200, b"3")}


@pytest.mark.parametrize(
    "text",
    [
        b"\x16\x03\x01\r\n\r\n",
        b"GET\r\n\r\n",
        b"\xff\xfe\r\n\r\n",
        b"GET /livez HTTP/1.1\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 1" + b"0" * 5_000 + b"\r\n\r\n",
    ],
    ids=["TLS", "no path", "no text", "no host", "no length"],
)
def test_nonsense_is_answered_and_forgotten(port: int, text: bytes) -> None:
    assert converse(port, text).startswith(b"HTTP/1.1 400")
    assert fetch(port, "/livez")[0] == 200


def test_endless_head_is_hung_up_on(port: int) -> None:
    """It would fill the memory."""
    answer = converse(port, b"GET /livez HTTP/1.1\r\n" + b"a: b\r\n" * 4_000)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 431")


def test_slow_clients_make_room_for_others(port: int) -> None:
    """The oldest connections are closed, and the newest are answered."""
    with ExitStack() as opened:
        clients = [_connect(port, opened) for _ in range(ops._MAX_CONNECTIONS + 8)]
        wait_until(lambda: len(_ended(clients)) >= 8)
        assert _ended(clients) == clients[:8]
        assert fetch(port, "/livez")[0] == 200
        clients[-1].sendall(GET)
        assert clients[-1].recv(100).startswith(b"HTTP/1.1 200")


def test_request_in_many_small_pieces_is_hung_up_on(port: int) -> None:
    """Each piece costs CPU time; clients send a request in one or two."""
    with connect("127.0.0.1", port) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answer = b""
        for byte in GET[:-2] + b"a: b\r\n" * 50:
            try:
                connection.send(bytes([byte]))
            except (BrokenPipeError, ConnectionResetError):
                break
            time.sleep(0.002)
        with suppress(ConnectionResetError):
            answer = connection.recv(100)
        assert answer == b""
    assert fetch(port, "/livez")[0] == 200


def test_flood_takes_a_share_of_a_cpu(port: int) -> None:
    """The thread sleeps most of the time, whatever the number of requests."""
    end = time.monotonic() + 2.0

    def flood() -> int:
        answered = 0
        while time.monotonic() < end:
            answered += converse(port, GET).startswith(b"HTTP/1.1 200")
        return answered

    (thread,) = [each for each in threading.enumerate() if each.name == "ops-http"]
    clock = time.pthread_getcpuclockid(thread.ident or 0)
    before = time.clock_gettime(clock)
    with ThreadPoolExecutor(8) as threads:
        answered = sum(task.result() for task in [threads.submit(flood) for _ in range(8)])
    assert answered > 50
    assert time.clock_gettime(clock) - before < 2.0 * 2 * ops._CPU_SHARE


def test_silent_client_is_hung_up_on(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one is answered."""
    monkeypatch.setattr(ops, "_MAX_SECONDS", 0.1)
    with ExitStack() as opened:
        assert _hung_up_on(_connect(port, opened))
    monkeypatch.setattr(ops, "_MAX_SECONDS", 300.0)
    assert fetch(port, "/livez")[0] == 200


def _connect(port: int, opened: ExitStack) -> socket.socket:
    return opened.enter_context(connect("127.0.0.1", port))


def _ended(clients: list[socket.socket]) -> list[socket.socket]:
    return select.select(clients, [], [], 0)[0]


def _hung_up_on(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.fixture
def pool() -> Iterator[Pool]:
    """A pool without workers."""
    with Pool(PoolOptions(module="support.sandbox_handlers", workers=1)) as pool:
        yield pool


def test_ready_is_who_serves_and_has_a_worker(pool: Pool) -> None:
    endpoints = OpsEndpoints(pool, None)
    with ExitStack() as stack:
        port = endpoints.open("127.0.0.1:0", stack)
        assert fetch(port, "/readyz") == (503, b"not ready: not serving\n")
        endpoints.is_serving = True
        assert fetch(port, "/readyz") == (503, b"not ready: no worker\n")
        pool.prefork()
        assert fetch(port, "/readyz") == (
            200,
            f"ok\nconfinement: {endpoints.confinement().summary()}\n".encode(),
        )
        assert b'function_script_workers{state="idle"} 1.0' in fetch(port, "/metrics")[1]
        endpoints.is_serving = False
        assert fetch(port, "/readyz") == (503, b"not ready: not serving\n")
        assert fetch(port, "/livez") == (200, b"ok\n")


def test_ops_without_an_address_serves_nothing(pool: Pool) -> None:
    with ExitStack() as stack:
        assert OpsEndpoints(pool, None).open("", stack) == 0
