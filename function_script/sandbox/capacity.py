"""The size of a pool: how many slots the CPUs, memory and process limit of a container allow."""

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

_MIN_WORKERS = 2
_MIN_SLOW_WORKERS = 4
_MAX_SLOW_WORKERS = 64
# The threads of a server without gRPC's, two that capturing and tracing add, and the zygote.
_SERVER_PROCESSES = 17
# gRPC starts one thread for each CPU of the machine, within bounds, and four more.
_MIN_GRPC_THREADS = 4
_MAX_GRPC_THREADS = 16
_OTHER_GRPC_THREADS = 4
# A worker that starts while another one exits.
_SPARE_PROCESSES = 1
# The rest is for the server, the zygote and the memory that all workers share.
_SHARE_OF_MEMORY = 0.8
_ROOT: Final = Path("/")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


def cpu_count() -> int:
    """Return the number of fast slots: one per CPU, for heavy runs leave them."""
    return max(_MIN_WORKERS, math.ceil(_cpus()))


def heavy_slots() -> int:
    """Return the number of heavy runs at a time: one per whole CPU."""
    return max(1, int(_cpus()))


def usual_share(runs: int) -> float:
    """Return the share of a CPU that each of so many runs gets while nothing else is busy."""
    return min(_cpus() / max(runs, 1), 1.0)


def max_slow_slots(memory_bytes: int, workers: int) -> int:
    """Return how many more workers may each use ``memory_bytes`` of the container's memory."""
    fitting = int(_memory_bytes() * _SHARE_OF_MEMORY) // memory_bytes - workers
    slow = min(max(fitting, _MIN_SLOW_WORKERS), _MAX_SLOW_WORKERS)
    processes = processes_left()
    if processes is None:
        return slow
    # The needed processes have the least number of slow workers in them.
    room = processes - needed_processes(workers) + _MIN_SLOW_WORKERS
    return min(slow, max(room, 1))


def needed_processes(workers: int) -> int:
    """Return the least number of processes and threads of a server with so many workers."""
    return server_threads() + workers + _SPARE_PROCESSES + _MIN_SLOW_WORKERS


def server_threads() -> int:
    """Return the number of threads of a server and its zygote."""
    threads = min(max(os.cpu_count() or 1, _MIN_GRPC_THREADS), _MAX_GRPC_THREADS)
    return _SERVER_PROCESSES + threads + _OTHER_GRPC_THREADS


def processes_left() -> int | None:
    """Return how many processes and threads may run here, this one included; None: no limit."""
    allowed = read_limits().processes
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return allowed
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    # The kernel does not apply it to root.
    if soft == resource.RLIM_INFINITY or os.getuid() == 0:
        return allowed
    return soft if allowed is None else min(soft, allowed)


def count_cpus() -> int:
    """Return the number of CPUs that this process may run on, or else of all CPUs."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpus() -> float:
    quota = read_limits().cpus
    cpus = count_cpus()
    return cpus if quota is None else min(cpus, quota)


def _memory_bytes() -> int:
    try:
        installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError):
        # POSIX does not define the name, and Windows has no such function.
        installed = 0
    allowed = read_limits().memory_bytes
    return installed if allowed is None else min(installed, allowed)


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupLimits:
    """The resources that this process's control groups, of v1 or v2, let it use; None: no limit.

    A limit of a group holds for all groups below it, so the tightest of all ancestors counts. In a
    container, the groups above its own are mostly invisible. ``processes`` counts threads, too,
    less the other processes of the groups.
    """

    cpus: float | None = None
    memory_bytes: int | None = None
    processes: int | None = None


class _Mount(NamedTuple):
    """A mounted hierarchy: the mount point, and the group that is mounted there."""

    point: Path
    group: PurePosixPath


def read_limits(root: Path = _ROOT) -> CgroupLimits:
    """Read the limits that hold for this process; ``root`` has /proc and /sys."""
    memory = [
        int(limit)
        for group in _groups(root, "memory")
        for name in ("memory.max", "memory.limit_in_bytes")
        if (limit := _read_text(group / name)).isdecimal()
    ]
    return CgroupLimits(
        cpus=min((cpus for group in _groups(root, "cpu") for cpus in _quotas(group)), default=None),
        memory_bytes=min(memory, default=None),
        processes=min(
            (count for group in _groups(root, "pids") for count in _free_processes(group)),
            default=None,
        ),
    )


def _quotas(group: Path) -> Iterator[float]:
    quota, _, period = _read_text(group / "cpu.max").partition(" ")
    if not quota:
        quota, period = (
            _read_text(group / "cpu.cfs_quota_us"),
            _read_text(group / "cpu.cfs_period_us"),
        )
    if quota.isdecimal() and period.isdecimal() and int(period):
        yield int(quota) / int(period)


def _free_processes(group: Path) -> Iterator[int]:
    limit, current = _read_text(group / "pids.max"), _read_text(group / "pids.current")
    if limit.isdecimal():
        others = max(int(current) - 1, 0) if current.isdecimal() else 0
        yield int(limit) - others


@cache
def _groups(root: Path, controller: str) -> tuple[Path, ...]:
    """Return the groups of this process for a controller, from its own one upwards."""
    mounts = _mounts(root)
    groups: list[Path] = []
    for line in _read_text(root / "proc/self/cgroup").splitlines():
        # The name of a group may have colons in it.
        _, controllers, path = line.split(":", 2)
        # The hierarchy of v2 is unnamed, and has the controllers that no hierarchy of v1 has.
        if controllers and controller not in controllers.split(","):
            continue
        mount = mounts.get(controller if controllers else "")
        if mount is None:
            continue
        relative = PurePosixPath(path)
        if relative.is_relative_to(mount.group):
            relative = relative.relative_to(mount.group)
        else:
            # The path belongs to another cgroup namespace than the mount.
            relative = PurePosixPath()
        own = root / mount.point.relative_to("/") / relative
        top = root / mount.point.relative_to("/")
        groups += (group for group in (own, *own.parents) if group.is_relative_to(top))
    return tuple(groups)


def _mounts(root: Path) -> dict[str, _Mount]:
    """Return the hierarchies of v1 by controller, and that of v2 by an empty name."""
    mounts: dict[str, _Mount] = {}
    for line in _read_text(root / "proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")
        mount = _Mount(Path(_unescape(fields[4])), PurePosixPath(_unescape(fields[3])))
        if kind[0] == "cgroup2":
            mounts.setdefault("", mount)
        elif kind[0] == "cgroup":
            for controller in kind[2].split(","):
                mounts.setdefault(controller, mount)
    return mounts


def _unescape(text: str) -> str:
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)


def _read_text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
