"""Every hostile script ends as the table says, and affects only its own process."""

import faulthandler
import json
import os
import resource
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from hostile.cases import Hostile
from hostile.starlark_programs import PROGRAMS
from support.timing import PATIENCE_SECONDS

from function_script.engines.starlark import engine as starlark
from function_script.request.limits import Limits
from function_script.request.program import Lazy, Program, Scope
from function_script.texts.errors import DocumentError, FatalError, LimitError, ProgramError
from function_script.texts.source import Source

LIMITS = Limits(timeout_seconds=0.2)
# For what is to end otherwise than by its time, on the slowest machine.
PATIENT = Limits(timeout_seconds=PATIENCE_SECONDS)
KILL_AFTER_SECONDS = 0.2
MEMORY_BYTES = 128 << 20
KINDS = {ProgramError: "program", DocumentError: "document", LimitError: "limit"}
SAFE = [case for case in PROGRAMS if "killed" not in case.must]
BOMBS = [case for case in PROGRAMS if "killed" in case.must]


def _evaluate(case: Hostile) -> None:
    program = Program(main=Source(name="script", text=case.script))
    parts = json.loads(case.request)
    request = Lazy({key: lambda part=part: part for key, part in parts.items()})
    limits = LIMITS if "limit" in case.must else PATIENT
    starlark.evaluate(program, Scope(request=request), limits)


def _outcome(case: Hostile) -> tuple[str, FatalError | None]:
    try:
        _evaluate(case)
    except FatalError as error:
        return KINDS[type(error)], error
    return "ok", None


@pytest.mark.parametrize("case", SAFE, ids=lambda case: case.id)
def test_engine_ends_the_script_itself(case: Hostile) -> None:
    """The error is short, and has the reason and the position."""
    outcome, error = _outcome(case)
    assert outcome in case.must
    if error is not None:
        assert case.says in str(error)
        assert len(error.diagnostics[0].message) <= 8 * 1024
        span = error.diagnostics[0].span
        if case.at is not None:
            assert span is not None
            assert (span.name, span.line, span.column) == ("script", *case.at)


@pytest.mark.parametrize("case", BOMBS, ids=lambda case: case.id)
def test_attack_ends_only_the_process(case: Hostile) -> None:
    """In a process with limits the script ends cleanly or with the process, in time."""
    assert _outcome_in_a_child(case) in case.must


def _outcome_in_a_child(case: Hostile) -> str:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _run_and_exit(case, writer)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        output = pipe.read()
    _, status = os.waitpid(pid, 0)
    return output if os.WIFEXITED(status) and output else "killed"


def _run_and_exit(case: Hostile, writer: int) -> None:
    """Run a script in the child; never return."""
    with suppress(BaseException):
        faulthandler.disable()
        os.dup2(os.open(os.devnull, os.O_RDWR), 2)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        virtual = pages * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (virtual + MEMORY_BYTES,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, KILL_AFTER_SECONDS)
        os.write(writer, _outcome(case)[0].encode())
    os._exit(0)
