"""The pool: requests in, replies out, whatever the handler does."""

import base64
import os
import random
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from support import builders, plain_pools, pool_options
from support.pool_options import TIMEOUT_SECONDS
from support.replies import answer
from support.sandbox_handlers import PROBLEM
from support.timing import PATIENCE_SECONDS, SLACK_SECONDS, wait_until

from function_script.engines.registry import ENGINE_MODULES
from function_script.request.limits import MIB
from function_script.sandbox.batch import RequestIdentity
from function_script.sandbox.outcome import RETRIED, Cause, Failed, Reply
from function_script.sandbox.pool import Pool, PoolOptions
from function_script.step.telemetry import Answered, RequestInfo
from function_script.texts.errors import LimitError, SandboxError

# The scheduler's policies on Linux, see sched(7).
SCHED_OTHER, SCHED_IDLE = 0, 5
OPTIONS = replace(pool_options.HASTY, max_request_bytes=4 * MIB)
PATIENT = replace(pool_options.PATIENT, max_request_bytes=4 * MIB)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """Start one pool for all tests that do not change it."""
    with Pool(PATIENT) as pool:
        yield pool


@pytest.fixture(scope="module")
def hasty() -> Iterator[Pool]:
    """Start a pool with little time for each run."""
    with Pool(OPTIONS) as pool:
        yield pool


KINDS = [pytest.param(Pool, id="of this system"), pytest.param(plain_pools.start, id="plain")]


@pytest.fixture(scope="module", params=KINDS)
def any_pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    """Start a pool of each kind of workers."""
    with request.param(PATIENT) as pool:
        yield pool


@pytest.fixture(scope="module", params=KINDS)
def any_hasty(request: pytest.FixtureRequest) -> Iterator[Pool]:
    """Start a pool of each kind of workers, with little time for each run."""
    with request.param(OPTIONS) as pool:
        yield pool


def failure(reply: Reply) -> Failed:
    assert isinstance(reply, Failed), reply
    return reply


@pytest.mark.parametrize("size", [0, 1, 70_000, 3 * MIB])
def test_payloads_of_any_size_are_carried(any_pool: Pool, size: int) -> None:
    body = random.Random(size).randbytes(size)  # noqa: S311 - the same bytes each time
    reply = any_pool.run(b"echo " + body)
    assert isinstance(reply, Answered)
    assert reply.response == body


def test_diagnostics_and_info_arrive(pool: Pool) -> None:
    reply = pool.run(b"problem x")
    assert isinstance(reply, Answered)
    assert reply.diagnostics == (PROBLEM,)
    assert reply.info == RequestInfo(step="problem")


def test_too_many_problems_are_cut(pool: Pool) -> None:
    """The response is unchanged; only the first problems arrive, without their source."""
    reply = pool.run(b"problems x")
    assert isinstance(reply, Answered)
    assert reply.response == b"x"
    assert 1 < len(reply.diagnostics) < 1_000
    assert reply.diagnostics[1].message.startswith("1 xxx")
    assert all(problem.excerpt is None for problem in reply.diagnostics)


def test_printed_text_arrives_with_its_own_request(pool: Pool) -> None:
    """It never appears in the log of another request; terminal codes are removed."""
    first, second = pool.run(b"say \x1b[2Jsecret\n"), pool.run(b"echo x")
    assert first.log == "�[2Jsecret\n"
    assert second.log == ""


@pytest.mark.linux
def test_program_sees_no_environment_and_no_foreign_files(pool: Pool) -> None:
    """Workers have their connection, their log and no file of the server."""
    assert answer(pool.run(b"environment")) == "LC_CTYPE RUST_BACKTRACE"
    files = answer(pool.run(b"files")).split()
    assert files[:4] == ["/dev/null", "/dev/null", "/memfd", "socket"]
    assert [Path(name).name for name in files[4:]] == ["statm"]


def test_workers_hold_neither_transport_nor_pool(pool: Pool) -> None:
    """They start sooner without the modules of the server's side."""
    modules = answer(pool.run(b"modules")).split()
    assert {"grpc", "function_script.sandbox.pool"}.isdisjoint(modules)


LATE = [
    # command, what the error says
    (b"spin", "time than its limit of 0.4 s (set by --time-limit)"),
    (b"big-integer", "than its limit of 0.4 s"),
    (b"deafen", "than its limit of 0.4 s"),
    (b"narrow 0.1 64 spin", "its limit of 0.1 s (set by limits.timeout)"),
    (b"narrow 9 64 spin", "its limit of 0.4 s (set by --time-limit)"),
]


