"""Pools of plain workers, for which Linux stands in for a system with POSIX alone."""

import pytest

from function_script.sandbox import system
from function_script.sandbox.pool import Pool, PoolOptions


def start(options: PoolOptions) -> Pool:
    """Start a pool whose workers are plain ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(system, "missing", lambda: ("what Linux has",))
        return Pool(options)
