"""Measure good calls of a real server beside floods of others: ``python benchmarks/floods.py``.

Attacker, good client and server are processes of their own. Each flood is measured in turns with
quiet, and with a control: a process that uses as much CPU as the attacker did, and no connection.
With --bare, floods of the service's port are measured on a server that only answers, too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import grpc

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from e2e.authority import Authority, Identity  # noqa: E402 - the tests' folder is on the path now
from e2e.serving import SERVER_NAME, Server, call  # noqa: E402 - same
from hostile import attacker  # noqa: E402 - same
from hostile.client_attacks import GOOD, floods, is_answered  # noqa: E402 - same
from measure import cpu_seconds  # noqa: E402 - same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BARE_SERVER = Path(__file__).with_name("bare_server.py")
_CALL_SECONDS = 20.0
# Of good calls beside a flood, in comparison with the control beside it.
_MAX_TAIL_RATIO = 3.0
_MIN_RATE_SHARE = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Good calls of some seconds: those lost, latencies in ms, calls a second.

    ``server`` and ``attacker`` are shares of a CPU.
    """

    lost: int
    p50_ms: float
    p99_ms: float
    rate: float
    server: float
    attacker: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Flood:
    """``port`` is service, health or pages."""

    name: str
    port: str


def list_floods() -> list[Flood]:
    """Return every flood with the port that it is for."""
    return [
        *(Flood(name=name, port="service") for name in floods()),
        Flood(name="silence", port="service"),
        *(Flood(name=name, port="health") for name in ("pings", *attacker.calls_of_services())),
        *(Flood(name=name, port="pages") for name in (*attacker.pages(), "silence")),
    ]


def call_for(address: str, seconds: float, identity: Identity | None) -> dict[str, object]:
    """Call one after the other for so long; returns latencies in seconds and the number lost."""
    latencies, lost = [], 0
    options = [("grpc.ssl_target_name_override", SERVER_NAME)]
    credentials = identity and identity.credentials()
    with (
        grpc.secure_channel(address, credentials, options=options)
        if credentials
        else grpc.insecure_channel(address)
    ) as channel:
        call(channel, GOOD)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.monotonic()
            try:
                lost += not is_answered(call(channel, GOOD, timeout=_CALL_SECONDS))
                latencies.append(time.monotonic() - began)
            except grpc.RpcError:
                lost += 1
    return {"latencies": sorted(latencies), "lost": lost}


class Target(Protocol):
    """A server to flood."""

    @property
    def pid(self) -> int:
        """The process."""

    @property
    def address(self) -> str:
        """The service's port."""

    @property
    def health_address(self) -> str:
        """The port of the health service."""

    @property
    def metrics_address(self) -> str:
        """The port of HTTP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BareServer:
    """bare_server.py in a process of its own, which has no ports but the service's."""

    pid: int
    address: str
    health_address: str = ""
    metrics_address: str = ""


@contextmanager
def start_bare_server(python: str, certificates: list[str]) -> Iterator[BareServer]:
    """Run bare_server.py within the block."""
    command = [python, str(_BARE_SERVER), *certificates]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = int(process.stdout.readline() if process.stdout else "")
            yield BareServer(pid=process.pid, address=f"127.0.0.1:{port}")
        finally:
            process.kill()


class Bench:
    """A server, and the good client that calls it from a process of its own."""

    def __init__(self, server: Target, certificates: list[str], seconds: float) -> None:
        self._server = server
        self._certificates = certificates
        self._seconds = seconds

    def run_quiet(self) -> Sample:
        """Call while nobody else does anything."""
        return self._call(lambda: 0.0)

    def run_beside(self, flood: Flood) -> Sample:
        """Call beside a flood."""
        address = {
            "service": self._server.address,
            "health": self._server.health_address,
            "pages": self._server.metrics_address,
        }[flood.port]
        is_plain = flood.port != "service" or flood.name == "silence"
        certificates = [] if is_plain else self._certificates
        with attacker.attacking(flood.name, address, *certificates) as process:
            return self._call(lambda: cpu_seconds(process.pid))

    def run_control(self, share: float) -> Sample:
        """Call beside a process that uses so much of a CPU."""
        with attacker.attacking("work", f"{share:.3f}") as process:
            return self._call(lambda: cpu_seconds(process.pid))

    def _call(self, attackers_cpu: Callable[[], float]) -> Sample:
        command = [sys.executable, __file__, "--call", self._server.address, *self._certificates]
        began, used, attacked = time.monotonic(), cpu_seconds(self._server.pid), attackers_cpu()
        output = subprocess.check_output([*command, "--seconds", str(self._seconds)], text=True)
        elapsed = time.monotonic() - began
        result = json.loads(output)
        latencies = result["latencies"] or [_CALL_SECONDS]
        return Sample(
            lost=result["lost"],
            p50_ms=statistics.median(latencies) * 1e3,
            p99_ms=latencies[int(len(latencies) * 0.99)] * 1e3,
            rate=len(result["latencies"]) / sum(latencies),
            server=(cpu_seconds(self._server.pid) - used) / elapsed,
            attacker=(attackers_cpu() - attacked) / elapsed,
        )


