"""Server reflection: lets grpcurl and the like find the services without having their files.

v1 and v1alpha are the same messages. protobuf is imported when somebody asks, not before.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from function_script.server import transport
from function_script.server.http2 import health

if TYPE_CHECKING:
    from google.protobuf.descriptor import FileDescriptor
    from google.protobuf.descriptor_pool import DescriptorPool
    from grpc_reflection.v1alpha import reflection_pb2 as pb

    from function_script.server.http2.stream import Stream

SERVICES: Final = tuple(
    f"grpc.reflection.{version}.ServerReflection" for version in ("v1", "v1alpha")
)
_NOT_FOUND: Final = int(transport.Status.NOT_FOUND)
_UNIMPLEMENTED: Final = int(transport.Status.UNIMPLEMENTED)


def hear(message: bytes, stream: Stream) -> None:
    """Answer one question."""
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - slow to import
    from grpc_reflection.v1alpha import reflection_pb2 as pb  # noqa: PLC0415 - same

    try:
        question = pb.ServerReflectionRequest.FromString(message)
    except DecodeError:
        stream.finish(transport.Status.INTERNAL, "the message is no ServerReflectionRequest")
        return
    answer = pb.ServerReflectionResponse(valid_host=question.host, original_request=question)
    _fill(answer, question)
    stream.add(answer.SerializeToString())


def _fill(answer: pb.ServerReflectionResponse, question: pb.ServerReflectionRequest) -> None:
    kind = question.WhichOneof("message_request")
    if kind == "list_services":
        for name in (*transport.SERVICES, health.SERVICE, *SERVICES):
            answer.list_services_response.service.add(name=name)
        return
    try:
        if kind == "file_by_filename":
            found = _pool().FindFileByName(question.file_by_filename)
        elif kind == "file_containing_symbol":
            found = _pool().FindFileContainingSymbol(question.file_containing_symbol)
        else:
            answer.error_response.error_code = _UNIMPLEMENTED
            answer.error_response.error_message = "there are no extensions"
            return
    except KeyError:
        answer.error_response.error_code = _NOT_FOUND
        answer.error_response.error_message = "not found"
        return
    answer.file_descriptor_response.file_descriptor_proto.extend(_with_imports(found))


def _with_imports(file: FileDescriptor) -> list[bytes]:
    """A file and all it imports, each once."""
    found: dict[str, bytes] = {}
    new = [file]
    while new:
        one = new.pop()
        if one.name not in found:
            found[one.name] = one.serialized_pb
            new += one.dependencies
    return list(found.values())


@cache
def _pool() -> DescriptorPool:
    """Where the descriptors of all that is served here are."""
    from google.protobuf import descriptor_pool  # noqa: PLC0415 - slow to import
    from grpc_health.v1 import health_pb2  # noqa: F401, PLC0415 - registers its file

    from function_script.proto.v1 import run_function_pb2 as v1  # noqa: F401, PLC0415 - same
    from function_script.proto.v1beta1 import run_function_pb2 as v1beta1  # noqa: F401, PLC0415 - same

    return descriptor_pool.Default()
