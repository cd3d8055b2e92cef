"""One address for IPv4 and IPv6, also on a host with only one of them."""

import socket
import subprocess
import sys
import urllib.request

import grpc
import pytest
from e2e.serving import GOOD, Server, call
from support.paths import ROOT
from support.timing import PATIENCE_SECONDS

EVERY = ("--address", "[::]:0", "--metrics-address", "[::]:0", "--health-address", "[::]:0")
WITHOUT_IPV6 = """\
ip link set lo up || exit 9
echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 || exit 9
exec "$0" "$@"
"""
INSIDE = """\
import sys
sys.path.insert(0, sys.argv[1])
from e2e import test_serve_addresses as tests
tests.assert_served(("127.0.0.1",))
"""


def assert_served(hosts: tuple[str, ...]) -> None:
    """Assert that calls, health and pages are answered at each of these hosts."""
    with Server("--insecure", *EVERY) as server:
        ports = [
            int(address.rpartition(":")[2])
            for address in (server.address, server.health_address, server.metrics_address)
        ]
        for host in hosts:
            with grpc.insecure_channel(f"{host}:{ports[0]}") as channel:
                assert not call(channel, GOOD).results
            with grpc.insecure_channel(f"{host}:{ports[1]}") as channel:
                grpc.channel_ready_future(channel).result(timeout=PATIENCE_SECONDS)
            url = f"http://{host}:{ports[2]}/readyz"
            with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as page:
                assert page.status == 200


def test_address_families_are_both_served() -> None:
    hosts = ["127.0.0.1"]
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            hosts.append("[::1]")
    except OSError:
        pytest.skip("no IPv6 on this machine")
    assert_served(tuple(hosts))


def test_host_without_ipv6_is_served() -> None:
    """The same address serves IPv4 alone there."""
    inside = [sys.executable, "-c", INSIDE, str(ROOT / "tests")]
    command = ["unshare", "--net", "sh", "-c", WITHOUT_IPV6, *inside]
    try:
        process = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("no unshare on this machine")
    if process.returncode == 9 or "unshare failed" in process.stderr:
        pytest.skip("networks need more privileges than there are here")
    assert process.returncode == 0, process.stderr
