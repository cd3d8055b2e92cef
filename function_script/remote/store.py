"""The state of every reference in a server: content in memory, a running fetch, or a failure."""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final, NamedTuple, TypeAlias

from function_script.cache import ByteLruCache
from function_script.remote.reference import RemoteReference

_MEMORY_BYTES: Final = 64 << 20
_MAX_FETCHES: Final = 64
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


# Begins a fetch, whose outcome goes to `ContentStore.settle`.
Fetch: TypeAlias = "Callable[[FetchKey, Mapping[str, bytes] | None], None]"


class ContentStore:
    """The contents by their keys; many requests for one key are one fetch. Thread-safe.

    ``counts`` has "hit", "fetch" and "failure".
    """

    def __init__(self, fetch: Fetch, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetch = fetch
        self._clock = clock
        self._lock = Lock()
        self._contents: ByteLruCache[FetchKey, bytes] = ByteLruCache(_MEMORY_BYTES)
        self._fetching: dict[FetchKey, float] = {}
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

    def request(self, key: FetchKey, credentials: Mapping[str, bytes] | None) -> Failure | None:
        """Begin a fetch unless it runs or failed a moment ago; return the last failure."""
        with self._lock:
            failed = self._failed.get(key)
            failure = None if failed is None else failed.failure
            is_paused = failed is not None and failed.retry_time > self._clock()
            if key in self._fetching or is_paused:
                return failure
            if len(self._fetching) >= _MAX_FETCHES:
                return Failure(f"{_MAX_FETCHES} others are being fetched")
            self._fetching[key] = self._clock()
            self.counts["fetch"] += 1
        self._fetch(key, credentials)
        return failure

    def settle(self, key: FetchKey, outcome: bytes | Failure) -> None:
        """Store the outcome of a fetch."""
        with self._lock:
            self._fetching.pop(key, None)
            if isinstance(outcome, bytes):
                self._failed.pop(key, None)
                self._contents.put(key, outcome, len(outcome))
                return
            self.counts["failure"] += 1
            former = self._failed.pop(key, None)
            count = 1 if former is None else former.count + 1
            pause = min(_FIRST_PAUSE * 2 ** min(count - 1, 10), _LONGEST_PAUSE)
            self._failed[key] = _FailedFetch(
                failure=outcome, count=count, retry_time=self._clock() + pause
            )
            if len(self._failed) > _MAX_FAILURES:
                self._failed.popitem(last=False)

    def abandon(self, failure: Failure) -> None:
        """Settle all running fetches with a failure."""
        for key in list(self._fetching):
            self.settle(key, failure)
