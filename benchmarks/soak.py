"""Load a real server with good requests, hostile ones and faults: ``make soak``.

Good requests in every language come at a steady rate; hostile ones join them in every other slice
of time, and workers are killed throughout. The exit code is 1 when a target was missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import programs
from judged import Finding, table
from soak_faults import Killer, LostRequests, Watcher
from soak_load import Client, Tally, Threads, good_requests, steadily

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from e2e.authority import Authority  # noqa: E402 - the tests' folder is on the path now
from e2e.serving import SERVER_NAME, Server  # noqa: E402 - same

LANGUAGES = {
    "starlark": programs.starlark,
    "jinja": programs.jinja,
    "gotemplate": programs.gotemplate,
}
PHASES = ("alone", "hostile")
MOST_TAIL = 3.0
MOST_GROWTH = 1.1
_SLICE_SECONDS = 15.0
# The server estimates usual run times from so many.
_WARM_UP_CALLS = 200
# Each quarter of the time has both kinds.
_SLICES = 8
# The lost requests are collected from the log before that many lines have come.
_LOG_LINES = 1_000


def main() -> int:
    """Soak, print the report, and return the exit code."""
    options = _options()
    tally = Tally()
    with ExitStack() as stack:
        server, channel = _start(options, stack)
        grpc.channel_ready_future(channel).result(timeout=20)
        watcher = Watcher(server.pid)
        killer = Killer(server.pid, every=options.kill_every, zygote_every=options.zygote_every)
        lost = LostRequests(server)
        started = time.monotonic()
        _soak(options, Client(channel, tally), (watcher.work, killer.work, lost.work))
        seconds = time.monotonic() - started
        restarts = _restarts(server)
        channel.close()
        code = server.stop()
        lost.collect()
    findings = _findings(tally, watcher, killer, code)
    report = {
        "seconds": seconds,
        "outcomes": dict(tally.outcomes),
        "per_second": sum(tally.outcomes.values()) / seconds,
        "latency_ms": {phase: _latency(tally.latencies[phase]) for phase in PHASES},
        "killed": {"workers": killer.workers, "zygotes": killer.zygotes},
        "restarts": restarts,
        "words": tally.words,
        "lost": lost.lines,
        "judged": [finding._asdict() for finding in findings],
        "samples": [sample._asdict() for sample in watcher.samples],
    }
    options.output.write_text(json.dumps(report, indent=1))
    _print(report)
    print(table(findings))
    return int(any(finding.measured > finding.at_most for finding in findings))


def _start(options: argparse.Namespace, stack: ExitStack) -> tuple[Server, grpc.Channel]:
    flags, identity = ["--insecure"], None
    if options.mtls:
        authority = Authority()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        flags = ["--tls-certs-dir", str(authority.server(SERVER_NAME).write(folder))]
        identity = authority.client()
    flags += options.flag
    server = stack.enter_context(Server(*flags, python=options.python, keeps=_LOG_LINES))
    return server, stack.enter_context(server.channel(identity))


def _soak(
    options: argparse.Namespace,
    client: Client,
    tasks: Sequence[Callable[[threading.Event], None]],
) -> None:
    """Warm up with some good requests, then run all threads for the time of the options."""
    goods = good_requests(LANGUAGES)
    seconds = options.minutes * 60
    stop = threading.Event()
    with Threads() as threads:

        def send_good() -> None:
            for number in steadily(options.rate, stop):
                threads.start(client.send_good, goods[number % len(goods)], number)

        def send_hostile() -> None:
            for number in steadily(options.hostile_rate, stop):
                if client.phase == "hostile":
                    threads.start(client.send_hostile, number)

        for number in range(_WARM_UP_CALLS):
            client.send_good(goods[number % len(goods)], number)
        targets = [send_good, send_hostile, *[lambda task=task: task(stop) for task in tasks]]
        running = [threading.Thread(target=target) for target in targets]
        for thread in running:
            thread.start()
        try:
            _alternate_phases(client, threads, seconds)
        finally:
            stop.set()
            for thread in running:
                thread.join()


def _alternate_phases(client: Client, threads: Threads, seconds: float) -> None:
    """Send alone, with hostile requests, alone again: both phases see the same machine."""
    end = time.monotonic() + seconds
    length = min(_SLICE_SECONDS, seconds / _SLICES)
    number = 0
    while time.monotonic() < end and not threads.failures:
        client.phase = PHASES[number % len(PHASES)]
        time.sleep(max(0.0, min(length, end - time.monotonic())))
        number += 1
    if threads.failures:
        raise threads.failures[0]


def _restarts(server: Server) -> dict[str, float]:
    """Return the number of lost workers by cause, from the server's metrics."""
    with urllib.request.urlopen(f"http://{server.metrics_address}/metrics", timeout=10) as page:
        lines = page.read().decode().splitlines()
    prefix = "function_script_worker_restarts_total{cause="
    pairs = [line.removeprefix(prefix).split("} ") for line in lines if line.startswith(prefix)]
    return {cause.strip('"'): float(count) for cause, count in pairs if float(count)}


