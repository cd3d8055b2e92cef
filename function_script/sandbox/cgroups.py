"""The limits of this process's control groups, of version 1 and of version 2.

A limit of a group holds for all groups below it, so the tightest on the way up counts. In a
container, groups above its own are mostly out of sight.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT: Final = Path("/")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupLimits:
    """What may be used; None: there is no limit, or it cannot be seen.

    ``processes`` counts threads, too, and is what is left beside other processes of the groups.
    """

    cpus: float | None = None
    memory_bytes: int | None = None
    processes: int | None = None


class _Mount(NamedTuple):
    """A hierarchy: where it is mounted, and which of its groups is mounted there."""

    point: Path
    group: PurePosixPath


def read_limits(root: Path = _ROOT) -> CgroupLimits:
    """Read the limits that hold for this process; ``root`` is where /proc and /sys are."""
    memory = [limit for group in _groups(root, "memory") for limit in _memory_limits(group)]
    return CgroupLimits(
        cpus=min((cpus for group in _groups(root, "cpu") for cpus in _cpus(group)), default=None),
        memory_bytes=min(memory, default=None),
        processes=min(
            (count for group in _groups(root, "pids") for count in _processes(group)),
            default=None,
        ),
    )


def _cpus(group: Path) -> Iterator[float]:
    quota, _, period = _text(group / "cpu.max").partition(" ")
    if not quota:
        quota, period = _text(group / "cpu.cfs_quota_us"), _text(group / "cpu.cfs_period_us")
    if quota.isdecimal() and period.isdecimal() and int(period):
        yield int(quota) / int(period)


def _memory_limits(group: Path) -> Iterator[int]:
    for name in ("memory.max", "memory.limit_in_bytes"):
        limit = _text(group / name)
        if limit.isdecimal():
            yield int(limit)


def _processes(group: Path) -> Iterator[int]:
    limit, current = _text(group / "pids.max"), _text(group / "pids.current")
    if limit.isdecimal():
        others = max(int(current) - 1, 0) if current.isdecimal() else 0
        yield int(limit) - others


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """List the groups that hold this process by a controller, from its own one upwards."""
    mounts = _mounts(root)
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        # The hierarchy of version 2 has no names, and whatever controllers version 1 has not.
        if controllers and controller not in controllers.split(","):
            continue
        mount = mounts.get(controller if controllers else "")
        if mount is None:
            continue
        relative = PurePosixPath(path)
        if relative.is_relative_to(mount.group):
            relative = relative.relative_to(mount.group)
        else:
            # Of another view of the hierarchy than the mount's.
            relative = PurePosixPath()
        own = root / mount.point.relative_to("/") / relative
        top = root / mount.point.relative_to("/")
        yield own
        yield from (above for above in own.parents if above.is_relative_to(top))


def _mounts(root: Path) -> dict[str, _Mount]:
    """Find the hierarchies by the controllers of version 1; that of version 2 has no name."""
    mounts: dict[str, _Mount] = {}
    for line in _text(root / "proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")
        mount = _Mount(Path(_unescaped(fields[4])), PurePosixPath(_unescaped(fields[3])))
        if kind[0] == "cgroup2":
            mounts.setdefault("", mount)
        elif kind[0] == "cgroup":
            for controller in kind[2].split(","):
                mounts.setdefault(controller, mount)
    return mounts


def _unescaped(text: str) -> str:
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
