"""A grpc.aio server that only answers: ``python benchmarks/bare_server.py [CERTIFICATES]``.

The control of floods.py: it has the channel arguments of function-script's port, and nothing else.
It prints its port, and serves until it is killed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("GRPC_VERBOSITY", "NONE")
import grpc

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import MIB
from function_script.server import channel_args

if TYPE_CHECKING:
    from google.protobuf.message import Message

_RESPONSE = pb.RunFunctionResponse(context={"good": "yes"}).SerializeToString()


class _AnyMethod(grpc.GenericRpcHandler):  # type: ignore[type-arg] # generic in the stubs alone
    """Answers every call with the response of the good program."""

    def service(
        self,
        handler_call_details: grpc.HandlerCallDetails,  # noqa: ARG002 - grpc's signature
    ) -> grpc.RpcMethodHandler[bytes, Message]:
        """Return the handler of all methods."""
        return grpc.unary_unary_rpc_method_handler(_answer)  # type: ignore[arg-type] # bytes pass


async def _answer(_request: bytes, _context: object) -> bytes:
    return _RESPONSE


def _credentials(directory: str) -> grpc.ServerCredentials:
    key, certificate, authority = (
        Path(directory, name).read_bytes() for name in ("tls.key", "tls.crt", "ca.crt")
    )
    pairs = [(key, certificate)]
    return grpc.ssl_server_credentials(pairs, authority, require_client_auth=True)


async def _serve(credentials: grpc.ServerCredentials | None) -> None:
    server = grpc.aio.server(options=[*channel_args.for_service(64 * MIB).items()])
    server.add_generic_rpc_handlers((_AnyMethod(),))
    if credentials is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        port = server.add_secure_port("127.0.0.1:0", credentials)
    await server.start()
    print(port, flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(_serve(_credentials(sys.argv[1]) if sys.argv[1:] else None))