def _latency(seconds: Sequence[float]) -> dict[str, float]:
    if len(seconds) < 2:  # noqa: PLR2004 - no quantiles of fewer
        return {}
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return {
        "calls": len(seconds),
        "p50": cuts[49] * 1e3,
        "p99": cuts[98] * 1e3,
        "max": max(seconds) * 1e3,
    }


def _findings(tally: Tally, watcher: Watcher, killer: Killer, code: int) -> list[Finding]:
    alone, hostile = (_latency(tally.latencies[phase]) for phase in PHASES)
    lost = tally.outcomes["lost to a kill"]
    findings = [
        Finding("calls without an answer", 0, tally.outcomes["unanswered"]),
        Finding("wrong answers", 0, tally.outcomes["wrong"]),
        Finding("good requests out of time", 0, tally.outcomes["out of time"]),
        Finding("good requests lost, by killed worker", 1, lost / max(killer.workers, 1)),
        Finding("memory, last quarter to first", MOST_GROWTH, watcher.growth("all_mib")),
        Finding("server's memory, the same", MOST_GROWTH, watcher.growth("server_mib")),
        Finding("open files, the same", MOST_GROWTH, watcher.growth("files")),
        Finding("exit code after SIGTERM", 0, code),
    ]
    if alone and hostile:
        tail = hostile["p99"] / alone["p99"]
        findings.append(Finding("p99 beside hostile requests to p99 alone", MOST_TAIL, tail))
    return findings


def _print(report: dict[str, object]) -> None:
    for key in ("seconds", "per_second", "outcomes", "killed", "restarts", "latency_ms"):
        print(f"{key}: {json.dumps(report[key])}")
    for words in report["words"]:  # type: ignore[attr-defined] # a list of texts
        print(words, file=sys.stderr)
    for line in report["lost"]:  # type: ignore[attr-defined] # a list of log lines
        if line["outcome"] != "killed":
            print("lost:", json.dumps(line), file=sys.stderr)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=40.0, help="good requests per second")
    parser.add_argument("--hostile-rate", type=float, default=8.0, help="and hostile ones")
    parser.add_argument(
        "--kill-every", type=float, default=1.0, metavar="SECONDS", help="a worker; 0: never"
    )
    parser.add_argument(
        "--zygote-every", type=float, default=60.0, metavar="SECONDS", help="the zygote; 0: never"
    )
    parser.add_argument("--mtls", action="store_true", help="mutual TLS instead of plaintext")
    parser.add_argument("--python", default=sys.executable, help="serve this one's installation")
    parser.add_argument(
        "--flag", action="append", default=[], help="for the server, such as --workers=2"
    )
    parser.add_argument("--output", type=Path, default=Path("soak.json"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
