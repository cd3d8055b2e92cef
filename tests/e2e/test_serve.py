"""`serve` as a real process, over real gRPC: its responses, its start and its stop."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from e2e.serving import Server, call, serve_in_vain
from grpc_health.v1 import health_pb2, health_pb2_grpc
from support import builders
from support.timing import PATIENCE_SECONDS, wait_until

SCRIPT = """
def main(req):
    xr = req["observed"]["composite"]["resource"]
    spec = {"count": xr["spec"]["count"]}
    thing = {"apiVersion": "example.org/v1", "kind": "Thing", "spec": spec}
    print("seen", xr["metadata"]["name"])
    return {"desired": {"resources": {"thing": {"resource": thing}}}}
"""
GOOD = builders.request(builders.starlark(SCRIPT))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server in plain text, for all tests that do not change it."""
    flags = ("--timeout", "1s", "--debug", "--max-recv-message-size", "1", "--require-sandbox")
    with Server("--insecure", *flags, "--health-address", "127.0.0.1:0") as server:
        yield server


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_versions_are_both_served(channel: grpc.Channel, version: str) -> None:
    response = call(channel, GOOD, version=version)
    assert response == call(channel, GOOD)
    thing = builders.to_dict(response)["desired"]["resources"]["thing"]["resource"]
    assert thing["spec"] == {"count": 2}
    assert response.meta.tag == "a-tag"


@pytest.mark.parametrize("service", ["", "apiextensions.fn.proto.v1.FunctionRunnerService"])
def test_health_is_served_on_both_ports(server: Server, service: str) -> None:
    """Kubelet has no client certificate, so it needs the plain-text port."""
    for address in (server.address, server.health_address):
        with grpc.insecure_channel(address) as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            question = health_pb2.HealthCheckRequest(service=service)
            answer = stub.Check(question, timeout=PATIENCE_SECONDS)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_debug_shows_prints_and_frames(server: Server, channel: grpc.Channel) -> None:
    call(channel, GOOD)
    call(channel, builders.request(builders.starlark("def main(req):\n    return nmae\n")))
    server.wait_until_it_says("seen demo")
    server.wait_until_it_says("2 |     return nmae")


def test_killed_server_leaves_nobody_behind() -> None:
    with Server("--insecure") as server, server.channel() as channel:
        call(channel, GOOD)
        family = server.family()
        server.signal(signal.SIGKILL)
        wait_until(lambda: not any(map(runs, family[1:])))


def runs(pid: int) -> bool:
    """Report whether a process has not ended; process 1 may take seconds to reap it."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False


def test_requests_over_the_flag_are_refused(channel: grpc.Channel, plain_server: Server) -> None:
    large = builders.request(builders.starlark(SCRIPT), context={"x": "x" * (2 << 20)})
    with pytest.raises(grpc.RpcError) as refused:
        call(channel, large)
    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    with plain_server.channel() as wide:
        assert "thing" in call(wide, large).desired.resources


def test_default_port_is_9443() -> None:
    """Crossplane calls port 9443; --insecure alone is enough to start."""
    for port in (9443, 8080):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                pytest.skip(f"port {port} of this machine is taken")
    with Server("--insecure", ports="default") as server:
        assert server.address == "127.0.0.1:9443"
        assert server.health_address == "none"
        assert server.metrics_address == "127.0.0.1:8080"
        with server.channel() as channel:
            assert "thing" in call(channel, GOOD).desired.resources


def test_bad_start_is_refused() -> None:
    """Wrong certificates are in tests/unit/server."""
    assert "no certificates are given" in serve_in_vain()
