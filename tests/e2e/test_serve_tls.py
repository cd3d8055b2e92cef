"""Mutual TLS as Crossplane uses it: clients that are accepted, and renewed certificates."""

import datetime as dt
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from e2e.authority import Authority, Identity
from e2e.serving import SERVER_NAME, Server, call
from support import builders
from support.timing import PATIENCE_SECONDS

SCRIPT = """
def main(req):
    thing = {"apiVersion": "v1", "kind": "ConfigMap"}
    return {"desired": {"resources": {"a": {"resource": thing}}}}
"""
REQUEST = builders.request(builders.starlark(SCRIPT))
NAMES = ("function-script", SERVER_NAME, f"{SERVER_NAME}.svc")


@pytest.fixture(scope="module")
def authority() -> Authority:
    """Crossplane's authority."""
    return Authority()


@pytest.fixture(scope="module")
def directory(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server's certificates, as the Secret is mounted."""
    return authority.server(*NAMES).write(tmp_path_factory.mktemp("tls") / "server")


@pytest.fixture(scope="module")
def server(directory: Path) -> Iterator[Server]:
    """A server with mutual TLS, configured as by Crossplane."""
    env = {"TLS_SERVER_CERTS_DIR": str(directory)}
    with Server("--health-address", "127.0.0.1:0", env=env) as server:
        yield server


def answers(channel: grpc.Channel) -> bool:
    """Report whether a call over this connection is answered."""
    with channel:
        try:
            return "a" in call(channel, REQUEST, timeout=PATIENCE_SECONDS).desired.resources
        except grpc.RpcError as error:
            if error.code() is not grpc.StatusCode.UNAVAILABLE:
                raise
            return False


def test_crossplane_is_served(server: Server, authority: Authority) -> None:
    assert answers(server.channel(authority.client()))
    assert answers(server.channel(authority.client(age=dt.timedelta(hours=1))))


def with_certificate(server: Server, authority: Authority, identity: Identity) -> grpc.Channel:
    """Connect with the certificate of an identity, and trust the server."""
    trusted = authority.client().authority
    return server.channel(replace(identity, authority=trusted))


def without_certificate(server: Server, authority: Authority) -> grpc.Channel:
    """Trust the server, which is not enough."""
    options = [("grpc.ssl_target_name_override", SERVER_NAME)]
    credentials = grpc.ssl_channel_credentials(authority.client().authority)
    return grpc.secure_channel(server.address, credentials, options=options)


DAYS = dt.timedelta(days=3)
REJECTED: dict[str, Callable[[Server, Authority], grpc.Channel]] = {
    "no certificate": without_certificate,
    # Its certificate has the same names.
    "another authority": lambda server, ours: with_certificate(server, ours, Authority().client()),
    "expired": lambda server, ours: server.channel(ours.client(age=DAYS)),
    "not valid yet": lambda server, ours: server.channel(ours.client(age=-DAYS)),
    # Another function of the same authority has such a certificate.
    "a server's": lambda server, ours: server.channel(ours.server("function-other.default")),
    "plain text": lambda server, _: server.channel(),
    "for another server": lambda server, ours: server.channel(
        ours.client(), name="function-other.default"
    ),
}


@pytest.mark.parametrize("connect", REJECTED.values(), ids=REJECTED)
def test_other_connections_are_rejected(
    server: Server, authority: Authority, connect: Callable[[Server, Authority], grpc.Channel]
) -> None:
    assert not answers(connect(server, authority))


def test_certificates_end_is_a_metric(server: Server) -> None:
    name = "function_script_certificate_expiry_timestamp_seconds"
    (line,) = [line for line in server.fetch("/metrics")[1].splitlines() if line.startswith(name)]
    assert float(line.split()[1]) > time.time()


def test_health_needs_no_certificate(server: Server) -> None:
    with grpc.insecure_channel(server.health_address) as channel:
        grpc.channel_ready_future(channel).result(timeout=PATIENCE_SECONDS)


@pytest.mark.parametrize("exists", [True, False], ids=["certificates", "missing directory"])
def test_insecure_wins(directory: Path, authority: Authority, exists: bool) -> None:
    path = directory if exists else directory / "none"
    with Server("--insecure", "--tls-certs-dir", str(path)) as server:
        assert all(answers(server.channel()) for _ in range(10))
        assert not answers(server.channel(authority.client()))


def test_renewed_certificates_are_used(tmp_path: Path) -> None:
    old, new = Authority(), Authority()
    directory = old.server(*NAMES).write(tmp_path / "tls")
    with Server("--tls-certs-dir", str(directory)) as server:
        assert answers(server.channel(old.client()))
        time.sleep(0.01)
        (directory / "tls.key").write_text("broken")
        assert answers(server.channel(old.client()))
        new.server(*NAMES).write(directory)
        # A scrape may see the renewed files before a handshake does.
        server.metrics()
        assert answers(server.channel(new.client()))
        assert not answers(server.channel(old.client()))
    assert "keeping the old certificates" in "".join(server.text)
    assert "using renewed certificates" in "".join(server.text)


def test_connection_that_has_ended_holds_no_memory(server: Server, authority: Authority) -> None:
    """A client may open a connection for every call."""
    client = authority.client()

    def connect(times: int) -> int:
        for _ in range(times):
            assert answers(server.channel(client))
        return server.resident_bytes()

    before = connect(20)
    assert (connect(100) - before) / 100 < 40_000
