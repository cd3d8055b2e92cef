"""What a client may cost without getting anything done: floods end here.

Called by the connection. Pings, settings, window updates, resets, empty and unknown frames are
all legal and each is cheap; only a client that sends little else runs out of credit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.server.http2.frames import Code, GoAwayError

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 1_000.0
_EACH_SECOND = 100.0
_EACH_ANSWER = 10
_BYTES_FOR_ONE = 4_096
# A call begun and given up costs both sides more than a ping.
_RESET = 4


class Credit:
    """Grows with time and with answers, shrinks with each frame that is no progress."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left = _MOST
        self._renewed_at = clock()

    def spend(self, units: int = 1) -> None:
        """Raise GoAwayError when there is none left."""
        self._left -= units
        if self._left < 0:
            self._renew()

    def spend_on_reset(self) -> None:
        """The same, for a call that was given up."""
        self.spend(_RESET)

    def earn(self, answer_bytes: int) -> None:
        """A call was answered; its client has reason to send frames about it."""
        self._left = min(_MOST, self._left + _EACH_ANSWER + answer_bytes // _BYTES_FOR_ONE)

    def _renew(self) -> None:
        now = self._clock()
        self._left = min(_MOST, self._left + (now - self._renewed_at) * _EACH_SECOND)
        self._renewed_at = now
        if self._left < 0:
            raise GoAwayError(Code.ENHANCE_YOUR_CALM, "too many frames that are no progress")
