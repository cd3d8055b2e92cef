"""The pool from outside: requests in, replies out, whatever the handler does."""

from __future__ import annotations

import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.sandbox_handlers import PROBLEM
from support.timing import PATIENCE_SECONDS, SLACK_SECONDS, wait_until

from function_script.errors import LimitError, SandboxError
from function_script.limits import MIB, Limits
from function_script.sandbox import Answered, Failed, Pool, PoolOptions, PoolStats, Reply
from function_script.sandbox.outcome import Cause
from function_script.telemetry import RequestInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

TIMEOUT_SECONDS = 0.4
# The scheduler's policies on Linux, see sched(7).
SCHED_OTHER, SCHED_IDLE = 0, 5
OPTIONS = PoolOptions(
    module="support.sandbox_handlers",
    limits=Limits(timeout_seconds=TIMEOUT_SECONDS, memory_bytes=128 * MIB),
    workers=1,
    slow_workers=2,
    spare=0,
    max_request_bytes=4 * MIB,
)
# For what ends otherwise than by its time, on the slowest machine.
PATIENT = replace(OPTIONS, limits=replace(OPTIONS.limits, timeout_seconds=PATIENCE_SECONDS))


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """One pool for all tests that leave it as they found it."""
    with Pool(PATIENT) as pool:
        yield pool


@pytest.fixture(scope="module")
def hasty() -> Iterator[Pool]:
    """The same with little time for each run."""
    with Pool(OPTIONS) as pool:
        yield pool


def answer(reply: Reply) -> str:
    """The text of a response that must be there."""
    assert isinstance(reply, Answered), reply
    return reply.response.decode()


def failure(reply: Reply) -> Failed:
    """The failure that must be there."""
    assert isinstance(reply, Failed), reply
    return reply


def test_a_request_is_answered(pool: Pool) -> None:
    """The response's bytes come back as the handler built them."""
    assert answer(pool.run(b"echo hello")) == "hello"


@pytest.mark.parametrize("size", [0, 1, 70_000, 3 * MIB])
def test_payloads_of_any_size_are_carried(pool: Pool, size: int) -> None:
    """Empty and large payloads come back unchanged."""
    body = random.Random(size).randbytes(size)  # noqa: S311 - the same bytes each time
    reply = pool.run(b"echo " + body)
    assert isinstance(reply, Answered)
    assert reply.response == body


def test_diagnostics_and_info_arrive(pool: Pool) -> None:
    """What people want to know beside the response is typed again on arrival."""
    reply = pool.run(b"problem x")
    assert isinstance(reply, Answered)
    assert reply.diagnostics == (PROBLEM,)
    assert reply.info == RequestInfo(step="problem")


def test_more_problems_than_anybody_reads_are_cut(pool: Pool) -> None:
    """The answer is as it was; of its problems the first ones arrive, without their source."""
    reply = pool.run(b"problems x")
    assert isinstance(reply, Answered)
    assert reply.response == b"x"
    assert 1 < len(reply.diagnostics) < 1_000
    assert reply.diagnostics[1].message.startswith("1 xxx")
    assert all(problem.excerpt is None for problem in reply.diagnostics)


def test_prints_arrive_with_their_own_request_only(pool: Pool) -> None:
    """What one request prints never appears in another's log; terminal codes are defused."""
    first, second = pool.run(b"say \x1b[2Jsecret\n"), pool.run(b"echo x")
    assert first.log == "�[2Jsecret\n"
    assert second.log == ""


def test_a_worker_is_reused(pool: Pool) -> None:
    """Consecutive requests meet the same warm process."""
    assert answer(pool.run(b"pid")) == answer(pool.run(b"pid"))


@pytest.mark.linux
def test_a_program_sees_no_environment_and_no_foreign_files(pool: Pool) -> None:
    """Workers hold their connection, their log and nothing of the server."""
    assert answer(pool.run(b"environment")) == "LC_CTYPE RUST_BACKTRACE"
    files = answer(pool.run(b"files")).split()
    assert files[:4] == ["/dev/null", "/dev/null", "/memfd", "socket"]
    assert [Path(name).name for name in files[4:]] == ["statm"]


