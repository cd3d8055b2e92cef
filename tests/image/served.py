"""A server in a container as Crossplane starts it, with the arguments of our own manifest."""

import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import grpc
import yaml
from e2e.authority import Identity
from e2e.serving import SERVER_NAME
from image.container import Container, Limits, Mount, Settings
from image.stages import Image
from support.paths import ROOT

_MANIFEST: Final = ROOT / "examples" / "install" / "deploymentruntimeconfig.yaml"
_CERTIFICATES: Final = "/tls/server"
_READY: Final = "http://127.0.0.1:8080/readyz"
ADDRESS: Final = "127.0.0.1:9443"


def manifest() -> dict[str, object]:
    """Read the container of our manifest: arguments, probes."""
    config = yaml.safe_load(_MANIFEST.read_text())
    template = config["spec"]["deploymentTemplate"]["spec"]["template"]
    container: dict[str, object] = template["spec"]["containers"][0]
    return container


def probe_seconds() -> int:
    """Compute how long a container of our manifest may take to start."""
    probe = manifest()["startupProbe"]
    return int(probe["periodSeconds"] * probe["failureThreshold"]) + int(
        probe.get("initialDelaySeconds", 0)
    )


def settings(
    certificates: Path,
    *flags: str,
    limits: Limits | None = None,
    user: str | None = None,
    mounts: tuple[Mount, ...] = (),
) -> Settings:
    """Describe a container of our manifest; later flags win over the manifest's."""
    return Settings(
        arguments=(*manifest()["args"], *flags),
        environment={"TLS_SERVER_CERTS_DIR": _CERTIFICATES},
        mounts=(Mount(target=_CERTIFICATES, source=certificates), *mounts),
        limits=limits or Limits(),
        user=user,
    )


@contextmanager
def serving(image: Image, directory: Path, described: Settings) -> Iterator[Container]:
    """Run a server until the block ends; it is ready when the block begins."""
    assert not is_ready(), "another server has its port"
    with Container(image, directory, described) as container:
        wait_until_ready(container)
        yield container


def wait_until_ready(container: Container) -> float:
    """Return the seconds until /readyz says yes; AssertionError when the container ends before."""
    began = time.monotonic()
    while not is_ready():
        assert container.is_running(), container.text
        assert time.monotonic() < began + 2 * probe_seconds(), container.text
        time.sleep(0.02)
    return time.monotonic() - began


def is_ready() -> bool:
    """Tell whether /readyz says yes."""
    try:
        with urllib.request.urlopen(_READY, timeout=5) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False


def channel(identity: Identity) -> grpc.Channel:
    """Connect as the client of that identity."""
    options = [("grpc.ssl_target_name_override", SERVER_NAME)]
    return grpc.secure_channel(ADDRESS, identity.credentials(), options=options)
