"""The CPU time that is left of a run, and how much of it finding places may take.

Called by engines that find out which place of a template wrote a line by rendering once more: a
place is worth much, and less than the answer.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from function_script.limits import Limits

# The rest of what is left is for the rest of the run.
_SHARE: Final = 0.5


class Allowance:
    """Of a run that begins now; times are CPU seconds of this thread."""

    def __init__(self, limits: Limits) -> None:
        self._began = time.thread_time()
        self._end = self._began + limits.timeout_seconds

    def used_seconds(self) -> float:
        """Return what the run has used so far."""
        return time.thread_time() - self._began

    def left_seconds(self) -> float:
        """Return what finding places may take from now on."""
        return max(self._end - time.thread_time(), 0.0) * _SHARE
