"""Plain workers, for systems with POSIX only; Linux stands in for one."""

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from support.paths import ROOT
from support.plain_pools import start
from support.pool_options import HASTY
from support.pool_options import PATIENT as OPTIONS
from support.replies import answer, cause
from support.timing import wait_until

from function_script.request.limits import MIB
from function_script.sandbox import plain
from function_script.sandbox.outcome import Cause, Failed
from function_script.sandbox.pool import Pool
from function_script.sandbox.report import to_json
from function_script.step.telemetry import Answered
from function_script.texts.errors import SandboxError

# How getrusage(2) counts memory.
RESIDENT_UNIT = 1 if sys.platform == "darwin" else 1024
# A process of its own, with a pool of its own.
OPENING = """\
import resource, sys
sys.path.insert(0, "tests")
from support.plain_pools import start
from support.pool_options import PATIENT
"""
OWNER = """\
with start(PATIENT) as pool:
    for command in sys.argv[1:]:
        reply = pool.run(command.encode())
        print(getattr(reply, "cause", None) or reply.response.decode(), flush=True)
    sys.stdin.read()
"""
BOMBS = """\
with start(PATIENT) as pool:
    for command in (b"allocate 2048", b"hoard", b"allocate 2048"):
        print(pool.run(command).cause)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """Start a pool with a long time limit, whose worker is one of earlier tests."""
    with start(OPTIONS) as pool:
        yield pool


def is_running(pid: int) -> bool:
    """Report whether a process lives."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    ps = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False)
    return not ps.stdout.strip().startswith(b"Z") and ps.returncode == 0


