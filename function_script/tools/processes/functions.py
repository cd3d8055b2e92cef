"""The functions that one command runs as processes: each started once, all ended together.

    with FunctionProcesses(PackageOptions()) as processes:
        processes.start(every Process of the pipeline)     # fetches, and starts all at once
        response = processes.call(process, request, seconds)

This module imports no gRPC: functions start while the caller imports it.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from function_script.tools.processes import packages
from function_script.tools.processes.server import FunctionServer, ServerOptions

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from function_script.proto.v1 import run_function_pb2 as fnv1
    from function_script.tools.processes.packages import PackageOptions
    from function_script.tools.render.remote import Connection

_START_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A function that is run from its package, an OCI reference.

    ``is_explicit``: the command line asks for it, so that it is run without namespaces, too, where
    the system allows none.
    """

    function: str
    package: str
    is_explicit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    server: FunctionServer
    connection: Connection


class FunctionProcesses:
    """Functions by their package; they end with the ``with`` block, or with this process.

    ``start_seconds`` is the time that a function has until it answers. Methods raise FatalError,
    whose message begins with ``cannot run function``.
    """

    def __init__(self, options: PackageOptions, *, start_seconds: float = _START_SECONDS) -> None:
        self._options = options
        self._start_seconds = start_seconds
        self._servers: dict[tuple[str, bool], FunctionServer] = {}
        self._running: dict[tuple[str, bool], _Running] = {}
        self._lock = threading.RLock()

    def start(self, processes: Iterable[Process]) -> None:
        """Fetch the packages that are not in the cache, and start all that are not running."""
        with self._lock:
            for process in processes:
                self._start(process)

    def call(
        self, process: Process, request: fnv1.RunFunctionRequest, timeout_seconds: float
    ) -> fnv1.RunFunctionResponse:
        """Call a function; start it first if it is not running."""
        from function_script.tools.render import remote  # noqa: PLC0415 - grpc is slow to import

        with self._lock:
            running = self._connect(process)
        try:
            return running.connection.call(request, timeout_seconds)
        except remote.CallError as error:
            cause = running.server.explain(error.text)
            with self._lock:
                # A function that failed is started anew by the next call.
                self._stop(process)
            raise cause from error

    def close(self) -> None:
        """End all functions."""
        with self._lock, ExitStack() as stack:
            for running in self._running.values():
                stack.callback(running.connection.close)
            for server in self._servers.values():
                stack.callback(server.close)
            self._running.clear()
            self._servers.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _start(self, process: Process) -> FunctionServer:
        key = _key(process)
        server = self._servers.get(key)
        if server is not None and server.has_ended():
            self._stop(process)
            server = None
        if server is None:
            image = packages.load(process.function, process.package, self._options)
            options = ServerOptions(
                allows_unconfined=process.is_explicit, start_seconds=self._start_seconds
            )
            server = self._servers[key] = FunctionServer(process.function, image, options)
        return server

    def _connect(self, process: Process) -> _Running:
        """Return the running function, once it listens and speaks gRPC."""
        from function_script.tools.render import remote  # noqa: PLC0415 - grpc is slow to import

        server = self._start(process)
        key = _key(process)
        if key in self._running:
            return self._running[key]
        try:
            server.wait()
        except BaseException:
            self._stop(process)
            raise
        connection = remote.Connection(server.address)
        if not connection.wait(self._start_seconds):
            connection.close()
            error = server.explain("it listens, but does not answer in gRPC without TLS")
            self._stop(process)
            raise error
        self._running[key] = _Running(server=server, connection=connection)
        return self._running[key]

    def _stop(self, process: Process) -> None:
        key = _key(process)
        if running := self._running.pop(key, None):
            running.connection.close()
        if server := self._servers.pop(key, None):
            server.close()


def _key(process: Process) -> tuple[str, bool]:
    return process.package, process.is_explicit
