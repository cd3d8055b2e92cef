"""Containers of an image by runc, locked down as Kubernetes' restricted profile and more.

Read-only root, no capabilities, no new privileges, the seccomp profile that container engines use
by default, limits of processes, memory and CPU. A container shares the network of this process.
"""

import itertools
import json
import os
import platform
import signal
import subprocess
import tempfile
import threading
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from image.machine import SECCOMP
from image.stages import Image
from support.timing import PATIENCE_SECONDS, wait_until

MIB: Final = 2**20
_NUMBERS: Final = itertools.count(1)
_PERIOD_MICROSECONDS: Final = 100_000
_SHARED_NAMESPACES: Final = ("network",)
_NAMES_OF_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A directory of this machine at a place of the container; without a source, a tmpfs."""

    target: str
    source: Path | None = None
    is_writable: bool = False
    size_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a container: None is no limit."""

    memory_bytes: int = 512 * MIB
    processes: int = 64
    cpus: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a container beside its image."""

    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    limits: Limits = field(default_factory=Limits)
    user: str | None = None
    directory: str | None = None
    entrypoint: tuple[str, ...] | None = None


class Container:
    """A container from its start to its end; its output is read while it runs."""

    def __init__(self, image: Image, directory: Path, settings: Settings) -> None:
        self.output: deque[str] = deque()
        self.errors: deque[str] = deque()
        self._name = _unique_name()
        bundle = directory / self._name
        bundle.mkdir(parents=True)
        (bundle / "config.json").write_text(json.dumps(_configuration(image, settings)))
        # runc makes the places of mounts in the image's own files.
        self._places = [path for mount in settings.mounts for path in _absent(image.root, mount)]
        self._runc = ("runc", "--root", str(directory / "state"))
        self._process = subprocess.Popen(
            [*self._runc, "run", "--bundle", bundle, self._name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._readers = [
            threading.Thread(target=self._read, args=parts)
            for parts in (
                (self._process.stdout, self.output),
                (self._process.stderr, self.errors),
            )
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._control("kill", self._name, "KILL")
            self._process.wait(PATIENCE_SECONDS)
        self._control("delete", "--force", self._name)
        for reader in self._readers:
            reader.join()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()
        for place in reversed(self._places):
            place.rmdir()

    @property
    def pid(self) -> int:
        """The id of its first process on this machine; 0 before there is one."""
        result = self._control("state", self._name)
        state = json.loads(result.stdout) if result.returncode == 0 else {}
        return int(state.get("pid", 0)) if state.get("status") == "running" else 0

    @property
    def text(self) -> str:
        """All of its output so far."""
        return "".join([*self.output, *self.errors])

    def lines(self, message: str) -> list[dict[str, object]]:
        """List the lines of the log with that message."""
        parsed = [json.loads(line) for line in [*self.errors] if line.startswith("{")]
        return [line for line in parsed if line.get("msg") == message]

    def wait_for(self, message: str) -> None:
        """Return when the log has a line with that message; AssertionError when it ends before."""

        def has_come() -> bool:
            assert self.is_running() or self.lines(message), self.text
            return bool(self.lines(message))

        wait_until(has_come)

    def is_running(self) -> bool:
        """Tell whether it runs."""
        return self._process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Send its first process a signal."""
        result = self._control("kill", self._name, number.name.removeprefix("SIG"))
        assert result.returncode == 0, result.stderr

    def wait(self, seconds: float = PATIENCE_SECONDS) -> int:
        """Wait for its end and return its exit code."""
        code = self._process.wait(seconds)
        for reader in self._readers:
            reader.join()
        return code

    def processes(self) -> list[int]:
        """List all of its processes, the first one first, those that have ended included."""
        parents = _parents()
        first = self.pid
        assert first, self.text
        family = [first]
        for pid in family:
            family += [child for child, parent in parents.items() if parent == pid]
        return family

    def _control(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self._runc, *arguments], check=False, capture_output=True, text=True
        )

    @staticmethod
    def _read(stream: object, lines: deque[str]) -> None:
        lines.extend(stream)  # type: ignore[call-overload] # a pipe, line by line


