"""The health and reflection services; reflection is gRPC's own servicer.

Their modules are imported by the first call, because they take memory and few clients use them.
Every stream ends when the server stops, so a client that watches does not delay the stop.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from operator import methodcaller
from typing import TYPE_CHECKING, Final, TypeVar

import grpc

from function_script.server import rpc
from function_script.server.rpc import RpcError, Status

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from typing import TypeAlias

    from google.protobuf.message import Message
    from grpc_health.v1 import health_pb2
    from grpc_reflection.v1alpha import reflection_pb2

    from function_script.server.admission import Admission, Call, Context

    Services: TypeAlias = dict[str, dict[str, grpc.RpcMethodHandler[bytes, Message]]]
    Method: TypeAlias = Callable[[Call, Context], Awaitable[None]]
    # Answers each request.
    Reflect: TypeAlias = Callable[
        [AsyncIterator[reflection_pb2.ServerReflectionRequest], Context],
        AsyncIterator[reflection_pb2.ServerReflectionResponse],
    ]

HEALTH: Final = "grpc.health.v1.Health"
REFLECTION: Final = tuple(
    f"grpc.reflection.{version}.ServerReflection" for version in ("v1", "v1alpha")
)
# The names that have a status: the whole server is "".
_WITH_STATUS: Final = ("", *rpc.SERVICES)
_MAX_CALLS: Final = 100
# Messages hold names of services and of files.
_MAX_MESSAGE_BYTES: Final = 4_096
# The time for streams of Watch to send that the server stops.
_LAST_STATUS_SECONDS: Final = 0.1
_CODES: Final = {int(code.value[0]): code for code in grpc.StatusCode}
M = TypeVar("M", bound="Message")


async def reject(context: grpc.aio.ServicerContext[bytes, M], error: RpcError) -> None:
    """Answer a call with an error, by raising gRPC's AbortError."""
    await context.abort(_CODES[error.status], error.text)


