"""HTTP servers of tests: with TLS if they have an identity, and in a thread."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import HTTPServer
from pathlib import Path
from typing import TypeVar

from e2e.authority import Identity

S = TypeVar("S", bound=HTTPServer)


def secure(server: HTTPServer, identity: Identity, directory: Path) -> None:
    """Let a server speak TLS, with the files of an identity in a directory."""
    identity.write(directory)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "tls.crt", directory / "tls.key")
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )


@contextmanager
def running(server: S) -> Iterator[S]:
    """Serve within the block."""
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
