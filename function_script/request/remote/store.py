"""The state of every reference in a server: in memory, waiting, being fetched, or failed."""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Final, NamedTuple, TypeAlias

from function_script.request.cache import ByteLruCache
from function_script.request.fair_queue import FairQueue
from function_script.request.remote.reference import RemoteReference

_MEMORY_BYTES: Final = 64 << 20
MAX_FETCHES: Final = 8
"""The number of fetches at a time."""

# Of them, so that a slow host or repository leaves room for others. The last ones are for hosts
# without a fetch, so that several slow hosts leave room, too.
_RESERVED: Final = 2
_MAX_OF_HOST: Final = 4
_MAX_OF_REPOSITORY: Final = 2
# The references of a host that wait, and those among them that one owner needs.
_MAX_WAITING: Final = 1_000
_MAX_WAITING_OF_OWNER: Final = 64
_MAX_FAILURES: Final = 1_000
# The pause after a failed fetch doubles with each one.
_FIRST_PAUSE: Final = 2.0
_LONGEST_PAUSE: Final = 60.0


class FetchKey(NamedTuple):
    """The identity of a fetch: what, and with whose credentials."""

    reference: RemoteReference
    scope: str


class Failure(NamedTuple):
    """The failure of a fetch; ``hint`` may be ""."""

    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _FailedFetch:
    failure: Failure
    count: int
    retry_time: float


class Order(NamedTuple):
    """A fetch that waits, and the credentials for it."""

    key: FetchKey
    credentials: Mapping[str, bytes] | None


# Begins a fetch, whose outcome goes to `ContentStore.settle`.
Fetch: TypeAlias = "Callable[[FetchKey, Mapping[str, bytes] | None], None]"


class ContentStore:
    """The contents by their keys; many requests for one key are one fetch. Thread-safe.

    Owners and hosts are served in turn. ``counts`` has "hit", "fetch" and "failure".
    """

    def __init__(self, fetch: Fetch, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetch = fetch
        # Its keys are pairs of an owner and a host.
        self._queue: FairQueue[Order] = FairQueue()
        self._waiting: set[FetchKey] = set()
        self._clock = clock
        self._lock = Lock()
        self._contents: ByteLruCache[FetchKey, bytes] = ByteLruCache(_MEMORY_BYTES)
        self._fetching: set[FetchKey] = set()
        self._failed: OrderedDict[FetchKey, _FailedFetch] = OrderedDict()
        self.counts: Counter[str] = Counter(hit=0, fetch=0, failure=0)

    @property
    def running(self) -> int:
        """Return the number of running fetches."""
        return len(self._fetching)

    def find(self, key: FetchKey) -> bytes | None:
        """Return encoded content."""
        with self._lock:
            payload = self._contents.get(key)
            self.counts["hit"] += payload is not None
            return payload

    def has(self, key: FetchKey) -> bool:
        """Report whether content is in memory."""
        with self._lock:
            return self._contents.get(key) is not None

    def request(
        self, key: FetchKey, credentials: Mapping[str, bytes] | None, owner: Hashable
    ) -> Failure | None:
        """Order a fetch unless it is ordered or failed a moment ago; return the last failure.

        ``owner`` is the XR that needs it.
        """
        host = key.reference.host
        with self._lock:
            failed = self._failed.get(key)
            failure = None if failed is None else failed.failure
            is_paused = failed is not None and failed.retry_time > self._clock()
            if key in self._fetching or key in self._waiting or is_paused:
                return failure
            if sum(other.reference.host == host for other in self._waiting) >= _MAX_WAITING:
                return Failure(f"{_MAX_WAITING} others of {host} wait to be fetched")
            if self._queue.count((owner, host)) >= _MAX_WAITING_OF_OWNER:
                return Failure(f"{_MAX_WAITING_OF_OWNER} others of this XR wait to be fetched")
            self._queue.add((owner, host), Order(key, credentials))
            self._waiting.add(key)
        self._start()
        return failure

    def _start(self) -> None:
        """Begin the fetches whose turn it is."""
        while True:
            with self._lock:
                hosts = Counter(key.reference.host for key in self._fetching)
                addresses = Counter(key.reference.address for key in self._fetching)
                order = self._queue.next(partial(_may_start, hosts, addresses))
                if order is None:
                    return
                self._waiting.remove(order.key)
                self._fetching.add(order.key)
                self.counts["fetch"] += 1
            # Without the lock: the outcome, which takes it, may come before this returns.
            self._fetch(*order)

    def settle(self, key: FetchKey, outcome: bytes | Failure) -> None:
        """Store the outcome of a fetch, and begin the next."""
        with self._lock:
            self._fetching.discard(key)
            self._note(key, outcome)
        self._start()

    def _note(self, key: FetchKey, outcome: bytes | Failure) -> None:
        if isinstance(outcome, bytes):
            self._failed.pop(key, None)
            self._contents.put(key, outcome, len(outcome))
            return
        self.counts["failure"] += 1
        former = self._failed.pop(key, None)
        count = 1 if former is None else former.count + 1
        # Bounded before it is raised: the power of a count that grows for days would not fit a
        # float.
        pause = min(_FIRST_PAUSE * 2 ** min(count - 1, 10), _LONGEST_PAUSE)
        self._failed[key] = _FailedFetch(
            failure=outcome, count=count, retry_time=self._clock() + pause
        )
        if len(self._failed) > _MAX_FAILURES:
            self._failed.popitem(last=False)

    def abandon(self, failure: Failure) -> None:
        """Settle all running fetches with a failure."""
        for key in tuple(self._fetching):
            self.settle(key, failure)


def _may_start(hosts: Counter[str], addresses: Counter[str], order: Order) -> bool:
    """Report whether a fetch may begin beside those that run, which are counted by both."""
    reference = order.key.reference
    of_host = hosts[reference.host]
    return (
        hosts.total() < MAX_FETCHES - (_RESERVED if of_host else 0)
        and of_host < _MAX_OF_HOST
        and addresses[reference.address] < _MAX_OF_REPOSITORY
    )