@pytest.mark.parametrize(("command", "text"), LATE, ids=str)
def test_run_that_takes_too_long_is_ended(any_hasty: Pool, command: bytes, text: str) -> None:
    any_hasty.prefork()
    began = time.monotonic()
    failed = failure(any_hasty.run(command))
    assert time.monotonic() - began < TIMEOUT_SECONDS + SLACK_SECONDS
    assert failed.cause is Cause.TIMEOUT
    assert text in str(failed.error)
    assert isinstance(failed.error, LimitError)
    assert answer(any_hasty.run(b"echo next")) == "next"


@pytest.mark.linux
@pytest.mark.parametrize(
    ("command", "seconds"),
    [(b"spin", 0.4), (b"narrow 0.1 64 deafen", 0.1)],
    ids=str,
)
def test_time_limit_is_precise(hasty: Pool, command: bytes, seconds: float) -> None:
    """A run uses at most a fifth of a second more, whether worker or pool ends it."""
    used = []
    # On a busy machine the pool itself may wait for a CPU while a run goes on.
    while not used or (used[-1] >= seconds + 0.2 and len(used) < 5):
        failed = failure(hasty.run(command))
        assert failed.cause is Cause.TIMEOUT
        used.append(failed.cpu_seconds)
    assert seconds * 0.8 < min(used) < seconds + 0.2


@pytest.mark.linux
def test_time_without_a_cpu_does_not_count(hasty: Pool) -> None:
    """A run within its limit is answered, however long its worker was stopped."""
    worker = int(answer(hasty.run(b"pid")))
    with ThreadPoolExecutor(1) as threads:
        began = time.monotonic()
        run = threads.submit(hasty.run, b"work 0.2")
        time.sleep(0.1)
        os.kill(worker, signal.SIGSTOP)
        time.sleep(TIMEOUT_SECONDS)
        os.kill(worker, signal.SIGCONT)
        reply = run.result()
    assert answer(reply) == "worked"
    assert isinstance(reply, Answered)
    assert 0.2 <= reply.cpu_seconds < TIMEOUT_SECONDS
    assert time.monotonic() - began > TIMEOUT_SECONDS


@pytest.mark.linux
def test_heavy_runs_are_paused_but_one() -> None:
    """All are answered in turn, and a pause does not count against the limit."""
    options = replace(PATIENT, workers=3, slow_workers=8, heavy_runs=1)
    with ThreadPoolExecutor(3) as threads, Pool(options) as pool:
        pool.prefork()
        runs = list(threads.map(pool.run, [b"work 0.4"] * 3))
    assert [answer(run) for run in runs] == ["worked"] * 3
    waited = sorted(run.waited_seconds for run in runs)
    assert waited[1] > 0.2
    assert waited[2] > 0.4


@pytest.mark.linux
def test_cost_of_a_program_is_estimated() -> None:
    """Its next run is refused when the deadline leaves less."""
    options = replace(
        PATIENT,
        slow_workers=4,
        identify=lambda data: RequestIdentity("xr", data.split()[0]),
    )
    with Pool(options) as pool:
        assert answer(pool.run(b"work 0.4")) == "worked"
        refused = failure(pool.run(b"work 0.4", timeout_seconds=0.2))
        assert refused.cause is Cause.REFUSED
        assert "and the call's deadline leaves 0.2 s" in str(refused.error)
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
    (b"forge 18446744073709551615", Cause.CRASH, "crashed"),
    (b"forge-report 2000000", Cause.CRASH, "crashed"),
    (b"forge-replies 2", Cause.CRASH, "crashed"),
    (b"babble", Cause.CRASH, "crashed"),
]


@pytest.mark.parametrize(("command", "cause", "text"), FAILURES, ids=str)
def test_failures_are_explained(any_pool: Pool, command: bytes, cause: Cause, text: str) -> None:
    failed = failure(any_pool.run(command))
    assert failed.cause is cause
    assert text in str(failed.error)
    limits = {Cause.MEMORY, Cause.OUTPUT}
    assert isinstance(failed.error, LimitError if cause in limits else SandboxError)
    assert answer(any_pool.run(b"echo next")) == "next"


def test_bugs_are_located_and_not_quoted(pool: Pool) -> None:
    """An exception's text may hold data of a request: neither error nor detail has it."""
    failed = failure(pool.run(b"raise hunter2"))
    assert "KeyError" in failed.detail
    assert "_raise" in failed.detail
    assert "hunter2" not in f"{failed.error} {failed.detail} {failed.log}"


