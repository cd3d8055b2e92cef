"""Functions' servers: each is started once, at the same time as the others, and all are stopped."""

import atexit
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Protocol, Self

from function_script.tools.processes.options import PackageOptions

_MAX_STARTS: int = 8


class Server(Protocol):
    """A function that was started."""

    def stop(self) -> None:
        """End the function, or leave it as its Function asks for. Raises no FatalError."""


class Servers:
    """The servers of a command, by what they run. Threads may share it.

    ``packages`` are the choices of the command about packages. ``retries``: what did not start is
    tried again by the next rendering, which may come when somebody has mended it.
    """

    def __init__(self, packages: PackageOptions | None = None, *, retries: bool = True) -> None:
        self.packages: Final = packages or PackageOptions()
        self._retries = retries
        self._lock = threading.Lock()
        self._starts: dict[Hashable, Future[Server]] = {}
        self._executor: ThreadPoolExecutor | None = None
        self._is_closing = False
        # Addresses of which a call got no answer.
        self.silent: Final[set[str]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def start(self, key: Hashable, start: Callable[[], Server]) -> Future[Server]:
        """Begin to start a server, unless there is one for ``key``; return its start."""
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(max_workers=_MAX_STARTS)
                # Nothing stays behind, even if nobody closes this.
                atexit.register(self.close)
            if key not in self._starts:
                self._starts[key] = self._executor.submit(start)
            return self._starts[key]

    def wait(self, key: Hashable, start: Callable[[], Server]) -> Server:
        """Return the server for ``key`` when it has started. Raises what its start raised.

        There may be none any more: another thread discards one that failed.
        """
        future = self.start(key, start)
        try:
            return future.result()
        except Exception:
            # Not for Ctrl-C: the start may go on, and `close` ends it.
            if self._retries:
                self._remove(key, lambda current: current is future)
            raise

    def discard(self, key: Hashable, server: Server) -> None:
        """Stop a server that is of no use, so that another is started when it is needed.

        Of several threads that find it so, the first one stops it.
        """
        if self._remove(key, lambda current: _result_of(current) is server):
            server.stop()

    def _remove(self, key: Hashable, is_meant: Callable[[Future[Server]], bool]) -> bool:
        """Remove the start for ``key`` if it is the one that is meant; report whether it is."""
        with self._lock:
            current = self._starts.get(key)
            if current is None or not is_meant(current):
                return False
            del self._starts[key]
            return True

    def is_closing(self) -> bool:
        """Report whether a start is of no use, because all servers are being stopped."""
        return self._is_closing

    def close(self) -> None:
        """Stop all servers. Starts end as soon as they ask `is_closing`."""
        self._is_closing = True
        with self._lock:
            starts, self._starts = list(self._starts.values()), {}
            executor, self._executor = self._executor, None
        if executor is not None:
            atexit.unregister(self.close)
            for start in starts:
                try:
                    executor.submit(_stop, start)
                except RuntimeError:
                    # An interpreter that is ending starts no threads.
                    _stop(start)
            executor.shutdown()
        # The next rendering of this command may start servers again.
        self._is_closing = False


def _result_of(start: Future[Server]) -> Server | None:
    """Return the server of a start that is over; None if it failed."""
    return start.result() if start.done() and start.exception() is None else None


def _stop(start: Future[Server]) -> None:
    """Stop a server, if its start succeeded."""
    if not start.cancel() and start.exception() is None:
        start.result().stop()
