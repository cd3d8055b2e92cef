"""The queue that is fair between keys."""

from hypothesis import given
from hypothesis import strategies as st

from function_script.request.fair_queue import FairQueue


@given(st.lists(st.integers(0, 5), max_size=60), st.sets(st.integers(0, 5)))
def test_fair_queue_is_fair(keys: list[int], blocked: set[int]) -> None:
    """Items of a key keep their order; no other key is served twice between two of them."""
    queue: FairQueue[tuple[int, int]] = FairQueue()
    for number, key in enumerate(keys):
        queue.add(key, (key, number))
    served = []
    while (item := queue.next(lambda item: item[0] not in blocked)) is not None:
        served.append(item)
    assert sorted(served) == sorted(
        (key, number) for number, key in enumerate(keys) if key not in blocked
    )
    for key in set(keys) - blocked:
        own = [number for served_key, number in served if served_key == key]
        assert own == sorted(own)
        at = [index for index, (served_key, _) in enumerate(served) if served_key == key]
        between = [served[a + 1 : b] for a, b in zip([-1, *at], at, strict=False)]
        assert all(len({other for other, _ in gap}) == len(gap) for gap in between)
    assert len(queue) == sum(key in blocked for key in keys)


@given(
    st.lists(st.tuples(st.sampled_from(["add", "next", "remove"]), st.integers(0, 3)), max_size=80)
)
def test_fair_queue_agrees_with_a_list(steps: list[tuple[str, int]]) -> None:
    queue: FairQueue[int] = FairQueue()
    model: list[tuple[int, int]] = []
    for number, (step, key) in enumerate(steps):
        if step == "add":
            ahead = sorted(queue.ahead(key))
            rounds = sum(k == key for k, _ in model) + 1
            rows = [[item for k, item in model if k == other] for other in range(4)]
            assert ahead == sorted(item for row in rows for item in row[:rounds])
            queue.add(key, number)
            model.append((key, number))
        elif step == "next":
            item = queue.next(lambda _: True)
            assert (item is None) is (not model)
            model = [entry for entry in model if entry[1] != item]
        else:
            first = next((item for k, item in model if k == key), -1)
            queue.remove(key, first)
            model = [entry for entry in model if entry[1] != first]
        assert len(queue) == len(model)
