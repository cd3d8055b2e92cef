"""Start a real server in its own process, with throw-away certificates, and call it.

For end-to-end tests and benchmarks: ``with Server("--insecure") as server, server.channel() as
channel: call(channel, request)``.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, Self

import grpc
from e2e.authority import Identity
from support import builders
from support.paths import ROOT
from support.timing import PATIENCE_SECONDS, wait_until, wait_until_busy

from function_script.proto.v1 import run_function_pb2 as pb

NOTHING = "def main(req):\n    return {}\n"
"""A script that composes nothing."""
ENDLESS = "def main(req):\n    for i in range(1000000000):\n        pass\n"
GOOD = builders.request(builders.starlark(NOTHING))
SERVER_NAME = "function-script.crossplane-system"
# Of this process's environment; with the second the tests say which build it is that they test.
_PASSED = ("PATH", "PYTHONPATH")
_STOP_SECONDS = 2 * PATIENCE_SECONDS
_ANY_SIZE = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class Server:
    """``function-script serve`` with the given flags, on free or on its default ``ports``.

    ``python`` is the interpreter whose installation is served. Of its log the last ``keeps``
    lines are kept, None: all. ``stalls``: the log is read until it serves, and no further.
    """

    def __init__(
        self,
        *flags: str,
        env: Mapping[str, str] | None = None,
        ports: Literal["free", "default"] = "free",
        python: str = sys.executable,
        keeps: int | None = None,
        stalls: bool = False,
    ) -> None:
        self.log: deque[dict[str, object]] = deque(maxlen=keeps)
        self.text: deque[str] = deque(maxlen=keeps)
        self.lines_read = 0
        """How many lines the log had so far, whatever is kept of them."""
        self._announced: dict[str, object] = {}
        self._is_told_to_end = False
        self._is_serving = threading.Event()
        self._stalls = stalls
        began = time.monotonic()
        self._process = subprocess.Popen(
            # Safe path: what that interpreter has installed, not what lies in the directory.
            [python, "-P", "-m", "function_script.cli", "serve"]
            + (_with_free_ports(flags) if ports == "free" else [*flags]),
            cwd=ROOT,
            env=_environment() | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self._is_serving.wait(PATIENCE_SECONDS)
        self.start_seconds = time.monotonic() - began

    def __enter__(self) -> Self:
        if "address" not in self._announced:
            self.stop()
            raise AssertionError("the server did not start:\n" + "".join(self.text))
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    @property
    def address(self) -> str:
        """The address of the service, for a client on this host."""
        return _reachable(str(self._announced["address"]))

    @property
    def health_address(self) -> str:
        """The address of the health service in plain text."""
        return _reachable(str(self._announced["health_address"]))

    @property
    def metrics_address(self) -> str:
        """The address of the HTTP server."""
        return _reachable(str(self._announced["metrics_address"]))

    def channel(self, identity: Identity | None = None, *, name: str = SERVER_NAME) -> grpc.Channel:
        """Open a connection: in plain text, or as ``identity`` to a server ``name``."""
        if identity is None:
            return grpc.insecure_channel(self.address, options=_ANY_SIZE)
        options = [*_ANY_SIZE, ("grpc.ssl_target_name_override", name)]
        return grpc.secure_channel(self.address, identity.credentials(), options=options)

    def fetch(self, path: str) -> tuple[int, str]:
        """Return status and text of a page of the HTTP server."""
        address = f"http://{self.metrics_address}{path}"
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as page:
                return page.status, page.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def metrics(self) -> dict[str, float]:
        """Return the value of each metric by its name and labels."""
        lines = (line for line in self.fetch("/metrics")[1].splitlines() if line[:1] != "#")
        pairs = (line.rpartition(" ") for line in lines)
        return {name: float(value) for name, _, value in pairs}

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the server."""
        self._is_told_to_end |= number == signal.SIGTERM
        self._process.send_signal(number)

    def stop(self) -> int:
        """Send SIGTERM once, as Kubernetes does, and return the exit code."""
        if not self._is_told_to_end and self._process.poll() is None:
            self.signal(signal.SIGTERM)
        try:
            code = self._process.wait(_STOP_SECONDS)
        finally:
            self._process.kill()
            self._reader.join()
        return code

    def family(self) -> list[int]:
        """Return the process ids of the server, its zygote and its workers."""
        family, new = [], [self.pid]
        while new:
            family += new
            new = [child for pid in new for child in _children(pid)]
        return family

    def resident_bytes(self) -> int:
        """Return the memory of the server process without pages shared with workers."""
        pages = Path(f"/proc/{self.pid}/statm").read_text().split()
        return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE")

    def whole_resident_bytes(self) -> int:
        """Return the memory of the server process with shared pages."""
        pages = Path(f"/proc/{self.pid}/statm").read_text().split()
        return int(pages[1]) * os.sysconf("SC_PAGE_SIZE")

    def says(self, text: str) -> bool:
        """Report whether the log has ``text``."""
        return text in "".join([*self.text])

    def wait_until_it_says(self, text: str) -> None:
        """Wait until the log has ``text``."""
        wait_until(lambda: self.says(text))

    def wait_until_it_runs(self, count: int) -> None:
        """Wait until this number of workers run programs that take long."""
        wait_until_busy(lambda: self.family()[2:], count)

    def lines(self, message: str) -> list[dict[str, object]]:
        """Return the lines of the log with that message."""
        return [line for line in [*self.log] if line.get("msg") == message]

    def _read(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            for line in stream:
                if self._stalls and self._is_serving.is_set():
                    self._process.wait()
                    break
                self.lines_read += 1
                self.text.append(line)
                for parsed in _parse(line):
                    self.log.append(parsed)
                    if parsed.get("msg") == "serving":
                        self._announced = parsed
                        self._is_serving.set()
        self._is_serving.set()


def serve_in_vain(
    *flags: str, python: str = sys.executable, prepare: Callable[[], None] | None = None
) -> str:
    """Start a server that cannot serve, which ends with 1 and not by a bug; return its stderr."""
    ended = subprocess.run(
        [python, "-P", "-m", "function_script.cli", "serve", *_with_free_ports(flags)],
        cwd=ROOT,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
        preexec_fn=prepare,
    )
    assert ended.returncode == 1, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "our mistake" not in ended.stderr
    return ended.stderr


def call(
    channel: grpc.Channel,
    request: pb.RunFunctionRequest,
    *,
    version: str = "v1",
    timeout: float = PATIENCE_SECONDS,
) -> pb.RunFunctionResponse:
    response: pb.RunFunctionResponse = method(channel, version)(request, timeout=timeout)
    return response


def method(channel: grpc.Channel, version: str = "v1") -> grpc.UnaryUnaryMultiCallable:
    """Return RunFunction, to be called or to be started with ``future``."""
    return channel.unary_unary(
        f"/apiextensions.fn.proto.{version}.FunctionRunnerService/RunFunction",
        request_serializer=pb.RunFunctionRequest.SerializeToString,
        response_deserializer=pb.RunFunctionResponse.FromString,
    )


def _parse(line: str) -> list[dict[str, object]]:
    """Return the log line, from JSON or from the text of --debug; nothing for other text."""
    if line.startswith("{"):
        return [json.loads(line)]
    if " serving " in line:
        words = [word.partition("=") for word in line.split()]
        return [{"msg": "serving", **{key: value for key, sign, value in words if sign}}]
    return []


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _PASSED if name in os.environ}


def _with_free_ports(flags: tuple[str, ...]) -> list[str]:
    chosen = [*flags]
    for flag in ("--address", "--metrics-address"):
        if flag not in flags:
            chosen += [flag, "127.0.0.1:0"]
    return chosen


def _reachable(address: str) -> str:
    return address.replace("[::]:", "127.0.0.1:")


def _children(pid: int) -> list[int]:
    try:
        return [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return []
