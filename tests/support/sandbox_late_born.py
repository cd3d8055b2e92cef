"""A handler with workers of which every other one exits at once. Zygotes import it."""

import itertools
import os

from support.sandbox_handlers import handle

__all__ = ["handle"]

_outcomes = itertools.cycle([False, True])
_lives = False


def _count() -> None:
    global _lives  # noqa: PLW0603 # both hooks of a fork need it
    _lives = next(_outcomes)


def _end() -> None:
    if not _lives:
        os._exit(1)


os.register_at_fork(before=_count, after_in_child=_end)
