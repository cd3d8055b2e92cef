"""One fetch for many requests, and pauses after failures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from function_script.request.remote.reference import RemoteReference
from function_script.request.remote.store import MAX_FETCHES, ContentStore, Failure, FetchKey

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY = FetchKey(
    RemoteReference(transport="oci", location="a.org/b", version=f"sha256:{'a' * 64}"), ""
)
GONE = Failure("HTTP 404")
XR = ("acme.org/v1", "App", "team", "a")


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


def test_store_doubles_the_pause_after_a_failure_up_to_a_minute() -> None:
    store, fetches, clock = make()
    pauses = []
    for _ in range(8):
        store.request(KEY, None, XR)
        store.settle(KEY, GONE)
        count, begin = len(fetches), clock.now
        while len(fetches) == count:
            clock.now += 0.5
            assert store.request(KEY, None, XR) == GONE
        pauses.append(clock.now - begin)
    assert pauses == [2, 4, 8, 16, 32, 60, 60, 60]


def at(location: str, number: int) -> FetchKey:
    """Return the key of one of the files in a repository."""
    reference = replace(KEY.reference, location=location, path=f"{number}.star")
    return KEY._replace(reference=reference)


def test_slow_host_leaves_room_for_others() -> None:
    store, fetches, _ = make()
    slow = [at(f"slow.org/{number}", 0) for number in range(70)]
    assert [store.request(key, None, key) for key in slow] == [None] * 70
    assert fetches == slow[: MAX_FETCHES // 2]
    assert store.request(KEY, None, XR) is None
    assert fetches[-1] == KEY


def test_slow_hosts_leave_room_for_others() -> None:
    store, fetches, _ = make()
    for number in range(70):
        for host in ("slow.org", "slower.org"):
            key = at(f"{host}/{number}", 0)
            assert store.request(key, None, key) is None
    assert store.request(KEY, None, XR) is None
    assert fetches[-1] == KEY
    assert len(fetches) == MAX_FETCHES - 1


def test_slow_repository_leaves_room_for_others_of_its_host() -> None:
    store, fetches, _ = make()
    slow = [at("a.org/slow", number) for number in range(70)]
    assert [store.request(key, None, key) for key in slow] == [None] * 70
    assert store.request(KEY, None, XR) is None
    assert fetches == [*slow[: MAX_FETCHES // 4], KEY]


def test_waiting_fetches_of_xrs_begin_in_turn() -> None:
    store, fetches, _ = make()
    of_one = [at("a.org/b", number) for number in range(10)]
    for key in of_one:
        assert store.request(key, None, "one") is None
    other = at("a.org/b", 10)
    store.request(other, None, "other")
    store.settle(of_one[0], b"")
    store.settle(of_one[1], b"")
    assert other in fetches


def test_waiting_fetches_are_bounded_for_each_xr_and_host() -> None:
    store, _, _ = make()
    # Of the first owner 2 are fetched and 64 wait.
    keys = [at("a.org/b", number) for number in range(100 + 1_000 - 64 + 1)]
    of_one = [store.request(key, None, "one") for key in keys[:100]]
    assert of_one[-1] == Failure("64 others of this XR wait to be fetched")
    of_many = [store.request(key, None, key) for key in keys[100:]]
    assert of_many[-2:] == [None, Failure("1000 others of a.org wait to be fetched")]
    assert store.request(at("b.org/b", 0), None, "one") is None


def test_fetches_that_wait_begin_after_those_that_are_abandoned() -> None:
    store, fetches, _ = make()
    keys = [at("a.org/b", number) for number in range(3)]
    for key in keys:
        store.request(key, None, XR)
    assert keys[2] not in fetches
    store.abandon(GONE)
    assert keys[2] in fetches
