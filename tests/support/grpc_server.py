"""The gRPC server in this process, in a thread with its event loop, for tests of its own code."""

import asyncio
import threading
from collections.abc import Callable
from typing import Self, TypeVar

import grpc
from support.timing import PATIENCE_SECONDS

from function_script.request.limits import MIB
from function_script.server.channel_args import Arguments
from function_script.server.grpc_server import GrpcServer
from function_script.server.handler import RequestHandler
from function_script.server.rpc import Outcome, RpcError, RpcRequest, Status

T = TypeVar("T")
METHOD = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
MAX_REQUEST_BYTES = MIB
_ANY_SIZE = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class Recorder:
    """Answers as many bytes as the request says, and remembers requests.

    While it ``holds``, answers are ``held`` instead of given.
    """

    def __init__(self) -> None:
        self.is_traced = True
        self.requests: list[RpcRequest] = []
        self.cancelled = 0
        self.held: list[Callable[[], None]] = []
        self.holds = False

    def start(self, request: RpcRequest, respond: Callable[[Outcome], None]) -> Callable[[], None]:
        """Answer a decimal number of bytes, or an error to anything else."""
        self.requests.append(request)
        outcome: Outcome = RpcError(
            status=Status.RESOURCE_EXHAUSTED, text="10 % is too much: \N{SNOWMAN}"
        )
        if request.data.strip().isdigit():
            outcome = bytes(int(request.data))
        if self.holds:
            self.held.append(lambda: respond(outcome))
        else:
            respond(outcome)
        return self._cancel

    def _cancel(self) -> None:
        self.cancelled += 1


class Served:
    """Serves ``handler`` in a thread, in plain text, until the block ends; closes its loop."""

    def __init__(
        self,
        handler: RequestHandler,
        arguments: Arguments | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.loop = loop or asyncio.new_event_loop()
        self._server = GrpcServer(self.loop, handler, MAX_REQUEST_BYTES, None, arguments)
        self.port = self._server.listen("127.0.0.1:0")
        self._has_begun = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._has_begun.wait(PATIENCE_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._thread.join()
        self._server.close()
        self.loop.close()

    @property
    def address(self) -> str:
        """Where it serves."""
        return f"127.0.0.1:{self.port}"

    def channel(self) -> grpc.Channel:
        """Open a connection."""
        return grpc.insecure_channel(self.address, options=_ANY_SIZE)

    def stop(self) -> None:
        """Begin to end it."""
        self._server.stop()

    def call(self, task: Callable[[], T]) -> T:
        """Have ``task`` done in the loop, and return its result."""
        results: list[T] = []
        is_closed = threading.Event()

        def run() -> None:
            results.append(task())
            is_closed.set()

        self.loop.call_soon_threadsafe(run)
        assert is_closed.wait(PATIENCE_SECONDS)
        return results[0]

    def _run(self) -> None:
        self._server.serve(on_serving=self._has_begun.set, on_stopping=lambda: None)