def own(*commands: str) -> subprocess.Popen[str]:
    """Start a process that runs commands in a plain pool of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", OPENING + OWNER, *commands],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def count_files() -> int:
    """Count the descriptors of this process."""
    return len(list(Path("/dev/fd").iterdir()))


def test_pool_is_a_plain_one(pool: Pool) -> None:
    """All tests of this module rely on it."""
    assert isinstance(pool.workers._factory, plain.PlainFactory)


def test_stopped_worker_is_ended_in_time() -> None:
    """It has time on the clock only, and its own timer does not go on."""
    with start(HASTY) as pool:
        reply = pool.run(b"stop")
        assert cause(reply) is Cause.TIMEOUT
        text = "on the clock it took more time than its limit of 0.4 s (set by --time-limit)"
        assert text in str(reply.error)
        assert answer(pool.run(b"echo next")) == "next"


def test_bomb_does_not_use_much_more_than_its_limit() -> None:
    """The peak of no worker is far above 128 MiB."""
    command = [sys.executable, "-c", OPENING + BOMBS]
    *causes, peak = subprocess.check_output(command, cwd=ROOT, text=True).splitlines()
    assert causes == ["Cause.MEMORY"] * 3
    assert int(peak) * RESIDENT_UNIT < 1024 * MIB


def test_run_between_two_polls_is_checked_afterwards() -> None:
    """A run that exceeded its memory limit fails, although it has freed everything."""
    with own("narrow 30 32 allocate 60", "narrow 30 128 allocate 60", "narrow 30 32 echo x") as it:
        assert it.communicate()[0].split() == ["Cause.MEMORY", str(60 * MIB), "x"]


@pytest.mark.parametrize("command", [b"say ", b"print "], ids=str)
def test_printed_text_is_not_parsed_as_a_frame(pool: Pool, command: bytes) -> None:
    """A program cannot forge frames by printing them."""
    report = to_json(Answered(response=b""))
    lengths = (4).to_bytes(8, "little") + len(report).to_bytes(8, "little")
    frame = b"\0" + lengths + b"evil" + report
    for _ in range(3):
        assert answer(pool.run(command + frame)) in {"said", "printed"}
    assert answer(pool.run(b"echo x")) == "x"


def test_second_reply_is_not_given_to_the_next_request(tmp_path: Path) -> None:
    """A worker that has sent a frame without a request is not used again."""
    file = tmp_path / "file"
    file.touch()
    # Its worker has runs left.
    with start(OPTIONS) as pool:
        assert answer(pool.run(f"repeat {file}".encode())) == "real"
        worker = pool.workers.acquire()
        file.unlink()
        wait_until(lambda: bool(select.select([worker], [], [], 0)[0]))
        pool.workers.release(worker)
        assert answer(pool.run(b"echo mine")) == "mine"


def test_worker_writes_no_bytecode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of file sizes would truncate it, and the next import would fail."""
    (tmp_path / "late.py").write_text(f"TEXT = {'x' * 100_000!r}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with start(OPTIONS) as pool:
        assert answer(pool.run(b"import late")) == "100000"
    assert [path.name for path in tmp_path.iterdir()] == ["late.py"]


def test_thousand_runs_leak_nothing(pool: Pool) -> None:
    pid = answer(pool.run(b"echo x")) and int(answer(pool.run(b"pid")))
    files, size = count_files(), plain.resident_bytes(pid)
    for number in range(1_000):
        assert answer(pool.run(f"say {number}".encode())) == "said"
    assert int(answer(pool.run(b"pid"))) == pid
    assert count_files() == files
    assert plain.resident_bytes(pid) < size + 4 * MIB


def test_plain_pool_leaves_nothing_after_close() -> None:
    files = count_files()
    with ThreadPoolExecutor(2) as threads, start(replace(OPTIONS, workers=2)) as pool:
        pids = [int(answer(pool.run(b"pid")))]
        running = threads.submit(pool.run, b"spin")
        wait_until(lambda: pool.scheduler.busy)
        pids.append(int(answer(pool.run(b"pid"))))
        pool.close()
        assert cause(running.result()) is Cause.KILLED
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert count_files() == files


def test_unused_pool_ends_its_worker() -> None:
    """The first worker starts with the pool, before the first request."""
    files = count_files()
    start(OPTIONS).close()
    assert count_files() == files


@pytest.mark.parametrize("command", ["echo idle", "narrow 1 64 spin"])
def test_worker_ends_with_its_owner(command: str) -> None:
    """An idle one reads the end of its stream; a busy one reaches its time limit."""
    with own("pid", command) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        assert is_running(pid)
        if command == "echo idle":
            assert owner.stdout.readline() == "idle\n"
        owner.kill()
    wait_until(lambda: not is_running(pid))


def test_worker_that_cannot_be_watched_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """No program runs without a memory limit."""

    def fail(*_: object, **__: object) -> str:
        raise OSError("it cannot be read")

    # The sources of /proc and ps: our own function cannot be replaced where it is compiled.
    with start(OPTIONS) as pool:
        monkeypatch.setattr(Path, "read_text", fail)
        monkeypatch.setattr(subprocess, "run", fail)
        reply = pool.run(b"echo x")
    assert isinstance(reply, Failed)
    assert isinstance(reply.error, SandboxError)
    assert "its memory cannot be watched: it cannot be read" in str(reply.error)


def test_resident_bytes_agree() -> None:
    """/proc and ps report about the same size."""
    size = plain.resident_bytes(os.getpid())
    assert size > 10 * MIB
    assert 0.5 < size / (plain._resident_kib(os.getpid()) * 1024) < 2
    with pytest.raises(OSError, match="ps says nothing of process"):
        plain.resident_bytes(2**22 + 1)


def test_parallel_requests_get_their_own_answers() -> None:
    with ThreadPoolExecutor(8) as threads, start(replace(OPTIONS, workers=4)) as pool:
        replies = threads.map(pool.run, [f"echo {number}".encode() for number in range(200)])
        assert [answer(reply) for reply in replies] == [str(number) for number in range(200)]


def test_system_without_fork_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    with pytest.raises(SandboxError) as caught:
        start(OPTIONS)
    assert str(caught.value) == (
        "cannot run programs: this system has no os.fork "
        "(programs are not run on Windows; use WSL or the image)"
    )
