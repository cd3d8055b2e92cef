"""Hostile scripts that the engine ends itself; test_pool_programs.py has the others."""

import json

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
KINDS = {ProgramError: "program", DocumentError: "document", LimitError: "limit"}
SAFE = [case for case in PROGRAMS if "killed" not in case.must]


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
