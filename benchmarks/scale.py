"""How many XRs a replica bears: on paper, and by a load that rises to the knee: ``make scale``.

Without ``--load`` the table of docs/how-to/run-in-production.md is printed. With it a server with
so many workers gets calls at rising rates, on one CPU, until it does not keep up.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import programs
from measure import Target, family
from scale_load import Load, Step, climb, find_knee, offer
from workloads import Workload, requests

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEADS = ("workers", "offered/s", "answered/s", "failed", "p50_ms", "p99_ms", "CPU", "MiB")


def main() -> None:
    """Print the table, or load servers."""
    options = _options()
    if not options.load:
        import scale_model  # noqa: PLC0415 - the tests' folder is on the path now

        print(scale_model.table())
        print(f"\n{scale_model.knee_table()}")
        return
    report = [
        _load(options, workers, tuple(map(int, point.split("x"))))
        for workers in options.workers
        for point in options.points
    ]
    options.output.write_text(json.dumps(report, indent=1) + "\n")
    for entry in report:
        shape = f"{entry['observed']} observed, {entry['produced']} produced"
        print(f"{shape}, {entry['workers']} workers: the knee is at {entry['knee']:.0f} calls/s")


def _load(options: argparse.Namespace, workers: int, point: Sequence[int]) -> dict[str, object]:
    from e2e.serving import Server  # noqa: PLC0415 - the tests' folder is on the path now

    observed, produced = point
    # With many XRs, no cache holds the documents of all.
    workload = Workload(observed=observed, produced=produced)
    data = requests(workload, programs.jinja(few=False))
    flags = ["--insecure", f"--workers={workers}", *options.flag]
    with Server(*flags, python=options.python, keeps=1) as server:
        if not options.all_cpus:
            _pin(server.pid)
        target = Target(name="ours", address=server.address, pid=server.pid)
        load = Load(target=target, workload=workload, requests=data)
        # The first calls of a fresh process cost more.
        offer(load, options.rate, options.seconds)
        rates = climb(options.rate, options.factor)
        knee, steps = find_knee(load, rates, seconds=options.seconds, p99_ms=options.p99)
    print(" ".join(f"{head:>10}" for head in _HEADS))
    for step in steps:
        print(_line(workers, step))
    return {
        "observed": observed,
        "produced": produced,
        "workers": workers,
        "p99_limit_ms": options.p99,
        "knee": knee,
        "steps": [asdict(step) for step in steps],
    }


def _pin(pid: int) -> None:
    """Give a server the first CPU alone, as a replica has; what it forks inherits it."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) == 1:
        return
    for member in family(pid):
        for task in Path(f"/proc/{member}/task").iterdir():
            os.sched_setaffinity(int(task.name), cpus[:1])
    os.sched_setaffinity(0, cpus[1:])


def _line(workers: int, step: Step) -> str:
    cells = (
        f"{workers}",
        f"{step.offered:.0f}",
        f"{step.answered:.0f}",
        f"{step.failures}",
        f"{step.p50_ms:.1f}",
        f"{step.p99_ms:.1f}",
        f"{step.cpu_share:.2f}",
        f"{step.memory_mib:.0f}",
    )
    return " ".join(f"{cell:>10}" for cell in cells)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--load", action="store_true", help="load servers instead of paper")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument(
        "--points", nargs="+", default=["3x3", "50x50"], help="OBSERVEDxPRODUCED resources"
    )
    parser.add_argument("--rate", type=float, default=100.0, help="the first rate, in calls/s")
    parser.add_argument("--factor", type=float, default=1.25, help="from a rate to the next")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each rate")
    parser.add_argument("--p99", type=float, default=100.0, help="milliseconds that are borne")
    parser.add_argument("--all-cpus", action="store_true", help="do not give the server one CPU")
    parser.add_argument("--python", default=sys.executable, help="serve this one's installation")
    parser.add_argument("--flag", action="append", default=[], help="of the server; may repeat")
    parser.add_argument("--output", type=Path, default=Path("scale.json"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
