"""Whether sound programs fail for their neighbours: on a machine full of loops, and in a flood.

``busy``: requests with large templates while every CPU has loops of others to run. None may fail.
``flood``: XRs of heavy programs, all at once, called as Crossplane calls; small requests beside
them. All must be answered in time, and the small ones stay quick.
``overload``: heavy programs at several times the rate that can be borne, on one CPU, at a quota and
beside other processes. What is begun must be finished, and small requests stay quick.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import overload
from google.protobuf import json_format
from judged import Finding, table
from measure import cpu_seconds
from programs import API_VERSION

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from e2e.serving import Server, method  # noqa: E402 - from the tests' folder

from function_script.proto.v1 import run_function_pb2 as pb  # noqa: E402 - see above

if TYPE_CHECKING:
    from collections.abc import Iterator

# Of Crossplane: the time of a whole reconcile, and the delay of an XR's next try.
DEADLINE_SECONDS = 120.0
FIRST_DELAY_SECONDS = 1.0
MAX_DELAY_SECONDS = 60.0
_CALIBRATION_TURNS = 1_000_000
_SMALL_PAUSE_SECONDS = 0.02
_LOOP = "while True: pass"
_KILOBYTES = (45, 61, 77, 92)
_SCRIPT = """
def main(req):
    name = req["observed"]["composite"]["resource"]["metadata"]["name"]
    for i in range({turns}):
        pass
    resource = {{"apiVersion": "v1", "kind": "ConfigMap", "data": {{"name": name}}}}
    return {{"desired": {{"resources": {{"config": {{"resource": resource}}}}}}}}
"""
_JINJA = """\
---
apiVersion: v1
kind: ConfigMap
metadata:
  annotations: {{{{ {{"script.fn.crossplane.io/composition-resource-name": "c-{number}"}} }}}}
data:
  name: {{{{ observed.composite.resource.metadata.name }}}}
{{% for i in range(3) %}}
  k{{{{ i }}}}: {{{{ "x" * 20 }}}}
{{% endfor %}}
"""
_GO = """\
---
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: c-{number}
data:
  name: {{{{ .observed.composite.resource.metadata.name }}}}
{{{{- range $i := until 3 }}}}
  k{{{{ $i }}}}: {{{{ repeat 20 "x" }}}}
{{{{- end }}}}
"""
# Fields of the XR that a template cannot set, and a value that is missing, are warned of.
_JINJA_WARNED = "---\napiVersion: example.org/v1\nkind: XApp\nspec: {colour: blue}\n"
_GO_WARNED = """\
---
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: warned
data: {colour: "{{ .observed.composite.resource.spec.colour }}"}
"""


def request(name: str, step_input: dict[str, object]) -> bytes:
    """A request of the XR with that name."""
    metadata = {"name": name, "namespace": "here"}
    xr = {"apiVersion": "example.org/v1", "kind": "XApp", "metadata": metadata, "spec": {}}
    document = {"observed": {"composite": {"resource": xr}}, "input": step_input}
    return json_format.ParseDict(document, pb.RunFunctionRequest()).SerializeToString()


def script(turns: int) -> dict[str, object]:
    """A script that makes so many turns of a loop."""
    text = _SCRIPT.format(turns=turns)
    return {"apiVersion": API_VERSION, "kind": "StarlarkScript", "script": text}


def template(kind: str, kilobytes: int) -> dict[str, object]:
    """A large template that is warned of."""
    is_jinja = kind == "JinjaTemplate"
    warned, document = (_JINJA_WARNED, _JINJA) if is_jinja else (_GO_WARNED, _GO)
    texts, size, number = [warned], len(warned), 0
    while size < kilobytes * 1_000:
        texts.append(document.format(number=number))
        size += len(texts[-1])
        number += 1
    inline = "".join(texts)
    if is_jinja:
        return {"apiVersion": API_VERSION, "kind": kind, "inline": inline}
    return {
        "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
        "kind": kind,
        "source": "Inline",
        "inline": {"template": inline},
    }


class Tally:
    """What came of calls, and how long they took. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.outcomes: Counter[str] = Counter()
        self.seconds: list[float] = []
        self.errors: list[str] = []

    def call(self, channel: grpc.Channel, data: bytes, name: str) -> bool:
        """Call once with Crossplane's deadline; whether the answer is the right one."""
        began = time.monotonic()
        outcome, error = "answered", ""
        try:
            message = pb.RunFunctionRequest.FromString(data)
            response = method(channel)(message, timeout=DEADLINE_SECONDS)
        except grpc.RpcError as refused:
            outcome, error = refused.code().name, refused.details() or ""
        else:
            fatal = [each for each in response.results if each.severity == pb.SEVERITY_FATAL]
            if fatal:
                outcome, error = "FATAL", fatal[0].message
            elif not _shows(response, name):
                outcome = "wrong"
        with self._lock:
            self.outcomes[outcome] += 1
            self.seconds.append(time.monotonic() - began)
            if error and len(self.errors) < 5:  # noqa: PLR2004 - enough to see what is wrong
                self.errors.append(error)
        return outcome == "answered"

    def percentile(self, share: float) -> float:
        """The latency that this share of calls does not exceed."""
        latencies = sorted(self.seconds)
        return latencies[min(len(latencies) - 1, int(len(latencies) * share))]


