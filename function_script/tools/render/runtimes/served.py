"""A function whose server is started here: its process or its container."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from function_script.errors import ProgramError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.tools.render.requirements import StepResponse
from function_script.tools.render.runtimes.model import FunctionCaller, Runtime
from function_script.tools.render.runtimes.servers import Server
from function_script.tools.render.steps import Step


class ServedRuntime(Runtime):
    """A function that a command starts once, calls, and ends."""

    __slots__ = ()

    @abstractmethod
    def open(self, caller: FunctionCaller) -> Server:
        """Start the server. Raises FatalError."""

    def start(self, caller: FunctionCaller) -> None:
        """Begin to start the server."""
        caller.servers.start(self, lambda: self.open(caller))

    def wait(self, caller: FunctionCaller) -> None:
        """Wait until the server is there."""
        self.start(caller)
        caller.servers.wait(self)

    def call(
        self,
        step: Step,
        request: fnv1.RunFunctionRequest,
        caller: FunctionCaller,
        timeout_seconds: float,
    ) -> StepResponse:
        """Call the server; if it does not answer, the error has the end of its log."""
        from function_script.tools.render import remote  # noqa: PLC0415 - grpc is slow to import

        server = caller.servers.wait(self)
        options = remote.CallOptions(timeout_seconds=timeout_seconds, print=caller.print)
        try:
            return StepResponse(response=remote.call(step, server.address, request, options))
        except ProgramError as error:
            log = tuple(server.read_log().splitlines())
            caller.servers.discard(self)
            first, *others = error.diagnostics
            raise ProgramError(replace(first, notes=(*first.notes, *log)), *others) from error
