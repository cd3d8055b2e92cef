"""A registry over real sockets with hooks for faults."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Callable
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import parse_qs, urlsplit

from e2e.authority import Identity
from support import http_server

from function_script.tools.xpkg import archives

# An address of this machine that does not count as loopback.
ELSEWHERE = "0.0.0.0"  # noqa: S104 - to connect to
META = b"apiVersion: meta.pkg.crossplane.io/v1\nkind: Configuration\nmetadata: {name: apps}\n"
PACKAGE = archives.gzip_stored(archives.tar({"package.yaml": META}))
BASIC = f"Basic {b64encode(b'me:secret').decode()}"


class Seen(NamedTuple):
    """A received request."""

    method: str
    path: str
    authorization: str


class Registry(ThreadingHTTPServer):
    """Keeps blobs and manifests in memory; ``hooks`` answer in place of it.

    A hook gets the handler, and returns whether it has answered.
    """

    daemon_threads = True

    def __init__(self, host: str, identity: Identity | None, directory: Path | None) -> None:
        super().__init__(("0.0.0.0", 0), Handler)  # noqa: S104 - for a test
        self.blobs: dict[str, bytes] = {}
        self.manifests: dict[str, bytes] = {}
        self.seen: list[Seen] = []
        self.hooks: list[tuple[str, str, Callable[[Handler], bool]]] = []
        self.name = f"{host}:{self.server_address[1]}"
        self.scheme = "http" if identity is None else "https"
        if identity is not None and directory is not None:
            http_server.secure(self, identity, directory)

    @property
    def url(self) -> str:
        """The address."""
        return f"{self.scheme}://{self.name}"

    def hook(self, method: str, path: str, answer: Callable[[Handler], bool]) -> None:
        """Add a hook for requests of a method whose path matches."""
        self.hooks.insert(0, (method, path, answer))

    def authorizations(self, method: str, path: str = "") -> set[str]:
        """Return the Authorization headers of some requests."""
        return {one.authorization for one in self.seen if one.method == method and path in one.path}

    def put_package(self, text: bytes, name: str = "v1") -> dict[str, object]:
        """Add an image whose one layer is ``text``; return its manifest."""
        config = b'{"os": "linux", "architecture": "amd64"}'
        layer = {**self.put(text), "annotations": {"io.crossplane.xpkg": "base"}}
        manifest: dict[str, object] = {"config": self.put(config), "layers": [layer]}
        self.manifests[name] = json.dumps(manifest).encode()
        return manifest

    def put(self, data: bytes) -> dict[str, object]:
        """Add a blob; return its descriptor."""
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        self.blobs[digest] = data
        return {"digest": digest, "size": len(data)}

    def handle_error(self, *_: object) -> None:
        """Ignore clients that disconnect."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Registry
    protocol_version = "HTTP/1.1"

    def _handle(self) -> None:
        authorization = self.headers.get("Authorization", "")
        self.server.seen.append(Seen(self.command, self.path, authorization))
        for method, path, answer in self.server.hooks:
            if method in {self.command, "*"} and re.search(path, self.path) and answer(self):
                return
        self.serve()

    do_GET = do_HEAD = do_POST = do_PUT = _handle  # noqa: N815 - the base class's

    def body(self) -> bytes:
        """Return the body of the request."""
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def send(self, status: int, body: bytes = b"", **headers: str) -> bool:
        """Send a response; keywords are headers with underscores."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        return True

    def serve(self) -> None:
        """Answer as a registry does."""
        place = urlsplit(self.path)
        _, _, last = place.path.rpartition("/")
        data = self.body()
        if self.command == "POST":
            self.send(202, Location=f"{place.path}1")
        elif self.command == "PUT" and "/uploads/" in place.path:
            digest = parse_qs(place.query)["digest"][0]
            self.server.blobs[digest] = data
            self.send(201, Docker_Content_Digest=digest)
        elif self.command == "PUT":
            self.server.manifests[last] = data
            self.send(201)
        else:
            store = self.server.blobs if "/blobs/" in place.path else self.server.manifests
            self.send(200, store[last]) if last in store else self.send(404)

    def log_message(self, *_: object) -> None:
        pass


# What starts a registry, and what logs in to one, as fixtures of a test.
Start: TypeAlias = Callable[..., Registry]
Login: TypeAlias = Callable[[object], None]


def serving(
    host: str = "127.0.0.1", identity: Identity | None = None, directory: Path | None = None
) -> AbstractContextManager[Registry]:
    """Run a registry within the block; with TLS if it has an identity, kept in ``directory``."""
    return http_server.running(Registry(host, identity, directory))


def status(code: int, body: bytes = b"", **headers: str) -> Callable[[Handler], bool]:
    """Return a hook that answers with a status."""

    def answer(handler: Handler) -> bool:
        handler.body()
        return handler.send(code, body, **headers)

    return answer


def first(count: int, answer: Callable[[Handler], bool]) -> Callable[[Handler], bool]:
    """Return a hook that answers this number of times."""
    remaining = [count]

    def counted(handler: Handler) -> bool:
        remaining[0] -= 1
        return remaining[0] >= 0 and answer(handler)

    return counted


def require(registry: Registry, challenge: str, expected: str) -> None:
    """Make the registry require authorization."""

    def answer(handler: Handler) -> bool:
        refuse = status(401, WWW_Authenticate=challenge)
        return handler.headers.get("Authorization") != expected and refuse(handler)

    registry.hook("*", "^/v2/", answer)
