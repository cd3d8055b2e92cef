"""From a request's bytes to a response's bytes, by way of the sandbox, with one record each.

The transport calls ``Desk.answer`` from many threads, or ``Desk.settle`` with a reply that came by
itself. Nothing in here knows gRPC.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from function_script import function
from function_script.sandbox import Answered
from function_script.server import log, records

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.sandbox import Pool, Reply
    from function_script.server.records import Record


class Desk:
    """Takes requests, always gives a response, and tells the log and every observer."""

    def __init__(self, pool: Pool, *observers: Callable[[Record], None]) -> None:
        self._pool = pool
        self._observers = (log.write, *observers)

    def answer(self, data: bytes, timeout_seconds: float, parent: str = "") -> bytes:
        """The response, within ``timeout_seconds``; a FATAL when the sandbox has none."""
        started = time.perf_counter()
        return self.settle(self._pool.run(data, timeout_seconds), data, started, parent)

    def settle(self, reply: Reply, data: bytes, started: float, parent: str = "") -> bytes:
        """The response for a reply to ``data``, which came at ``started`` (of perf_counter).

        ``parent`` is the caller's trace context, as the header ``traceparent`` says it.
        """
        if isinstance(reply, Answered):
            response = reply.response
        else:
            response = function.pass_through(data, reply.error)
        seconds = time.perf_counter() - started
        record = records.of(reply, data, len(response), seconds)._replace(parent=parent)
        for observe in self._observers:
            observe(record)
        return response
