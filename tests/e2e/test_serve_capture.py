"""A real server that captures requests of XRs with the annotation; `test` replays them."""

import shutil
from pathlib import Path

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


def test_requests_are_captured_and_replayed(tmp_path: Path) -> None:
    flags = ("--insecure", "--capture-dir", str(tmp_path), "--time-limit", "500ms")
    with Server(*flags) as server, server.channel() as channel:
        for script in (PROGRAM, "def main(req):\n    fail('no')\n", ENDLESS):
            call(channel, request(script))
            call(channel, request(script, wish="false"))
        paths = files(tmp_path, 3)
        server.stop()
    assert len(paths) == len(list(tmp_path.iterdir())) == 3
    assert "- time than its limit\n" in "".join(path.read_text() for path in paths)
    assert "aHVudGVyMg" not in "".join(path.read_text() for path in paths)
    assert cli.execute(["test", str(tmp_path), "--ci", "--time-limit", "500ms"]) == 0


def test_capture_needs_the_flag(tmp_path: Path) -> None:
    """The annotation alone is not enough."""
    with Server("--insecure") as server, server.channel() as channel:
        call(channel, request(PROGRAM))
        server.stop()
        assert "captured" not in "".join(server.text)
    assert list(tmp_path.iterdir()) == []


def test_directory_that_vanishes_fails_no_request(tmp_path: Path) -> None:
    directory = tmp_path / "cases"
    directory.mkdir()
    flags = ("--insecure", "--capture-dir", str(directory))
    with Server(*flags) as server, server.channel() as channel:
        shutil.rmtree(directory)
        response = call(channel, request(PROGRAM))
        server.stop()
    assert list(response.desired.resources) == ["thing"]
    assert "a request was not captured" in "".join(server.text)
