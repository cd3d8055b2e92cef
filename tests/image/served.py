"""A server in a container as Crossplane starts it, with the arguments of our own manifest."""

import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import grpc
import yaml
from e2e.authority import Identity
from e2e.serving import SERVER_NAME, call
from image.container import Container, Mount, Settings
from image.stages import Image
from support import builders
from support.paths import ROOT

from function_script.proto.v1 import run_function_pb2 as pb

MANIFEST: Final = yaml.safe_load(
    (ROOT / "examples" / "install" / "deploymentruntimeconfig.yaml").read_text()
)["spec"]["deploymentTemplate"]["spec"]["template"]["spec"]["containers"][0]
_PROBE: Final = MANIFEST["startupProbe"]
PROBE_SECONDS: Final = _PROBE["periodSeconds"] * _PROBE["failureThreshold"]
_CERTIFICATES: Final = "/tls/server"
_TEMPLATE: Final = """\
apiVersion: v1
kind: ConfigMap
metadata:
  annotations: {script.fn.crossplane.io/composition-resource-name: thing}
data: {count: "%s"}
"""
_COUNT: Final = ".observed.composite.resource.spec.count"
STARLARK: Final = builders.starlark("""
def main(req):
    spec = req["observed"]["composite"]["resource"]["spec"]
    thing = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"count": str(spec["count"] + 1)}}
    return {"desired": {"resources": {"thing": {"resource": thing}}}}
""")
GOOD: Final = builders.request(STARLARK)
REQUESTS: Final = [
    GOOD,
    builders.request(builders.jinja(_TEMPLATE % f"{{{{ {_COUNT[1:]} + 1 }}}}")),
    builders.request(
        {
            "apiVersion": builders.API_VERSION,
            "kind": "GoTemplate",
            "inline": _TEMPLATE % f"{{{{ add {_COUNT} 1 }}}}",
        }
    ),
]


def count(channel: grpc.Channel, request: pb.RunFunctionRequest = GOOD) -> str:
    """Return the number in the one resource of the answer: that of the XR, and one."""
    response = call(channel, request)
    assert not response.results, response.results
    return str(response.desired.resources["thing"].resource["data"]["count"])


def configure(certificates: Path, *flags: str, **others: object) -> Settings:
    """Describe a container of our manifest; later flags win over the manifest's."""
    described = Settings(
        arguments=(*MANIFEST["args"], *flags),
        environment={"TLS_SERVER_CERTS_DIR": _CERTIFICATES},
        mounts=(Mount(target=_CERTIFICATES, source=certificates),),
    )
    return replace(described, **others)


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
        assert time.monotonic() < began + 2 * PROBE_SECONDS, container.text
        time.sleep(0.02)
    return time.monotonic() - began


def is_ready() -> bool:
    """Tell whether /readyz says yes."""
    try:
        with urllib.request.urlopen("http://127.0.0.1:8080/readyz", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def connect(identity: Identity) -> grpc.Channel:
    """Connect as the client of that identity."""
    options = [("grpc.ssl_target_name_override", SERVER_NAME)]
    return grpc.secure_channel("127.0.0.1:9443", identity.credentials(), options=options)
