"""A thread that works off a bounded queue, and rests in between: requests get the CPU first."""

import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Generic, TypeVarTuple, Unpack

MAX_QUEUED: Final = 8
"""The calls that wait; one more is refused."""
_PUT_SECONDS: Final = 1.0
_CLOSE_SECONDS: Final = 5.0
Ts = TypeVarTuple("Ts")


class Background(Generic[*Ts]):
    """Calls ``work`` in a thread, which then sleeps ``rest`` times as long as the call took."""

    def __init__(self, name: str, work: Callable[[Unpack[Ts]], None], rest: int) -> None:
        self._work = work
        self._rest = rest
        self._is_closing = threading.Event()
        self._queue: queue.Queue[tuple[*Ts] | None] = queue.Queue(MAX_QUEUED)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, *arguments: *Ts) -> bool:
        """Enqueue the arguments of a call; return False if the queue is full."""
        try:
            self._queue.put_nowait(arguments)
        except queue.Full:
            return False
        return True

    def close(self) -> None:
        """Make the calls in the queue, for a few seconds at most."""
        self._is_closing.set()
        with suppress(queue.Full):
            self._queue.put(None, timeout=_PUT_SECONDS)
            self._thread.join(_CLOSE_SECONDS)

    def _run(self) -> None:
        while (arguments := self._queue.get()) is not None:
            start = time.monotonic()
            self._work(*arguments)
            self._is_closing.wait(self._rest * (time.monotonic() - start))