class HealthAndReflection:
    """The health and reflection services of one server."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._tasks: set[asyncio.Task[object]] = set()
        self._stopping = asyncio.Event()
        self._reflection: Reflect | None = None

    def health_service(self) -> Services:
        """Return the health service with its methods."""
        return {HEALTH: {"Check": self._handler(self._check), "Watch": self._handler(self._watch)}}

    def reflection_services(self) -> Services:
        """Return server reflection, in both versions, with its method."""
        methods = {"ServerReflectionInfo": self._handler(self._reflect)}
        return dict.fromkeys(REFLECTION, methods)

    async def stop(self) -> None:
        """Set every health status to NOT_SERVING, and end all streams."""
        self._stopping.set()
        if self._tasks:
            await asyncio.sleep(_LAST_STATUS_SECONDS)
        for task in self._tasks:
            task.cancel()

    def _handler(self, method: Method) -> grpc.RpcMethodHandler[bytes, Message]:
        async def serve(_: object, context: Context) -> None:
            await self._serve(method, context)

        serialize = methodcaller("SerializeToString")
        return grpc.stream_stream_rpc_method_handler(serve, response_serializer=serialize)

    async def _serve(self, method: Method, context: Context) -> None:
        task = asyncio.current_task()
        if task is None or len(self._tasks) >= _MAX_CALLS:
            text = "too many clients ask for health or reflection"
            await reject(context, RpcError(status=Status.RESOURCE_EXHAUSTED, text=text))
            return
        self._tasks.add(task)
        try:
            await method(self._admission.open(context), context)
        except asyncio.CancelledError:
            if not self._stopping.is_set():
                raise
            # The cancellation came from `stop`, and the client is to read why.
            task.uncancel()
            await reject(context, RpcError(status=Status.UNAVAILABLE, text="shutting down"))
        finally:
            self._tasks.discard(task)

    async def _read_service(self, call: Call, context: Context) -> str | None:
        from grpc_health.v1.health_pb2 import HealthCheckRequest  # noqa: PLC0415 - slow to import

        request = await self._read(call, context, HealthCheckRequest)
        return None if request is None else request.service

    async def _check(self, call: Call, context: Context) -> None:
        service = await self._read_service(call, context)
        if service is not None:
            if service not in _WITH_STATUS:
                await context.abort(grpc.StatusCode.NOT_FOUND)
            await context.write(self._health(service))

    async def _watch(self, call: Call, context: Context) -> None:
        service = await self._read_service(call, context)
        if service is None:
            return
        await context.write(self._health(service))
        if service in _WITH_STATUS and not self._stopping.is_set():
            # A status changes once.
            await self._stopping.wait()
            await context.write(self._health(service))
        # `stop` cancels the call, so that the client reads why it ends.
        await asyncio.get_running_loop().create_future()

    def _health(self, service: str) -> health_pb2.HealthCheckResponse:
        from grpc_health.v1.health_pb2 import HealthCheckResponse  # noqa: PLC0415 - slow to import

        status = HealthCheckResponse.SERVICE_UNKNOWN
        if service in _WITH_STATUS:
            is_stopping = self._stopping.is_set()
            status = HealthCheckResponse.NOT_SERVING if is_stopping else HealthCheckResponse.SERVING
        return HealthCheckResponse(status=status)

    async def _reflect(self, call: Call, context: Context) -> None:
        from grpc_reflection.v1alpha import reflection_pb2  # noqa: PLC0415 - slow to import

        async def requests() -> AsyncIterator[reflection_pb2.ServerReflectionRequest]:
            message_type = reflection_pb2.ServerReflectionRequest
            while (request := await self._read(call, context, message_type)) is not None:
                yield request

        async for response in self._load_reflection()(requests(), context):
            await context.write(response)

    async def _read(self, call: Call, context: Context, message_type: type[M]) -> M | None:
        """Return the next message, None at the end. Answers an invalid message with an error."""
        from google.protobuf.message import DecodeError  # noqa: PLC0415 - slow to import

        data = await self._admission.read(call, _MAX_MESSAGE_BYTES)
        if data is None:
            return None
        if isinstance(data, RpcError):
            await reject(context, data)
        elif len(data) <= _MAX_MESSAGE_BYTES:
            with suppress(DecodeError):
                return message_type.FromString(data)
        text = f"the message is no {message_type.__name__}"
        await reject(context, RpcError(status=Status.INVALID_ARGUMENT, text=text))
        return None

    def _load_reflection(self) -> Reflect:
        if self._reflection is None:
            # These imports register the descriptors that reflection answers with.
            from grpc_health.v1 import health_pb2  # noqa: F401, PLC0415 - see above
            from grpc_reflection.v1alpha import reflection  # noqa: PLC0415 - slow to import

            from function_script.proto.v1 import run_function_pb2 as v1  # noqa: F401, PLC0415 - see above
            from function_script.proto.v1beta1 import run_function_pb2 as v1beta1  # noqa: F401, PLC0415 - see above

            _describe_reflection_v1()
            names = (*rpc.SERVICES, HEALTH, *REFLECTION)
            servicer = reflection.aio.ReflectionServicer(names)  # type: ignore[attr-defined] # the stubs lack it
            self._reflection = servicer.ServerReflectionInfo
        return self._reflection


def _describe_reflection_v1() -> None:
    """Register the descriptor of version v1: the library has v1alpha, which differs by its name."""
    from google.protobuf import descriptor_pool, text_format  # noqa: PLC0415 - slow to import
    from google.protobuf.descriptor_pb2 import FileDescriptorProto  # noqa: PLC0415 - same
    from grpc_reflection.v1alpha import reflection_pb2  # noqa: PLC0415 - same

    former = FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(former)
    text = text_format.MessageToString(former).replace("v1alpha", "v1")
    file = text_format.Parse(text, FileDescriptorProto())
    descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
