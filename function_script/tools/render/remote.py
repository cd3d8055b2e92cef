"""Call a function at its address: gRPC without TLS, v1, and v1beta1 for old functions."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeAlias

import grpc
from google.protobuf.message import DecodeError

from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.texts.errors import ProgramError
from function_script.tools.render import messages
from function_script.tools.render.requirements import StepCall

Channel: TypeAlias = grpc.Channel
# Time for a function in a container that has just been started to listen.
_CONNECT_SECONDS: Final = 10.0
# A longer wait prints a note.
_SILENT_SECONDS: Final = 1.0
_CLOSE_SECONDS: Final = 0.5


class CallError(Exception):
    """A call without a response; the text is the cause. ``is_late``: its time was over."""

    def __init__(self, text: str, *, is_late: bool) -> None:
        super().__init__(text)
        self.is_late = is_late


def call(
    step_call: StepCall, address: str, print_note: Callable[[str], None], hint: str = ""
) -> fnv1.RunFunctionResponse:
    """Call a function; a long wait for it prints a note.

    Raises ProgramError if there is no response, with ``hint`` if no function answers.
    """
    step, request, timeout_seconds = step_call
    deadline = time.monotonic() + timeout_seconds
    with _closing(open_channel(address)) as channel:
        seconds = min(_CONNECT_SECONDS, timeout_seconds)
        note = f"waiting for {step.function} at {address}"
        if not wait_until_ready(channel, seconds, lambda: print_note(note)):
            raise ProgramError.of(
                f'cannot run step "{step.name}": no function answers at {address}',
                hint=hint or None,
            )
        try:
            return send_request(channel, request, deadline - time.monotonic())
        except CallError as error:
            text = f'cannot run step "{step.name}": {step.function} at {address} {error}'
            raise ProgramError.of(text) from error


def is_answering(address: str, max_seconds: float = _SILENT_SECONDS) -> bool:
    """Report whether a function accepts connections; a refusal is not waited out."""
    states: queue.SimpleQueue[grpc.ChannelConnectivity] = queue.SimpleQueue()
    deadline = time.monotonic() + max_seconds
    with _closing(open_channel(address)) as channel:
        # `channel_ready_future` tries again after a refusal, up to its timeout.
        channel.subscribe(states.put, try_to_connect=True)
        while True:
            try:
                state = states.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return False
            if state in {
                grpc.ChannelConnectivity.READY,
                grpc.ChannelConnectivity.TRANSIENT_FAILURE,
            }:
                channel.unsubscribe(states.put)
                return state is grpc.ChannelConnectivity.READY


def open_channel(target: str) -> Channel:
    """Open a channel, which begins to connect when it is used."""
    # No proxy of the environment can reach a socket of this machine.
    options = (("grpc.enable_http_proxy", 0),) if target.startswith("unix") else ()
    return grpc.insecure_channel(target, options=options)


def close_channel(channel: Channel) -> None:
    """Close a channel in the background, once gRPC's thread that watched it has ended.

    It ends 0.2 s after the last subscription, and prints a traceback if it meets a closed channel.
    """
    timer = threading.Timer(_CLOSE_SECONDS, channel.close)
    timer.daemon = True
    timer.start()


@contextmanager
def _closing(channel: Channel) -> Iterator[Channel]:
    try:
        yield channel
    finally:
        close_channel(channel)


def wait_until_ready(
    channel: Channel, seconds: float, note: Callable[[], object] = lambda: None
) -> bool:
    """Wait until the function answers in gRPC; ``note`` is called if that takes long."""
    ready = grpc.channel_ready_future(channel)
    for wait_seconds in (min(_SILENT_SECONDS, seconds), seconds - _SILENT_SECONDS):
        try:
            ready.result(timeout=max(0.0, wait_seconds))
        except grpc.FutureTimeoutError:
            if seconds > _SILENT_SECONDS == wait_seconds:
                note()
        else:
            return True
    ready.cancel()
    return False


def send_request(
    channel: Channel,
    request: fnv1.RunFunctionRequest,
    timeout_seconds: float,
    version: str = "v1",
) -> fnv1.RunFunctionResponse:
    """Send a request and return the response. Raises CallError."""
    method: grpc.UnaryUnaryMultiCallable[fnv1.RunFunctionRequest, bytes]
    method = channel.unary_unary(
        f"/apiextensions.fn.proto.{version}.FunctionRunnerService/RunFunction",
        request_serializer=fnv1.RunFunctionRequest.SerializeToString,
        response_deserializer=bytes,
    )
    try:
        data = method(request, timeout=timeout_seconds)
    except grpc.RpcError as error:
        code = error.code()
        if code is grpc.StatusCode.UNIMPLEMENTED and version == "v1":
            # Functions of before Crossplane 1.17 serve this version alone.
            return send_request(channel, request, timeout_seconds, "v1beta1")
        is_late = code is grpc.StatusCode.DEADLINE_EXCEEDED
        raise CallError(f"answered {code.name}: {error.details()}", is_late=is_late) from error
    if messages.is_too_deep(data):
        raise CallError("answered a message that is nested too deeply", is_late=False)
    try:
        return fnv1.RunFunctionResponse.FromString(data)
    except DecodeError as error:
        raise CallError(f"answered what is no response: {error}", is_late=False) from error