def median(samples: list[Sample]) -> Sample:
    """Return each figure's median, and all that were lost."""
    rows = [asdict(sample) for sample in samples]
    figures = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
    return Sample(**{**figures, "lost": sum(sample.lost for sample in samples)})


def measure(bench: Bench, bare: Bench | None, flood: Flood, rounds: int) -> dict[str, object]:
    """Measure quiet, flood and control in turns, and the flood on the ``bare`` server, if any."""
    quiet, beside, control, beside_bare = [], [], [], []
    for _ in range(rounds):
        quiet.append(bench.run_quiet())
        beside.append(bench.run_beside(flood))
        control.append(bench.run_control(beside[-1].attacker))
        if bare is not None and flood.port == "service":
            beside_bare.append(bare.run_beside(flood))
    samples = {"quiet": median(quiet), "beside": median(beside), "control": median(control)}
    tail = samples["beside"].p99_ms / max(samples["quiet"].p99_ms, samples["control"].p99_ms)
    rate = samples["beside"].rate / min(samples["quiet"].rate, samples["control"].rate)
    is_kept = not samples["beside"].lost and tail <= _MAX_TAIL_RATIO
    if flood.port == "pages":
        is_kept = is_kept and rate >= _MIN_RATE_SHARE
    return {
        **asdict(flood),
        **{name: asdict(sample) for name, sample in samples.items()},
        "bare": asdict(median(beside_bare)) if beside_bare else None,
        "tail_ratio": tail,
        "rate_share": rate,
        "is_kept": is_kept,
    }


def to_line(row: dict[str, object]) -> str:
    """Return a row of the table."""
    cells = [f"{row['port']}: {row['name']}"]
    for name in ("quiet", "control", "beside"):
        sample = Sample(**row[name])  # type: ignore[arg-type] # made by measure
        cells += [f"{sample.p50_ms:.2f}", f"{sample.p99_ms:.2f}"]
    beside = Sample(**row["beside"])  # type: ignore[arg-type] # same
    cells += [f"{row['rate_share']:.0%}", str(beside.lost)]
    cells += [f"{beside.attacker:.2f}", f"{beside.server:.2f}"]
    if row["bare"] is None:
        cells += [""] * 4
    else:
        bare = Sample(**row["bare"])  # type: ignore[arg-type] # same
        cells += [f"{bare.p50_ms:.2f}", f"{bare.p99_ms:.2f}", str(bare.lost), f"{bare.server:.2f}"]
    cells.append("yes" if row["is_kept"] else "no")
    return f"| {' | '.join(cells)} |"


_HEAD = (
    "| flood | quiet p50 | p99 | control p50 | p99 | beside p50 | p99 | rate | lost | attacker CPU "
    "| server CPU | bare p50 | p99 | lost | CPU | kept |\n|---|" + "---:|" * 14 + "---|"
)


def main() -> int:
    """Measure and report, or be the good client."""
    options = _options()
    if options.call:
        address, *rest = options.call
        identity = attacker.read_identity(Path(rest[0])) if rest else None
        print(json.dumps(call_for(address, options.seconds, identity)))
        return 0
    with ExitStack() as stack:
        flags, certificates = ["--insecure"], []
        if options.mtls:
            authority = Authority()
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            flags = ["--tls-certs-dir", str(authority.server(SERVER_NAME).write(folder / "own"))]
            certificates = [str(authority.client().write(folder / "client"))]
        flags += ["--health-address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0"]
        server = stack.enter_context(Server(*flags, keeps=1_000, python=options.python))
        bench = Bench(server, certificates, options.seconds)
        bench.run_quiet()
        bare = None
        if options.bare:
            bare_server = start_bare_server(options.python, flags[1:2] if options.mtls else [])
            bare = Bench(stack.enter_context(bare_server), certificates, options.seconds)
            bare.run_quiet()
        print(
            f"load of the machine: {os.getloadavg()[0]:.1f} of {os.cpu_count()} CPUs",
            _HEAD,
            sep="\n",
        )
        rows = []
        for flood in list_floods():
            if options.only and flood.name not in options.only:
                continue
            rows.append(measure(bench, bare, flood, options.rounds))
            print(to_line(rows[-1]), flush=True)
    options.output.write_text(json.dumps({"rows": rows}, indent=1))
    return 0 if all(row["is_kept"] for row in rows) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="of each flood")
    parser.add_argument("--only", nargs="*", help="names of floods")
    parser.add_argument("--mtls", action="store_true", help="with mutual TLS at the service's port")
    parser.add_argument("--bare", action="store_true", help="measure bare_server.py, too")
    parser.add_argument("--python", default=sys.executable, help="whose installation is served")
    parser.add_argument("--output", type=Path, default=Path("floods.json"))
    parser.add_argument("--call", nargs="+", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
