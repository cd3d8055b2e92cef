"""Who may run now, who waits, and in which order those who wait have their turn."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function_script.sandbox.outcome import Cause, Failed
from function_script.sandbox.scheduler import UNKNOWN, Prospects, Scheduler, Slot
from function_script.sandbox.turns import FairQueue

if TYPE_CHECKING:
    from collections.abc import Hashable


def enter(places: Scheduler, key: str | None = None, prospects: Prospects = UNKNOWN) -> Slot:
    """A place to run or to wait."""
    place = places.enter(lambda: key, lambda: None, prospects)
    assert isinstance(place, Slot)
    return place


def test_no_more_than_the_quick_places_run() -> None:
    """The next one waits until one leaves."""
    places = Scheduler(quick=1, heavy=1, slow=1, waiting=5)
    first, second = enter(places), enter(places)
    assert (first.is_waiting, second.is_waiting) == (False, True)
    first.leave()
    assert not second.is_waiting


def test_a_run_gathers_behind_another() -> None:
    """While one runs, the next waits for its place although another is free; it has it first."""
    places = Scheduler(quick=2, heavy=1, slow=0, waiting=5, gathering_seconds=lambda: 60.0)
    first, second = enter(places), enter(places)
    assert (first.is_waiting, second.is_waiting) == (False, True)
    assert second.is_waiting
    first.leave()
    assert not second.is_waiting
    assert not places.relieve()


def test_nobody_gathers_behind_a_long_run() -> None:
    """When the run that is there takes long, the next has the other place."""
    places = Scheduler(quick=2, heavy=1, slow=0, waiting=5, gathering_seconds=lambda: 60.0)
    _, second = enter(places), enter(places)
    time.sleep(0.005)
    assert not places.relieve()
    assert not second.is_waiting


def test_whoever_waited_enough_has_the_other_place() -> None:
    """After the time to gather, a second worker is woken, and a third is not there."""
    seconds = [60.0]
    places = Scheduler(quick=2, heavy=1, slow=0, waiting=5, gathering_seconds=lambda: seconds[0])
    _, second, third = enter(places), enter(places), enter(places)
    seconds[0] = 1e-9
    assert not places.relieve()
    assert (second.is_waiting, third.is_waiting) == (False, True)


def test_leaving_makes_room() -> None:
    """A place is free again after its run, also when a run raised."""
    places = Scheduler(quick=1, heavy=1, slow=1, waiting=5)
    with pytest.raises(KeyError), enter(places):
        raise KeyError
    assert not enter(places).is_waiting


def test_giving_up_leaves_the_line() -> None:
    """Who waits no longer has no turn; one whose turn has come cannot give up."""
    places = Scheduler(quick=1, heavy=1, slow=0, waiting=5)
    first, second, third = enter(places), enter(places), enter(places)
    assert second.give_up()
    first.leave()
    assert not third.is_waiting
    assert not third.give_up()
    assert places.waiting == 0


def heavy(seconds: float = 1.0, left: float = 60.0) -> Prospects:
    """What is known of a heavy run."""
    return Prospects(lambda: seconds, left)


def test_giving_way_makes_room_for_quick_runs() -> None:
    """As many heavy runs as there are CPUs go on; the next ones are paused and take turns."""
    places = Scheduler(quick=1, heavy=1, slow=4, waiting=5)
    first = enter(places, "a")
    first.give_way()
    first.give_way()
    assert (first.is_slow, first.is_paused) == (True, False)
    second = enter(places, "b")
    second.give_way()
    third = enter(places, "c")
    third.give_way()
    assert (second.is_paused, third.is_paused) == (True, True)
    assert (places.busy, places.slow, places.waiting) == (0, 3, 0)
    first.leave()
    assert (second.is_paused, third.is_paused) == (False, True)
    third.leave()
    second.leave()
    assert (places.busy, places.slow, places.waiting) == (0, 0, 0)


def test_being_paused_is_waiting() -> None:
    """The time counts to what a request has waited."""
    places = Scheduler(quick=1, heavy=1, slow=4, waiting=5)
    for _ in range(2):
        place = enter(places)
        place.give_way()
    time.sleep(0.02)
    place.leave()
    assert place.waited_seconds >= 0.02


def test_a_run_stays_where_it_is_when_no_more_can_be_paused() -> None:
    """Each that is paused holds a process."""
    places = Scheduler(quick=1, heavy=1, slow=4, waiting=5)
    for _ in range(3):
        enter(places).give_way()
    stays = enter(places)
    stays.give_way()
    assert not stays.is_slow
    assert enter(places).is_waiting


def test_what_is_known_to_be_heavy_never_takes_a_quick_place() -> None:
    """It waits for its turn before it begins, and quick runs pass by."""
    places = Scheduler(quick=1, heavy=1, slow=4, waiting=5)
    first, second = enter(places, "a", heavy()), enter(places, "b", heavy())
    quick = enter(places, "c")
    assert (first.is_waiting, second.is_waiting, quick.is_waiting) == (False, True, False)
    first.leave()
    assert (second.is_waiting, second.is_slow) == (False, True)


def test_who_is_paused_and_who_has_not_begun_take_turns() -> None:
    """By key; of one key, whoever has begun goes on first."""
    places = Scheduler(quick=1, heavy=1, slow=8, waiting=9)
    first = enter(places, "a", heavy())
    waiting = enter(places, "b", heavy())
    own = enter(places, "b", heavy())
    paused = enter(places, "b")
    paused.give_way()
    other = enter(places, "c", heavy())
    first.leave()
    assert (paused.is_paused, other.is_waiting) == (False, True)
    paused.leave()
    assert (waiting.is_waiting, other.is_waiting) == (True, False)
    other.leave()
    assert (waiting.is_waiting, own.is_waiting) == (False, True)


def test_what_turns_out_to_be_heavy_in_line_changes_it() -> None:
    """A flood of one program is known to be heavy as soon as its first run is."""
    known: list[float] = []
    prospects = Prospects(lambda: sum(known), 60.0)
    places = Scheduler(quick=1, heavy=1, slow=8, waiting=9)
    first = enter(places, "a", prospects)
    second = enter(places, "b", prospects)
    third = enter(places, "c")
    known.append(1.0)
    first.give_way()
    assert (second.is_waiting, second.is_slow) == (True, True)
    assert not third.is_waiting
    first.leave()
    assert not second.is_waiting


def test_suspects_have_places_of_their_own() -> None:
    """A quarter of the slow ones; nobody else waits behind them."""
    places = Scheduler(quick=1, heavy=1, slow=4, waiting=9)
    suspect = Prospects(is_suspect=True)
    first, second = enter(places, "a", suspect), enter(places, "b", suspect)
    assert (first.is_slow, first.is_waiting, second.is_waiting) == (True, False, True)
    assert not enter(places, "c").is_waiting
    assert not enter(places, "d", heavy()).is_waiting
    first.leave()
    assert not second.is_waiting


def test_one_key_has_half_of_the_heavy_places() -> None:
    """With so many heavy runs begun its next one waits, though a quick place is free for others."""
    places = Scheduler(quick=1, heavy=1, slow=5, waiting=20)
    begun = [enter(places, "flood") for _ in range(1)]
    begun[0].give_way()
    begun.append(enter(places, "flood"))
    begun[1].give_way()
    held = enter(places, "flood")
    other = enter(places, "other")
    assert (held.is_waiting, other.is_waiting) == (True, False)
    other.leave()
    assert held.is_waiting
    begun[0].leave()
    assert not held.is_waiting


def refusal(places: Scheduler, prospects: Prospects) -> str:
    """Why there is not even a place in line."""
    refused = places.enter(lambda: None, lambda: None, prospects)
    assert isinstance(refused, Failed)
    assert refused.cause is Cause.REFUSED
    return str(refused.error)


def test_what_cannot_be_done_in_time_is_refused_at_once() -> None:
    """When its own cost, or that of those before it, is more than the deadline leaves."""
    places = Scheduler(quick=1, heavy=2, slow=8, waiting=100)
    text = "needed 1.5 s of CPU time before, and the call's deadline leaves 1 s"
    assert text in refusal(places, heavy(1.5, 1.0))
    for number in range(2 + 10):
        enter(places, str(number), heavy(1.5, 60.0))
    text = "before it need the CPUs for 7.5 s, and the call's deadline leaves 8 s"
    assert text in refusal(places, heavy(1.5, 8.0))
    assert enter(places, "late", heavy(1.5, 10.0)).is_waiting


def test_the_queue_is_bounded_in_all_and_for_each_key() -> None:
    """One key has a quarter of the queue; beyond either bound a request is refused."""
    places = Scheduler(quick=1, heavy=1, slow=0, waiting=8)
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
    places, told = Scheduler(quick=1, heavy=1, slow=0, waiting=9), []
    first = enter(places)
    second = places.enter(lambda: "", lambda: told.append("second"))
    first.leave()
    assert told == ["second"]
    assert isinstance(second, Slot)
    assert second.waited_seconds > 0


def test_keys_are_not_asked_for_without_a_queue() -> None:
    """Reading a request's identity costs time, so nobody does it while there is room."""
    places = Scheduler(quick=1, heavy=1, slow=0, waiting=9)

    def key() -> Hashable:
        raise AssertionError

    place = places.enter(key, lambda: None)
    assert isinstance(place, Slot)
    place.leave()


