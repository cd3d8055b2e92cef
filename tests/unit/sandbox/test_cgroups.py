"""The limits of control groups: v1 and v2, nested and in containers."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from function_script.request.limits import MIB
from function_script.sandbox import capacity
from function_script.sandbox.capacity import CgroupLimits

V1 = "3{n} 31 0:{n} {group} /sys/fs/cgroup/{names} rw shared:1 - cgroup cgroup rw,{names}\n"
V2 = "30 23 0:26 {group} /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
HYBRID = "30 23 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
OTHERS = "23 1 0:5 / /proc rw - proc proc rw\n24 1 0:6 / /a\\040b rw - tmpfs tmpfs rw\n"
UNLIMITED = "9223372036854771712"


def v1(group: str = "/") -> str:
    """Return mounts of v1 that show their hierarchies from ``group`` downwards."""
    names = ("cpu,cpuacct", "memory", "pids")
    return "".join(V1.format(n=n, group=group, names=names) for n, names in enumerate(names))


def tree(root: Path, mounts: str, own: str, files: Mapping[str, str]) -> Path:
    """Write a root directory with these mounts, groups of this process, and files of groups."""
    documents = {
        "proc/self/mountinfo": OTHERS + mounts,
        "proc/self/cgroup": own,
        **{f"sys/fs/cgroup/{path}": text + "\n" for path, text in files.items()},
    }
    for path, text in documents.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


V1_FILES = {
    "cpu,cpuacct/cpu.cfs_quota_us": "150000",
    "cpu,cpuacct/cpu.cfs_period_us": "100000",
    "memory/memory.limit_in_bytes": "268435456",
    "pids/pids.max": "40",
    "pids/pids.current": "3",
}
V2_FILES = {
    "cpu.max": "150000 100000",
    "memory.max": "268435456",
    "pids.max": "40",
    "pids.current": "3",
}
LIMITED = CgroupLimits(cpus=1.5, memory_bytes=256 * MIB, processes=38)
V1_OWN = "4:pids:{0}\n3:memory:{0}\n2:cpu,cpuacct:{0}\n1:name=systemd:{0}\n"
NESTED_V1 = {
    "cpu,cpuacct/pod/cpu.cfs_quota_us": "200000",
    "cpu,cpuacct/pod/cpu.cfs_period_us": "100000",
    "cpu,cpuacct/pod/box/cpu.cfs_quota_us": "-1",
    "cpu,cpuacct/pod/box/cpu.cfs_period_us": "100000",
    "memory/memory.limit_in_bytes": UNLIMITED,
    "memory/pod/memory.limit_in_bytes": "536870912",
    "memory/pod/box/memory.limit_in_bytes": "1073741824",
    "pids/pod/pids.max": "50",
    "pids/pod/pids.current": "21",
    "pids/pod/box/pids.max": "max",
    "pids/pod/box/pids.current": "1",
}
NESTED_V2 = {
    "pod/cpu.max": "max 100000",
    "pod/memory.max": "536870912",
    "pod/pids.max": "100",
    "pod/pids.current": "1",
    "pod/box/cpu.max": "50000 100000",
    "pod/box/memory.max": "max",
    "pod/box/pids.max": "64",
    "pod/box/pids.current": "1",
    "other/memory.max": "4096",
}
TREES = [
    pytest.param(v1("/docker/a"), V1_OWN.format("/docker/a"), V1_FILES, LIMITED, id="v1 container"),
    pytest.param(v1(), V1_OWN.format("/"), V1_FILES, LIMITED, id="v1 with a namespace"),
    pytest.param(v1("/docker/a"), V1_OWN.format("/"), V1_FILES, LIMITED, id="v1 of another view"),
    pytest.param(V2.format(group="/"), "0::/\n", V2_FILES, LIMITED, id="v2 container"),
    pytest.param(V2.format(group="/../.."), "0::/\n", V2_FILES, LIMITED, id="v2 of another view"),
    pytest.param(
        *(v1(), V1_OWN.format("/pod/box"), NESTED_V1),
        CgroupLimits(cpus=2.0, memory_bytes=512 * MIB, processes=30),
        id="v1 nested",
    ),
    pytest.param(
        *(V2.format(group="/"), "0::/pod/box\n", NESTED_V2),
        CgroupLimits(cpus=0.5, memory_bytes=512 * MIB, processes=64),
        id="v2 nested",
    ),
    pytest.param(
        *(HYBRID + v1(), V1_OWN.format("/") + "0::/user\n", V1_FILES), LIMITED, id="hybrid"
    ),
    pytest.param(V2.format(group="/"), "0::/\n", {}, CgroupLimits(), id="no limits"),
    pytest.param(v1(), "nonsense:x:y\n", V1_FILES, CgroupLimits(), id="no groups"),
    pytest.param("", "0::/\n", V2_FILES, CgroupLimits(), id="no mounts"),
    pytest.param(
        V2.format(group="/"), "0::/\n", {"cpu.max": "x", "memory.max": ""}, CgroupLimits(), id="odd"
    ),
]


@pytest.mark.parametrize(("mounts", "own", "files", "expected"), TREES)
def test_tightest_limit_of_all_groups_counts(
    tmp_path: Path, mounts: str, own: str, files: Mapping[str, str], expected: CgroupLimits
) -> None:
    """Of all groups from its own one upwards, in both versions."""
    assert capacity.read_limits(tree(tmp_path, mounts, own, files)) == expected


def test_limit_that_was_changed_is_read_anew(tmp_path: Path) -> None:
    """Only the groups of a process are found once."""
    root = tree(tmp_path, V2.format(group="/"), "0::/\n", V2_FILES)
    assert capacity.read_limits(root) == LIMITED
    (root / "sys/fs/cgroup/memory.max").write_text(str(MIB))
    assert capacity.read_limits(root).memory_bytes == MIB


def test_system_without_groups_has_no_limits(tmp_path: Path) -> None:
    assert capacity.read_limits(tmp_path) == CgroupLimits()
