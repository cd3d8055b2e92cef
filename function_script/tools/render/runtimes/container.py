"""A container of a function's image, by the command line of Docker or Podman.

The annotations mean what they mean to the official command, and so do their defaults. The command
line reads the author's own settings: DOCKER_HOST, contexts, credentials of registries.
"""

from __future__ import annotations

import secrets
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Self, TypeAlias, cast

from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError, ProgramError
from function_script.tools.processes.options import PullPolicy
from function_script.tools.render.requirements import StepCall, StepResponse
from function_script.tools.render.runtimes import model

_PREFIX: Final = "render.crossplane.io/runtime-docker-"
_PORT: Final = 9443
_COMMANDS: Final = ("docker", "podman")
# Longer than any image takes that somebody waits for.
_PULL_SECONDS: Final = 900.0
_COMMAND_SECONDS: Final = 60.0
_LOG_LINES: Final = 20
_UNREACHABLE: Final = ("cannot connect", "is the docker daemon running", "error during connect")
_ABSENT: Final = ("no such", "no container with")

_Cleanup: TypeAlias = Literal["Remove", "Stop", "Orphan"]
_CLEANUPS: Final[tuple[_Cleanup, ...]] = ("Remove", "Stop", "Orphan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Container(model.ServedRuntime):
    """A container of ``image``; the other fields are the annotations of the official command."""

    word = "docker"
    meaning = "runs its image with Docker or Podman"
    annotation = "Docker"
    is_default = True

    command: str
    function: str
    image: str
    name: str = ""
    cleanup: _Cleanup = "Remove"
    pull_policy: PullPolicy = "IfNotPresent"
    environment: tuple[str, ...] = ()
    publish_address: str = "127.0.0.1"
    target: str = ""
    network: str = ""

    @classmethod
    def judge(cls, function: model.FunctionReference) -> model.Suitability:
        """Accept every function with an image where a command is installed."""
        command = find_command()
        if not command:
            return model.Suitability("neither docker nor podman is installed", is_suitable=False)
        if not _image(function):
            return model.Suitability("no Function names its image", is_suitable=False)
        return model.Suitability(f"{command} is installed")

    @classmethod
    def build(cls, function: model.FunctionReference) -> Self:
        """Return the container that the annotations describe. Raises InputError."""
        suitability = cls.judge(function)
        if not suitability.is_suitable:
            raise InputError.of(suitability.reason)

        def read(key: str) -> str:
            return function.annotations.get(f"{_PREFIX}{key}", "")

        for key in ("image", "name", "network"):
            _refuse_flag(f"annotation {_PREFIX}{key}", read(key))
        _refuse_flag("package", function.package)
        target, network, name = read("target"), read("network"), read("name")
        if target:
            function.check_address(f"{_PREFIX}target", target)
        elif network and name:
            # The container's name is looked up as that of any host.
            function.check_address(f"{_PREFIX}name", name)
        return cls(
            command=find_command(),
            function=function.name,
            image=_image(function),
            name=name,
            cleanup=function.choose(f"{_PREFIX}cleanup", _CLEANUPS),
            pull_policy=function.choose(f"{_PREFIX}pull-policy", model.PULL_POLICIES),
            environment=tuple(pair for pair in read("env").split(",") if "=" in pair),
            publish_address=read("publish-address") or "127.0.0.1",
            target=target,
            network=network,
        )

    def describe(self) -> str:
        """Return the words after the function's name."""
        return f"runs as a container of {self.image}, by {self.command}"

    def open(self, caller: model.FunctionCaller) -> RunningContainer:
        """Start the container, or the one of its name. Raises ProgramError."""
        name = self.name or f"function-script-{secrets.token_hex(6)}"
        try:
            if self.name and self._exists("container", name):
                self._run("start", name)
            else:
                self._pull(caller)
                self._run(
                    "run", "--detach", "--name", name, *self._flags(), self.image, "--insecure"
                )
            return RunningContainer(container=self, name=name, address=self._address(name))
        # Ctrl-C, too: the container may run already, and nobody else knows its name.
        except BaseException:
            if not self.name:
                self.try_run("rm", "--force", name)
            raise

    def call(self, call: StepCall, caller: model.FunctionCaller) -> StepResponse:
        """Call the container; if it does not answer, the error has the end of its log."""
        from function_script.tools.render import remote  # noqa: PLC0415 - grpc is slow to import

        servers = caller.options.servers
        server = cast("RunningContainer", self.find_server(caller))
        try:
            response = remote.call(call, server.address, caller.options.print)
            return StepResponse(response=response)
        except ProgramError as error:
            log = tuple(server.read_log().splitlines())
            servers.discard(self, server)
            first, *others = error.diagnostics
            raise ProgramError(replace(first, notes=(*first.notes, *log)), *others) from error

    def _pull(self, caller: model.FunctionCaller) -> None:
        is_offline = caller.options.servers.packages.pull == "Never"
        # Offline, what is there serves even where the policy is to pull always.
        is_present = (is_offline or self.pull_policy != "Always") and self._exists(
            "image", self.image
        )
        if is_present:
            return
        if is_offline or self.pull_policy == "Never":
            cause = "this command is offline" if is_offline else "the pull policy is Never"
            raise self._error(
                f"there is no image {self.image}, and {cause}",
                hint=f"pull it with: {self.command} pull {self.image}",
            )
        caller.note(f"{self.command} pulls {self.image}")
        self._run("pull", "--quiet", self.image, timeout_seconds=_PULL_SECONDS)

    def _flags(self) -> list[str]:
        flags = [text for pair in self.environment for text in ("--env", pair)]
        if self.network:
            return ["--network", self.network, *flags]
        host = f"[{self.publish_address}]" if ":" in self.publish_address else self.publish_address
        return ["--publish", f"{host}::{_PORT}", *flags]

    def _address(self, name: str) -> str:
        if self.network:
            return f"{name}:{_PORT}"
        # Docker prints a line for each family of addresses, IPv4 first.
        lines = self._run("port", name, f"{_PORT}/tcp").split()
        if not lines:
            raise self._error(f"its container publishes no port for {_PORT}")
        host, _, port = lines[0].rpartition(":")
        # What listens everywhere is called here.
        local = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)  # noqa: S104 - compared
        return f"{self.target or local}:{port}"

    def _run(self, *arguments: str, timeout_seconds: float = _COMMAND_SECONDS) -> str:
        """Return what the command prints. Raises ProgramError if it fails."""
        result = self.try_run(*arguments, timeout_seconds=timeout_seconds)
        if result.returncode == 0:
            return result.stdout
        raise self._failure(arguments, result.stderr)

    def try_run(
        self, *arguments: str, timeout_seconds: float = _COMMAND_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """Run the command, whatever it returns. Raises ProgramError if it does not end."""
        try:
            return subprocess.run(  # noqa: S603 - a command of the author's machine
                [self.command, *arguments],
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                stdin=subprocess.DEVNULL,
                timeout=timeout_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise self._error(
                f'"{self.command} {arguments[0]}" did not end within {timeout_seconds:g} s'
            ) from error
        except OSError as error:
            raise self._error(f"{self.command}: {error.strerror or error}") from error

    def _exists(self, kind: Literal["container", "image"], name: str) -> bool:
        arguments = (kind, "inspect", "--format", "{{.Id}}", name)
        result = self.try_run(*arguments)
        text = result.stderr.lower()
        if result.returncode != 0 and not any(absent in text for absent in _ABSENT):
            raise self._failure(arguments, result.stderr)
        return result.returncode == 0

    def _error(
        self, cause: str, *, hint: str | None = None, notes: Sequence[str] = ()
    ) -> ProgramError:
        """Return an error about the function."""
        message = f'cannot start function "{self.function}": {cause}'
        return ProgramError(Diagnostic(message=message, hint=hint, notes=tuple(notes)))

    def _failure(self, arguments: Sequence[str], output: str) -> ProgramError:
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        if any(text in output.lower() for text in _UNREACHABLE):
            return self._error(
                f"{self.command} does not answer",
                notes=lines[-1:],
                hint=f"start it, or select another way with --function {self.function}=…",
            )
        if arguments[0] == "pull":
            return self._error(f"{self.command} cannot pull {arguments[-1]}", notes=lines[-1:])
        return self._error(f'"{self.command} {arguments[0]}" failed', notes=lines[-_LOG_LINES:])


def find_command() -> str:
    """Return the name of the command that is installed, or ""."""
    return next((name for name in _COMMANDS if shutil.which(name)), "")


def _image(function: model.FunctionReference) -> str:
    return function.annotations.get(f"{_PREFIX}image") or function.package


def _refuse_flag(what: str, value: str) -> None:
    """Raise InputError for a name that the command line would read as a flag."""
    if value.startswith("-"):
        raise InputError.of(f'invalid {what} "{value}": must not begin with -')


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningContainer:
    """A container that was started."""

    container: Container
    name: str
    address: str

    def read_log(self) -> str:
        """Return the last lines that the function printed."""
        result = self.container.try_run("logs", "--tail", str(_LOG_LINES), self.name)
        return f"{result.stdout}{result.stderr}".strip()

    def stop(self) -> None:
        """Remove, stop or leave the container."""
        commands = {
            "Remove": ("rm", "--force", self.name),
            "Stop": ("stop", self.name),
            "Orphan": (),
        }
        if arguments := commands[self.container.cleanup]:
            self.container.try_run(*arguments)
