"""The threads of a soak that kill the server's processes, measure them, and read its log.

Nothing in here sends requests.
"""

from __future__ import annotations

import os
import random
import signal
import statistics
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from measure import family, memory_mib
from soak_load import ATTACKER, steadily

if TYPE_CHECKING:
    import threading

    from e2e.serving import Server

_WATCH_SECONDS = 2.0
_COLLECT_SECONDS = 1.0


class Sample(NamedTuple):
    """A measurement of all processes (MiB, shared pages in part) and of the server alone."""

    at: float
    all_mib: float
    server_mib: float
    files: int
    processes: int


class Killer:
    """Kills a random worker at a steady rate, and sometimes the zygote."""

    def __init__(self, pid: int, *, every: float, zygote_every: float) -> None:
        self._pid = pid
        self._every = every
        self._zygote_every = zygote_every
        self.workers = self.zygotes = 0

    def work(self, stop: threading.Event) -> None:
        """Kill until ``stop``."""
        last = time.monotonic()
        for _ in steadily(1 / self._every if self._every else 0, stop):
            is_due = time.monotonic() - last >= self._zygote_every > 0
            if is_due:
                last = time.monotonic()
            self._kill(of_zygotes=is_due)

    def _kill(self, *, of_zygotes: bool) -> None:
        with suppress(OSError):
            zygotes = _children(self._pid)
            workers = [pid for zygote in zygotes for pid in _children(zygote)]
            victims = zygotes if of_zygotes else workers
            if victims:
                os.kill(random.choice(victims), signal.SIGKILL)  # noqa: S311 - no secret
                self.zygotes += of_zygotes
                self.workers += not of_zygotes


class Watcher:
    """Measures memory, open files and processes at intervals."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.samples: list[Sample] = []

    def work(self, stop: threading.Event) -> None:
        """Measure until ``stop``."""
        for _ in steadily(1 / _WATCH_SECONDS, stop):
            self.samples.append(self._measure())

    def growth(self, field: str) -> float:
        """Return the ratio of the last quarter's median to the first's."""
        values = [float(getattr(sample, field)) for sample in self.samples]
        quarter = max(len(values) // 4, 1)
        return statistics.median(values[-quarter:]) / statistics.median(values[:quarter])

    def _measure(self) -> Sample:
        pages = Path(f"/proc/{self._pid}/statm").read_text().split()
        return Sample(
            at=time.monotonic(),
            all_mib=memory_mib(self._pid),
            server_mib=int(pages[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20),
            files=len(list(Path(f"/proc/{self._pid}/fd").iterdir())),
            processes=len(family(self._pid)),
        )


class LostRequests:
    """Collects the log lines of good requests without a response; they say why."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lines: dict[str, dict[str, object]] = {}

    @property
    def lines(self) -> list[dict[str, object]]:
        """The collected lines, in their order."""
        return [*self._lines.values()]

    def work(self, stop: threading.Event) -> None:
        """Collect until ``stop``: the server's process keeps only its last lines."""
        for _ in steadily(1 / _COLLECT_SECONDS, stop):
            self.collect()

    def collect(self) -> None:
        """Collect the lines that are there now."""
        for line in self._server.lines("not answered"):
            if not str(line.get("name")).startswith(ATTACKER):
                self._lines[repr(line)] = line


def _children(pid: int) -> list[int]:
    return [
        int(child)
        for task in Path(f"/proc/{pid}/task").glob("*/children")
        for child in task.read_text().split()
    ]