def test_workers_know_no_grpc(pool: Pool) -> None:
    """The transport never reaches the process that runs programs."""
    assert "grpc" not in answer(pool.run(b"modules")).split()


def test_workers_hold_no_pool(pool: Pool) -> None:
    """They start sooner without what only its owner needs."""
    assert "function_script.sandbox.pool" not in answer(pool.run(b"modules")).split()


LATE = [
    # command, what the error says
    (b"spin", "time than its limit of 0.4 s (set by --timeout)"),
    (b"big-integer", "than its limit of 0.4 s"),
    (b"deafen", "than its limit of 0.4 s"),
    (b"narrow 0.1 64 spin", "its limit of 0.1 s (set by limits.timeout)"),
    (b"narrow 9 64 spin", "its limit of 0.4 s (set by --timeout)"),
]


@pytest.mark.parametrize(("command", "text"), LATE, ids=str)
def test_what_takes_too_long_is_ended(hasty: Pool, command: bytes, text: str) -> None:
    """Whatever a worker does or does not do, its error comes in time and names the limit."""
    began = time.monotonic()
    failed = failure(hasty.run(command))
    assert time.monotonic() - began < TIMEOUT_SECONDS + SLACK_SECONDS
    assert failed.cause is Cause.TIMEOUT
    assert text in str(failed.error)
    assert isinstance(failed.error, LimitError)
    assert answer(hasty.run(b"echo next")) == "next"


@pytest.mark.linux
@pytest.mark.parametrize(
    ("command", "seconds"),
    [
        (b"spin", 0.4),
        (b"deafen", 0.4),
        (b"narrow 0.1 64 spin", 0.1),
        (b"narrow 0.1 64 deafen", 0.1),
    ],
    ids=str,
)
def test_a_limit_of_time_is_kept_closely(hasty: Pool, command: bytes, seconds: float) -> None:
    """Whoever counts: what a run has used is at most a fifth of a second more."""
    failed = failure(hasty.run(command))
    assert failed.cause is Cause.TIMEOUT
    assert seconds * 0.8 < failed.cpu_seconds < seconds + 0.2


@pytest.mark.linux
def test_neighbours_cost_no_time(hasty: Pool) -> None:
    """A run that uses less than its limit is answered, however long it did not have a CPU."""
    worker = int(answer(hasty.run(b"pid")))
    with ThreadPoolExecutor(1) as threads:
        began = time.monotonic()
        run = threads.submit(hasty.run, b"work 0.3")
        time.sleep(0.1)
        os.kill(worker, signal.SIGSTOP)
        time.sleep(TIMEOUT_SECONDS)
        os.kill(worker, signal.SIGCONT)
        reply = run.result()
    assert answer(reply) == "worked"
    assert isinstance(reply, Answered)
    assert 0.3 <= reply.cpu_seconds < TIMEOUT_SECONDS
    assert time.monotonic() - began > TIMEOUT_SECONDS


@pytest.mark.linux
def test_one_heavy_run_goes_on_while_others_are_paused() -> None:
    """Each has its turn, all are answered, and what they waited is no time of theirs."""
    options = replace(PATIENT, workers=3, slow_workers=8, heavy_runs=1)
    with ThreadPoolExecutor(3) as threads, Pool(options) as pool:
        pool.fill()
        runs = list(threads.map(pool.run, [b"work 0.4"] * 3))
    assert [answer(run) for run in runs] == ["worked"] * 3
    waited = sorted(run.waited_seconds for run in runs)
    assert waited[1] > 0.2
    assert waited[2] > 0.4


@pytest.mark.linux
def test_what_a_program_needed_is_known_of_its_next_run() -> None:
    """It is not begun when its caller's deadline leaves less."""
    options = replace(
        PATIENT, slow_workers=4, key_of=lambda _: "xr", program_of=lambda data: data.split()[0]
    )
    with Pool(options) as pool:
        assert answer(pool.run(b"work 0.4")) == "worked"
        refused = failure(pool.run(b"work 0.4", timeout_seconds=0.2))
        assert refused.cause is Cause.REFUSED
        assert "of CPU time before, and the call's deadline leaves 0.2 s" in str(refused.error)
        assert answer(pool.run(b"echo x", timeout_seconds=PATIENCE_SECONDS)) == "x"


