"""One function's server: start its process, wait until it answers, call it, end it."""

from __future__ import annotations

import errno
import json
import os
import secrets
import signal
import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from function_script.sandbox.spawn import end, spawn
from function_script.texts.diagnostics import CONTROL, cut
from function_script.texts.errors import InputError
from function_script.tools.processes import probe
from function_script.tools.processes.cache import ROOT_FILES, CachedImage, parse_config
from function_script.tools.processes.messages import (
    MAX_MESSAGE_BYTES,
    STATUS,
    Report,
    encode,
)
from function_script.tools.processes.options import cannot_run

if TYPE_CHECKING:
    from function_script.proto.v1 import run_function_pb2 as fnv1
    from function_script.tools.render.remote import Channel


PORT: Final = 9443
"""The port that the specification of functions promises."""

_SUPERVISOR: Final = "function_script.tools.processes.supervisor"
_ANSWER_SECONDS: Final = 2.0
_EXIT_SECONDS: Final = 0.1
_END_SECONDS: Final = 5.0
_MAX_LOG_LINES: Final = 20
_MAX_LINE_BYTES: Final = 400
# Of gRPC: an address without a file.
_SCHEME: Final = "unix-abstract"
_SIGNALS: Final = {each.value: each.name for each in signal.Signals}


class FunctionServer:
    """A function's process, from construction until `stop`; ``address`` is a target of gRPC.

    ``allows_unconfined``: where the system allows no namespaces, run the function without them. It
    has ``start_seconds`` until it listens.

    All methods raise InputError, whose message begins with "cannot run function".
    """

    def __init__(
        self,
        function: str,
        image: CachedImage,
        *,
        allows_unconfined: bool = False,
        start_seconds: float = 30.0,
    ) -> None:
        self._function = function
        self._image = image
        self._allows_unconfined = allows_unconfined
        self._start_seconds = start_seconds
        self._deadline = time.monotonic() + start_seconds
        self._is_listening = False
        self._is_ready = False
        # The report of the process' end, which comes once and concerns every call.
        self._end: Report | None = None
        self._lock = threading.RLock()
        self._channel: Channel | None = None
        try:
            self._command = parse_config(image.config)
        except ValueError as error:
            raise cannot_run(function, str(error)) from error
        self._name = f"function-script-{secrets.token_hex(16)}"
        self.address: Final = f"{_SCHEME}:{self._name}"
        self._spawn(is_confined=True)

    def wait(self) -> None:
        """Wait until the function listens on its port. Without success the process is ended."""
        with self._lock:
            while not self._is_listening:
                report = self._receive(self._deadline - time.monotonic())
                if report is None:
                    raise self._failure(self._status() or Report(state="status"))
                if report.state == "refused":
                    end(self._process, self._control, _END_SECONDS)
                    if not self._allows_unconfined:
                        reason = probe.describe_errno(report.errno)
                        call = report.call or "namespaces"
                        raise cannot_run(
                            self._function,
                            f"this system does not let us confine it ({call}: {reason})",
                            hint=f"trust it with your files: --function {self._function}=process",
                        )
                    self._spawn(is_confined=False)
                elif report.state == "listening":
                    self._is_listening = True
                else:
                    raise self._failure(report)

    def connect(self) -> Channel:
        """Return the channel, which need not be ready yet."""
        from function_script.tools.render import remote  # noqa: PLC0415 - grpc is slow to import

        with self._lock:
            if self._channel is None:
                self._channel = remote.open_channel(self.address)
            return self._channel

    def call(
        self, request: fnv1.RunFunctionRequest, timeout_seconds: float
    ) -> fnv1.RunFunctionResponse:
        """Call the function."""
        from function_script.tools.render import remote  # noqa: PLC0415 - as above

        channel = self.connect()
        # One wait for all calls: gRPC prints a traceback if a channel is closed after several.
        with self._lock:
            if not self._is_ready:
                seconds = min(timeout_seconds, self._start_seconds)
                self._is_ready = remote.wait_until_ready(channel, seconds)
        if not self._is_ready:
            raise self._explain("it listens, but does not answer in gRPC without TLS")
        try:
            return remote.send_request(channel, request, timeout_seconds)
        except remote.CallError as error:
            late = f"did not answer within {timeout_seconds:.3g} s"
            raise self._explain(f"it {late if error.is_late else error}") from error

    def has_ended(self) -> bool:
        """Report whether the process has ended by itself since it listened."""
        if not self._is_listening:
            return False
        report = self._status()
        return report is None or report.state != "status"

    def stop(self) -> None:
        """End the process, and every process that it started."""
        if self._channel is not None:
            from function_script.tools.render import remote  # noqa: PLC0415 - as above

            remote.close_channel(self._channel)
            self._channel = None
        end(self._process, self._control, _END_SECONDS)

    def _explain(self, cause: str) -> InputError:
        """Build the error of a call that failed."""
        # A connection ends just before its process does.
        time.sleep(_EXIT_SECONDS)
        report = self._status()
        if report is not None and report.state != "status":
            return self._failure(report)
        return cannot_run(self._function, cause, notes=_log_notes(report))

    def _spawn(self, *, is_confined: bool) -> None:
        port = PORT
        if not is_confined:
            # It shares the network of the system, where the port may be in use.
            # Who takes the port meanwhile makes the function end, with the reason in its log.
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = int(free.getsockname()[1])
        self._port = port
        address = () if is_confined else (f"--address=127.0.0.1:{port}",)
        assignment = self._command._replace(
            directory=str(self._image.directory.resolve()),
            arguments=(*self._command.arguments, "--insecure", *address),
            port=port,
            is_confined=is_confined,
        )
        control, remote = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = control
        self._end = None
        # Other users may know the name: the supervisor asks the kernel whose connection it is.
        with remote, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(f"\0{self._name}")
            listener.listen(16)
            descriptors = (remote.fileno(), listener.fileno())
            try:
                self._process = spawn(_SUPERVISOR, descriptors, "", has_session=True)
            except OSError as error:
                control.close()
                cause = f"its supervisor does not start: {os.strerror(error.errno or 0).lower()}"
                raise cannot_run(self._function, cause) from error
        try:
            control.send(encode(assignment))
        except OSError as error:
            end(self._process, self._control, _END_SECONDS)
            cause = "its entrypoint and environment are too long"
            raise cannot_run(self._function, cause) from error

    def _receive(self, seconds: float) -> Report | None:
        """Return the next report, None if there is none in time; behind the end, the one of it."""
        if self._end is not None:
            return self._end
        try:
            self._control.settimeout(max(seconds, 0.001))
            data = self._control.recv(MAX_MESSAGE_BYTES)
        except TimeoutError:
            return None
        except OSError:
            data = b""
        # A supervisor that ends without a report was killed.
        killed = Report(state="exited", status=-signal.SIGKILL)
        report = Report(**json.loads(data)) if data else killed
        if report.state not in {"listening", "status"}:
            self._end = report
        return report

    def _status(self) -> Report | None:
        """Ask for the state; threads that call the function share the socket."""
        with self._lock:
            with suppress(OSError):
                self._control.send(STATUS)
            # The function may begin to listen before the question arrives, which is no answer.
            while (report := self._receive(_ANSWER_SECONDS)) and report.state == "listening":
                pass
            return report

    def _failure(self, report: Report) -> InputError:
        """Build the error of a function that does not run."""
        ports = ", ".join(str(port) for port in report.ports if port != PORT)
        seconds = f"{self._start_seconds:g} s"
        match report.state:
            case "exited" if report.status < 0:
                name = _SIGNALS.get(-report.status, str(-report.status))
                cause = f"its process was ended by {name}"
            case "exited":
                cause = f"its process ended with exit code {report.status}"
            case "inexecutable":
                cause = self._describe_entrypoint(report.errno)
            case "flooded":
                cause = "its log has no end"
            case _ if ports:
                cause = f"it listens on port {ports} and not on {PORT}"
            case _:
                cause = f"it did not listen on port {self._port} within {seconds}"
        end(self._process, self._control, _END_SECONDS)
        return cannot_run(self._function, cause, notes=_log_notes(report))

    def _describe_entrypoint(self, number: int) -> str:
        name = self._command.arguments[0]
        if number == errno.ENOEXEC:
            return f'its entrypoint "{name}" is no program for this machine'
        path = self._image.directory / ROOT_FILES / name.lstrip("/")
        is_file = "/" in name and path.is_file()
        if number == errno.ENOENT and is_file:
            return f'its entrypoint "{name}" needs an interpreter that the image does not have'
        return f'its entrypoint "{name}" cannot be executed: {os.strerror(number).lower()}'


def _log_notes(report: Report | None) -> tuple[str, ...]:
    """Return the last lines of a log."""
    lines = [] if report is None else report.log.splitlines()[-_MAX_LOG_LINES:]
    plain = (CONTROL.sub(lambda each: f"\\u{ord(each[0]):04x}", line.rstrip()) for line in lines)
    return tuple(f"log: {cut(text, _MAX_LINE_BYTES)}" for text in plain if text)
