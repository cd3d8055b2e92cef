"""The CPU time that a run may spend on positions of its output.

Template engines find the position that wrote a line by rendering once more. A position is worth
less than the response, so it gets a share of the time that remains.
"""

import time
from typing import Final

from function_script.request.limits import Limits

# The rest is for reading the documents and building the response.
_SHARE: Final = 0.5


class Allowance:
    """The CPU time of a run that begins now, in seconds of this thread."""

    def __init__(self, limits: Limits) -> None:
        self._began = time.thread_time()
        self._end = self._began + limits.timeout_seconds

    def used_seconds(self) -> float:
        """Return the time since the run began."""
        return time.thread_time() - self._began

    def left_seconds(self) -> float:
        """Return the time that positions may take from now on."""
        return max(self._end - time.thread_time(), 0.0) * _SHARE
