"""A handler of whose workers every other one ends at once. Zygotes import it."""

from __future__ import annotations

import itertools
import os

from support.sandbox_handlers import handle

__all__ = ["handle"]

_births = itertools.cycle([False, True])
_lives = False


def _count() -> None:
    global _lives  # noqa: PLW0603 # both hooks of a fork need it
    _lives = next(_births)


def _end() -> None:
    if not _lives:
        os._exit(1)


os.register_at_fork(before=_count, after_in_child=_end)
