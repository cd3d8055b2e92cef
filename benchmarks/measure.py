"""Measure a server from outside: CPU and memory of its processes, latencies at a client."""

from __future__ import annotations

import base64
import json
import os
import statistics
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workloads import Workload

_TICK = os.sysconf("SC_CLK_TCK")
_LOAD = Path(__file__).with_name("load.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A server to measure: where it listens, its process, the client's certificates if any."""

    name: str
    address: str
    pid: int
    certs: Sequence[bytes] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One burst of load. Times in milliseconds, memory in MiB (shared pages counted in part)."""

    cpu_ms: float
    rps: float
    p50_ms: float
    p99_ms: float
    memory_mib: float


def burst(
    target: Target, workload: Workload, requests: Sequence[bytes], clients: int, seconds: float
) -> Sample:
    """Drive the target for some seconds; raises RuntimeError for any wrong response."""
    before = cpu_seconds(target.pid)
    result = drive(target, workload, requests, clients, (seconds, sys.maxsize))
    cpu = cpu_seconds(target.pid) - before
    latencies = result["latencies"]
    return Sample(
        cpu_ms=cpu / len(latencies) * 1e3,
        rps=len(latencies) / result["elapsed"],
        p50_ms=statistics.median(latencies) * 1e3,
        p99_ms=latencies[min(len(latencies) - 1, int(len(latencies) * 0.99))] * 1e3,
        memory_mib=memory_mib(target.pid),
    )


def drive(
    target: Target,
    workload: Workload,
    requests: Sequence[bytes],
    clients: int,
    limits: tuple[float, int],
) -> dict[str, list[float]]:
    """Load for at most so many seconds and so many calls; raises RuntimeError as `burst` does."""
    job = {
        "address": target.address,
        "certs": [base64.b64encode(part).decode() for part in target.certs],
        "workload": asdict(workload),
        "requests": [base64.b64encode(data).decode() for data in requests],
        "clients": clients,
        "seconds": limits[0],
        "calls": limits[1],
    }
    process = subprocess.run(
        [sys.executable, str(_LOAD)],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, list[float]] = json.loads(process.stdout)
    if result["failures"]:
        raise RuntimeError(f"{target.name}: {result['failures'][0]}")
    return result


def family(pid: int) -> list[int]:
    """Return the process and all below it; raises OSError when the process itself has exited."""
    pids = [pid]
    for parent in pids:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            with _exit_of(parent, pid):
                pids += [int(child) for child in task.read_text().split()]
    return pids


def cpu_seconds(pid: int) -> float:
    """Return user and system time of the process, all below it, and those that have ended."""
    ticks = 0
    for member in family(pid):
        with _exit_of(member, pid):
            fields = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / _TICK


def memory_mib(pid: int) -> float:
    """Return the proportional set size of the process and everything below it."""
    total = 0
    for member in family(pid):
        with _exit_of(member, pid):
            for line in Path(f"/proc/{member}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total / 1024


@contextmanager
def _exit_of(member: int, root: int) -> Iterator[None]:
    """Ignore that a process below ``root`` exits while it is measured."""
    try:
        yield
    except (FileNotFoundError, ProcessLookupError):
        if member == root:
            raise


def listener(port: int) -> int:
    """The process that listens on a port of this machine; raises LookupError when there is none."""
    suffix = f":{port:04X}"
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[1].endswith(suffix) and fields[3] == "0A":
                inodes.add(f"socket:[{fields[9]}]")
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if str(link.readlink()) in inodes:
                return int(link.parts[2])
        except OSError:
            continue
    raise LookupError(f"nothing listens on port {port}")
