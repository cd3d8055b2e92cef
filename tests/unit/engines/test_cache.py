"""The cache of compiled programs: bounded, and fair to what is used."""

from __future__ import annotations

import pytest

from function_script.engines.cache import Cache


@pytest.fixture
def cache() -> Cache[str, int]:
    """One with a, b and c, of which a was used last."""
    cache: Cache[str, int] = Cache(max_entries=3, max_size=10)
    for number, key in enumerate("abc"):
        cache.put(key, number, 1)
    assert cache.find("a") == 0
    return cache


def test_the_number_is_bounded(cache: Cache[str, int]) -> None:
    """What was not used for longest makes room."""
    cache.put("d", 3, 1)
    assert (cache.find("b"), cache.find("a"), len(cache)) == (None, 0, 3)


def test_the_size_is_bounded(cache: Cache[str, int]) -> None:
    """As many as needed make room for a large one."""
    cache.put("d", 3, 9)
    assert (cache.find("c"), cache.find("a"), cache.find("d"), len(cache)) == (None, 0, 3, 2)


def test_a_new_value_takes_the_room_of_the_old_one(cache: Cache[str, int]) -> None:
    """Its size counts once."""
    for size in (8, 7, 8):
        cache.put("a", size, size)
    assert (cache.find("a"), len(cache)) == (8, 3)


def test_what_is_too_large_drives_out_nothing(cache: Cache[str, int]) -> None:
    """It is not remembered, and neither is what it replaces."""
    cache.put("a", 4, 11)
    assert (cache.find("a"), cache.find("b"), len(cache)) == (None, 1, 2)
