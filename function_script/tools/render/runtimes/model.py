"""The types that every way to run a function shares, and the source of functions."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, NamedTuple, Self, TypeAlias, TypeVar

from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.texts.errors import InputError
from function_script.texts.problems import suggest
from function_script.tools.local_pool import Sandbox
from function_script.tools.processes.options import PullPolicy
from function_script.tools.render import builtin
from function_script.tools.render.requirements import StepCall, StepResponse
from function_script.tools.render.runtimes.servers import Server, Servers
from function_script.tools.render.steps import Step

# Of all forms that gRPC reads, those that stay on this machine for certain.
# A text that looks like an IP address and is none is looked up as a name.
_OCTET: Final = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_LOOPBACK: Final = re.compile(
    rf"(passthrough:///)?(localhost|127(\.{_OCTET}){{3}}|\[::1\])(:\d{{1,5}})?", re.ASCII
)
TIMEOUT_SECONDS: Final = 60.0
"""The time of all steps together where nothing sets it."""
PULL_POLICIES: Final[tuple[PullPolicy, ...]] = ("IfNotPresent", "Always", "Never")
_Text = TypeVar("_Text", bound=str)
_PUBLISHERS: Final = ("crossplane-contrib-", "upbound-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of all renderings of a command; ``print`` gets what programs print, and notes.

    ``runtimes`` are those of single functions by name, OCI reference or revision, each a word of
    the table or an address; ``annotations`` override those of every Function. ``is_strict``: a
    built-in function of another version than the Function names is an error. ``allows_addresses``:
    a function may be at an address that its manifest names, wherever that is. ``servers`` are those
    of functions; they stay for the next rendering. ``timeout_seconds`` is for all steps together,
    and ``timeout_flag`` sets it; empty: no flag does. ``is_quiet``: notes are not printed;
    ``notes`` are those that earlier renderings printed, and None: each its own.
    """

    print: Callable[[str], None] = lambda _: None
    runtimes: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    is_strict: bool = False
    allows_addresses: bool = False
    servers: Servers = field(default_factory=Servers)
    timeout_seconds: float = TIMEOUT_SECONDS
    timeout_flag: str = ""
    is_quiet: bool = False
    notes: set[str] | None = None

    @property
    def timeout_hint(self) -> str:
        """The advice to whoever needs more time for all steps."""
        setter = f", set by {self.timeout_flag}" if self.timeout_flag else ""
        return f"all steps together have {self.timeout_seconds:g} s{setter}"

    def note(self, text: str) -> None:
        """Print a note, unless the author wants none."""
        if not self.is_quiet:
            self.print(f"note: {text}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionReference:
    """The function of a step, with the facts that decide how it runs.

    ``package`` is ``spec.package`` of its Function, or "" if no file names it, and ``own`` has that
    Function's annotations. ``is_explicit``: the command line selects its runtime. ``is_elsewhere``:
    it is compared with what runs here, so that it runs elsewhere.
    """

    step: Step
    options: Options
    package: str = ""
    own: Mapping[str, str] = field(default_factory=dict)
    is_explicit: bool = False
    is_elsewhere: bool = False

    @property
    def annotations(self) -> dict[str, str]:
        """Return the annotations of the Function, and over them those of the command line."""
        return {**self.own, **self.options.annotations}

    @property
    def name(self) -> str:
        """Return the name by which the step calls the function."""
        return self.step.function

    def check_address(self, key: str, address: str) -> None:
        """Raise InputError for an address by annotation ``key`` that only a file names.

        Requests may have secrets. Addresses of this machine's loopback need no permission.
        """
        is_chosen = self.options.allows_addresses or key in self.options.annotations
        if not (is_chosen or _LOOPBACK.fullmatch(address)):
            raise InputError.of(
                f'a file names the address "{address}", which would get the request',
                hint="--allow-addresses allows it",
            )

    def choose(self, key: str, allowed: Sequence[_Text]) -> _Text:
        """Return an annotation that is one of ``allowed``, whose first is the default.

        Raises InputError for any other.
        """
        value = self.annotations.get(key) or allowed[0]
        for each in allowed:
            if each == value:
                return each
        problem = f'invalid annotation {key} "{value}": must be one of {", ".join(allowed)}'
        raise InputError.of(problem, hint=suggest(value, tuple(allowed)))

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

    def find_other_version(self, version: str) -> str:
        """Return the tag or digest that the Function names, or "" if it is ``version``."""
        reference, _, digest = self.package.partition("@")
        tag = reference.rpartition("/")[2].partition(":")[2]
        if not tag:
            return digest
        return "" if tag.removeprefix("v") == version.removeprefix("v") else tag


class FunctionCaller:
    """The sandbox, which may be None if no step runs here, and the options of the command."""

    def __init__(self, pool: Sandbox | None, options: Options) -> None:
        self.pool: Final = pool
        self.options: Final = options
        self._notes: set[str] = set() if options.notes is None else options.notes

    def note(self, text: str) -> None:
        """Print a note once, unless the author wants none."""
        if text not in self._notes:
            self._notes.add(text)
            self.options.note(text)


class Suitability(NamedTuple):
    """The answer of a way to run functions: it suits one or does not, and the reason."""

    reason: str
    is_suitable: bool = True


class Runtime(ABC):
    """A way to run one function.

    ``word`` selects it in ``--function NAME=WORD``, ``annotation`` in a Function. ``is_default``:
    the annotation is what the official command does without one, so it yields where it cannot run.
    ``suits_all``: the command line can select it for every function.
    """

    word: ClassVar[str]
    meaning: ClassVar[str]
    annotation: ClassVar[str] = ""
    is_default: ClassVar[bool] = False
    suits_all: ClassVar[bool] = False

    @classmethod
    def judge(cls, function: FunctionReference) -> Suitability:
        """Say whether a function runs so if nothing selects a runtime."""
        del function
        return Suitability("", is_suitable=False)

    @classmethod
    def suits_by_flag(cls, function: FunctionReference) -> bool:
        """Report whether the command line can select it though `judge` refuses."""
        del function
        return cls.suits_all

    @classmethod
    def build(cls, function: FunctionReference) -> Self:
        """Return the runtime of a function; raises InputError with the reason against it."""
        del function
        return cls()

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
    def call(self, call: StepCall, caller: FunctionCaller) -> StepResponse:
        """Call the function once. Raises FatalError if there is no response."""

    def ask(
        self, request: fnv1.RunFunctionRequest, caller: FunctionCaller, mark: bytes
    ) -> bytes | None:
        """Ask the function for its positions or branches; None where nothing knows them."""
        del request, caller, mark
        return None


class ServedRuntime(Runtime):
    """A function whose server, a process or container, a command starts once, calls, and ends."""

    __slots__ = ()

    @abstractmethod
    def open(self, caller: FunctionCaller) -> Server:
        """Start the server. Raises FatalError."""

    def start(self, caller: FunctionCaller) -> None:
        """Begin to start the server."""
        caller.options.servers.start(self, lambda: self.open(caller))

    def wait(self, caller: FunctionCaller) -> None:
        """Wait until the server is there."""
        self.find_server(caller)

    def find_server(self, caller: FunctionCaller) -> Server:
        """Return the server when it is there. Raises FatalError.

        A server that failed was discarded, and another one is started.
        """
        return caller.options.servers.wait(self, lambda: self.open(caller))


FunctionSource: TypeAlias = Callable[[Sequence[Step]], Sequence[Runtime]]
"""It returns the runtime of every step. Raises InputError with all that have none."""
