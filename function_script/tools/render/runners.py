"""Call a step's function where it runs: in the sandbox, built in, at an address, or not at all.

Steps of this function take the same path as in production.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from function_script.errors import InputError, LimitError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.sandbox import Answered
from function_script.tools import local_pool, step_inputs
from function_script.tools.render import builtin
from function_script.tools.render.functions import Builtin, Remote
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.requirements import StepResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from function_script.sandbox import Pool
    from function_script.tools.render.functions import Runtime
    from function_script.tools.render.requirements import Runner
    from function_script.tools.render.steps import Step


# The pool ends a run a little before the deadline.
_DEADLINE_MARGIN_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCaller:
    """The sandbox, and the receiver of what programs print and of notes.

    ``pool`` may be None if no step runs here.
    """

    pool: Pool | None
    print: Callable[[str], None]


def build(
    runtimes: Mapping[str, Runtime],
    caller: FunctionCaller,
    timeout_seconds: float,
    timeout_flag: str = "--timeout",
) -> Runner:
    """Build a runner for the steps in ``runtimes``; ``timeout_seconds`` is for all calls.

    ``timeout_flag`` sets it; empty: no flag does.
    """
    return build_for(lambda step: runtimes[step.name], caller, timeout_seconds, timeout_flag)


def build_for(
    find: Callable[[Step], Runtime],
    caller: FunctionCaller,
    timeout_seconds: float,
    timeout_flag: str = "--timeout",
) -> Runner:
    """`build` with a function that returns a step's runtime, or raises."""
    deadline = time.monotonic() + timeout_seconds
    setter = f", set by {timeout_flag}" if timeout_flag else ""
    hint = f"all steps together have {timeout_seconds:g} s{setter}"
    notes: set[str] = set()

    def run(step: Step, request: fnv1.RunFunctionRequest) -> StepResponse:
        remaining_seconds = deadline - time.monotonic()
        if remaining_seconds <= 0:
            raise LimitError.of(
                f'cannot run step "{step.name}": the time for rendering is over',
                hint=hint,
            )
        runtime = find(step)
        if runtime == "skip":
            return _skip(request)
        if isinstance(runtime, Builtin):
            if runtime.note() not in notes:
                notes.add(runtime.note())
                caller.print(f"note: {runtime.note()}")
            return StepResponse(response=builtin.call(runtime.function, request))
        if not isinstance(runtime, Remote):
            return _run_local(step, request, caller, remaining_seconds, hint)
        from function_script.tools.render import remote  # noqa: PLC0415 - grpc is slow to import

        options = remote.CallOptions(timeout_seconds=remaining_seconds, print=caller.print)
        return StepResponse(response=remote.call(step, runtime, request, options))

    return run


def _run_local(
    step: Step,
    request: fnv1.RunFunctionRequest,
    caller: FunctionCaller,
    timeout_seconds: float,
    timeout_hint: str,
) -> StepResponse:
    """Run a step in the sandbox; ``timeout_hint`` says who set ``timeout_seconds``."""
    if caller.pool is None:
        raise InputError.of(f'cannot run step "{step.name}" here: there is no sandbox')
    started = time.monotonic()
    reply = caller.pool.run(request.SerializeToString(), timeout_seconds)
    if reply.log:
        caller.print(reply.log)
    if not isinstance(reply, Answered):
        # The worker died: in a cluster, the server returns a FATAL result for it.
        is_over = time.monotonic() - started > timeout_seconds - _DEADLINE_MARGIN_SECONDS
        error = local_pool.error_of(reply, timeout_hint if is_over else local_pool.BUSY)
        raise PipelineError(step, *error.diagnostics)
    response = fnv1.RunFunctionResponse.FromString(reply.response)
    if step.input and not reply.diagnostics:
        try:
            step_inputs.validate(step.input)
        except InputError as error:
            raise PipelineError(step, *error.diagnostics) from error
    return StepResponse(response=response, diagnostics=reply.diagnostics)


def _skip(request: fnv1.RunFunctionRequest) -> StepResponse:
    """Return the response of a function that changes nothing."""
    response = fnv1.RunFunctionResponse()
    if request.HasField("desired"):
        response.desired.CopyFrom(request.desired)
    if request.HasField("context"):
        response.context.CopyFrom(request.context)
    return StepResponse(response=response)
