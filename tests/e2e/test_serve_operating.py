"""The view of an operator: metrics, probes, traces, and a log line for every request."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import grpc
import pytest
from e2e.serving import GOOD, NOTHING, Server, call, method
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from support import builders, http_server
from support.timing import PATIENCE_SECONDS, SLACK_SECONDS, wait_until

from function_script import wire
from function_script.request.values import Object
from function_script.server import lifecycle

SLOW = builders.request(
    builders.starlark(
        "def main(req):\n    for i in range(100000000):\n        pass\n    return {}\n"
    )
)
BOMB = builders.starlark("def main(req):\n    x = [0] * 1000000000\n")
TRACE = "0af7651916cd43dd8448eb211c80319c"


def test_first_line_says_whether_it_is_compiled(plain_server: Server) -> None:
    (line,) = plain_server.lines("serving")
    assert line["code"] == wire.describe_build()
    warnings = plain_server.lines(f"this installation is plain Python: {lifecycle.BUILD_ADVICE}")
    assert len(warnings) == (line["code"] == "plain Python")


def lines_of(server: Server, message: str, name: str) -> list[dict[str, object]]:
    """Return the lines of the log with that message about that XR."""
    return [line for line in server.lines(message) if line["name"] == name]


def test_request_is_one_json_line(plain_server: Server) -> None:
    script = "def main(req):\n    print('printed')\n    return {}\n"
    secret = {"credentialData": {"data": {"password": "aHVudGVyMg=="}}}
    request = builders.request(
        builders.starlark(script),
        credentials={"db": secret},
        observed=builders.observed("logged"),
    )
    with plain_server.channel() as channel:
        call(channel, request)
    wait_until(lambda: lines_of(plain_server, "answered", "logged"))
    (line,) = lines_of(plain_server, "answered", "logged")
    assert line["outcome"] == "ok"
    assert line["level"] == "info"
    assert (line["api_version"], line["kind"]) == ("example.org/v1", "XThing")
    assert line["language"] == "starlark"
    assert 0 < line["milliseconds"] < PATIENCE_SECONDS * 1_000
    assert line["request_bytes"] == request.ByteSize()
    assert 0 < line["response_bytes"] < line["request_bytes"]
    assert "hunter2" not in "".join(plain_server.text)
    assert "printed" not in "".join(plain_server.text)


COUNTED = (
    'function_script_requests_total{input="StarlarkScript",outcome="ok"}',
    'function_script_requests_total{input="StarlarkScript",outcome="memory"}',
    'function_script_worker_restarts_total{cause="memory"}',
    'function_script_limits_hit_total{limit="memory"}',
    'function_script_stage_duration_seconds_count{stage="program"}',
)


def test_metrics_tell_what_happened(plain_server: Server) -> None:
    before = plain_server.metrics()
    with plain_server.channel() as channel:
        for step_input, name in ((builders.starlark(NOTHING), "good"), (BOMB, "bomb")):
            call(channel, builders.request(step_input, observed=builders.observed(name)))
    after = plain_server.metrics()
    assert {name: after[name] - before.get(name, 0.0) for name in COUNTED} == dict.fromkeys(
        COUNTED, 1.0
    )
    assert after["function_script_queue_length"] == 0.0
    wait_until(
        lambda: (
            lines_of(plain_server, "answered", "good")
            and lines_of(plain_server, "not answered", "bomb")
        )
    )
    (answered,) = lines_of(plain_server, "answered", "good")
    (not_answered,) = lines_of(plain_server, "not answered", "bomb")
    for line in (not_answered, answered):
        assert (line["kind"], line["language"]) == ("XThing", "starlark")
    assert (not_answered["outcome"], not_answered["limit"]) == ("memory", "memory")


def test_refused_call_is_counted_and_logged(plain_server: Server) -> None:
    state = {"resources": {"big": {"resource": {"kind": "A", "s": "x" * 5_000_000}}}}
    large = builders.request(builders.starlark(NOTHING), desired=state)
    counted = 'function_script_calls_refused_total{status="RESOURCE_EXHAUSTED"}'
    before = plain_server.metrics().get(counted, 0.0)
    with plain_server.channel() as channel, pytest.raises(grpc.RpcError) as refused:
        call(channel, large)
    # No step of ours can make it smaller, so the call fails.
    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "callers accept 4 MiB" in str(refused.value.details())
    assert plain_server.metrics()[counted] == before + 1
    plain_server.wait_until_it_says("refused by the transport")
    (line,) = plain_server.lines("refused by the transport")
    assert line["status"] == "RESOURCE_EXHAUSTED"
    assert "callers accept 4 MiB" in str(line["error"])


def test_stopping_server_answers_open_calls_and_is_not_ready() -> None:
    """Kubernetes sends no more calls, and does not restart the container; no process stays."""
    with Server("--insecure", "--timeout", "50s") as server, server.channel() as channel:
        assert server.fetch("/livez") == (200, "ok\n")
        assert server.fetch("/readyz")[0] == 200
        future = method(channel).future(SLOW)
        server.wait_until_it_runs(1)
        family = server.family()
        assert len(family) >= 3
        server.signal(signal.SIGTERM)
        server.wait_until_it_says('"msg":"stopping"')
        assert server.fetch("/readyz") == (503, "not ready: not serving\n")
        assert server.fetch("/livez") == (200, "ok\n")
        assert not future.result().results
        assert server.stop() == 0
    assert not [pid for pid in family if Path(f"/proc/{pid}").exists()]


def test_directories_of_programs_may_be_below_a_link_that_moves(tmp_path: Path) -> None:
    """As a checkout of git-sync is: one that is old, or gone, must not be the program."""
    link = tmp_path / "current"
    peer: Object = {"apiVersion": builders.PEER_VERSION, "kind": "GoTemplate"}
    own = {**peer, "apiVersion": builders.API_VERSION, "source": "FileSystem"}
    inputs = (peer, {**own, "fileSystem": {"dirPath": "own"}})

    def check_out(name: str) -> None:
        for folder, domain in (("own", "script"), ("peer", "gotemplating")):
            text = builders.document(name).replace("script.fn", f"{domain}.fn")
            (tmp_path / name / folder).mkdir(parents=True)
            (tmp_path / name / folder / "main.gotmpl").write_text(text)
        (tmp_path / "new").symlink_to(name)
        (tmp_path / "new").replace(link)

    check_out("none")
    flags = ("--insecure", "--program-root", str(link), "--default-source", str(link / "peer"))
    with Server(*flags) as server, server.channel() as channel:
        for name in ("one", "two"):
            check_out(name)
            for each in inputs:
                assert list(call(channel, builders.request(each)).desired.resources) == [name]


def test_threads_of_grpc_do_not_preempt_the_event_loop(plain_server: Server) -> None:
    """They are scheduled as batch. The event loop has the thread of the process's id."""
    policies = {
        (task / "comm").read_text().strip(): os.sched_getscheduler(int(task.name))
        for task in Path(f"/proc/{plain_server.pid}/task").iterdir()
    }
    event_loop = os.sched_getscheduler(plain_server.pid)
    assert (policies["event_engine"], event_loop) == (os.SCHED_BATCH, os.SCHED_OTHER)