FAILURES = [
    # command, cause, what the error says
    (b"allocate 500", Cause.MEMORY, "its limit of 128 MiB (set by --memory-limit)"),
    (b"narrow 30 32 allocate 600", Cause.MEMORY, "its limit of 32 MiB (set by limits.memory)"),
    (b"narrow 30 16 hoard", Cause.MEMORY, "needed more memory"),
    (b"signal 6", Cause.MEMORY, "needed more memory"),
    (b"panic out of memory", Cause.MEMORY, "needed more memory"),
    (b"panic PyObject pointer is null", Cause.MEMORY, "needed more memory"),
    (b"panic failed printing to stderr: x", Cause.OUTPUT, "printed more than 64 KiB"),
    (b"panic Unrepresentable number", Cause.CRASH, "worker crashed: Unrepresentable number"),
    (b"shout", Cause.OUTPUT, "printed more than 64 KiB"),
    (b"segfault", Cause.CRASH, "crashed (is something nested too deeply?)"),
    (b"recurse", Cause.CRASH, "too many nested calls"),
    (b"signal 9", Cause.KILLED, "killed from outside"),
    (b"signal 31", Cause.FORBIDDEN, "a system call that the sandbox forbids"),
    (b"raise", Cause.BUG, "internal error"),
    (b"leave", Cause.BUG, "internal error"),
    (b"forge 3000000000", Cause.CRASH, "crashed"),
    (b"forge-report 2000000", Cause.CRASH, "crashed"),
    (b"babble", Cause.CRASH, "crashed"),
]


@pytest.mark.parametrize(("command", "cause", "text"), FAILURES, ids=str)
def test_failures_are_explained(pool: Pool, command: bytes, cause: Cause, text: str) -> None:
    """Whatever ends a run, the error names it, and the next request is answered."""
    failed = failure(pool.run(command))
    assert failed.cause is cause
    assert text in str(failed.error)
    limits = {Cause.MEMORY, Cause.OUTPUT}
    assert isinstance(failed.error, LimitError if cause in limits else SandboxError)
    assert answer(pool.run(b"echo next")) == "next"


def test_bugs_are_located_and_not_quoted(pool: Pool) -> None:
    """An exception's text may hold a request's data: neither error nor detail repeat it."""
    failed = failure(pool.run(b"raise hunter2"))
    assert "KeyError" in failed.detail
    assert "_raise" in failed.detail
    assert "hunter2" not in f"{failed.error} {failed.detail} {failed.log}"


def test_panic_notices_stay_out_of_the_log(pool: Pool) -> None:
    """Rust's own line with a path of a build machine is dropped."""
    assert "secret" not in failure(pool.run(b"panic x")).log


def test_prints_survive_a_kill(pool: Pool) -> None:
    """What a program printed before it was killed is there to explain it."""
    assert failure(pool.run(b"shout")).log.startswith("xxx")


@pytest.mark.linux
def test_narrowed_limits_end_with_their_request(pool: Pool) -> None:
    """The next request has the operator's memory and time again."""
    before = answer(pool.run(b"limit RLIMIT_AS"))
    assert answer(pool.run(b"narrow 30 16 echo x")) == "x"
    assert answer(pool.run(b"limit RLIMIT_AS")) == before


def test_no_core_is_dumped(pool: Pool) -> None:
    """A crash leaves no file with a request's data behind."""
    assert answer(pool.run(b"limit RLIMIT_CORE")) == "0"


def test_the_callers_deadline_wins() -> None:
    """A call with less time left than the limit is cut at its deadline, and told so."""
    with Pool(PATIENT) as pool:
        pool.fill()
        failed = failure(pool.run(b"spin", timeout_seconds=0.1))
    assert failed.cause is Cause.STARVED
    assert "it was not done at the call's deadline, after 0.1" in str(failed.error)


