"""A function that is not called: its step changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.tools.render import messages
from function_script.tools.render.requirements import StepResponse
from function_script.tools.render.runtimes.model import (
    FunctionCaller,
    FunctionReference,
    Runtime,
    RuntimeKind,
    Suitability,
)
from function_script.tools.render.steps import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip(Runtime):
    """No call: desired state and context pass unchanged."""

    def describe(self) -> str:
        """Return the words after the function's name."""
        return "is skipped"

    def call(
        self,
        step: Step,
        request: fnv1.RunFunctionRequest,
        caller: FunctionCaller,
        timeout_seconds: float,
    ) -> StepResponse:
        """Return the response of a function that changes nothing."""
        del step, caller, timeout_seconds
        return StepResponse(response=messages.pass_through(request))


class SkipKind(RuntimeKind):
    """Only ``--function`` skips a step."""

    word = "skip"
    meaning = "leaves the step out"

    def judge(self, function: FunctionReference) -> Suitability:
        """Refuse: leaving a step out is the author's decision."""
        del function
        return Suitability(is_suitable=False, reason="")

    def build(self, function: FunctionReference) -> Runtime:
        """Return the runtime."""
        del function
        return Skip()
