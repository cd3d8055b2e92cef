"""The memory that a worker and its pool share."""

import os
from collections.abc import Iterator

import pytest

from function_script.sandbox.ipc import MAX_BATCH, Begun
from function_script.sandbox.shared_memory import SharedMemory

pytestmark = pytest.mark.linux


@pytest.fixture
def memory() -> Iterator[SharedMemory]:
    """A mapping, at the start of a batch."""
    descriptor = SharedMemory.create(1 << 16)
    memory = SharedMemory(descriptor)
    os.close(descriptor)
    memory.start_batch()
    yield memory
    memory.close()


def test_request_and_limits_are_read_together(memory: SharedMemory) -> None:
    """A request that has begun has no limits of the one before, whatever is read when."""
    assert memory.begun() is None
    for index in range(MAX_BATCH):
        assert memory.begin(index)
        assert memory.begun() == Begun(index)
        memory.narrow(index, index + 0.5, index + 1)
        assert memory.begun() == Begun(index, index + 0.5, index + 1)
    memory.start_batch()
    assert memory.begun() is None


def test_first_request_begins_although_the_others_are_taken_back(memory: SharedMemory) -> None:
    """The pool leaves the worker the first one if it has begun none."""
    memory.take_back()
    assert memory.begin(0)
    assert not memory.begin(1)


@pytest.mark.parametrize("mark", [2 * MAX_BATCH + 1, 255])
def test_request_that_no_batch_has_is_none(memory: SharedMemory, mark: int) -> None:
    """Foreign code in a worker may write anything."""
    memory._map[0] = mark
    assert memory.begun() is None