def test_panic_notices_are_removed_from_the_log(pool: Pool) -> None:
    """They have paths of a build machine."""
    assert "secret" not in failure(pool.run(b"panic x")).log


def test_crash_is_described_to_the_operator(pool: Pool) -> None:
    failed = failure(pool.run(b"say-and-crash its last line\n"))
    assert failed.detail == "wait status 11 (SIGSEGV); it printed last: its last line"
    assert "its last line" not in str(failed.error)


PRINT_AND_CRASH = """\
def main(req):
    print("it is", req["credentials"]["api"]["data"]["value"])
    x = []
    for i in range(1000):
        x = [x]
    return {"context": {"x": json.encode(x)}}
"""


def test_description_of_a_crash_has_no_secrets() -> None:
    """A program may print them before its worker crashes."""
    data = {"value": base64.b64encode(b"hunter2-marker").decode()}
    request = builders.request(
        {**builders.starlark(PRINT_AND_CRASH), "credentials": ["api"]},
        credentials={"api": {"credentialData": {"data": data}}},
    )
    options = PoolOptions(workers=1, preload=ENGINE_MODULES)
    with Pool(options) as pool:
        failed = failure(pool.run(request.SerializeToString()))
    assert failed.cause is Cause.CRASH
    assert "; it printed last: it is " in failed.detail
    assert "hunter2" not in failed.detail


def test_program_may_print_64_kib(any_pool: Pool) -> None:
    """Printing more ends it; the log has the first 64 KiB."""
    reply = any_pool.run(b"say " + b"x" * 64 * 1024)
    assert isinstance(reply, Answered)
    assert reply.log == "x" * 64 * 1024
    assert failure(any_pool.run(b"shout")).log == "x" * 64 * 1024


def test_worker_dumps_no_core(pool: Pool) -> None:
    """It would have data of the request."""
    assert answer(pool.run(b"limit RLIMIT_CORE")) == "0"


@pytest.mark.linux
def test_narrowed_limits_end_with_their_request(pool: Pool) -> None:
    """The next request has the operator's limits."""
    before = answer(pool.run(b"limit RLIMIT_AS"))
    assert answer(pool.run(b"narrow 30 16 echo x")) == "x"
    assert answer(pool.run(b"limit RLIMIT_AS")) == before


def test_requests_over_the_limit_are_refused(pool: Pool) -> None:
    """It is as large the next time, whatever else the machine does."""
    failed = failure(pool.run(b"x" * (5 * MIB)))
    assert failed.cause not in RETRIED
    assert "has 5 MiB, more than the limit of 4 MiB" in str(failed.error)
    assert failed.error.diagnostics[0].hint is None


def test_responses_that_do_not_fit_are_refused(any_pool: Pool) -> None:
    failed = failure(any_pool.run(b"narrow 30 128 swell 21"))
    assert (failed.cause, failed.error.limit) == (Cause.OUTPUT, "output")
    assert str(failed.error).endswith("the response has 21 MiB, and a worker can send 20 MiB")
    assert answer(any_pool.run(b"echo next")) == "next"


def test_worker_killed_while_idle_costs_no_request(any_pool: Pool) -> None:
    pid = int(answer(any_pool.run(b"pid")))
    os.kill(pid, signal.SIGKILL)
    assert int(answer(any_pool.run(b"pid"))) != pid


def test_worker_leaves_after_its_share_of_requests() -> None:
    """State that a handler has kept ends with it."""
    options = PoolOptions(module="support.sandbox_handlers", workers=1, max_runs=2)
    with Pool(options) as pool:
        answers = [answer(pool.run(b"remember x")) for _ in range(4)]
    assert answers == ["x", "x x", "x", "x x"]


def test_closed_pool_fails_softly() -> None:
    with Pool(OPTIONS) as pool:
        pass
    assert "shutting down" in str(failure(pool.run(b"echo x")).error)


def test_handler_that_cannot_be_imported_is_reported(capfd: pytest.CaptureFixture[str]) -> None:
    with Pool(PoolOptions(module="no_such_module")) as pool, pytest.raises(SandboxError):
        pool.prefork()
    assert "No module named 'no_such_module'" in capfd.readouterr().err


def test_waiting_ends_at_the_callers_deadline() -> None:
    options = replace(PATIENT, slow_workers=0)
    with ThreadPoolExecutor(1) as threads, Pool(options) as pool:
        pool.prefork()
        hostile = threads.submit(pool.run, b"spin")
        wait_until(lambda: pool.scheduler.busy)
        failed = failure(pool.run(b"echo x", timeout_seconds=0.1))
        assert failed.cause is Cause.WAITED
        assert "s for a free worker, as long as its deadline allows" in str(failed.error)
        # It is counted from when the request is in line, a moment after the deadline was set.
        # Half of it is for waiting, the rest for the run.
        assert 0.04 <= failed.waited_seconds < SLACK_SECONDS
        assert not hostile.done()


