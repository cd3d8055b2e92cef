"""One request in one worker: handed over, looked at from time to time, read or explained.

A state machine without a clock or a thread of its own: ``Pool`` drives it by waiting,
``Switchboard`` by events. Neither requests nor responses are read here.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from function_script.sandbox import outcome, report
from function_script.sandbox.frames import Receipt
from function_script.sandbox.outcome import Answered, Cause, Failed, Reply, Terms
from function_script.sandbox.speech import to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from function_script.limits import Limits
    from function_script.sandbox.child import Child
    from function_script.sandbox.crew import Crew
    from function_script.sandbox.pace import Pace
    from function_script.sandbox.places import Place, Places
    from function_script.sandbox.suspects import Suspects

LOOK_SECONDS = 0.0125
# On a crowded machine a run can get nowhere: it gives way after this share of its time as well.
_GIVE_WAY_SHARE = 0.5
# Sooner when its XR has more in line and others are held up by that.
_CROWDED_SHARE = 1 / 40
# The worker's own alarm comes first; this one is for when it does not.
_GRACE_SECONDS = 0.1
_MAX_PICKS = 3


class Means:
    """What all runs of a pool share."""

    def __init__(  # noqa: PLR0913 # what a pool is made of
        self,
        *,
        limits: Limits,
        places: Places,
        crew: Crew,
        pace: Pace,
        suspects: Suspects,
        suspect_of: Callable[[bytes], Hashable],
    ) -> None:
        self.limits: Final = limits
        self.places: Final = places
        self.crew: Final = crew
        self.pace: Final = pace
        self.suspects: Final = suspects
        self.suspect_of: Final = suspect_of


class Loss:
    """A worker that did not answer within ``seconds``: it has ended, or is to be ended."""

    def __init__(self, child: Child, seconds: float) -> None:
        self.child: Final = child
        self.seconds: Final = seconds


class Run:
    """``data`` in ``place`` until ``deadline`` (monotonic seconds) at the latest."""

    def __init__(self, means: Means, place: Place, data: bytes, deadline: float) -> None:
        self._means = means
        self._place = place
        self._data = data
        self._terms = _terms(means.limits, deadline)
        self._picks = 0
        self.is_suspect = means.suspects.has(self._key)
        """Whether it may cost its worker, as one for the same suspect did of late."""
        if self.is_suspect:
            # Nobody is to wait for it, not even while a worker is found for it.
            place.give_way()
        self._child: Child
        self._began = self._end = 0.0
        self.due = 0.0
        """When to look next (monotonic seconds), should no receipt have come by then."""

    def begin(self, child: Child) -> None:
        """Hand the request over."""
        timeout_seconds = self._terms.timeout_seconds
        self._child = child
        self._began = time.monotonic()
        self._end = self._began + timeout_seconds + _GRACE_SECONDS
        self.due = min(self._began + LOOK_SECONDS, self._end)
        if self.is_suspect:
            child.set_aside()
        child.begin(self._data, timeout_seconds)

    def look(self, now: float) -> bool:
        """No receipt has come by ``due``: move a long run away; False when its time is over."""
        if now >= self._end:
            return False
        timeout_seconds = self._terms.timeout_seconds
        age = now - self._began
        is_crowding = age > timeout_seconds * _CROWDED_SHARE and self._place.is_crowding()
        is_late = age > timeout_seconds * _GIVE_WAY_SHARE
        is_heavy = self._is_long() or is_crowding or self.is_suspect
        if (is_heavy or is_late) and self._place.give_way() and is_heavy:
            self._child.slow_down()
        self.due = self._end if self._place.is_slow else min(now + LOOK_SECONDS, self._end)
        return True

    def end(self, frame: bytes | None) -> Reply | Loss | None:
        """What a receipt says; no bytes: the worker is gone, None: it is late.

        None is returned for a worker that was dying when it was picked: begin with another one.
        """
        child = self._child
        if frame:
            return self._read(child, frame)
        if frame is None or child.has_begun():
            return Loss(child, time.monotonic() - self._began)
        self._means.crew.replace_later(child)
        self._picks += 1
        if self._picks < _MAX_PICKS:
            return None
        return self._failed(Cause.KILLED, self._terms, detail="workers end before they begin")

    def explain(self, loss: Loss, on_end: Callable[[], object] = bool) -> Failed:
        """What a worker died of, which takes a while; one that is late is not waited for.

        ``on_end`` is called, in any thread, when its process has ended.
        """
        child, terms = loss.child, _narrowed(self._terms, loss.child)
        log = to_text(child.last_words())
        if loss.seconds >= terms.timeout_seconds:
            # Else others had the CPU, and it is not to blame.
            if self._is_long():
                self._means.suspects.add(self._key)
            self._means.crew.replace_later(child, on_end)
            return self._failed(Cause.TIMEOUT, terms, log=log)
        death = self._means.crew.replace(child)
        on_end()
        cause = outcome.cause_of(death, terms)
        if cause is not Cause.KILLED:
            self._means.suspects.add(self._key)
        return self._failed(cause, terms, log=log, detail=f"wait status {death.status}")

    def _read(self, child: Child, frame: bytes) -> Reply:
        crew = self._means.crew
        try:
            receipt = Receipt.unpack(frame)
            response, text = child.payload(receipt)
            reply = self._to_reply(response, report.from_json(text))
        except ValueError as error:
            crew.replace_later(child)
            detail = f"its worker answered with {error}"
            return self._failed(Cause.CRASH, self._terms, detail=detail)
        is_sound = isinstance(reply, Answered) and not reply.diagnostics
        if is_sound:
            self._means.suspects.forgive(self._key)
            self._means.pace.learn(child.used_seconds())
        elif isinstance(reply, Failed) or (self._is_long() and not child.is_reusable):
            self._means.suspects.add(self._key)
        child.finish(max(len(self._data), receipt.payload_length + receipt.report_length))
        if isinstance(reply, Failed):
            crew.replace_later(child)
        elif receipt.is_last or not child.is_reusable:
            crew.retire(child)
        else:
            crew.give_back(child)
        return reply

    def _is_long(self) -> bool:
        return self._child.used_seconds() > self._means.pace.long_seconds()

    def _to_reply(self, response: bytes, told: report.Report) -> Reply:
        if told.cause is None:
            return Answered(
                response=response,
                diagnostics=told.diagnostics,
                facts=told.facts,
                log=told.log,
                waited_seconds=self._place.waited_seconds,
            )
        return Failed(
            error=outcome.explain(told.cause, _narrowed(self._terms, self._child), told.detail),
            cause=told.cause,
            log=told.log,
            detail=told.trace,
            waited_seconds=self._place.waited_seconds,
        )

    def _key(self) -> Hashable:
        return self._means.suspect_of(self._data)

    def _failed(self, cause: Cause, terms: Terms, *, log: str = "", detail: str = "") -> Failed:
        return Failed(
            error=outcome.explain(cause, terms),
            cause=cause,
            log=log,
            detail=detail,
            waited_seconds=self._place.waited_seconds,
        )


def _terms(limits: Limits, deadline: float) -> Terms:
    terms = Terms(timeout_seconds=limits.timeout_seconds, memory_bytes=limits.memory_bytes)
    left = max(deadline - time.monotonic(), 0.0)
    if left < terms.timeout_seconds:
        terms = replace(terms, timeout_seconds=left, timeout_set_by="the call's deadline")
    return terms


def _narrowed(terms: Terms, child: Child) -> Terms:
    """The terms after the input had its say."""
    timeout_seconds, memory_bytes = child.limits_in_force()
    if 0 < timeout_seconds < terms.timeout_seconds:
        terms = replace(terms, timeout_seconds=timeout_seconds, timeout_set_by="limits.timeout")
    if 0 < memory_bytes < terms.memory_bytes:
        terms = replace(terms, memory_bytes=memory_bytes, memory_set_by="limits.memory")
    return terms
