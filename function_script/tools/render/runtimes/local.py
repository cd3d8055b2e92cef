"""A step of this function, or of function-go-templating: the path is that of production."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from function_script import inputs
from function_script.errors import InputError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.sandbox import Answered
from function_script.tools import local_pool, manifests, step_inputs
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.requirements import StepResponse
from function_script.tools.render.runtimes.model import (
    FunctionCaller,
    FunctionReference,
    Runtime,
    RuntimeKind,
    Suitability,
)
from function_script.tools.render.steps import Step

OURS: Final = "function-script"
_PEER: Final = "function-go-templating"
# The pool ends a run a little before the deadline.
_DEADLINE_MARGIN_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Local(Runtime):
    """The sandbox of this command."""

    def describe(self) -> str:
        """Return the words after the function's name."""
        return "runs here, in the sandbox"

    def call(
        self,
        step: Step,
        request: fnv1.RunFunctionRequest,
        caller: FunctionCaller,
        timeout_seconds: float,
    ) -> StepResponse:
        """Evaluate the step's program."""
        if caller.pool is None:
            raise InputError.of(f'cannot run step "{step.name}" here: there is no sandbox')
        started = time.monotonic()
        pool = caller.pool
        with ThreadPoolExecutor(1) as executor:
            # The validator's import takes as long as the sandbox needs to start.
            validation = executor.submit(step_inputs.validate, step.input or {})
            try:
                reply = local_pool.evaluate(
                    request.SerializeToString(),
                    lambda data: pool.run(data, timeout_seconds),
                    caller.servers.packages,
                )
            except InputError as unfetched:
                raise PipelineError(step, *unfetched.diagnostics) from unfetched
        if reply.log:
            caller.print(reply.log)
        if not isinstance(reply, Answered):
            # The worker died: in a cluster, the server returns a FATAL result for it.
            is_over = time.monotonic() - started > timeout_seconds - _DEADLINE_MARGIN_SECONDS
            error = local_pool.error_of(reply, caller.timeout_hint if is_over else local_pool.BUSY)
            raise PipelineError(step, *error.diagnostics)
        response = fnv1.RunFunctionResponse.FromString(reply.response)
        if step.input and not reply.diagnostics:
            try:
                validation.result()
            except InputError as error:
                raise PipelineError(step, *error.diagnostics) from error
        return StepResponse(response=response, diagnostics=reply.diagnostics, blocked=reply.blocked)


class LocalKind(RuntimeKind):
    """Our steps run here, whatever their Function is called."""

    word = "local"
    meaning = "runs it here: this function, function-go-templating, or one that is built in"

    def judge(self, function: FunctionReference) -> Suitability:
        """Accept our packages, and inputs of our kinds."""
        if function.repository == OURS:
            return Suitability(is_suitable=True, reason="it is this function")
        if function.repository == _PEER:
            return Suitability(is_suitable=True, reason=f"inputs of {_PEER} run here")
        value = function.step.input
        # By the fields of an input alone only where no package says otherwise.
        is_ours = inputs.has_our_type if function.package else inputs.is_meant_for_us
        if value is not None and is_ours(value):
            kind = manifests.text_at(value, "kind") or "an input"
            return Suitability(is_suitable=True, reason=f"its input is {kind}, which runs here")
        return Suitability(is_suitable=False, reason="its input is none of ours")

    def build(self, function: FunctionReference) -> Runtime:
        """Return the sandbox."""
        del function
        return Local()
