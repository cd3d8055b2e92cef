"""A function that runs from its package as a process, confined by namespaces."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self, cast

from function_script.texts.errors import InputError
from function_script.tools.processes.options import PullPolicy
from function_script.tools.render.requirements import StepCall, StepResponse
from function_script.tools.render.runtimes import model

if TYPE_CHECKING:
    from function_script.tools.processes.server import FunctionServer

_PULL_POLICY: Final = "render.crossplane.io/runtime-docker-pull-policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Process(model.ServedRuntime):
    """The entrypoint of a package's image.

    ``is_explicit``: the command line asks for a process, so that the function is run without
    namespaces, too, where the system allows none.
    """

    word = "process"
    meaning = "runs its package as a process, on Linux"

    function: str
    package: str
    pull: PullPolicy = "IfNotPresent"
    is_explicit: bool = False

    @classmethod
    def judge(cls, function: model.FunctionReference) -> model.Suitability:
        """Accept every function with a package where namespaces confine it."""
        if not function.package:
            return model.Suitability("no Function names its package", is_suitable=False)
        if sys.platform != "linux":
            reason = "a package runs as a process on Linux alone"
            return model.Suitability(reason, is_suitable=False)
        from function_script.tools.processes import probe  # noqa: PLC0415 - of Linux

        refusal = probe.find_refusal()
        if refusal:
            reason = f"this system does not let us confine a process ({refusal})"
            return model.Suitability(reason, is_suitable=False)
        return model.Suitability("its package runs as a confined process")

    @classmethod
    def suits_by_flag(cls, function: model.FunctionReference) -> bool:
        """Accept every function with a package on Linux, without namespaces if it must be."""
        return bool(function.package) and sys.platform == "linux"

    @classmethod
    def build(cls, function: model.FunctionReference) -> Self:
        """Return the process of the package. Raises InputError."""
        if not cls.suits_by_flag(function):
            raise InputError.of(cls.judge(function).reason)
        return cls(
            function=function.name,
            package=function.package,
            pull=function.choose(_PULL_POLICY, model.PULL_POLICIES),
            is_explicit=function.is_explicit,
        )

    def describe(self) -> str:
        """Return the words after the function's name."""
        return f"runs as a process, from {self.package}"

    def open(self, caller: model.FunctionCaller) -> FunctionServer:
        """Fetch the package if it is not in the cache, and start it; `wait` waits for it."""
        # Of Linux, and slow to import.
        from function_script.tools.processes import cache, server  # noqa: PLC0415 - see above

        servers = caller.options.servers
        options = replace(servers.packages, is_cancelled=servers.is_closing)
        # Other choices are those of the command line, which win over the Function's.
        if options.pull == "IfNotPresent":
            hint = f"its Function has {_PULL_POLICY}: {self.pull}"
            options = replace(options, pull=self.pull, never_hint=hint)
        image = cache.load_package(self.function, self.package, options)
        process = server.FunctionServer(self.function, image, allows_unconfined=self.is_explicit)
        # Imports gRPC while the function starts.
        process.connect()
        return process

    def wait(self, caller: model.FunctionCaller) -> None:
        """Wait until the process listens; start a new one if it has ended since the last call."""
        server = self._find_server(caller)
        if server.has_ended():
            caller.options.servers.discard(self, server)
            server = self._find_server(caller)
        try:
            server.wait()
        except BaseException:
            caller.options.servers.discard(self, server)
            raise

    def call(self, call: StepCall, caller: model.FunctionCaller) -> StepResponse:
        """Call the process; one that fails is started anew by the next call."""
        server = self._find_server(caller)
        try:
            # It may be another one than that of `wait`, which failed in the call of another thread.
            server.wait()
            return StepResponse(response=server.call(call.request, call.timeout_seconds))
        except InputError:
            caller.options.servers.discard(self, server)
            raise

    def _find_server(self, caller: model.FunctionCaller) -> FunctionServer:
        return cast("FunctionServer", self.find_server(caller))