class Collector(HTTPServer):
    """A collector of OpenTelemetry traces."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        super().__init__(("127.0.0.1", 0), _Taker)


class _Taker(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        """Keep the spans."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector on a free port."""
    with http_server.running(Collector()) as server:
        yield server


def test_trace_goes_on_in_the_server(collector: Collector) -> None:
    """The span is a child of the caller's, and is sent before the server ends."""
    endpoint = f"http://127.0.0.1:{collector.server_port}"
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
    with Server("--insecure", env=env) as server, server.channel() as channel:
        parent = (("traceparent", f"00-{TRACE}-b7ad6b7169203331-01"),)
        method(channel)(GOOD, timeout=PATIENCE_SECONDS, metadata=parent)
        assert server.stop() == 0
    (sent,) = collector.requests
    (spans,) = sent.resource_spans
    names = {item.key: item.value.string_value for item in spans.resource.attributes}
    assert names["service.name"] == "function-script"
    (span,) = spans.scope_spans[0].spans
    assert (span.name, span.trace_id.hex()) == ("RunFunction", TRACE)
    assert [event.name for event in span.events] == ["worker found", "program ran"]


def test_collector_that_is_silent_delays_the_end_by_seconds() -> None:
    """After the 20 s of open calls, Kubernetes would kill the server."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        env = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_TIMEOUT": "60"}
        with Server("--insecure", env=env) as server, server.channel() as channel:
            call(channel, GOOD)
            start = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - start < 5 + SLACK_SECONDS
