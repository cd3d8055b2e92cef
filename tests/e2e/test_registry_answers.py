"""Registries that send wrong, slow, or too large answers."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from e2e.scripted_registry import (
    META,
    PACKAGE,
    Handler,
    Registry,
    Start,
    first,
    status,
)
from support.commands import Run
from support.timing import PATIENCE_SECONDS, stretched

from function_script.tools.progress import Progress
from function_script.tools.xpkg import archives, certificates, images
from function_script.tools.xpkg.registry import retry
from function_script.tools.xpkg.transport import (
    Body,
    Client,
    HttpRequest,
    HttpResponse,
    NoAnswerError,
    Patience,
)

pytestmark = pytest.mark.usefixtures("docker_config")


def other_bytes(registry: Registry, digest: str) -> str:
    """A blob of the same size."""
    registry.blobs[digest] = b"x" * len(registry.blobs[digest])
    return f"the content named {digest} has the digest sha256:"


def fewer_bytes(registry: Registry, digest: str) -> str:
    """A truncated blob."""
    registry.blobs[digest] = registry.blobs[digest][:-1]
    return f"the content named {digest} has "


def more_bytes(registry: Registry, digest: str) -> str:
    """A blob with more bytes at its end."""
    registry.blobs[digest] += b"x"
    return "its answer has more than "


def changed(registry: Registry, **layer: object) -> None:
    """Change the descriptor of the layer."""
    manifest = json.loads(registry.manifests["v1"])
    manifest["layers"][0] |= layer
    registry.manifests["v1"] = json.dumps(manifest).encode()


def path_as_digest(registry: Registry, digest: str) -> str:
    changed(registry, digest=f"sha256:../../{digest}")
    return "is not a digest such as"


def unknown_algorithm(registry: Registry, digest: str) -> str:
    changed(registry, digest=digest.replace("sha256", "md5"))
    return "is not a digest such as"


def large_blob(registry: Registry, digest: str) -> str:
    """A size that exceeds the memory."""
    changed(registry, size=1 << 40)
    return f"{digest} has 1024.0 GiB; at most 512.0 MiB are read"


def deep_manifest(registry: Registry, _: str) -> str:
    """A nested manifest."""
    registry.manifests["v1"] = b"[" * 200_000
    return "it is nested more than 200 levels deep"


def large_manifest(registry: Registry, _: str) -> str:
    """A manifest of 9 MiB."""
    registry.manifests["v1"] = b" " * (9 << 20) + b"{}"
    return "its answer has more than 8,388,608 bytes"


def stated_otherwise(registry: Registry, digest: str) -> str:
    """A header that names another digest."""
    registry.hook(
        "GET", "/manifests/", status(200, registry.manifests["v1"], Docker_Content_Digest=digest)
    )
    return f"for {digest}"


def index_of_another(registry: Registry, digest: str) -> str:
    """An index whose entry is another manifest."""
    entry = {"digest": digest, "platform": {"os": "linux"}}
    registry.manifests[digest] = registry.manifests["v1"]
    registry.manifests["v1"] = json.dumps({"manifests": [entry]}).encode()
    return f"the content named {digest} has the digest sha256:"


def endless(registry: Registry, _: str) -> str:
    """An endless blob."""

    def answer(handler: Handler) -> bool:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(bytes(1 << 16))

    registry.hook("GET", "/blobs/", answer)
    return "its answer has more than "


def circle(registry: Registry, _: str) -> str:
    """A redirect to itself."""
    registry.hook("GET", "/blobs/", lambda h: h.send(302, Location=h.path))
    return "it redirects more than 5 times"


def control_character(registry: Registry, _: str) -> str:
    """The words of the library begin with a name, which keeps its capitals."""
    registry.hook("GET", "/blobs/", status(302, Location="/a\x01b"))
    return "URL can't contain control characters"


def many_headers(registry: Registry, _: str) -> str:
    headers = {f"X{number}": "y" for number in range(200)}
    registry.hook("GET", "/blobs/", status(200, **headers))
    return "got more than 100 headers"


def large_together(registry: Registry, _: str) -> str:
    """Ten manifests, each within its bound."""
    texts = [b" " * (2 << 20) + b'{"a": %d}' % number for number in range(10)]
    entries = [registry.put(text) for text in texts]
    registry.manifests |= {
        str(entry["digest"]): text for entry, text in zip(entries, texts, strict=True)
    }
    registry.manifests["v1"] = json.dumps({"manifests": entries}).encode()
    return "its manifests are too large together"


def many_layers(registry: Registry, _: str) -> str:
    """More layers than Crossplane accepts, without a label."""
    manifest = json.loads(registry.manifests["v1"])
    layer = {key: manifest["layers"][0][key] for key in ("digest", "size")}
    registry.manifests["v1"] = json.dumps({**manifest, "layers": [layer] * 257}).encode()
    return "it has 257 layers; Crossplane takes 256"


LIES = [
    *(other_bytes, fewer_bytes, more_bytes, path_as_digest, unknown_algorithm, large_blob),
    *(deep_manifest, large_manifest, stated_otherwise, index_of_another, endless, circle),
    *(control_character, many_headers, large_together, many_layers),
]


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_answer_is_never_trusted(
    start: Start, run: Run, lie: Callable[[Registry, str], str]
) -> None:
    """Data of another size or digest is an error at once."""
    registry = start(tls=False)
    manifest = registry.put_package(PACKAGE)
    message = lie(registry, manifest["layers"][0]["digest"])
    began = time.monotonic()
    err = run("package", "inspect", f"{registry.name}/a:v1", code=1).err
    assert message in err
    assert "our mistake" not in err
    assert time.monotonic() - began < stretched(10)


def client(
    *,
    exchange: float = PATIENCE_SECONDS,
    silence: float = PATIENCE_SECONDS,
    uses_proxies: bool = False,
) -> Client:
    """A client with short timeouts."""
    patience = Patience(exchange_seconds=exchange, silence_seconds=silence)
    return Client(certificates.build_context(None), patience, uses_proxies=uses_proxies)


@contextmanager
def raw(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server whose responses are ``answer``'s; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join(PATIENCE_SECONDS)


@pytest.mark.parametrize(
    "start_of_answer", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\n\r\n"]
)
def test_answer_that_drips_is_ended(start_of_answer: bytes) -> None:
    """Each byte comes in time, but not the whole answer."""

    def drip(connection: socket.socket) -> None:
        try:
            connection.sendall(start_of_answer)
            for _ in range(1000):
                connection.sendall(b"x")
                time.sleep(0.02)
        except OSError:
            pass

    began = time.monotonic()
    with raw(drip) as address, pytest.raises(NoAnswerError, match="did not answer within 1 s"):
        client(exchange=0.5).send(HttpRequest("GET", f"http://{address}/", max_bytes=10_000))
    assert time.monotonic() - began < stretched(5)


def wait_for_the_end(connection: socket.socket) -> None:
    """Read until the client closes the connection."""
    with suppress(ConnectionError):
        while connection.recv(1 << 16):
            pass


def test_registry_that_says_nothing_is_not_waited_for() -> None:
    """It accepts the connection, and sends nothing."""
    with raw(wait_for_the_end) as address:
        with pytest.raises(NoAnswerError, match="does not answer") as failure:
            client(silence=0.2).send(HttpRequest("GET", f"http://{address}/"))
        assert not failure.value.is_transient


def test_busy_registry_is_tried_again(start: Start, package: str, run: Run) -> None:
    registry = start(tls=False)
    for method in ("HEAD", "POST", "PUT"):
        registry.hook(method, "", first(2, status(429, Retry_After="0")))
    err = run("package", "push", f"{registry.name}/a:v1", package).err
    assert (len(registry.blobs), len(registry.manifests)) == (2, 1)
    assert err.count("HTTP 429: trying again in 0 s") == 6


def test_upload_that_failed_is_begun_anew(start: Start, package: str, run: Run) -> None:
    """Its address is not valid any more."""
    registry = start(tls=False)
    registry.hook("PUT", "/uploads/", first(1, status(500, Retry_After="0")))
    run("package", "push", f"{registry.name}/a:v1", package)
    assert [one.method for one in registry.seen].count("POST") == 3


def test_registry_that_asks_for_too_much_patience(start: Start, package: str, run: Run) -> None:
    registry = start(tls=False)
    registry.hook("*", "", status(429, b'{"errors": [{"message": "quota"}]}', Retry_After="3600"))
    err = run("package", "push", f"{registry.name}/a:v1", package, code=1).err
    assert "HTTP 429: quota" in err
    assert len(registry.seen) == 2


def test_pauses_grow_and_end(start: Start) -> None:
    registry = start(tls=False)
    registry.hook("*", "", status(503))
    pauses: list[float] = []
    lines: list[str] = []

    def send() -> HttpResponse:
        return client().send(HttpRequest("GET", f"{registry.url}/"))

    assert retry(send, lines.append, sleep=pauses.append).status == 503
    assert (pauses, len(registry.seen)) == ([1.0, 2.0, 4.0, 8.0], 5)
    assert lines[0] == "HTTP 503: trying again in 1 s"


@pytest.mark.parametrize(
    ("stated", "pause"),
    [
        ("7", 7.0),
        ("Sun, 06 Nov 1994 08:49:42 GMT", 5.0),
        ("Sun, 06 Nov 1994 08:49:00 GMT", 0.0),
        ("soon", 1.0),
        ("Sun, 99999999999999999999 Nov 1994 08:49:37 GMT", 1.0),
        ("-3", 1.0),
    ],
)
def test_retry_after_is_a_number_or_a_date(start: Start, stated: str, pause: float) -> None:
    """The date is compared with the registry's own clock; other values count as absent."""
    registry = start(tls=False)

    def answer(handler: Handler) -> bool:
        handler.date_time_string = lambda: "Sun, 06 Nov 1994 08:49:37 GMT"
        return handler.send(429, Retry_After=stated)

    registry.hook("GET", "", first(1, answer))
    pauses: list[float] = []
    request = HttpRequest("GET", f"{registry.url}/v2/a/manifests/b")
    retry(lambda: client().send(request), lambda _: None, sleep=pauses.append)
    assert pauses == [pause]


