"""Memory after many requests, no two of them alike: nothing of a request stays.

What each of them leaves behind is measured with Python's own account of memory, to the byte.
"""

import asyncio
import gc
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import grpc
import pytest
from support import builders
from support.grpc_server import METHOD, Served

from function_script.request.limits import Limits
from function_script.request.values import Object
from function_script.sandbox.dispatcher import Dispatcher
from function_script.sandbox.pool import Pool, PoolOptions
from function_script.server.handler import RequestHandler, identify
from function_script.server.metrics import Gauges, Metrics
from function_script.step import function

LIMITS = Limits()
SCRIPT = """
def main(req):
    name = "thing-%d" % (int(req["context"]["number"]) % 20)
    resource = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"name": name}}
    status = {"tag": req["meta"]["tag"]}
    return {"desired": {
        "resources": {name: {"resource": resource}},
        "composite": {"resource": {"status": status}},
    }}
"""
DOCUMENTS = """
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: thing-%s
"""
INPUTS = (
    builders.starlark(SCRIPT),
    builders.jinja(DOCUMENTS % "{{ context.number | int % 20 }}"),
    builders.gotemplate(DOCUMENTS % "{{ mod (.context.number | int) 20 }}"),
    builders.starlark("def main(req):\n    return req['nowhere']\n"),
    builders.jinja("{{ nowhere.at.all }}"),
)
# Names of objects are so long that one that is kept by mistake is seen beside what Python itself
# keeps for later. Our caches are full after the first requests.
PADDING = "x" * 2_000
FIRST, THEN = 150, 200
MOST_BYTES = 200.0


def request(number: int) -> bytes:
    """Return a request of an XR of its own, in any language; some fail."""
    xr: Object = {
        "apiVersion": "example.org/v1",
        "kind": "XThing",
        "metadata": {"name": f"thing-{number}-{PADDING}", "uid": f"uid-{number}-{PADDING}"},
    }
    message = builders.request(
        INPUTS[number % len(INPUTS)],
        meta={"tag": f"tag-{number}-{PADDING}"},
        observed={"composite": {"resource": xr}},
        context={"number": str(number), f"key-{number % 50}": "x"},
    )
    return message.SerializeToString()


def bytes_kept(send: Callable[[int], None]) -> float:
    """Return the mean memory that a request leaves behind."""
    tracemalloc.start()
    try:
        for number in range(FIRST):
            send(number)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for number in range(FIRST, FIRST + THEN):
            send(number)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return (after - before) / THEN


@contextmanager
def served() -> Iterator[grpc.UnaryUnaryMultiCallable]:
    """Serve with transport, metrics, log and pool in this process; yield a method."""
    with Pool(PoolOptions(workers=1, min_idle=0, identify=identify)) as pool:
        loop = asyncio.new_event_loop()
        dispatcher = Dispatcher(pool, loop)
        metrics = Metrics(Gauges, max_fingerprints=FIRST // 2)
        handler = RequestHandler(dispatcher, [metrics.observe])
        with Served(handler, loop=loop) as server:
            try:
                with server.channel() as channel:
                    yield channel.unary_unary(METHOD)
            finally:
                server.call(dispatcher.close)


def test_worker_keeps_nothing_of_a_request() -> None:
    """This includes its XR, in any language, whether it succeeds or fails."""

    def send(number: int) -> None:
        answer = function.handle(request(number), LIMITS, lambda _: None)
        assert bool(answer.diagnostics) == (number % len(INPUTS) > 2)

    assert bytes_kept(send) < MOST_BYTES


def test_server_keeps_nothing_of_a_request(capfd: pytest.CaptureFixture[str]) -> None:
    """This includes its XR and its trace, on a connection that stays."""
    with served() as run:

        def send(number: int) -> None:
            metadata = [("traceparent", f"00-{number:032x}-{number:016x}-01")]
            assert f"tag-{number}-".encode() in run(request(number), metadata=metadata)

        kept_bytes = bytes_kept(send)
    capfd.readouterr()
    assert kept_bytes < MOST_BYTES