@given(st.lists(st.integers(0, 5), max_size=60), st.sets(st.integers(0, 5)))
def test_turns_are_fair(keys: list[int], held: set[int]) -> None:
    """Each key's items keep their order; nobody is passed more than once by any other key."""
    turns: FairQueue[tuple[int, int]] = FairQueue()
    for number, key in enumerate(keys):
        turns.add(key, (key, number))
    served = []
    while (item := turns.next(lambda item: item[0] not in held)) is not None:
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
    """Whatever is added, served and taken out, length and what is ahead agree with a plain list."""
    turns: FairQueue[int] = FairQueue()
    model: list[tuple[int, int]] = []
    for number, (step, key) in enumerate(steps):
        if step == "add":
            ahead = sorted(turns.ahead(key))
            rounds = sum(k == key for k, _ in model) + 1
            rows = [[item for k, item in model if k == other] for other in range(4)]
            assert ahead == sorted(item for row in rows for item in row[:rounds])
            turns.add(key, number)
            model.append((key, number))
        elif step == "next":
            item = turns.next(lambda _: True)
            assert (item is None) is (not model)
            model = [entry for entry in model if entry[1] != item]
        else:
            first = next((item for k, item in model if k == key), -1)
            assert turns.remove(key, first) is (first != -1)
            model = [entry for entry in model if entry[1] != first]
        assert len(turns) == len(model)
