"""Containers of an image by podman, locked down as Kubernetes' restricted profile and more.

Read-only root, no capabilities, no new privileges, the seccomp profile that container engines use
by default, limits of processes, memory and CPU. A container shares the network of this process.
"""

import itertools
import json
import os
import signal
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from image.stages import Image
from support.timing import PATIENCE_SECONDS

MIB: Final = 2**20
_NUMBERS: Final = itertools.count(1)


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
        # The second must be short.
        places = (f"--root={directory / 'podman'}", "--runroot=/run/function-script")
        # Nothing is stored, and nothing stays mounted.
        plain = ("--storage-driver=vfs", "--cgroup-manager=cgroupfs", "--events-backend=none")
        self._podman = ("podman", *places, *plain)
        # Of the root file system it gets an overlay, so places of mounts leave nothing in it.
        flags = [*_flags(image, settings), f"--name={self._name}", "--rootfs", f"{image.root}:O"]
        self._process = subprocess.Popen(
            [*self._podman, "run", *flags, *settings.arguments],
            # Its monitor notes there that memory was short.
            cwd=directory,
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
        self._control("rm", "--force", "--time=0", self._name)
        self.wait()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()

    @property
    def pid(self) -> int:
        """The id of its first process on this machine; 0 before there is one."""
        result = self._control("inspect", "--format={{.State.Pid}}", self._name)
        return int(result.stdout) if result.returncode == 0 else 0

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
        result = self._control("kill", f"--signal={number.name}", self._name)
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
        command = [*self._podman, *arguments]
        return subprocess.run(command, check=False, capture_output=True, text=True)


def read_state(pid: int) -> dict[str, str]:
    """Read the state of a process as its kernel tells it."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _flags(image: Image, settings: Settings) -> list[str]:
    """Describe a locked-down container to `podman run`."""
    flags = ["--read-only", "--read-only-tmpfs=false", "--cap-drop=all", "--network=host"]
    flags += ["--security-opt=no-new-privileges", "--pids-limit=64"]
    # By default they are more than some machines allow.
    flags += ["--ulimit=nofile=4096:4096", "--ulimit=nproc=1024:1024"]
    flags += [f"--memory={settings.memory_bytes}b", f"--workdir={settings.directory}"]
    flags += [f"--user={settings.user or image.user}"]
    flags += [f"--entrypoint={json.dumps([*(settings.entrypoint or image.entrypoint)])}"]
    for name, value in {**image.environment, **settings.environment}.items():
        flags.append(f"--env={name}={value}")
    for mount in settings.mounts:
        flags.append(
            f"--volume={mount.source}:{mount.target}:{'rw' if mount.is_writable else 'ro'}"
        )
    if settings.cpus is not None:
        flags.append(f"--cpus={settings.cpus}")
    return flags
