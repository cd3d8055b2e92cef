"""The types that every way to run a function shares, and calls of functions in their time."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

from function_script.errors import LimitError, ProgramError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.sandbox import Pool
from function_script.tools.render import builtin
from function_script.tools.render.requirements import Runner, StepResponse
from function_script.tools.render.runtimes.servers import Server, Servers
from function_script.tools.render.steps import Step

_PUBLISHERS: Final = ("crossplane-contrib-", "upbound-")


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionReference:
    """The function of a step, with the facts that decide how it runs.

    ``package`` is ``spec.package`` of its Function, or "" if no file names it. ``annotations`` are
    those of the Function, with those of the command line. ``is_explicit``: the command line selects
    its runtime.
    """

    step: Step
    package: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)
    is_explicit: bool = False

    @property
    def name(self) -> str:
        """Return the name by which the step calls the function."""
        return self.step.function

    @property
    def repository(self) -> str:
        """Return the last part of the package's repository.

        Without a package it is the name; Crossplane's package manager puts the publisher before it.
        """
        if self.package:
            return builtin.repository_name(self.package)
        name = builtin.repository_name(self.name)
        for publisher in _PUBLISHERS:
            name = name.removeprefix(publisher)
        return name


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCaller:
    """The sandbox, the servers that were started, and the receiver of notes and programs' output.

    ``pool`` may be None if no step runs here. ``is_quiet``: notes are not printed. ``timeout_hint``
    is the advice to whoever needs more time for all steps.
    """

    pool: Pool | None
    print: Callable[[str], None]
    servers: Servers = field(default_factory=Servers)
    is_quiet: bool = False
    timeout_hint: str = ""

    def note(self, text: str) -> None:
        """Print a note, unless the author wants none."""
        if not self.is_quiet:
            self.print(f"note: {text}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Suitability:
    """The answer of a way to run functions: it suits one or does not, and the reason."""

    is_suitable: bool
    reason: str


class Runtime(ABC):
    """A way to run one function."""

    @abstractmethod
    def describe(self) -> str:
        """Return the words after "runs": ``at localhost:9443``."""

    def note(self) -> str:
        """Return a note for the author, or ""."""
        return ""

    def start(self, caller: FunctionCaller) -> None:  # noqa: B027 - most runtimes start nothing
        """Begin to start what the function needs; return at once."""

    def wait(self, caller: FunctionCaller) -> None:  # noqa: B027 - most runtimes start nothing
        """Wait until what `start` began is there. Raises FatalError."""

    @abstractmethod
    def call(
        self,
        step: Step,
        request: fnv1.RunFunctionRequest,
        caller: FunctionCaller,
        timeout_seconds: float,
    ) -> StepResponse:
        """Call the function once. Raises FatalError if there is no response."""


class ServedRuntime(Runtime):
    """A function whose server, a process or container, a command starts once, calls, and ends."""

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


class RuntimeKind(ABC):
    """A row of the table of runtimes.

    ``word`` selects it in ``--function NAME=WORD``, ``annotation`` in a Function. ``is_default``:
    the annotation is what the official command does without one, so it yields where it cannot run.
    """

    word: ClassVar[str]
    meaning: ClassVar[str]
    annotation: ClassVar[str] = ""
    is_default: ClassVar[bool] = False

    @abstractmethod
    def judge(self, function: FunctionReference) -> Suitability:
        """Judge whether the function runs so if nothing selects a runtime."""

    @abstractmethod
    def build(self, function: FunctionReference) -> Runtime:
        """Return the runtime of a function, or raise InputError with the reason against it."""


def build_runner(
    runtimes: Mapping[str, Runtime],
    caller: FunctionCaller,
    timeout_seconds: float,
    timeout_flag: str = "--timeout",
) -> Runner:
    """Build a runner for the steps in ``runtimes``; ``timeout_seconds`` is for all calls.

    ``timeout_flag`` sets it; empty: no flag does. What has to be started begins to start at once.
    """
    for runtime in runtimes.values():
        runtime.start(caller)
    return build_runner_for(lambda step: runtimes[step.name], caller, timeout_seconds, timeout_flag)


def build_runner_for(
    find: Callable[[Step], Runtime],
    caller: FunctionCaller,
    timeout_seconds: float,
    timeout_flag: str = "--timeout",
) -> Runner:
    """`build_runner` with a function that returns a step's runtime, or raises."""
    setter = f", set by {timeout_flag}" if timeout_flag else ""
    hint = f"all steps together have {timeout_seconds:g} s{setter}"
    caller = replace(caller, timeout_hint=hint)
    notes: set[str] = set()
    remaining_seconds = timeout_seconds

    def run(step: Step, request: fnv1.RunFunctionRequest) -> StepResponse:
        nonlocal remaining_seconds
        if remaining_seconds <= 0:
            raise LimitError.of(
                f'cannot run step "{step.name}": the time for rendering is over',
                hint=hint,
            )
        runtime = find(step)
        if (note := runtime.note()) and note not in notes:
            notes.add(note)
            caller.note(note)
        # An image may have to be pulled, which takes no time of the pipeline's.
        runtime.wait(caller)
        started = time.monotonic()
        try:
            return runtime.call(step, request, caller, remaining_seconds)
        finally:
            remaining_seconds -= time.monotonic() - started

    return run
