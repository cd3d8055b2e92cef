"""Look for bytes that break a promise of targets.py, guided by coverage: ``make fuzz``.

Starts itself again below atheris. What ends that process by itself (a program may: nothing but
the sandbox bounds it there) is tried again in a real worker, and counts when that fails.
"""

import argparse
import hashlib
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

_INPUT_SECONDS = 20
_MEMORY_MIB = 2_048
_MAX_BYTES = 32_768
_EXECUTED = re.compile(r"number_of_executed_units:\s*(\d+)")
_ARTIFACT = re.compile(r"Test unit written to (\S+)")


class Round(NamedTuple):
    """What came of one process of the fuzzer: inputs tried, and the one that ended it."""

    executed: int
    ended_by: Path | None
    text: str


def main() -> int:
    """Fuzz for so long; 1 when a promise was broken."""
    options = _options()
    if options.inside:
        return _fuzz(options.target, options.inside)
    if options.replay:
        return _replay(options.target, options.replay)
    end = time.monotonic() + options.seconds
    corpus = _seed(options.target, options.folder)
    executed, held, broken = 0, 0, 0
    while (left := int(end - time.monotonic())) > 0:
        found = _round(options.target, corpus, left)
        executed += found.executed
        if found.ended_by is None:
            break
        why = _judge(options.target, found.ended_by)
        held += not why
        if why:
            broken += 1
            sys.stderr.write(f"{options.target}: {found.ended_by}\n{why}\n")
    kept = len(list(corpus.iterdir()))
    sys.stdout.write(
        f"{options.target}: {executed:,} inputs, {kept:,} kept for their coverage; "
        f"{held} ended the fuzzer and not a worker's server, {broken} broke a promise\n"
    )
    return int(broken > 0)


def _seed(target: str, folder: Path) -> Path:
    from fuzz import targets  # noqa: PLC0415 - only below the fuzzer it must be imported otherwise

    corpus = folder / target
    corpus.mkdir(parents=True, exist_ok=True)
    for data in targets.TARGETS[target][1]():
        (corpus / hashlib.sha256(data).hexdigest()).write_bytes(data)
    return corpus


def _round(target: str, corpus: Path, seconds: int) -> Round:
    flags = [
        f"-max_total_time={seconds}",
        f"-timeout={_INPUT_SECONDS}",
        f"-rss_limit_mb={_MEMORY_MIB}",
        f"-max_len={_MAX_BYTES}",
        f"-artifact_prefix={corpus.parent}/{target}-",
        "-print_final_stats=1",
        str(corpus),
    ]
    done = _again(target, "--inside", *flags)
    units = _EXECUTED.findall(done.stderr)
    artifact = _ARTIFACT.search(done.stderr)
    if done.returncode and artifact is None:
        raise RuntimeError(f"the fuzzer failed:\n{done.stderr[-2000:]}")
    ended_by = Path(artifact[1]) if artifact and done.returncode else None
    return Round(int(units[-1]) if units else 0, ended_by, done.stderr)


def _judge(target: str, found: Path) -> str:
    """Why it breaks a promise; nothing when a worker's end is all that it costs."""
    try:
        done = _again(target, "--replay", str(found), timeout=_INPUT_SECONDS)
    except subprocess.TimeoutExpired:
        done = None
    if done is not None and done.returncode == 1:
        return done.stderr[-2000:]
    return _judge_in_a_worker(found.read_bytes())


def _judge_in_a_worker(data: bytes) -> str:
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - as above

    from function_script.proto.v1 import run_function_pb2 as pb  # noqa: PLC0415 - as above
    from function_script.sandbox.pool import Pool, PoolOptions  # noqa: PLC0415 - as above
    from function_script.step import function  # noqa: PLC0415 - as above
    from function_script.step.telemetry import Answered  # noqa: PLC0415 - as above

    with Pool(PoolOptions(workers=1)) as pool:
        reply = pool.run(data, _INPUT_SECONDS)
    answered = isinstance(reply, Answered)
    response = reply.response if answered else function.pass_through_unread(data, reply.error)
    try:
        pb.RunFunctionRequest.FromString(data)
        pb.RunFunctionResponse.FromString(response)
    except DecodeError as error:
        return "" if "Request" in str(error) else str(error)
    return ""


def _again(target: str, *words: str, timeout: float | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, __file__, target, *words],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=timeout,
    )


def _fuzz(target: str, flags: list[str]) -> int:
    """In the fuzzer's process; ends with it."""
    import atheris  # noqa: PLC0415 - not needed to replay

    with atheris.instrument_imports(include=["function_script"]):
        from fuzz import targets  # noqa: PLC0415 - imported to be instrumented
    atheris.Setup([__file__, *flags], targets.TARGETS[target][0])
    atheris.Fuzz()
    return 0


def _replay(target: str, found: Path) -> int:
    from fuzz import targets  # noqa: PLC0415 - as above

    targets.TARGETS[target][0](found.read_bytes())
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=["handle"])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="what was found")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="try one input again")
    parser.add_argument("--inside", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
