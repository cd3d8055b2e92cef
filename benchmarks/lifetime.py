"""What a server is apart from requests: its start, its memory when idle and after many requests.

Called by run.py.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from judged import Finding
from measure import Target, drive, memory_mib
from workloads import Workload, requests

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

READY_SECONDS = 1.0
IDLE_MIB = 120.0
GROWTH = 1.1
# What is asked of memory is asked after so many requests, and after ten times as many.
EARLY_CALLS = 10_000
LATE_CALLS = 100_000
_CALLS_PER_BURST = 500
_SECONDS_PER_BURST = 60.0
_CLIENTS = 8
_MIX = (
    Workload(observed=3, produced=3, new=True),
    Workload(observed=3, produced=3, new=False),
    Workload(observed=50, produced=3, few=True, new=True),
    Workload(observed=0, produced=10, new=True),
    Workload(observed=10, produced=10, new=False),
)


def start_and_idle(python: str) -> list[Finding]:
    """Seconds until a server is ready, and its memory with two workers before any request."""
    from e2e.serving import Server  # noqa: PLC0415 - run.py has put the tests' folder on the path

    with Server("--insecure", "--workers", "2", python=python) as server:
        return [
            Finding("seconds from start to ready", READY_SECONDS, server.start_seconds),
            Finding("MiB of an idle server with two workers", IDLE_MIB, memory_mib(server.pid)),
        ]


def endurance(
    server: Target, inputs: Mapping[str, Callable[..., dict[str, object]]]
) -> list[Finding]:
    """Memory after many mixed requests in every language, to that after a tenth of them."""
    mixed = [
        (workload, requests(workload, make(few=workload.few)))
        for workload in _MIX
        for make in inputs.values()
    ]
    calls, early = 0, 0.0
    while calls < LATE_CALLS:
        workload, data = mixed[calls // _CALLS_PER_BURST % len(mixed)]
        drive(server, workload, data, _CLIENTS, (_SECONDS_PER_BURST, _CALLS_PER_BURST))
        calls += _CALLS_PER_BURST
        if calls == EARLY_CALLS:
            early = memory_mib(server.pid)
            print(f"{early:.1f} MiB after {calls:,} requests", file=sys.stderr)
    late = memory_mib(server.pid)
    print(f"{late:.1f} MiB after {calls:,} requests", file=sys.stderr)
    what = f"memory after {LATE_CALLS:,} mixed requests to that after {EARLY_CALLS:,}"
    return [Finding(what, GROWTH, late / early)]
