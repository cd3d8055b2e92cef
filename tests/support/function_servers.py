"""Servers of functions that are not ours, in this process."""

from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from typing import TypeAlias

import grpc

from function_script.proto.v1 import run_function_pb2 as pb

Answer: TypeAlias = Callable[[pb.RunFunctionRequest, grpc.ServicerContext], pb.RunFunctionResponse]


@contextmanager
def serving(answer: Answer, version: str = "v1") -> Iterator[str]:
    """Serve a function that speaks one version of the protocol; yield its address."""
    handler = grpc.unary_unary_rpc_method_handler(
        answer, pb.RunFunctionRequest.FromString, pb.RunFunctionResponse.SerializeToString
    )
    service = f"apiextensions.fn.proto.{version}.FunctionRunnerService"
    server = grpc.server(futures.ThreadPoolExecutor(1))
    generic = grpc.method_handlers_generic_handler(service, {"RunFunction": handler})
    server.add_generic_rpc_handlers((generic,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()
