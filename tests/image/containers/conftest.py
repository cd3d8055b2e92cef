"""What containers of the image share: certificates, and a network with nothing but loopback."""

import fcntl
import socket
import struct
from pathlib import Path
from typing import Final

import pytest
from e2e.authority import Authority
from e2e.serving import SERVER_NAME

_SET_FLAGS: Final = 0x8914
_UP: Final = 1


@pytest.fixture(scope="session", autouse=True)
def network() -> None:
    """Switch the loopback device on: tests run in a new network, which containers share."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        fcntl.ioctl(one, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))
    assert [name for _, name in socket.if_nameindex()] == ["lo"]


@pytest.fixture(scope="session")
def authority() -> Authority:
    """Crossplane's authority."""
    return Authority()


@pytest.fixture(scope="session")
def certificates(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server's certificates as a Secret is mounted; any user of a container may read them."""
    names = ("function-script", SERVER_NAME, f"{SERVER_NAME}.svc")
    directory = tmp_path_factory.mktemp("tls") / "server"
    authority.server(*names).write(directory)
    for parent in (directory, *directory.parents[:2]):
        parent.chmod(0o755)
    return directory
