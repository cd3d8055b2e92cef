"""Keep a real server busy with good requests, hostile ones and faults: ``make soak``.

Good requests in every language come at a steady rate all the time; hostile ones join them in every
other slice of time, and workers are killed throughout. Ends by itself; 1 when something asked of
it was not reached.
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
from soak_faults import Reaper, Watcher
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
# The server learns from so many what is usual.
_WARM_UP_CALLS = 200
# At least so many, so that each quarter of the time has both kinds.
_SLICES = 8
_KEPT_LINES = 1_000


def main() -> int:
    """Soak, print what came of it, and say by the exit code whether it is as it must be."""
    options = _options()
    tally = Tally()
    with ExitStack() as stack:
        server, channel = _start(options, stack)
        grpc.channel_ready_future(channel).result(timeout=20)
        watcher = Watcher(server.pid)
        reaper = Reaper(server.pid, every=options.kill_every, zygote_every=options.zygote_every)
        began = time.monotonic()
        _soak(options, Client(channel, tally), (watcher.work, reaper.work))
        seconds = time.monotonic() - began
        restarts = _restarts(server)
        channel.close()
        code = server.stop()
    found = _findings(tally, watcher, reaper, code)
    report = {
        "seconds": seconds,
        "outcomes": dict(tally.outcomes),
        "per_second": sum(tally.outcomes.values()) / seconds,
        "latency_ms": {phase: _latency(tally.latencies[phase]) for phase in PHASES},
        "killed": {"workers": reaper.workers, "zygotes": reaper.zygotes},
        "restarts": restarts,
        "words": tally.words,
        "judged": [finding._asdict() for finding in found],
        "samples": [sample._asdict() for sample in watcher.samples],
    }
    options.output.write_text(json.dumps(report, indent=1))
    _print(report)
    print(table(found))
    return int(any(finding.measured > finding.at_most for finding in found))


def _start(options: argparse.Namespace, stack: ExitStack) -> tuple[Server, grpc.Channel]:
    flags, identity = ["--insecure"], None
    if options.mtls:
        authority = Authority()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        flags = ["--tls-certs-dir", str(authority.server(SERVER_NAME).write(folder))]
        identity = authority.client()
    flags += options.flag
    server = stack.enter_context(Server(*flags, python=options.python, keeps=_KEPT_LINES))
    return server, stack.enter_context(server.channel(identity))


def _soak(
    options: argparse.Namespace,
    client: Client,
    besides: Sequence[Callable[[threading.Event], None]],
) -> None:
    """All threads for as long as asked, first some good requests to warm up."""
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
        works = [send_good, send_hostile, *[lambda work=work: work(stop) for work in besides]]
        running = [threading.Thread(target=work) for work in works]
        for thread in running:
            thread.start()
        try:
            _take_turns(client, threads, seconds)
        finally:
            stop.set()
            for thread in running:
                thread.join()


def _take_turns(client: Client, threads: Threads, seconds: float) -> None:
    """Alone, with hostile requests, alone again, … so that both see the same machine."""
    end = time.monotonic() + seconds
    length = min(_SLICE_SECONDS, seconds / _SLICES)
    turn = 0
    while time.monotonic() < end and not threads.failures:
        client.phase = PHASES[turn % len(PHASES)]
        time.sleep(max(0.0, min(length, end - time.monotonic())))
        turn += 1
    if threads.failures:
        raise threads.failures[0]


def _restarts(server: Server) -> dict[str, float]:
    """Workers lost by cause, as the server's metrics have it."""
    with urllib.request.urlopen(f"http://{server.metrics_address}/metrics", timeout=10) as page:
        lines = page.read().decode().splitlines()
    prefix = "function_script_worker_restarts_total{cause="
    pairs = [line.removeprefix(prefix).split("} ") for line in lines if line.startswith(prefix)]
    return {cause.strip('"'): float(count) for cause, count in pairs if float(count)}


def _latency(found: Sequence[float]) -> dict[str, float]:
    if len(found) < 2:  # noqa: PLR2004 - no quantiles of fewer
        return {}
    cuts = statistics.quantiles(found, n=100, method="inclusive")
    return {
        "calls": len(found),
        "p50": cuts[49] * 1e3,
        "p99": cuts[98] * 1e3,
        "max": max(found) * 1e3,
    }


def _findings(tally: Tally, watcher: Watcher, reaper: Reaper, code: int) -> list[Finding]:
    alone, hostile = (_latency(tally.latencies[phase]) for phase in PHASES)
    lost = tally.outcomes["lost to a kill"]
    found = [
        Finding("calls without an answer", 0, tally.outcomes["unanswered"]),
        Finding("wrong answers", 0, tally.outcomes["wrong"]),
        Finding("good requests out of time", 0, tally.outcomes["out of time"]),
        Finding("good requests lost, by killed worker", 1, lost / max(reaper.workers, 1)),
        Finding("memory, last quarter to first", MOST_GROWTH, watcher.growth("all_mib")),
        Finding("server's memory, the same", MOST_GROWTH, watcher.growth("server_mib")),
        Finding("open files, the same", MOST_GROWTH, watcher.growth("files")),
        Finding("exit code after SIGTERM", 0, code),
    ]
    if alone and hostile:
        tail = hostile["p99"] / alone["p99"]
        found.append(Finding("p99 beside hostile requests to p99 alone", MOST_TAIL, tail))
    return found


def _print(report: dict[str, object]) -> None:
    for key in ("seconds", "per_second", "outcomes", "killed", "restarts", "latency_ms"):
        print(f"{key}: {json.dumps(report[key])}")
    for words in report["words"]:  # type: ignore[attr-defined] # a list of texts
        print(words, file=sys.stderr)


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
