"""A real registry in its own process, for end-to-end tests of packages."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.timing import wait_until

BINARY = shutil.which("docker-registry") or shutil.which("registry")
needs_registry = pytest.mark.skipif(BINARY is None, reason="no registry's program is installed")


def free_port() -> int:
    """Return a port that is not in use."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def serve(directory: Path, auth: str = "") -> Iterator[str]:
    """Run a registry until the test is over; yield its address."""
    directory.mkdir()
    address = f"127.0.0.1:{free_port()}"
    config = directory / "config.yml"
    config.write_text(
        "version: 0.1\n"
        f"storage: {{filesystem: {{rootdirectory: {directory}/data}}}}\n"
        f"http: {{addr: {address}}}\n{auth}"
    )
    with (directory / "log").open("w") as log:
        process = subprocess.Popen([BINARY, "serve", config], stdout=log, stderr=log)
        try:
            wait_for(address)
            yield address
        finally:
            process.terminate()
            process.wait(10)


def wait_for(address: str) -> None:
    """Wait until a server listens there."""
    host, _, port = address.partition(":")

    def listens() -> bool:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            return False
        return True

    wait_until(listens)