def early(answer: bytes) -> Callable[[socket.socket], None]:
    """Answer before the end of the request, and close with the rest unread."""

    def closing(connection: socket.socket) -> None:
        data = connection.recv(1 << 16)
        while b"\r\n\r\n" not in data:
            data += connection.recv(1 << 16)
        connection.sendall(answer)

    return closing


def test_413_before_the_end_is_told(start: Start, tmp_path: Path, run: Run) -> None:
    """A proxy answers as soon as it has read the length, and closes."""
    registry = start(tls=False)
    answer = (
        b"HTTP/1.1 413 Request Entity Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    with raw(early(answer)) as address:
        place = f"http://{address}/uploads/1"
        registry.hook("POST", "", status(202, Location=place))
        name = large_package(tmp_path)
        err = run("package", "push", f"{registry.name}/a:v1", name, code=1).err
    assert "HTTP 413: a layer of 16.0 MiB is too large for it" in err
    assert "proxy in front of it" in err


def test_connection_that_ends_early_is_told() -> None:
    """Without an answer the error has at least a hint."""
    body = Body(bytes(16 << 20), Progress())
    headers = {"Content-Length": str(body.size_bytes)}
    with raw(early(b"")) as address, pytest.raises(NoAnswerError) as failure:
        client().send(HttpRequest("PUT", f"http://{address}/", body, headers))
    assert "the connection ended without an answer" in str(failure.value)
    assert failure.value.hint == "a proxy in front of the registry may refuse uploads of this size"


@pytest.mark.parametrize(
    ("scheme", "request_line"),
    [
        ("http", b"GET http://registry.example.org/v2/?n=1 HTTP/1.1"),
        ("https", b"CONNECT registry.example.org:443 HTTP/1."),
    ],
)
def test_proxy_gets_its_own_credentials(
    monkeypatch: pytest.MonkeyPatch, scheme: str, request_line: bytes
) -> None:
    """Of a URL with TLS it gets nothing but the host."""
    received: list[bytes] = []

    def refuse(connection: socket.socket) -> None:
        received.append(connection.recv(1 << 16))
        connection.sendall(b"HTTP/1.1 407 Who Are You\r\nContent-Length: 0\r\n\r\n")

    with raw(refuse) as address:
        monkeypatch.setenv(f"{scheme}_proxy", f"http://robot:p%40ss@{address}")
        request = HttpRequest("GET", f"{scheme}://registry.example.org/v2/?n=1")
        proxied = client(uses_proxies=True)
        if scheme == "http":
            assert proxied.send(request, "Bearer token").status == 407
        else:
            with pytest.raises(NoAnswerError, match=f"{address}: tunnel connection failed: 407"):
                proxied.send(request, "Bearer token")
    (head,) = received
    assert head.startswith(request_line)
    assert b": Basic cm9ib3Q6cEBzcw==\r\n" in head
    assert (b"Bearer token" in head) == (scheme == "http")


def large_package(directory: Path) -> Path:
    """A package with a layer of 16 MiB, which is sent first."""
    layer = archives.tar({"data": bytes((16 << 20) - 4096)})
    image = images.with_layer(images.EMPTY, layer, "other")
    image = images.with_layer(image, archives.tar({"package.yaml": META}), "base")
    path = directory / "large.xpkg"
    path.write_bytes(images.to_docker_archive(image))
    return path
