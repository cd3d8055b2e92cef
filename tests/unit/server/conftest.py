"""Tests of the server leave the loggers as they were."""

from collections.abc import Iterator

import pytest
from support import server_logs


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Restore the loggers."""
    with server_logs.restored():
        yield
