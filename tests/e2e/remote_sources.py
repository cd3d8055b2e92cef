"""Registries and git servers with modules, for tests of remote programs."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from support import http_server

from function_script.tools.remote import oci
from function_script.tools.xpkg import archives

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from e2e.authority import Identity
    from e2e.scripted_registry import Registry

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
MAIN = (
    'load("lib/names.star", "name")\n'
    "def main(req):\n"
    '    spec = {"apiVersion": "example.org/v1", "kind": "Thing"}\n'
    '    return {"desired": {"resources": {name(i): {"resource": spec} for i in range(5)}}}\n'
)
FILES = {"main.star": MAIN, "lib/names.star": 'def name(i):\n    return "thing-%d" % i\n'}


def put_module(
    registry: Registry,
    files: Mapping[str, str] | None = None,
    *,
    repository: str = "team/lib",
    archive: bytes | None = None,
    tag: str = "v1",
) -> str:
    """Add an artifact to a registry; return its reference with a digest."""
    texts = FILES if files is None else files
    data = archive or archives.tar({name: text.encode() for name, text in texts.items()})
    layer = registry.put(archives.gzip_compressed(data))
    manifest = {
        "schemaVersion": 2,
        "artifactType": oci.ARTIFACT_TYPE,
        "config": {"mediaType": "application/vnd.oci.empty.v1+json", **registry.put(b"{}")},
        "layers": [{**layer, "mediaType": oci.LAYER_TYPE}],
    }
    text = json.dumps(manifest).encode()
    digest = f"sha256:{hashlib.sha256(text).hexdigest()}"
    registry.manifests[digest] = registry.manifests[tag] = text
    return f"{registry.name}/{repository}@{digest}"


def make_repository(directory: Path, files: Mapping[str, str] | None = None) -> str:
    """Make a repository ``lib.git`` with one commit, which is returned."""
    work = directory / "work"
    for name, text in (files or FILES).items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(work, "init", "--quiet", "--initial-branch=main")
    return commit(directory)


def commit(directory: Path) -> str:
    """Commit all files of the working tree, and publish them; return the commit."""
    work = directory / "work"
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "--message=files")
    shutil.rmtree(directory / "lib.git", ignore_errors=True)
    git(directory, "clone", "--quiet", "--bare", "work", "lib.git")
    return git(work, "rev-parse", "HEAD").strip()


def git(directory: Path, *args: str) -> str:
    """Run git without the user's configuration."""
    person = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    return subprocess.run(
        ["git", *person, *args],
        cwd=directory,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


class GitServer(ThreadingHTTPServer):
    """Serves the repositories below ``directory``; ``authorization`` is the one it requires."""

    daemon_threads = True

    def __init__(self, directory: Path, host: str, identity: Identity | None) -> None:
        super().__init__(("0.0.0.0", 0), _GitHandler)  # noqa: S104 - for a test
        self.directory = directory
        self.authorization = ""
        self.redirect = ""
        self.is_silent = threading.Event()
        self.seen: list[tuple[str, str]] = []
        self.name = f"{host}:{self.server_address[1]}"
        self.url = f"{'http' if identity is None else 'https'}://{self.name}"
        if identity is not None:
            http_server.secure(self, identity, directory / "tls")

    def handle_error(self, *_: object) -> None:
        """Ignore clients that disconnect."""


class _GitHandler(BaseHTTPRequestHandler):
    server: GitServer

    def _handle(self) -> None:
        authorization = self.headers.get("Authorization", "")
        self.server.seen.append((self.path, authorization))
        if self.server.is_silent.is_set():
            threading.Event().wait(100)
        if self.server.redirect:
            self.send_response(302)
            self.send_header("Location", f"{self.server.redirect}{self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif authorization != self.server.authorization:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._run_backend()

    do_GET = do_POST = _handle  # noqa: N815 - the base class's

    def _run_backend(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.server.directory),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        output = subprocess.run(
            ["git", "http-backend"], input=body, env=environment, capture_output=True, check=False
        ).stdout
        head, _, payload = output.partition(b"\r\n\r\n")
        headers = [line.split(": ", 1) for line in head.decode().splitlines() if ": " in line]
        status = next((text for name, text in headers if name == "Status"), "200")
        self.send_response(int(status.split()[0]))
        for name, text in headers:
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: object) -> None:
        pass


def serving_git(
    directory: Path, host: str = "127.0.0.1", identity: Identity | None = None
) -> AbstractContextManager[GitServer]:
    """Run a git server within the block."""
    return http_server.running(GitServer(directory, host, identity))
