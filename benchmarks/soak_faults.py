"""The faults of a soak, and what the server's processes have: killing, and watching.

soak.py starts both; nothing here sends requests.
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
from soak_load import steadily

if TYPE_CHECKING:
    import threading

_WATCH_SECONDS = 2.0
_LOOKS = 10


class Sample(NamedTuple):
    """The server and all below it: MiB (shared pages in part), and the server's own alone."""

    at: float
    all_mib: float
    server_mib: float
    files: int
    processes: int


class Reaper:
    """Kills any worker at a steady pace, and now and then their zygote."""

    def __init__(self, pid: int, *, every: float, zygote_every: float) -> None:
        self._pid = pid
        self._every = every
        self._zygote_every = zygote_every
        self.workers = self.zygotes = 0

    def work(self, stop: threading.Event) -> None:
        """Until ``stop``."""
        last = time.monotonic()
        for _ in steadily(1 / self._every if self._every else 0, stop):
            is_due = time.monotonic() - last >= self._zygote_every > 0
            if is_due:
                last = time.monotonic()
            self._kill(of_zygotes=is_due)

    def _kill(self, *, of_zygotes: bool) -> None:
        with suppress(OSError):
            zygotes = _children(self._pid)
            found = zygotes if of_zygotes else [pid for z in zygotes for pid in _children(z)]
            if found:
                os.kill(random.choice(found), signal.SIGKILL)  # noqa: S311 - any will do
                self.zygotes += of_zygotes
                self.workers += not of_zygotes


class Watcher:
    """Looks at memory, open files and processes from time to time."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.samples: list[Sample] = []

    def work(self, stop: threading.Event) -> None:
        """Until ``stop``."""
        for _ in steadily(1 / _WATCH_SECONDS, stop):
            for _ in range(_LOOKS):
                # A process may end while it is looked at; another look will do.
                with suppress(OSError):
                    self.samples.append(self._look())
                    break

    def growth(self, field: str) -> float:
        """The last quarter's median to the first's; nothing was there before the first requests."""
        values = [float(getattr(sample, field)) for sample in self.samples]
        quarter = max(len(values) // 4, 1)
        return statistics.median(values[-quarter:]) / statistics.median(values[:quarter])

    def _look(self) -> Sample:
        pages = Path(f"/proc/{self._pid}/statm").read_text().split()
        return Sample(
            at=time.monotonic(),
            all_mib=memory_mib(self._pid),
            server_mib=int(pages[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20),
            files=len(list(Path(f"/proc/{self._pid}/fd").iterdir())),
            processes=len(family(self._pid)),
        )


def _children(pid: int) -> list[int]:
    return [
        int(child)
        for task in Path(f"/proc/{pid}/task").glob("*/children")
        for child in task.read_text().split()
    ]