def test_cancelled_run_fails_and_the_pool_serves_on() -> None:
    """Its worker is killed; one that waits for its slot fails too, and so does one that follows."""
    options = replace(PATIENT, slow_workers=0)
    with ThreadPoolExecutor(2) as threads, Pool(options) as pool:
        pool.prefork()
        hostile = threads.submit(pool.run, b"spin")
        wait_until(lambda: pool.scheduler.busy)
        waiting = threads.submit(pool.run, b"echo x")
        wait_until(lambda: pool.scheduler.waiting)
        pool.cancel()
        replies = [hostile.result(), waiting.result(), pool.run(b"echo x")]
        assert {str(failure(reply).error) for reply in replies} == {"the run was cancelled"}
        pool.allow_runs()
        assert answer(pool.run(b"echo x")) == "x"


def test_long_runs_do_not_hold_up_short_ones() -> None:
    """With the only quick worker looping, a short request gets another one soon."""
    with ThreadPoolExecutor(2) as threads, Pool(PATIENT) as pool:
        for _ in range(200):  # After which it is known how short runs are here.
            answer(pool.run(b"echo x"))
        hostile = [threads.submit(pool.run, b"spin") for _ in range(2)]
        wait_until(lambda: pool.scheduler.busy)
        assert answer(pool.run(b"echo x")) == "x"
        assert not any(run.done() for run in hostile)


@pytest.mark.linux
def test_penalized_run_delays_no_other() -> None:
    """It uses neither a fast slot nor a busy CPU, until one of its key completes."""
    options = replace(PATIENT, identify=lambda data: RequestIdentity(data.split()[-1]))
    with ThreadPoolExecutor(1) as threads, Pool(options) as pool:
        failure(pool.run(b"leave xr-1"))
        answer(pool.run(b"problem xr-1"))
        assert answer(pool.run(b"policy xr-1")) == str(SCHED_IDLE)
        assert answer(pool.run(b"policy xr-1")) == str(SCHED_OTHER)
        failure(pool.run(b"leave xr-1"))
        hostile = threads.submit(pool.run, b"spin xr-1")
        wait_until(lambda: pool.scheduler.slow)
        assert answer(pool.run(b"policy xr-2")) == str(SCHED_OTHER)
        assert not hostile.done()


@pytest.mark.linux
def test_program_is_penalized_and_not_its_owner() -> None:
    options = replace(PATIENT, identify=lambda data: RequestIdentity("owner", data.split()[-1]))
    with Pool(options) as pool:
        failure(pool.run(b"leave broken"))
        assert answer(pool.run(b"policy repaired")) == str(SCHED_OTHER)
        assert answer(pool.run(b"policy broken")) == str(SCHED_IDLE)


LOSSES = [
    pytest.param(b"spin", SCHED_IDLE, id="it took too long"),
    pytest.param(b"segfault", SCHED_IDLE, id="it crashed"),
    pytest.param(b"stop", SCHED_OTHER, id="it did not get the CPU"),
    pytest.param(b"signal 9", SCHED_OTHER, id="its worker was killed"),
]


@pytest.mark.linux
@pytest.mark.parametrize(("loss", "policy"), LOSSES)
def test_losses_are_penalized_for_the_program_that_caused_them(loss: bytes, policy: int) -> None:
    """A starved run is not penalized, nor one after a kill from outside."""
    options = OPTIONS if loss in {b"spin", b"stop"} else PATIENT
    with Pool(replace(options, identify=lambda _: RequestIdentity("the same"))) as pool:
        failure(pool.run(loss))
        assert answer(pool.run(b"policy")) == str(policy)


def test_pool_counts_workers() -> None:
    """Retired workers are counted; lost ones are known from their replies."""
    options = replace(OPTIONS, max_runs=2)
    with Pool(options) as pool:
        pool.prefork()
        assert (pool.workers.idle, pool.workers.retired) == (1, 0)
        for _ in range(4):
            answer(pool.run(b"echo x"))
        assert isinstance(pool.run(b"segfault"), Failed)
        scheduler = pool.scheduler
        assert (scheduler.busy, scheduler.slow, scheduler.waiting) == (0, 0, 0)
        assert pool.workers.retired == 2
