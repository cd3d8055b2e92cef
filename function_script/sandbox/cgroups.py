"""The limits of this process's control groups, of cgroup v1 and v2.

A limit of a group holds for all groups below it, so the tightest of all ancestors counts. In a
container, the groups above its own are mostly invisible.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

_ROOT: Final = Path("/")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupLimits:
    """The resources that this process may use; None: no limit, or an invisible one.

    ``processes`` counts threads, too, less the other processes of the groups.
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
        cpus=min((cpus for group in _groups(root, "cpu") for cpus in _cpus(group)), default=None),
        memory_bytes=min(memory, default=None),
        processes=min(
            (count for group in _groups(root, "pids") for count in _free_processes(group)),
            default=None,
        ),
    )


def _cpus(group: Path) -> Iterator[float]:
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


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the groups of this process for a controller, from its own one upwards."""
    mounts = _mounts(root)
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
        yield own
        yield from (group for group in own.parents if group.is_relative_to(top))


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
