"""How much CPU time programs usually need here, to tell which one is unusually long."""

from __future__ import annotations

# Until programs have been seen: a share of the time limit.
_FIRST_SHARE = 1 / 8
# A fresh worker needs this much to warm up; beyond the other a program is long whatever is usual.
_LEAST_SHARE = 1 / 100
_MOST_SHARE = 1 / 4
_MARGIN = 2.0
# The largest of the last hundred or so counts: heavy programs may be rare and still be welcome.
_FADING = 0.98
# As long as programs need no more than this, a run waits so long before another worker is woken:
# a worker that goes on is up to a third cheaper than two that find their caches cold.
_SHORT_SECONDS = 0.002
_GATHERING_SECONDS = 0.015


class Pace:
    """Learns from programs that finished; knows nothing of those that never do.

    May be used by many threads at once: an update that gets lost does no harm.
    """

    def __init__(self, limit_seconds: float) -> None:
        self._limit_seconds = limit_seconds
        self._usual_seconds = limit_seconds * _FIRST_SHARE / _MARGIN

    def learn(self, cpu_seconds: float) -> None:
        """A program has finished well after ``cpu_seconds``."""
        self._usual_seconds = max(cpu_seconds, self._usual_seconds * _FADING)

    def gathering_seconds(self) -> float:
        """How long a run waits for a worker that is awake, before one more is woken."""
        return _GATHERING_SECONDS if self._usual_seconds <= _SHORT_SECONDS else 0.0

    def long_seconds(self) -> float:
        """The CPU time after which a run is to be called long."""
        least, most = self._limit_seconds * _LEAST_SHARE, self._limit_seconds * _MOST_SHARE
        return min(max(self._usual_seconds * _MARGIN, least), most)