def test_requests_over_the_limit_are_refused(pool: Pool) -> None:
    """A request that does not fit is refused before anything is copied."""
    failed = failure(pool.run(b"x" * (5 * MIB)))
    assert failed.cause is Cause.REFUSED
    assert "has 5 MiB, more than the limit of 4 MiB" in str(failed.error)


def test_responses_that_do_not_fit_are_refused() -> None:
    """A response larger than the shared memory fails its own request only."""
    with Pool(PATIENT) as pool:
        assert failure(pool.run(b"narrow 30 128 swell 21")).cause is Cause.OUTPUT
        assert answer(pool.run(b"echo next")) == "next"


def test_a_worker_killed_while_idle_is_not_noticed() -> None:
    """The next request is answered by another worker, without an error."""
    with Pool(OPTIONS) as pool:
        pid = int(answer(pool.run(b"pid")))
        os.kill(pid, signal.SIGKILL)
        assert int(answer(pool.run(b"pid"))) != pid


@pytest.mark.linux
def test_a_killed_zygote_is_replaced() -> None:
    """Workers die with their zygote; the next request gets new ones."""
    with Pool(OPTIONS) as pool:
        worker = int(answer(pool.run(b"pid")))
        os.kill(parent_of(worker), signal.SIGKILL)
        assert answer(pool.run(b"echo next")) == "next"


def test_a_worker_leaves_after_its_share_of_requests() -> None:
    """Whatever a worker might have kept goes with it."""
    options = PoolOptions(module="support.sandbox_handlers", workers=1, max_runs=2)
    with Pool(options) as pool:
        seen = [answer(pool.run(b"remember x")) for _ in range(4)]
    assert seen == ["x", "x x", "x", "x x"]


@pytest.mark.linux
def test_nothing_is_left_after_close() -> None:
    """Closing a pool ends its workers and its zygote, and closes its files."""
    files_before = len(list(Path("/proc/self/fd").iterdir()))
    with Pool(OPTIONS) as pool:
        worker = int(answer(pool.run(b"pid")))
        zygote = parent_of(worker)
        failure(pool.run(b"spin"))
    assert not Path(f"/proc/{worker}").exists()
    assert not Path(f"/proc/{zygote}").exists()
    # Another pool may be about to close some of its own.
    wait_until(lambda: len(list(Path("/proc/self/fd").iterdir())) <= files_before)


@pytest.mark.linux
@pytest.mark.parametrize("runs", [0, 3], ids=["nothing before", "runs before"])
def test_nothing_is_left_of_a_run_that_outlasts_its_pool(runs: int) -> None:
    """It fails, and what its worker had is released."""
    files_before = len(list(Path("/proc/self/fd").iterdir()))
    with ThreadPoolExecutor(1) as threads:
        with Pool(PATIENT) as pool:
            for _ in range(runs):
                answer(pool.run(b"echo x"))
            reply = threads.submit(pool.run, b"spin")
            wait_until(lambda: pool.load().busy)
        failure(reply.result())
    wait_until(lambda: len(list(Path("/proc/self/fd").iterdir())) <= files_before)


def test_a_closed_pool_fails_softly() -> None:
    """A request that comes too late gets an error, not an exception."""
    with Pool(OPTIONS) as pool:
        pass
    assert "shutting down" in str(failure(pool.run(b"echo x")).error)


def test_a_handler_that_cannot_be_imported_is_reported(capfd: pytest.CaptureFixture[str]) -> None:
    """The pool says that workers do not start; the log has Python's own words."""
    with Pool(PoolOptions(module="no_such_module")) as pool, pytest.raises(SandboxError):
        pool.fill()
    assert "No module named 'no_such_module'" in capfd.readouterr().err


def test_waiting_ends_at_the_callers_deadline() -> None:
    """When every place is taken, a request waits no longer than its caller does."""
    options = replace(PATIENT, slow_workers=0)
    with ThreadPoolExecutor(1) as threads, Pool(options) as pool:
        pool.fill()
        hostile = threads.submit(pool.run, b"spin")
        wait_until(lambda: pool.load().busy)
        failed = failure(pool.run(b"echo x", timeout_seconds=0.1))
        assert failed.cause is Cause.WAITED
        assert "s for a free worker, until the call's deadline" in str(failed.error)
        # It is counted from when the request is in line, a moment after the deadline was set.
        assert 0.09 <= failed.waited_seconds < SLACK_SECONDS
        assert not hostile.done()


