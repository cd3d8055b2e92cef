"""A real server that captures requests of XRs with the annotation; `test` replays them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.serving import Server, call
from support import builders
from support.timing import wait_until

from function_script import cli
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request import capture
from function_script.request.values import Object

PROGRAM = """\
def main(req):
    spec = {"size": req["observed"]["composite"]["resource"]["spec"]["size"]}
    thing = {"apiVersion": "v1", "kind": "Thing", "spec": spec}
    return {"desired": {"resources": {"thing": {"resource": thing}}}}
"""
ENDLESS = "def main(req):\n    [0 for i in range(1000000000) for j in range(1000000000) if 0]\n"
DATA = {"credentialData": {"data": {"password": "aHVudGVyMg=="}}}


def request(script: str, wish: str = "true") -> pb.RunFunctionRequest:
    """Return a request with a credential, of an XR with the annotation."""
    metadata: Object = {"name": "demo", "annotations": {capture.ANNOTATION: wish}}
    observed = {"composite": {"resource": {**builders.XR, "metadata": metadata}}}
    return builders.request(builders.starlark(script), observed=observed, credentials={"db": DATA})


def files(directory: Path, count: int) -> list[Path]:
    """Return the cases once there are ``count``."""
    wait_until(lambda: len([*directory.glob("*.case.yaml")]) >= count)
    return sorted(directory.glob("*.case.yaml"))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory that the server captures into."""
    return tmp_path_factory.mktemp("cases")


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Server]:
    """A server that captures."""
    with Server("--insecure", "--capture-dir", str(root), "--time-limit", "500ms") as server:
        yield server


@pytest.fixture
def directory(root: Path) -> Path:
    """The same directory, empty."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    return root


def test_requests_are_captured_and_replayed(server: Server, directory: Path) -> None:
    with server.channel() as channel:
        for script in (PROGRAM, "def main(req):\n    fail('no')\n", ENDLESS):
            # Captures are written in turn: one of the first would be there before the second.
            call(channel, request(script, wish="false"))
            call(channel, request(script))
    paths = files(directory, 3)
    assert len(paths) == len(list(directory.iterdir())) == 3
    assert "- time than its limit\n" in "".join(path.read_text() for path in paths)
    assert "aHVudGVyMg" not in "".join(path.read_text() for path in paths)
    assert cli.execute(["test", str(directory), "--ci", "--time-limit", "500ms"]) == 0


def test_capture_needs_the_flag(plain_server: Server) -> None:
    before = len(plain_server.lines("answered"))
    with plain_server.channel() as channel:
        call(channel, request(PROGRAM))
    wait_until(lambda: len(plain_server.lines("answered")) > before)
    assert not plain_server.says("captured")


def test_directory_that_vanishes_fails_no_request(server: Server, directory: Path) -> None:
    shutil.rmtree(directory)
    with server.channel() as channel:
        response = call(channel, request(PROGRAM))
    assert list(response.desired.resources) == ["thing"]
    server.wait_until_it_says("a request was not captured")
