"""Who may run now, who waits, and in which order those who wait have their turn."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function_script.sandbox.outcome import Cause, Failed
from function_script.sandbox.places import Place, Places
from function_script.sandbox.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Hashable


def enter(places: Places, key: str | None = None) -> Place:
    """A place to run or to wait."""
    place = places.enter(lambda: key, lambda: None)
    assert isinstance(place, Place)
    return place


def test_no_more_than_the_quick_places_run() -> None:
    """The next one waits until one leaves."""
    places = Places(quick=1, slow=1, waiting=5)
    first, second = enter(places), enter(places)
    assert (first.is_waiting, second.is_waiting) == (False, True)
    first.leave()
    assert not second.is_waiting


def test_a_run_gathers_behind_another() -> None:
    """While one runs, the next waits for its place although another is free; it has it first."""
    places = Places(quick=2, slow=0, waiting=5, gathering_seconds=lambda: 60.0)
    first, second = enter(places), enter(places)
    assert (first.is_waiting, second.is_waiting) == (False, True)
    assert second.is_waiting
    first.leave()
    assert not second.is_waiting
    assert not places.relieve()


def test_nobody_gathers_behind_a_long_run() -> None:
    """When the run that is there takes long, the next has the other place."""
    places = Places(quick=2, slow=0, waiting=5, gathering_seconds=lambda: 60.0)
    _, second = enter(places), enter(places)
    time.sleep(0.005)
    assert not places.relieve()
    assert not second.is_waiting


def test_whoever_waited_enough_has_the_other_place() -> None:
    """After the time to gather, a second worker is woken, and a third is not there."""
    seconds = [60.0]
    places = Places(quick=2, slow=0, waiting=5, gathering_seconds=lambda: seconds[0])
    _, second, third = enter(places), enter(places), enter(places)
    seconds[0] = 1e-9
    assert not places.relieve()
    assert (second.is_waiting, third.is_waiting) == (False, True)


def test_leaving_makes_room() -> None:
    """A place is free again after its run, also when a run raised."""
    places = Places(quick=1, slow=1, waiting=5)
    with pytest.raises(KeyError), enter(places):
        raise KeyError
    assert not enter(places).is_waiting


def test_giving_up_leaves_the_line() -> None:
    """Who waits no longer has no turn; one whose turn has come cannot give up."""
    places = Places(quick=1, slow=0, waiting=5)
    first, second, third = enter(places), enter(places), enter(places)
    assert second.give_up()
    first.leave()
    assert not third.is_waiting
    assert not third.give_up()
    assert places.waiting == 0


def test_giving_way_makes_room_while_there_are_slow_places() -> None:
    """As many runs as there are slow places can give way, each of them once."""
    places = Places(quick=1, slow=1, waiting=5)
    first = enter(places, "a")
    assert first.give_way()
    assert first.give_way()
    second = enter(places, "b")
    assert not second.give_way()
    third = enter(places, "c")
    assert third.is_waiting
    first.leave()
    assert second.give_way()
    assert not third.is_waiting


def test_one_key_has_half_of_the_slow_places() -> None:
    """With so many long runs its next one waits, though a quick place is free for others."""
    places = Places(quick=1, slow=4, waiting=5)
    long = [enter(places, "flood") for _ in range(1)]
    assert long[0].give_way()
    long.append(enter(places, "flood"))
    assert long[1].give_way()
    held = enter(places, "flood")
    other = enter(places, "other")
    assert (held.is_waiting, other.is_waiting) == (True, False)
    other.leave()
    assert held.is_waiting
    long[0].leave()
    assert not held.is_waiting


def test_a_key_is_crowding_when_others_wait_behind_it() -> None:
    """Not while it waits alone, nor when it has none in line itself."""
    places = Places(quick=1, slow=4, waiting=20)
    first = enter(places, "flood")
    assert not first.is_crowding()
    enter(places, "flood")
    assert not first.is_crowding()
    enter(places, "other")
    assert first.is_crowding()
    assert not places.is_crowding(enter(Places(quick=1, slow=0, waiting=9), "third"))


def test_the_queue_is_bounded_in_all_and_for_each_key() -> None:
    """One key has a quarter of the queue; beyond either bound a request is refused."""
    places = Places(quick=1, slow=0, waiting=8)
    enter(places, "flood")
    for _ in range(2):
        enter(places, "flood")
    refused = places.enter(lambda: "flood", lambda: None)
    assert isinstance(refused, Failed)
    assert refused.cause is Cause.REFUSED
    assert "2 requests are waiting, 2 of them of this composite resource" in str(refused.error)
    for number in range(6):
        enter(places, str(number))
    assert isinstance(places.enter(lambda: "x", lambda: None), Failed)


def test_turns_are_told() -> None:
    """Who waits is called when the turn comes, and knows how long it was."""
    places, told = Places(quick=1, slow=0, waiting=9), []
    first = enter(places)
    second = places.enter(lambda: "", lambda: told.append("second"))
    first.leave()
    assert told == ["second"]
    assert isinstance(second, Place)
    assert second.waited_seconds > 0


def test_keys_are_not_asked_for_without_a_queue() -> None:
    """Reading a request's identity costs time, so nobody does it while there is room."""
    places = Places(quick=1, slow=0, waiting=9)

    def key() -> Hashable:
        raise AssertionError

    place = places.enter(key, lambda: None)
    assert isinstance(place, Place)
    place.leave()


@given(st.lists(st.integers(0, 5), max_size=60), st.sets(st.integers(0, 5)))
def test_turns_are_fair(keys: list[int], held: set[int]) -> None:
    """Each key's items keep their order; nobody is passed more than once by any other key."""
    turns: Turns[tuple[int, int]] = Turns(total=100, per_key=100)
    for number, key in enumerate(keys):
        turns.add(key, (key, number))
    served = []
    while (item := turns.next(lambda key: key in held, lambda _: True)) is not None:
        served.append(item)
    assert sorted(served) == sorted(
        (key, number) for number, key in enumerate(keys) if key not in held
    )
    for key in set(keys) - held:
        own = [number for served_key, number in served if served_key == key]
        assert own == sorted(own)
        at = [index for index, (served_key, _) in enumerate(served) if served_key == key]
        between = [served[a + 1 : b] for a, b in zip([-1, *at], at, strict=False)]
        assert all(len({other for other, _ in gap}) == len(gap) for gap in between)
    assert len(turns) == sum(key in held for key in keys)


@given(
    st.lists(st.tuples(st.sampled_from(["add", "next", "remove"]), st.integers(0, 3)), max_size=80)
)
def test_turns_count_right(steps: list[tuple[str, int]]) -> None:
    """Whatever is added, served and taken out, length and bounds agree with a plain list."""
    turns: Turns[int] = Turns(total=8, per_key=3)
    model: list[tuple[int, int]] = []
    for number, (step, key) in enumerate(steps):
        if step == "add":
            is_full = len(model) >= 8 or sum(k == key for k, _ in model) >= 3
            assert turns.is_full_for(key) is is_full
            if not is_full:
                turns.add(key, number)
                model.append((key, number))
        elif step == "next":
            item = turns.next(lambda _: False, lambda _: True)
            assert (item is None) is (not model)
            model = [entry for entry in model if entry[1] != item]
        else:
            first = next((item for k, item in model if k == key), -1)
            assert turns.remove(key, first) is (first != -1)
            model = [entry for entry in model if entry[1] != first]
        assert len(turns) == len(model)
