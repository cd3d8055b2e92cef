"""One sandbox for the tests of a comparison."""

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from function_script.tools import local_pool


@pytest.fixture(scope="package", autouse=True)
def sandbox() -> Iterator[None]:
    """Evaluate programs that are in no file in one sandbox: it starts longer than a test runs."""
    open_pool = local_pool.open_pool
    with open_pool(None) as pool, pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            local_pool,
            "open_pool",
            lambda root, *others: nullcontext(pool) if root is None else open_pool(root, *others),
        )
        yield
