"""The request handler: from a request's bytes to a response's bytes, with one record each.

The gRPC server calls ``RequestHandler.start`` in its event loop. This module does not know gRPC.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from function_script import wire
from function_script.sandbox.batch import RequestIdentity
from function_script.sandbox.dispatcher import Dispatcher
from function_script.sandbox.outcome import RETRIED, Reply
from function_script.server import log, request_record
from function_script.server.rpc import RpcError, Status
from function_script.step import function
from function_script.step.telemetry import Answered

if TYPE_CHECKING:
    from function_script.sandbox.batch import Run
    from function_script.server.capture_writer import CaptureWriter
    from function_script.server.remote_programs import RemotePrograms
    from function_script.server.request_record import RequestRecord
    from function_script.server.rpc import Cancel, Outcome, RpcRequest


def identify(data: bytes) -> RequestIdentity:
    """Return the XR of a request and its program.

    The size of the input stands for the program: nearly every edit changes it. Its bytes do not,
    because Crossplane changes the order of maps on every call.
    """
    identity = wire.read_identity(data)
    api_version, kind = identity.api_version, identity.kind
    return RequestIdentity(
        (api_version, kind, identity.namespace, identity.name),
        (api_version, kind, identity.input_kind, identity.input_name, identity.input_bytes),
    )


class RequestHandler:
    """Evaluates requests by way of the dispatcher, and reports each to the log and the observers.

    Requests are captured with a ``capture_writer``; printed texts are logged with a
    ``printed_text_logger``. ``remote_programs`` None: no host is allowed. Errors arrive without
    secrets. ``is_traced``: an observer reads the trace context of the caller.
    """

    def __init__(  # noqa: PLR0913 # the parts of a server
        self,
        dispatcher: Dispatcher,
        observers: Sequence[Callable[[RequestRecord], None]] = (),
        *,
        capture_writer: CaptureWriter | None = None,
        printed_text_logger: log.PrintedTextLogger | None = None,
        remote_programs: RemotePrograms | None = None,
        is_traced: bool = False,
    ) -> None:
        self.is_traced: Final = is_traced
        self._remote_programs = remote_programs
        self._dispatcher = dispatcher
        self._observers = tuple(observers)
        self._capture_writer = capture_writer
        self._printed_text_logger = printed_text_logger

    def start(self, request: RpcRequest, respond: Callable[[Outcome], None]) -> Cancel:
        """Answer through ``respond``, which may be called before this returns.

        The response comes within ``request.seconds``; it has a FATAL result if the sandbox fails.
        """
        start_time = time.perf_counter()

        def finish(reply: Reply) -> None:
            respond(self._finish(request, start_time, reply))

        if self._remote_programs is None:
            run = self._dispatcher.start(request.data, request.seconds, finish)
            return partial(self._dispatcher.cancel, run)
        return self._start_remote(self._remote_programs, request, finish)

    def _start_remote(
        self, remote_programs: RemotePrograms, request: RpcRequest, finish: Callable[[Reply], None]
    ) -> Cancel:
        """Run a request, and again with what its first run lacked; return what cancels it."""
        end = time.perf_counter() + request.seconds
        runs: list[Run] = []

        def run(data: bytes, on_reply: Callable[[Reply], None]) -> None:
            # The first run has taken a part of the caller's time.
            runs.append(self._dispatcher.start(data, end - time.perf_counter(), on_reply))

        def on_first(reply: Reply) -> None:
            if isinstance(reply, Answered) and reply.missing:
                resolved = remote_programs.resolve(request.data, reply)
                if isinstance(resolved, bytes):
                    run(resolved, finish)
                    return
                reply = resolved
            finish(reply)

        run(remote_programs.attach(request.data), on_first)
        # A run that is cancelled has no reply, after which another one would begin.
        return lambda: self._dispatcher.cancel(runs[-1])

    def _finish(self, request: RpcRequest, start_time: float, reply: Reply) -> Outcome:
        """Build the outcome of a request that came at ``start_time`` (of perf_counter)."""
        data = request.data
        if isinstance(reply, Answered):
            outcome: Outcome = reply.response
        elif reply.cause in RETRIED:
            outcome = RpcError(status=Status.RESOURCE_EXHAUSTED, text=str(reply.error))
        else:
            outcome = function.pass_through_unread(data, reply.error)
        size = len(outcome) if isinstance(outcome, bytes) else 0
        record = request_record.build_record(reply, data, size, time.perf_counter() - start_time)
        if request.traceparent:
            record = record._replace(parent=request.traceparent)
        log.write(record, reply.diagnostics)
        for observe in self._observers:
            observe(record)
        if self._printed_text_logger is not None and reply.log:
            self._printed_text_logger.submit(reply.log, record.info.identity(), data)
        if self._capture_writer is not None and isinstance(outcome, bytes):
            self._capture_writer.submit(data, outcome, reply.diagnostics)
        return outcome