def _shows(response: pb.RunFunctionResponse, name: str) -> bool:
    resources = response.desired.resources.values()
    return any(
        "data" in each.resource and each.resource["data"]["name"] == name
        for each in resources
        if "name" in each.resource["data"]
    )


@contextmanager
def loops(count: int) -> Iterator[None]:
    """So many processes beside, each of which would take a whole CPU."""
    processes = [subprocess.Popen([sys.executable, "-c", _LOOP]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def busy(options: argparse.Namespace) -> list[Finding]:
    """Large templates from several clients, beside loops."""
    kinds = ("JinjaTemplate", "GoTemplate")
    inputs = [template(kind, size) for size in _KILOBYTES for kind in kinds]
    tally = Tally()

    def send(number: int) -> None:
        name = f"xr-{number % 200}"
        tally.call(channel, request(name, inputs[number % len(inputs)]), name)

    with Server("--insecure", keeps=1_000) as server, server.channel() as channel:
        began, before = time.monotonic(), cpu_seconds(server.pid)
        with loops(options.loops), ThreadPoolExecutor(options.clients) as threads:
            list(threads.map(send, range(options.requests)))
        seconds, cpu = time.monotonic() - began, cpu_seconds(server.pid) - before
    _say("busy", tally, seconds, cpu)
    failed = options.requests - tally.outcomes["answered"]
    return [Finding("large templates beside loops that failed", 0, failed)]


def flood(options: argparse.Namespace) -> list[Finding]:
    """XRs of one heavy program, tried again as Crossplane does, and small requests beside them."""
    tally, small = Tally(), Tally()
    end = threading.Event()

    def reconcile(number: int) -> None:
        name, delay = f"xr-{number}", FIRST_DELAY_SECONDS
        while not tally.call(channel, request(name, heavy), name):
            time.sleep(delay)
            delay = min(2 * delay, MAX_DELAY_SECONDS)

    def ask() -> None:
        number = 0
        while not end.wait(_SMALL_PAUSE_SECONDS):
            name = f"small-{number % 50}"
            small.call(other, request(name, script(1)), name)
            number += 1

    with (
        Server("--insecure", keeps=1_000) as server,
        server.channel() as channel,
        server.channel() as other,
        ThreadPoolExecutor(options.xrs + 1) as threads,
    ):
        heavy = script(_turns(server, channel, options.heavy_seconds))
        asking = threads.submit(ask)
        began, before = time.monotonic(), cpu_seconds(server.pid)
        list(threads.map(reconcile, range(options.xrs)))
        seconds, cpu = time.monotonic() - began, cpu_seconds(server.pid) - before
        end.set()
        asking.result()
    _say("flood", tally, seconds, cpu)
    _say("small beside it", small, seconds, cpu)
    return [
        Finding("seconds until all heavy XRs were answered", options.limit_seconds, seconds),
        Finding("heavy calls that were FATAL or wrong", 0, _mistakes(tally)),
        Finding("small calls that failed", 0, small.outcomes.total() - small.outcomes["answered"]),
        Finding("ms of small calls, p99", 200, small.percentile(0.99) * 1e3),
    ]


def overloads(options: argparse.Namespace) -> list[Finding]:
    """Rows of overload; each surroundings with a server of its own."""
    findings: list[Finding] = []
    for where in overload.SURROUNDINGS:
        try:
            findings += _overload(where, options)
        except OSError as error:
            print(f"{where.name}: {error}")
            findings.append(Finding(f"{where.name}: rows that were not measured", 0, 1))
    return findings


def _overload(where: overload.Surroundings, options: argparse.Namespace) -> list[Finding]:
    findings: list[Finding] = []
    with ExitStack() as stack:
        group = stack.enter_context(overload.control_group(where.quota))
        with overload.confined(group):
            flags = ("--insecure", *options.flag)
            server = stack.enter_context(Server(*flags, python=options.python))
        with server.channel() as channel:
            heavy = script(_turns(server, channel, overload.HEAVY_SECONDS))
        target = overload.Target(
            server=server,
            heavy=lambda name: request(name, heavy),
            small=lambda name: request(name, script(1)),
        )
        transport = overload.measure_transport(target, options.seconds / 4)
        target = replace(target, transport_seconds=transport)
        with overload.confined(group):
            stack.enter_context(loops(where.spinning))
        # The speed of a virtual CPU moves within minutes: a row is compared with what came before
        # and after it.
        before = _call_alone(where, target, options.seconds / 2)
        for factor in options.factors:
            name = f"{where.name}, {factor:g} times the load"
            row = overload.offer(target, before.rate * factor, options.seconds)
            print(overload.describe(name, row), flush=True)
            after = _call_alone(where, target, options.seconds / 2)
            findings += overload.judge(name, where, (before, after), row)
            before = after
    return findings


def _call_alone(
    where: overload.Surroundings, target: overload.Target, seconds: float
) -> overload.Row:
    row = overload.call_alone(target, seconds)
    print(overload.describe(f"{where.name}, one at a time", row), flush=True)
    return row


def _turns(server: Server, channel: grpc.Channel, seconds: float) -> int:
    """How many turns of a loop take so much CPU time while all CPUs are busy with them."""
    count = len(os.sched_getaffinity(0))
    data = request("calibration", script(_CALIBRATION_TURNS))
    with ThreadPoolExecutor(count) as threads:
        # The first round starts workers.
        for _ in range(2):
            before = cpu_seconds(server.pid)
            list(
                threads.map(lambda _: Tally().call(channel, data, "calibration"), range(4 * count))
            )
            cpu = (cpu_seconds(server.pid) - before) / (4 * count)
    return int(_CALIBRATION_TURNS * seconds / cpu)


def _mistakes(tally: Tally) -> int:
    return tally.outcomes["FATAL"] + tally.outcomes["wrong"]


def _say(title: str, tally: Tally, seconds: float, spent: float) -> None:
    print(
        f"{title}: {dict(tally.outcomes)} in {seconds:.1f} s ({spent:.1f} s of the server's CPU "
        f"time), p50 {statistics.median(tally.seconds) * 1e3:.0f} ms, "
        f"p99 {tally.percentile(0.99) * 1e3:.0f} ms, load {os.getloadavg()[0]:.1f}"
    )
    for error in tally.errors:
        print(f"  {error}")


def main() -> int:
    """Run what was chosen, or the first two; 1 when something was not reached."""
    options = _options()
    findings = []
    rows = {"busy": busy, "flood": flood, "overload": overloads}
    for name in (options.only,) if options.only else ("busy", "flood"):
        findings += rows[name](options)
    print(table(findings))
    return 0 if all(each.measured <= each.at_most for each in findings) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("busy", "flood", "overload"))
    parser.add_argument("--requests", type=int, default=2_000, help="with large templates")
    parser.add_argument("--clients", type=int, default=10, help="that send them")
    parser.add_argument("--loops", type=int, default=4, help="beside them")
    parser.add_argument("--xrs", type=int, default=60, help="of a heavy program")
    parser.add_argument("--heavy-seconds", type=float, default=1.5, help="of CPU time for each")
    parser.add_argument("--limit-seconds", type=float, default=60.0, help="for all of them")
    parser.add_argument("--seconds", type=float, default=45.0, help="for a row of overload")
    parser.add_argument("--factors", type=float, nargs="+", default=[2.0, 4.0, 10.0])
    parser.add_argument("--python", default=sys.executable, help="whose installation is overloaded")
    parser.add_argument("--flag", action="append", default=[], help="of that server")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
