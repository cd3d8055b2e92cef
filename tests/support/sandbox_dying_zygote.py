"""A handler with a zygote that is killed after a fork, before it reports the new worker.

It is while the file ``marker`` exists. Zygotes import the module.
"""

import os
import signal
import tempfile
import time
from pathlib import Path

from support.sandbox_handlers import handle

__all__ = ["handle", "marker"]

# Time for the worker to send its first frame.
_SECONDS = 0.5


def marker(pool_pid: int) -> Path:
    """Return the file that the zygote of a pool removes when it dies."""
    return Path(tempfile.gettempdir(), f"function-script-dying-zygote-{pool_pid}")


def _die() -> None:
    try:
        marker(os.getppid()).unlink()
    except FileNotFoundError:
        return
    time.sleep(_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


os.register_at_fork(after_in_parent=_die)
