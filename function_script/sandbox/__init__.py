"""Where programs run: warm worker processes that can be killed without hurting anyone else.

The server and the local tools use ``Pool``. Nothing in here knows gRPC, Crossplane or a language:
a pool moves bytes to ``function.handle`` in a worker and bytes back, and explains deaths.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from function_script.sandbox.outcome import Answered, Failed, Reply
    from function_script.sandbox.pool import Pool, PoolOptions, PoolStats

__all__ = ["Answered", "Failed", "Pool", "PoolOptions", "PoolStats", "Reply"]

_OUTCOMES: Final = {"Answered", "Failed", "Reply"}


def __getattr__(name: str) -> object:
    """Imported when asked for: the zygote lives in here too, and starts sooner without a pool."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "outcome" if name in _OUTCOMES else "pool"
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
