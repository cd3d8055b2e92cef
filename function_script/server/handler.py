"""From a request's bytes to a response's bytes, by way of the sandbox, with one record each.

The gRPC server calls ``Desk.start`` in its event loop. Nothing in here knows gRPC.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from function_script import function, wire
from function_script.sandbox import Answered
from function_script.sandbox.outcome import RETRIED
from function_script.server import log, request_record
from function_script.server.rpc import RpcError, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from function_script.sandbox import Reply
    from function_script.sandbox.dispatcher import Dispatcher
    from function_script.server.capture_writer import CaptureWriter
    from function_script.server.printing import Printer
    from function_script.server.request_record import RequestRecord
    from function_script.server.rpc import Cancel, Outcome, RpcRequest


def fairness_key(data: bytes) -> Hashable:
    """The XR that a request is about: requests that wait take turns by it."""
    return wire.read_owner(data)


def penalty_key(data: bytes) -> Hashable:
    """The program that a request brings, and its XR: who is to blame for a worker that was lost.

    An edit nearly always changes the size of an input; Crossplane changes the order of its maps on
    every call, and with it all that could be told from the bytes themselves.
    """
    found = wire.read_identity(data)
    return found.api_version, found.kind, found.namespace, found.name, found.input_bytes


def program(data: bytes) -> Hashable:
    """The program that a request brings, whichever XR it is for: its cost is likely to be known."""
    found = wire.read_identity(data)
    return found.api_version, found.kind, found.input_kind, found.input_name, found.input_bytes


class RequestHandler:
    """Takes requests, always gives an outcome, and tells the log and every observer.

    ``switchboard`` must be set before the first call; ``recorder`` is there when requests may be
    captured; ``printer`` when what programs print is logged. Errors have no secrets when they come.
    """

    def __init__(self, *observers: Callable[[RequestRecord], None]) -> None:
        self._observers = (log.write, *observers)
        self.switchboard: Dispatcher | None = None
        self.recorder: CaptureWriter | None = None
        self.printer: Printer | None = None

    def start(self, request: RpcRequest, respond: Callable[[Outcome], None]) -> Cancel:
        """Answer by way of ``respond``, which may be called before this returns.

        The response comes within ``request.seconds``; it is a FATAL when the sandbox has none.
        """
        if self.switchboard is None:
            raise RuntimeError("there is no event loop to answer in")
        started = time.perf_counter()
        job = self.switchboard.start(
            request.data,
            request.seconds,
            lambda reply: respond(self._settle(request, started, reply)),
        )
        return partial(self.switchboard.cancel, job)

    def _settle(self, call: RpcRequest, started: float, reply: Reply) -> Outcome:
        """The outcome for a call that came at ``started`` (of perf_counter)."""
        outcome = _outcome(call.data, reply)
        size = len(outcome) if isinstance(outcome, bytes) else 0
        record = request_record.build_record(reply, call.data, size, time.perf_counter() - started)
        if call.traceparent:
            record = record._replace(parent=call.traceparent)
        for observe in self._observers:
            observe(record)
        if self.printer is not None and reply.log:
            self.printer.offer(reply.log, record.identity, call.data)
        if self.recorder is not None and isinstance(outcome, bytes):
            problems = reply.diagnostics if isinstance(reply, Answered) else reply.error.diagnostics
            self.recorder.offer(call.data, outcome, problems)
        return outcome


def _outcome(data: bytes, reply: Reply) -> Outcome:
    if isinstance(reply, Answered):
        return reply.response
    if reply.cause in RETRIED:
        return RpcError(status=Status.RESOURCE_EXHAUSTED, text=str(reply.error))
    return function.pass_through_unread(data, reply.error)
