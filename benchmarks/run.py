"""Measure function-script, and others beside it, on the same requests: ``make bench``.

Every server gets the same workloads in short alternating bursts; the medians are printed as a
table and written as JSON, and cost against resources is drawn as an SVG.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import judged
import lifetime
import programs
import yaml
from chart import draw
from measure import Sample, Target, burst, listener
from workloads import TOUCHED_FEW, Workload, requests

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

LANGUAGES = {
    "jinja": programs.jinja,
    "starlark": programs.starlark,
    "gotemplate": programs.gotemplate,
}

# Bursts that every server gets before the first figure.
_WARM_UP = 5

GRIDS = {
    "short": ("0x50", "3x3", "50x50", "500x50", "50x3", "500x3"),
    "full": tuple(f"{o}x{p}" for o in (0, 3, 50, 500) for p in (10, 50, 200)),
}


def workloads(chosen: Sequence[str]) -> list[Workload]:
    """The points to measure, from ``OBSERVEDxPRODUCED``."""
    points = [tuple(map(int, point.split("x"))) for point in chosen]
    return [
        Workload(observed=observed, produced=produced, few=few, new=new)
        for observed, produced in points
        for few in ((False, True) if observed > TOUCHED_FEW else (False,))
        for new in (True, False)
    ]


def median(samples: list[Sample]) -> Sample:
    """Each figure's median."""
    rows = [asdict(sample) for sample in samples]
    return Sample(**{key: statistics.median(row[key] for row in rows) for key in rows[0]})


def parse_peer(text: str) -> tuple[str, str, list[dict[str, object]]]:
    """``NAME=HOST:PORT:INPUT.yaml[,INPUT_FEW.yaml]``: the inputs to touch all, and to touch 3."""
    name, _, rest = text.partition("=")
    host, port, paths = rest.split(":", 2)
    inputs = [yaml.safe_load(Path(path).read_text()) for path in paths.split(",")]
    return name, f"{host}:{port}", [inputs[0], inputs[-1]]


def main() -> None:
    """Measure and report."""
    options = _options()
    from e2e.serving import Server  # noqa: PLC0415 - the tests' folder is on the path now

    with tempfile.TemporaryDirectory() as folder:
        flags, certs = ["--insecure"], ()
        if options.mtls:
            flags, certs = _certificates(options.certs_dir or Path(folder))
        flags += ["--memory-limit", "1Gi", "--timeout", "30s", *options.flag]
        with Server(*flags, python=options.python) as server:
            ours = Target(name="ours", address=server.address, pid=server.pid, certs=certs)
            rows = _measure(options, ours)
            findings = lifetime.endurance(ours, LANGUAGES) if options.long else []
    findings = judged.findings(rows) + findings + lifetime.start_and_idle(options.python)
    report = {"rows": rows, "judged": [finding._asdict() for finding in findings]}
    options.output.write_text(json.dumps(report, indent=1))
    draw(rows, options.chart)
    _print(rows)
    print(judged.table(findings))


def _certificates(folder: Path) -> tuple[list[str], tuple[bytes, ...]]:
    """Return flags and a client's certificates for mutual TLS; make them where there are none."""
    from e2e.authority import Authority  # noqa: PLC0415 - the tests' folder is on the path now
    from e2e.serving import SERVER_NAME  # noqa: PLC0415 - same

    server, client = folder / "server", folder / "client"
    if not server.exists():
        # A throw-away authority.
        authority = Authority()
        authority.server(SERVER_NAME).write(server)
        authority.client().write(client)
    names = ("ca.crt", "tls.key", "tls.crt")
    return ["--tls-certs-dir", str(server)], tuple((client / name).read_bytes() for name in names)


def _measure(options: argparse.Namespace, ours: Target) -> list[dict[str, object]]:
    runs: list[tuple[str, Target, dict[bool, dict[str, object]]]] = [
        (language, ours, {few: make(few=few) for few in (False, True)})
        for language, make in LANGUAGES.items()
        if language in options.languages
    ]
    for text in options.peer:
        name, address, (every, few) = parse_peer(text)
        pid = listener(int(address.rpartition(":")[2]))
        peer = Target(name=name, address=address, pid=pid, certs=ours.certs)
        runs.append((name, peer, {False: every, True: few}))
    rows: list[dict[str, object]] = []
    chosen = workloads(options.points or GRIDS[options.grid])
    for _, target, by in runs:
        # What a fresh process touches first is dearer, whoever it is.
        first = requests(chosen[0], by[chosen[0].few])
        burst(target, chosen[0], first, options.clients[0], _WARM_UP * options.seconds)
    for workload in chosen:
        prepared = [
            (name, target, requests(workload, by[workload.few])) for name, target, by in runs
        ]
        for clients in options.clients:
            samples: dict[str, list[Sample]] = {name: [] for name, _, _ in prepared}
            for _ in range(options.rounds + 1):
                for name, target, data in prepared:
                    burst_sample = burst(target, workload, data, clients, options.seconds)
                    samples[name].append(burst_sample)
            for name, found_all in samples.items():
                # The first round warms caches.
                counted = found_all[1:]
                figures = asdict(median(counted))
                figures["rounds_cpu_ms"] = [sample.cpu_ms for sample in counted]
                rows.append({"server": name, "clients": clients, **asdict(workload), **figures})
                print(_line(rows[-1]), file=sys.stderr)
    return rows


def _line(row: dict[str, object]) -> str:
    touched = "3" if row["few"] else "all"
    documents = "new" if row["new"] else "known"
    return " ".join(
        [
            f"{row['server']:>14} {row['observed']:>8} {row['produced']:>8} {touched:>7}",
            f"{documents:>9} {row['clients']:>7} {row['cpu_ms']:>9.2f} {row['rps']:>8.0f}",
            f"{row['p50_ms']:>8.2f} {row['p99_ms']:>8.2f} {row['memory_mib']:>7.0f}",
        ]
    )


def _print(rows: list[dict[str, object]]) -> None:
    heads = "server observed produced touched documents clients cpu_ms rps p50_ms p99_ms MiB"
    widths = (14, 8, 8, 7, 9, 7, 9, 8, 8, 8, 7)
    print(" ".join(f"{head:>{width}}" for head, width in zip(heads.split(), widths, strict=True)))
    for row in rows:
        print(_line(row))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--grid", choices=[*GRIDS], default="short")
    parser.add_argument(
        "--points", nargs="+", metavar="OBSERVEDxPRODUCED", help="instead of a grid"
    )
    parser.add_argument("--languages", nargs="+", default=[*LANGUAGES], choices=[*LANGUAGES])
    parser.add_argument("--clients", nargs="+", type=int, default=[8])
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one burst")
    parser.add_argument("--rounds", type=int, default=5, help="bursts that count")
    parser.add_argument("--python", default=sys.executable, help="serve this one's installation")
    parser.add_argument(
        "--long", action="store_true", help="also memory after 10,000 and 100,000 mixed requests"
    )
    parser.add_argument("--mtls", action="store_true", help="mutual TLS instead of plaintext")
    parser.add_argument(
        "--certs-dir", type=Path, help="certificates for --mtls, of peers too; made if not there"
    )
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME=HOST:PORT:INPUT.yaml[,FEW.yaml]"
    )
    parser.add_argument(
        "--flag", action="append", default=[], help="for our server, such as --workers=2"
    )
    parser.add_argument("--output", type=Path, default=Path("bench.json"))
    parser.add_argument("--chart", type=Path, default=Path("bench.svg"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
