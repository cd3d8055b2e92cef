"""The sandbox's test handlers, in workers of which the second and later ones have no filter.

The module simulates a container with rules that change while it runs. Zygotes import it.
"""

import errno
import os

from support.sandbox_handlers import handle

from function_script.sandbox import seccomp

__all__ = ["handle"]


def _refuse() -> None:
    seccomp.install = lambda: errno.EPERM


os.register_at_fork(after_in_parent=_refuse)
