"""How much CPU time programs usually need here, to tell whether waking another worker pays."""

from __future__ import annotations

# The largest of the last hundred or so counts: programs that take longer may be rare.
_FADING = 0.98
# As long as programs need no more than this, a run waits so long before another worker is woken:
# a worker that goes on is up to a third cheaper than two that find their caches cold.
_SHORT_SECONDS = 0.002
_GATHERING_SECONDS = 0.015


class RuntimeEstimate:
    """Learns from programs that finished; knows nothing of those that never do.

    May be used by many threads at once: an update that gets lost does no harm.
    """

    def __init__(self) -> None:
        # Until programs have been seen, they are not short.
        self._usual_seconds = 1.0

    def learn(self, cpu_seconds: float) -> None:
        """A program has finished well after ``cpu_seconds``."""
        self._usual_seconds = max(cpu_seconds, self._usual_seconds * _FADING)

    def gathering_seconds(self) -> float:
        """How long a run waits for a worker that is awake, before one more is woken."""
        return _GATHERING_SECONDS if self._usual_seconds <= _SHORT_SECONDS else 0.0
