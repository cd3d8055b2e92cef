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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from image.machine import SECCOMP
from image.stages import ARCHITECTURE, Image
from support.timing import PATIENCE_SECONDS

MIB: Final = 2**20
_NUMBERS: Final = itertools.count(1)
_PERIOD_MICROSECONDS: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A directory of this machine at a place of the container."""

    target: str
    source: Path
    is_writable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a container beside its image; ``cpus`` None is no limit."""

    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    memory_bytes: int = 512 * MIB
    cpus: float | None = None
    user: str | None = None
    directory: str = "/"
    entrypoint: tuple[str, ...] | None = None


class Container:
    """A container from its start to its end; its output is read while it runs."""

    def __init__(self, image: Image, directory: Path, settings: Settings) -> None:
        self.output: list[str] = []
        self.errors: list[str] = []
        self._name = f"function-script-{os.getpid()}-{next(_NUMBERS)}"
        bundle = directory / self._name
        bundle.mkdir(parents=True)
        config = _configure(image, settings, self._name)
        (bundle / "config.json").write_text(json.dumps(config))
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
        pairs = ((self._process.stdout, self.output), (self._process.stderr, self.errors))
        self._readers = [
            threading.Thread(target=lines.extend, args=(stream,)) for stream, lines in pairs
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._control("kill", self._name, "KILL")
            self._process.wait(PATIENCE_SECONDS)
        self._control("delete", "--force", self._name)
        self.wait()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()
        for place in reversed(self._places):
            place.rmdir()

    @property
    def pid(self) -> int:
        """The id of its first process on this machine; 0 before there is one."""
        result = self._control("state", self._name)
        described = json.loads(result.stdout) if result.returncode == 0 else {}
        return int(described["pid"]) if described.get("status") == "running" else 0

    @property
    def text(self) -> str:
        """All of its output so far."""
        return "".join([*self.output, *self.errors])

    def lines(self, message: str) -> list[dict[str, object]]:
        """List the lines of the log with that message."""
        parsed = [json.loads(line) for line in [*self.errors] if line.startswith("{")]
        return [line for line in parsed if line.get("msg") == message]

    def is_running(self) -> bool:
        """Tell whether it runs."""
        return self._process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Send its first process a signal."""
        result = self._control("kill", self._name, number.name.removeprefix("SIG"))
        assert result.returncode == 0, result.stderr

    def wait(self) -> int:
        """Wait for its end and return its exit code."""
        code = self._process.wait(PATIENCE_SECONDS)
        for reader in self._readers:
            reader.join()
        return code

    def processes(self) -> list[int]:
        """List all of its processes, the first one first, those that have ended included."""
        command = ["ps", "-A", "-o", "pid=,ppid="]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
        family = [self.pid]
        assert family[0], self.text
        for pid in family:
            family += [child for child, parent in pairs if parent == pid]
        return family

    def _control(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*self._runc, *arguments]
        return subprocess.run(command, check=False, capture_output=True, text=True)


def _absent(root: Path, mount: Mount) -> list[Path]:
    """List the directories of a mount that an image does not have, the outermost first."""
    place = root / mount.target.lstrip("/")
    parents = [path for path in place.parents if path.is_relative_to(root)]
    return [path for path in [*reversed(parents), place] if not path.exists()]


def read_state(pid: int) -> dict[str, str]:
    """Read the state of a process as its kernel tells it."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _configure(image: Image, settings: Settings, name: str) -> dict[str, Any]:
    """Write a runtime configuration: that of `runc spec`, with less."""
    with tempfile.TemporaryDirectory() as bundle:
        subprocess.run(["runc", "spec", "--bundle", bundle], check=True)
        config: dict[str, Any] = json.loads(Path(bundle, "config.json").read_text())
    uid, _, gid = (settings.user or image.user).partition(":")
    config["process"] |= {
        "terminal": False,
        "user": {"uid": int(uid), "gid": int(gid or uid)},
        "args": [*(settings.entrypoint or image.entrypoint), *settings.arguments],
        "env": [f"{k}={v}" for k, v in {**image.environment, **settings.environment}.items()],
        "cwd": settings.directory,
        "capabilities": {},
        "noNewPrivileges": True,
    }
    config["root"] = {"path": str(image.root), "readonly": True}
    config["mounts"] += [_describe(mount) for mount in settings.mounts]
    linux = config["linux"]
    linux["namespaces"] = [entry for entry in linux["namespaces"] if entry["type"] != "network"]
    linux["cgroupsPath"] = f"/function-script/{name}"
    linux["resources"] |= {"memory": {"limit": settings.memory_bytes}, "pids": {"limit": 64}}
    if settings.cpus is not None:
        quota = int(settings.cpus * _PERIOD_MICROSECONDS)
        linux["resources"]["cpu"] = {"quota": quota, "period": _PERIOD_MICROSECONDS}
    linux["seccomp"] = _translate_seccomp()
    return config


def _describe(mount: Mount) -> dict[str, object]:
    options = ["rbind", "nosuid", "nodev", "rw" if mount.is_writable else "ro"]
    place = {"destination": mount.target, "source": str(mount.source)}
    return {**place, "type": "bind", "options": options}


def _translate_seccomp() -> dict[str, object]:
    """Translate the profile that engines have by default for a container without capabilities."""
    profile = json.loads(SECCOMP.read_text())
    name = f"SCMP_ARCH_{platform.machine().upper()}"
    (own,) = [entry for entry in profile["archMap"] if entry["architecture"] == name]
    keys = ("names", "action", "args", "errnoRet")
    return {
        "defaultAction": profile["defaultAction"],
        "defaultErrnoRet": profile["defaultErrnoRet"],
        "architectures": [name, *own["subArchitectures"]],
        "syscalls": [
            {key: rule[key] for key in keys if rule.get(key) is not None}
            for rule in profile["syscalls"]
            if _applies(rule)
        ],
    }


def _applies(rule: dict[str, dict[str, list[str]]]) -> bool:
    """Tell whether a rule is for this architecture and for no capabilities at all."""
    includes, excludes = rule.get("includes") or {}, rule.get("excludes") or {}
    if includes.get("caps") or ARCHITECTURE in excludes.get("arches", ()):
        return False
    return not includes.get("arches") or ARCHITECTURE in includes["arches"]
