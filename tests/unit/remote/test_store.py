"""One fetch for many requests, and pauses after failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.remote.reference import RemoteReference
from function_script.remote.store import ContentStore, Failure, FetchKey

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY = FetchKey(
    RemoteReference(transport="oci", location="a.org/b", version=f"sha256:{'a' * 64}"), ""
)
GONE = Failure("HTTP 404")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def make() -> tuple[ContentStore, list[FetchKey], Clock]:
    fetches: list[FetchKey] = []
    clock = Clock()

    def fetch(key: FetchKey, _: Mapping[str, bytes] | None) -> None:
        fetches.append(key)

    return ContentStore(fetch, clock), fetches, clock


def test_store_starts_one_fetch_for_many_requests() -> None:
    store, fetches, _ = make()
    assert [store.request(KEY, None) for _ in range(200)] == [None] * 200
    assert fetches == [KEY]
    store.settle(KEY, b"texts")
    assert store.find(KEY) == b"texts"


def test_store_fetches_for_other_credentials_again() -> None:
    store, fetches, _ = make()
    store.request(KEY, None)
    store.settle(KEY, b"texts")
    other = KEY._replace(scope="of a team")
    assert store.find(other) is None
    store.request(other, {})
    assert fetches == [KEY, other]


def test_store_doubles_the_pause_after_a_failure_up_to_a_minute() -> None:
    store, fetches, clock = make()
    pauses = []
    for _ in range(8):
        store.request(KEY, None)
        store.settle(KEY, GONE)
        count, begin = len(fetches), clock.now
        while len(fetches) == count:
            clock.now += 0.5
            assert store.request(KEY, None) == GONE
        pauses.append(clock.now - begin)
    assert pauses == [2, 4, 8, 16, 32, 60, 60, 60]


def test_store_bounds_the_number_of_running_fetches() -> None:
    store, fetches, _ = make()
    failures = [store.request(KEY._replace(scope=str(n)), None) for n in range(100)]
    assert len(fetches) == 64
    assert failures[-1] == Failure("64 others are being fetched")