def test_long_runs_do_not_hold_up_short_ones() -> None:
    """With the only quick worker looping, a short request gets another one soon."""
    with ThreadPoolExecutor(2) as threads, Pool(PATIENT) as pool:
        for _ in range(200):  # After which it is known how short runs are here.
            answer(pool.run(b"echo x"))
        hostile = [threads.submit(pool.run, b"spin") for _ in range(2)]
        wait_until(lambda: pool.load().busy)
        assert answer(pool.run(b"echo x")) == "x"
        assert not any(run.done() for run in hostile)


def parent_of(pid: int) -> int:
    """The parent's process id."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_who_cost_a_worker_gets_a_cold_one_next_time() -> None:
    """The worker that knows the programs of others stays, however often one key fails."""
    options = replace(OPTIONS, workers=2, spare=1, key_of=lambda data: data.split()[0])
    with Pool(options) as pool:
        pool.fill()
        failure(pool.run(b"leave"))
        warm = answer(pool.run(b"pid"))
        for _ in range(4):
            failure(pool.run(b"leave"))
            assert answer(pool.run(b"pid")) == warm


@pytest.mark.linux
def test_a_suspect_holds_up_nobody() -> None:
    """It has neither a place that others want nor the CPU, until it ends well."""
    options = replace(PATIENT, key_of=lambda data: data.split()[-1])
    with ThreadPoolExecutor(1) as threads, Pool(options) as pool:
        failure(pool.run(b"leave xr-1"))
        answer(pool.run(b"problem xr-1"))
        assert answer(pool.run(b"policy xr-1")) == str(SCHED_IDLE)
        assert answer(pool.run(b"policy xr-1")) == str(SCHED_OTHER)
        failure(pool.run(b"leave xr-1"))
        hostile = threads.submit(pool.run, b"spin xr-1")
        wait_until(lambda: pool.load().slow)
        assert answer(pool.run(b"policy xr-2")) == str(SCHED_OTHER)
        assert not hostile.done()


@pytest.mark.linux
def test_who_is_to_blame_need_not_be_who_takes_turns() -> None:
    """Another program of the same owner is no suspect."""
    options = replace(PATIENT, key_of=lambda _: "owner", suspect_of=lambda data: data.split()[-1])
    with Pool(options) as pool:
        failure(pool.run(b"leave broken"))
        assert answer(pool.run(b"policy mended")) == str(SCHED_OTHER)
        assert answer(pool.run(b"policy broken")) == str(SCHED_IDLE)


LOSSES = [
    pytest.param(b"spin", SCHED_IDLE, id="it took too long"),
    pytest.param(b"segfault", SCHED_IDLE, id="it crashed"),
    pytest.param(b"stop", SCHED_OTHER, id="it did not get the CPU"),
    pytest.param(b"signal 9", SCHED_OTHER, id="its worker was killed"),
]


@pytest.mark.linux
@pytest.mark.parametrize(("loss", "policy"), LOSSES)
def test_who_is_not_to_blame_is_no_suspect(loss: bytes, policy: int) -> None:
    """A run that starved must not starve again, nor one whose worker was killed from outside."""
    options = OPTIONS if loss in {b"spin", b"stop"} else PATIENT
    with Pool(replace(options, key_of=lambda _: "the same")) as pool:
        failure(pool.run(loss))
        assert answer(pool.run(b"policy")) == str(policy)


def test_a_pool_says_how_busy_it_is() -> None:
    """Idle workers, and how many have ended in good order; lost ones are told by their replies."""
    options = replace(OPTIONS, max_runs=2)
    with Pool(options) as pool:
        pool.fill()
        assert pool.load() == PoolStats(idle=1)
        for _ in range(4):
            answer(pool.run(b"echo x"))
        assert isinstance(pool.run(b"segfault"), Failed)
        load = pool.load()
    assert (load.retired, load.busy, load.slow, load.waiting) == (2, 0, 0, 0)
