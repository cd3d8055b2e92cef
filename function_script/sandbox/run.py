"""One request in a pool, from its admission to its reply."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from function_script.sandbox.identity import RequestIdentity

if TYPE_CHECKING:
    from function_script.sandbox.batch import Batch
    from function_script.sandbox.outcome import Reply

# Larger requests take long anyway, and a batch has a region of the shared memory for each.
_MAX_BATCHED_BYTES = 64 * 1024
# The rest of the time is for the run itself, which may get less of a CPU than is expected.
_WAIT_SHARE = 0.5


class Run:
    """The evaluation of a request, until ``deadline`` (monotonic seconds) at the latest.

    ``seed`` is the secret from which the request's random values derive, b"" without a salt.

    ``on_start`` is called with the batch that the run is in when it may begin, and ``on_reply``
    once with the reply.
    """

    def __init__(
        self,
        data: bytes,
        identify: Callable[[bytes], RequestIdentity],
        deadline: float,
        on_start: Callable[[Batch], None],
        on_reply: Callable[[Reply], None],
    ) -> None:
        self.data: Final = data
        self._identify: Final = identify
        self._identity: RequestIdentity | None = None
        self.deadline: Final = deadline
        self.requested_at: Final = time.monotonic()
        self.latest_start = self.requested_at + (deadline - self.requested_at) * _WAIT_SHARE
        """The end of the time for which it may be queued."""
        self.on_start: Final = on_start
        self._on_reply: Callable[[Reply], None] | None = on_reply
        self.seed = b""
        self.is_queued = False
        self.is_penalized = False
        self.may_share = len(data) <= _MAX_BATCHED_BYTES
        """True if others may be evaluated in the same batch."""
        self.expected_seconds = 0.0
        """The CPU time that it is expected to need, 0.0 when that is little or unknown."""
        self.waited_seconds = 0.0
        self.attempts = 0
        """The number of workers that ended before they began with it."""

    @property
    def identity(self) -> RequestIdentity:
        """The identity of the request, which is read once: when it is first asked for.

        Most requests neither wait nor are heavy, and reading takes 2 % of a small one.
        """
        if self._identity is None:
            self._identity = self._identify(self.data)
        return self._identity

    @property
    def is_cancelled(self) -> bool:
        """True if nobody waits for a reply."""
        return self._on_reply is None

    def cancel(self) -> None:
        """Drop the reply."""
        self._on_reply = None

    def reply(self, reply: Reply) -> None:
        """Call ``on_reply``, unless the request was cancelled."""
        # The callback holds this run: as a cycle, both would live until the next collection.
        on_reply, self._on_reply = self._on_reply, None
        if on_reply is not None:
            on_reply(reply)

    def age_seconds(self) -> float:
        """Return the time since the request came."""
        return time.monotonic() - self.requested_at
