"""The capture of live requests: which ones, how many, and errors of the file system."""

import json
import resource
import signal
from pathlib import Path

import pytest
from support import builders, server_logs

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request import capture
from function_script.request.limits import MIB
from function_script.request.values import Object
from function_script.server import capture_writer, log
from function_script.server.capture_writer import CaptureWriter

RESPONSE = pb.RunFunctionResponse().SerializeToString()


def request(name: str = "demo", wish: str = "true", **spec: object) -> bytes:
    """Return a request of an XR with the annotation."""
    metadata: Object = {"name": name, "annotations": {capture.ANNOTATION: wish}}
    xr = {**builders.XR, "metadata": metadata, "spec": spec}
    observed = {"composite": {"resource": xr}}
    return builders.request(builders.starlark(""), observed=observed).SerializeToString()


def record(directory: Path, *requests: bytes, most: int = 10) -> list[str]:
    """Submit the requests one by one, and return the names of files."""
    log.start(debug=False)
    for data in requests:
        recorder = CaptureWriter(directory, most)
        recorder.submit(data, RESPONSE, ())
        recorder.close()
    return sorted(path.name for path in directory.iterdir())


def complaints(capfd: pytest.CaptureFixture[str]) -> list[str]:
    """Return the reasons in the log why requests were not captured."""
    lines = [json.loads(line) for line in server_logs.text(capfd).splitlines()]
    return [line["error"] for line in lines if line["msg"] == "a request was not captured"]


def test_request_is_one_file(tmp_path: Path) -> None:
    """Its name has that of the XR, its mode is 0600, and an equal request is written once."""
    (name,) = record(tmp_path, request(), request())
    assert name.startswith("xthing-demo-")
    assert name.endswith(".case.yaml")
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_capture_of_another_state_is_another_file(tmp_path: Path) -> None:
    """Another XR is another file, too."""
    assert len(record(tmp_path, request(), request(size=1), request("other"))) == 3


def test_names_stay_in_the_directory(tmp_path: Path) -> None:
    """Names of XRs may have slashes."""
    (name,) = record(tmp_path, request("../../etc/x\n" + "long" * 100))
    assert name.startswith("xthing--etc-x-long")
    assert len(name) < 100


def test_number_of_files_is_bounded(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The bound includes files of earlier processes, and reaching it is logged."""
    requests = [request(f"x{number}") for number in range(4)]
    assert len(record(tmp_path, *requests, most=2)) == 2
    text = "there are 2 files, set by --capture-limit; no more are written"
    assert complaints(capfd) == [text, text]


def test_large_requests_are_not_captured(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """They are not queued."""
    large = request(text="x" * capture_writer.MAX_REQUEST_BYTES)
    assert record(tmp_path, large) == []
    assert complaints(capfd) == ["the request and its response have more than 4 MiB"]


def test_part_of_a_file_is_removed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The disk is full while a case is written."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    former = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, limits[1]))
    try:
        assert record(tmp_path, request(text="x" * 2 * MIB)) == []
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, former)
    assert "file too large" in complaints(capfd)[0]
