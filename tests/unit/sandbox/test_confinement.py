"""The confinement of workers as they report it, and workers that do not start."""

import errno
import os
import signal
import struct
from collections.abc import Iterator
from dataclasses import replace

import pytest
from support import sandbox_dying_zygote, sandbox_handlers
from support.pool_options import HASTY
from support.pool_options import PATIENT as OPTIONS
from support.timing import wait_until

from function_script.sandbox import confinement, seccomp, spawn_errors
from function_script.sandbox.confinement import NOT_IN_FORCE, UNKNOWN, Confinement, Measure
from function_script.sandbox.outcome import Cause, Failed
from function_script.sandbox.pool import Pool
from function_script.sandbox.spawn_errors import Call, CallRefusedError
from function_script.step.telemetry import Answered
from function_script.texts.errors import SandboxError


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """Start one pool for all attempts."""
    with Pool(OPTIONS) as pool:
        yield pool


PARTIAL = Confinement(missing={Measure.SYSTEM_CALLS: errno.EPERM, Measure.PROCESSES: NOT_IN_FORCE})


def test_worker_reports_its_own_confinement() -> None:
    with Pool(OPTIONS) as pool:
        assert pool.workers.confinement() == UNKNOWN
        # The killed worker has closed its connection, and exits a moment later.
        wait_until(lambda: not pool.workers.is_available())
        pool.prefork()
        assert pool.workers.confinement() == Confinement()
        assert pool.workers.is_available()


def test_pool_reports_the_weakest_worker() -> None:
    """Each worker has its own report; the pool combines them."""
    options = replace(OPTIONS, module="support.sandbox_unfiltered", workers=2)
    with Pool(options) as pool:
        pool.prefork()
        missing = pool.workers.confinement().missing
    assert missing[Measure.SYSTEM_CALLS] == errno.EPERM
    assert Measure.MEMORY not in missing


def test_cpu_time_of_every_thread_counts() -> None:
    """A worker without a filter may start threads; their CPU time counts, too."""
    with Pool(replace(HASTY, module="support.sandbox_unfiltered")) as pool:
        replies = [pool.run(b"spin-aside") for _ in range(2)]
    filtered, unfiltered = (reply.cause for reply in replies if isinstance(reply, Failed))
    assert filtered in {Cause.BUG, Cause.FORBIDDEN}
    # RLIMIT_NPROC does not bind root.
    assert unfiltered is (Cause.TIMEOUT if os.getuid() == 0 else Cause.BUG)


def test_required_measure_that_is_missing_is_an_error() -> None:
    """The first worker has a filter and answers; the second has none and gets no request."""
    options = replace(OPTIONS, module="support.sandbox_unfiltered", requires_confinement=True)
    with Pool(options) as pool:
        reply = pool.run(b"pid")
        assert isinstance(reply, Answered)
        os.kill(int(reply.response), signal.SIGKILL)
        failed = pool.run(b"echo x")
        assert isinstance(failed, Failed)
        assert "--require-sandbox" in str(failed.error)
        assert "system_calls (Operation not permitted)" in str(failed.error)
        # A worker that is being spawned counts as one until it fails.
        wait_until(lambda: not pool.workers.is_available())


@pytest.mark.parametrize("attempt", sandbox_handlers.ATTEMPTS)
def test_system_calls_are_filtered(pool: Pool, attempt: str) -> None:
    """Injected native code can read files and end its own process only."""
    reply = pool.run(b"attempt " + attempt.encode())
    if Measure.SYSTEM_CALLS in pool.workers.confinement().missing:
        pytest.skip("this kernel filters no system calls")
    is_allowed = attempt in sandbox_handlers.ALLOWED
    assert isinstance(reply, Answered)
    assert (reply.response == b"allowed") is is_allowed


def test_architecture_has_a_program() -> None:
    """The jumps of each filter lead to an instruction, and the last one allows the call."""
    for architecture in seccomp.ARCHITECTURES.values():
        program = seccomp.build(architecture, 1)
        rules = [program[at : at + 8] for at in range(0, len(program), 8)]
        assert rules[-1] == struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)
        for at, rule in enumerate(rules):
            _, if_true, if_false, _ = struct.unpack("=HBBI", rule)
            assert at + 1 + max(if_true, if_false) <= len(rules)


def test_frame_has_the_refused_call() -> None:
    frame = confinement.pack_refusal(CallRefusedError(Call.SETPGID, errno.EPERM))
    with pytest.raises(CallRefusedError, match="setpgid: Operation not permitted"):
        confinement.unpack(frame)
    with pytest.raises(ValueError, match="a frame of 3 bytes"):
        confinement.unpack(b"abc")


def test_confinement_has_a_summary() -> None:
    assert Confinement().summary() == "full"
    assert PARTIAL.reason(Measure.MEMORY) == ""
    assert PARTIAL.summary() == (
        "partial: without system_calls (Operation not permitted), processes (it has no effect)"
    )


def test_combined_confinements_lack_what_one_lacks() -> None:
    """The order is that of the measures, not that of the workers."""
    other = Confinement(missing={Measure.MEMORY: NOT_IN_FORCE})
    combined = confinement.combine([PARTIAL, Confinement(), other])
    assert list(combined.missing) == [Measure.SYSTEM_CALLS, Measure.MEMORY, Measure.PROCESSES]
    assert confinement.combine([]) == Confinement()


REFUSALS = [
    pytest.param(Call.FORK, errno.EAGAIN, "no more processes (fork:", "pids limit", id="pids"),
    pytest.param(Call.MEMFD_CREATE, errno.EMFILE, "no more descriptors", "open files", id="files"),
    pytest.param(Call.FORK, errno.ENOMEM, "no more memory", "memory limit", id="memory"),
    pytest.param(Call.PIDFD_OPEN, errno.ENOSYS, "refused pidfd_open", "must allow", id="refused"),
]


@pytest.mark.parametrize(("call", "number", "text", "hint"), REFUSALS)
def test_refused_call_is_explained(call: Call, number: int, text: str, hint: str) -> None:
    """The hint is to raise a limit or to change the container's profile."""
    error = spawn_errors.explain(CallRefusedError(call, number))
    assert isinstance(error, SandboxError)
    assert str(error).startswith("cannot start a worker: ")
    assert text in str(error)
    assert hint in str(error)


def test_worker_that_exits_before_it_is_ready_fails_its_request() -> None:
    """The pool does not wait for its frame."""
    with Pool(replace(OPTIONS, module="support.sandbox_stillborn")) as pool:
        failed = pool.run(b"echo x")
    assert isinstance(failed, Failed)
    assert "the new process ended before it was ready" in str(failed.error)


def test_worker_that_was_killed_before_it_is_ready_is_replaced() -> None:
    """The request gets another worker."""
    with Pool(replace(OPTIONS, module="support.sandbox_late_born")) as pool:
        replies = [pool.run(b"echo x") for _ in range(2)]
    assert [reply.response for reply in replies if isinstance(reply, Answered)] == [b"x", b"x"]


def test_worker_of_a_lost_zygote_does_not_answer_for_another() -> None:
    """The frame of a worker that a dying zygote has forked is not read as that of the next one."""
    marker = sandbox_dying_zygote.marker(os.getpid())
    marker.touch()
    with Pool(replace(OPTIONS, module="support.sandbox_dying_zygote")) as pool:
        replies = [pool.run(b"echo x") for _ in range(2)]
    assert not marker.exists()
    assert [reply.response for reply in replies if isinstance(reply, Answered)] == [b"x", b"x"]
