"""Which objects are still there: also of compiled classes, which cannot be referred to weakly."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def living(kind: type) -> int:
    """How many objects of exactly this class there are."""
    return sum(type(each) is kind for each in gc.get_objects())


@contextmanager
def no_collection() -> Iterator[None]:
    """Begin without garbage, and leave alone what only the collector of cycles would find."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