def _absent(root: Path, mount: Mount) -> list[Path]:
    """List the directories of a mount that an image does not have, the outermost first."""
    place = root / mount.target.lstrip("/")
    parents = [path for path in place.parents if path.is_relative_to(root)]
    return [path for path in [*reversed(parents), place] if not path.exists()]


def state(pid: int) -> dict[str, str]:
    """Read the state of a process as its kernel tells it."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _parents() -> dict[int, int]:
    """Map every process of this machine to its parent."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(path.parent.name)] = int(fields[1])
    return parents


def _unique_name() -> str:
    return f"function-script-{os.getpid()}-{next(_NUMBERS)}"


def _configuration(image: Image, settings: Settings) -> dict[str, object]:
    """Write a runtime configuration: that of `runc spec`, with less."""
    config = _default_configuration()
    uid, _, gid = (settings.user or image.user).partition(":")
    process = config["process"]
    process |= {
        "terminal": False,
        "user": {"uid": int(uid), "gid": int(gid or uid)},
        "args": [*(settings.entrypoint or image.entrypoint), *settings.arguments],
        "env": [f"{k}={v}" for k, v in {**image.environment, **settings.environment}.items()],
        "cwd": settings.directory or image.directory,
        "capabilities": {},
        "noNewPrivileges": True,
    }
    config["root"] = {"path": str(image.root), "readonly": True}
    config["mounts"] += [_mount(mount) for mount in settings.mounts]
    linux = config["linux"]
    linux["namespaces"] = [
        entry for entry in linux["namespaces"] if entry["type"] not in _SHARED_NAMESPACES
    ]
    linux["cgroupsPath"] = f"/function-script/{_unique_name()}"
    linux["resources"] |= _resources(settings.limits)
    linux["seccomp"] = _seccomp()
    return config


def _default_configuration() -> dict[str, object]:
    with tempfile.TemporaryDirectory() as bundle:
        subprocess.run(["runc", "spec", "--bundle", bundle], check=True)
        config: dict[str, object] = json.loads(Path(bundle, "config.json").read_text())
    return config


def _mount(mount: Mount) -> dict[str, object]:
    access = "rw" if mount.is_writable else "ro"
    if mount.source is None:
        options = ["nosuid", "nodev", "mode=1777", access]
        options += [f"size={mount.size_bytes}"] if mount.size_bytes else []
        return {
            "destination": mount.target,
            "type": "tmpfs",
            "source": "tmpfs",
            "options": options,
        }
    return {
        "destination": mount.target,
        "type": "bind",
        "source": str(mount.source),
        "options": ["rbind", "nosuid", "nodev", access],
    }


def _resources(limits: Limits) -> dict[str, object]:
    resources: dict[str, object] = {
        "memory": {"limit": limits.memory_bytes},
        "pids": {"limit": limits.processes},
    }
    if limits.cpus is not None:
        quota = int(limits.cpus * _PERIOD_MICROSECONDS)
        resources["cpu"] = {"quota": quota, "period": _PERIOD_MICROSECONDS}
    return resources


def _seccomp() -> dict[str, object]:
    """Translate the profile that engines have by default for a container without capabilities."""
    profile = json.loads(SECCOMP.read_text())
    own = _NAMES_OF_ARCHITECTURES[platform.machine()]
    name = f"SCMP_ARCH_{platform.machine().upper()}"
    architectures = [
        architecture
        for entry in profile["archMap"]
        if entry["architecture"] == name
        for architecture in (name, *entry["subArchitectures"])
    ]
    rules = [rule for rule in profile["syscalls"] if _applies(rule, own)]
    return {
        "defaultAction": profile["defaultAction"],
        "defaultErrnoRet": profile["defaultErrnoRet"],
        "architectures": architectures,
        "syscalls": [
            {
                key: rule[key]
                for key in ("names", "action", "args", "errnoRet")
                if rule.get(key) is not None
            }
            for rule in rules
        ],
    }


def _applies(rule: dict[str, dict[str, list[str]]], architecture: str) -> bool:
    """Tell whether a rule is for this architecture and for no capabilities at all."""
    includes, excludes = rule.get("includes") or {}, rule.get("excludes") or {}
    if includes.get("caps") or architecture in excludes.get("arches", ()):
        return False
    return not includes.get("arches") or architecture in includes["arches"]
