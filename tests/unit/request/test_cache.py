"""The least-recently-used cache: its bounds, admission on the second miss, and its counts."""

import pytest

from function_script.request.cache import ByteLruCache, reset_stats


@pytest.fixture
def cache() -> ByteLruCache[str, int]:
    """A cache with a, b and c, of which a was used last."""
    cache: ByteLruCache[str, int] = ByteLruCache(10, max_entries=3)
    for number, key in enumerate("abc"):
        cache.put(key, number, 1)
    assert cache.get("a") == 0
    return cache


@pytest.fixture
def admitting() -> ByteLruCache[str, int]:
    """An empty cache of 30 bytes that admits an entry on its second miss."""
    return ByteLruCache(30, is_of_requests=True)


def test_cache_full_of_entries_evicts_least_recently_used(cache: ByteLruCache[str, int]) -> None:
    cache.put("d", 3, 1)
    assert (cache.get("b"), cache.get("a"), len(cache)) == (None, 0, 3)


def test_cache_full_of_bytes_evicts_as_many_as_needed(cache: ByteLruCache[str, int]) -> None:
    cache.put("d", 3, 9)
    assert (cache.get("c"), cache.get("a"), cache.get("d"), len(cache)) == (None, 0, 3, 2)


def test_cache_put_again_counts_new_size_only(cache: ByteLruCache[str, int]) -> None:
    """The size of a replaced value is free again."""
    for size in (8, 7, 8):
        cache.put("a", size, size)
    assert (cache.get("a"), len(cache)) == (8, 3)


def test_cache_with_too_large_value_evicts_only_replaced_one(cache: ByteLruCache[str, int]) -> None:
    cache.put("a", 4, 11)
    assert (cache.get("a"), cache.get("b"), len(cache)) == (None, 1, 2)


def test_admitting_cache_stores_on_second_put(admitting: ByteLruCache[str, int]) -> None:
    """Twenty thousand entries that are put once evict nothing."""
    admitting.put("a", 1, 10)
    assert admitting.get("a") is None
    admitting.put("a", 1, 10)
    for number in range(20_000):
        admitting.put(f"once {number}", number, 30)
    assert admitting.get("a") == 1
    assert len(admitting) == 1
    admitting.put("once 19999", 19_999, 10)
    assert admitting.get("once 19999") == 19_999


def test_admitting_cache_evicts_least_recently_used(admitting: ByteLruCache[str, int]) -> None:
    """Admission does not change the order of eviction."""
    for number, key in enumerate("aabbcc"):
        admitting.put(key, number // 2, 10)
    assert admitting.get("a") == 0
    admitting.put("d", 3, 10)
    admitting.put("d", 3, 10)
    assert [admitting.get(key) for key in "abcd"] == [0, None, 2, 3]
    assert len(admitting) == 3


def test_admitting_cache_with_known_key_replaces_at_once(
    admitting: ByteLruCache[str, int],
) -> None:
    """A key that was put before needs no second miss, and its old value's room is free."""
    for key, value, size in [("a", 1, 30), ("a", 1, 30), ("b", 2, 31), ("a", 3, 20)]:
        admitting.put(key, value, size)
    assert admitting.get("a") == 3
    for _ in range(2):
        admitting.put("b", 4, 10)
    assert (admitting.get("a"), admitting.get("b")) == (3, 4)
    admitting.put("a", 5, 31)
    assert (admitting.get("a"), admitting.get("b")) == (None, 4)


def test_admitting_cache_counts_lookups_and_hits(
    cache: ByteLruCache[str, int], admitting: ByteLruCache[str, int]
) -> None:
    """Other caches are not counted, and a reset begins at 0."""
    for _ in range(2):
        admitting.put("a", 1, 1)
    reset_stats()
    assert (admitting.get("a"), admitting.get("b"), cache.get("a")) == (1, None, 0)
    assert reset_stats() == (2, 1)
    assert reset_stats() == (0, 0)
