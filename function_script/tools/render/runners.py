"""Run one step's function where it runs: in the sandbox, at an address, or not at all.

Called by the requirement loop. Our own steps take the very path they take in production.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from function_script.errors import InputError, LimitError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.sandbox import Answered
from function_script.tools.render.functions import Remote
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.requirements import StepResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from function_script.sandbox import Pool
    from function_script.tools.render.functions import Runtime
    from function_script.tools.render.requirements import Runner
    from function_script.tools.render.steps import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCaller:
    """What runners work with: the sandbox, and who wants to know what programs print.

    ``pool`` may be None where no step runs here.
    """

    pool: Pool | None
    print: Callable[[str], None]


def build(
    runtimes: Mapping[str, Runtime], caller: FunctionCaller, timeout_seconds: float
) -> Runner:
    """A runner for the steps in ``runtimes``; all calls together may take ``timeout_seconds``."""
    return build_for(lambda step: runtimes[step.name], caller, timeout_seconds)


def build_for(
    find: Callable[[Step], Runtime], caller: FunctionCaller, timeout_seconds: float
) -> Runner:
    """`build` with the runtime of a step's function as ``find`` says it, which may raise."""
    deadline = time.monotonic() + timeout_seconds

    def run(step: Step, request: fnv1.RunFunctionRequest) -> StepResponse:
        left_seconds = deadline - time.monotonic()
        if left_seconds <= 0:
            raise LimitError.of(
                f'cannot run step "{step.name}": the time for rendering is over',
                hint=f"it is {timeout_seconds:g} s, set by --timeout",
            )
        runtime = find(step)
        if isinstance(runtime, Remote):
            return _run_remote(step, runtime, request, caller, left_seconds)
        return (
            _skip(request) if runtime == "skip" else _run_local(step, request, caller, left_seconds)
        )

    return run


def _run_local(
    step: Step, request: fnv1.RunFunctionRequest, caller: FunctionCaller, timeout_seconds: float
) -> StepResponse:
    if caller.pool is None:
        raise InputError.of(f'cannot run step "{step.name}" here: there is no sandbox')
    reply = caller.pool.run(request.SerializeToString(), timeout_seconds)
    if reply.log:
        caller.print(reply.log)
    if not isinstance(reply, Answered):
        # The worker died: in a cluster, the server answers with a FATAL in its runtime.
        raise PipelineError(step, *reply.error.diagnostics)
    response = fnv1.RunFunctionResponse.FromString(reply.response)
    return StepResponse(response=response, diagnostics=reply.diagnostics)


def _run_remote(
    step: Step,
    runtime: Remote,
    request: fnv1.RunFunctionRequest,
    caller: FunctionCaller,
    timeout_seconds: float,
) -> StepResponse:
    from function_script.tools.render import remote  # noqa: PLC0415 - grpc is slow to import

    means = remote.CallOptions(timeout_seconds=timeout_seconds, print=caller.print)
    return StepResponse(response=remote.call(step, runtime, request, means))


def _skip(request: fnv1.RunFunctionRequest) -> StepResponse:
    """What a function without an opinion answers."""
    response = fnv1.RunFunctionResponse()
    if request.HasField("desired"):
        response.desired.CopyFrom(request.desired)
    if request.HasField("context"):
        response.context.CopyFrom(request.context)
    return StepResponse(response=response)
