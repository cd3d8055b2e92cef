"""The sandbox of commands."""

from collections.abc import Iterator

import pytest

from function_script.sandbox.pool import Pool
from function_script.tools import local_pool


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """A pool of the tools, for all tests of a module."""
    with local_pool.open_pool() as pool:
        yield pool
