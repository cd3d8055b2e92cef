"""Call the functions of a pipeline, within the time of the command line."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from function_script.errors import LimitError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.tools.render.requirements import Runner, StepResponse
from function_script.tools.render.runtimes.model import FunctionCaller, Runtime
from function_script.tools.render.steps import Step


def build(
    runtimes: Mapping[str, Runtime],
    caller: FunctionCaller,
    timeout_seconds: float,
    timeout_flag: str = "--timeout",
) -> Runner:
    """Build a runner for the steps in ``runtimes``; ``timeout_seconds`` is for all calls.

    ``timeout_flag`` sets it; empty: no flag does. What has to be started begins to start at once.
    """
    for runtime in runtimes.values():
        runtime.start(caller)
    return build_for(lambda step: runtimes[step.name], caller, timeout_seconds, timeout_flag)


def build_for(
    find: Callable[[Step], Runtime],
    caller: FunctionCaller,
    timeout_seconds: float,
    timeout_flag: str = "--timeout",
) -> Runner:
    """`build` with a function that returns a step's runtime, or raises."""
    setter = f", set by {timeout_flag}" if timeout_flag else ""
    hint = f"all steps together have {timeout_seconds:g} s{setter}"
    caller = replace(caller, timeout_hint=hint)
    notes: set[str] = set()
    remaining_seconds = timeout_seconds

    def run(step: Step, request: fnv1.RunFunctionRequest) -> StepResponse:
        nonlocal remaining_seconds
        if remaining_seconds <= 0:
            raise LimitError.of(
                f'cannot run step "{step.name}": the time for rendering is over',
                hint=hint,
            )
        runtime = find(step)
        if (note := runtime.note()) and note not in notes:
            notes.add(note)
            caller.note(note)
        # An image may have to be pulled, which takes no time of the pipeline's.
        runtime.wait(caller)
        started = time.monotonic()
        try:
            return runtime.call(step, request, caller, remaining_seconds)
        finally:
            remaining_seconds -= time.monotonic() - started

    return run
