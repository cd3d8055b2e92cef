"""Functions that run in this command: ours, as in production, and those that are built in.

A step that is left out needs no more.
"""

import time
from dataclasses import dataclass, replace
from typing import Final, Self

from function_script import inputs
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.values import Object
from function_script.step.telemetry import Answered
from function_script.texts.errors import InputError
from function_script.tools import local_pool, manifests, step_inputs
from function_script.tools.render import builtin, messages
from function_script.tools.render.pipeline import PipelineError, UnfetchedError
from function_script.tools.render.requirements import StepCall, StepResponse
from function_script.tools.render.runtimes import model

OURS: Final = "function-script"
_PEER: Final = "function-go-templating"
# The pool ends a run a little before the deadline.
_DEADLINE_MARGIN_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Local(model.Runtime):
    """The sandbox of this command."""

    word = "local"
    meaning = "runs it here: this function, function-go-templating, or one that is built in"

    @classmethod
    def judge(cls, function: model.FunctionReference) -> model.Suitability:
        """Accept our packages, and inputs of our kinds, whatever their Function is called."""
        if function.is_elsewhere:
            return model.Suitability("", is_suitable=False)
        if function.repository == OURS:
            return model.Suitability("it is this function")
        if function.repository == _PEER:
            return model.Suitability(f"inputs of {_PEER} run here")
        value = function.step.input
        # By the fields of an input alone only where no package says otherwise.
        is_ours = inputs.has_our_type if function.package else inputs.is_meant_for_us
        if value is not None and is_ours(value):
            kind = manifests.text_at(value, "kind") or "an input"
            return model.Suitability(f"its input is {kind}, which runs here")
        return model.Suitability("its input is none of ours", is_suitable=False)

    def describe(self) -> str:
        """Return the words after the function's name."""
        return "runs here, in the sandbox"

    def call(self, call: StepCall, caller: model.FunctionCaller) -> StepResponse:
        """Evaluate the step's program."""
        if caller.pool is None:
            raise InputError.of(f'cannot run step "{call.step.name}" here: there is no sandbox')
        started = time.monotonic()
        step, pool = call.step, caller.pool
        try:
            reply = local_pool.evaluate(
                call.request.SerializeToString(),
                lambda data: pool.run(data, call.timeout_seconds),
                caller.options.servers.packages,
            )
        except InputError as unfetched:
            raise UnfetchedError(step, *unfetched.diagnostics) from unfetched
        if reply.log:
            caller.options.print(reply.log)
        if not isinstance(reply, Answered):
            # The worker died: in a cluster, the server returns a FATAL result for it.
            is_over = time.monotonic() - started > call.timeout_seconds - _DEADLINE_MARGIN_SECONDS
            hint = caller.options.timeout_hint if is_over else local_pool.BUSY
            error = local_pool.error_of(reply, hint)
            raise PipelineError(step, *error.diagnostics)
        response = fnv1.RunFunctionResponse.FromString(reply.response)
        # Behind the run: the CRD may refuse what the parser takes, whose messages are better.
        if step.input and not reply.diagnostics:
            try:
                step_inputs.validate(step.input)
            except InputError as error:
                raise PipelineError(step, *error.diagnostics) from error
        return StepResponse(response=response, diagnostics=reply.diagnostics, blocked=reply.blocked)

    def ask(
        self, request: fnv1.RunFunctionRequest, caller: model.FunctionCaller, mark: bytes
    ) -> bytes | None:
        """Evaluate the step's program once more; see `local_worker`."""
        pool = caller.pool
        if pool is None:
            return None
        reply = local_pool.evaluate(
            request.SerializeToString(),
            lambda data: pool.run(data + mark),
            caller.options.servers.packages,
        )
        return reply.response if isinstance(reply, Answered) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Builtin(model.Runtime):
    """A built-in function; ``other_version`` is that of the Function, unless it is the same."""

    # Functions that most pipelines have need nothing to be started.
    word = Local.word
    meaning = Local.meaning

    function: builtin.BuiltinFunction
    other_version: str

    @classmethod
    def judge(cls, function: model.FunctionReference) -> model.Suitability:
        """Accept the packages in the table of built-in functions."""
        if function.repository in builtin.FUNCTIONS:
            return model.Suitability(f"{function.repository} needs no image here")
        return model.Suitability("it is not built in", is_suitable=False)

    @classmethod
    def build(cls, function: model.FunctionReference) -> Self:
        """Return the built-in function, which `judge` has accepted."""
        own = builtin.FUNCTIONS[function.repository]
        return cls(function=own, other_version=function.find_other_version(own.version))

    def describe(self) -> str:
        """Return the words after the function's name."""
        return f"is built in, as {self.function.version}"

    def note(self) -> str:
        """Say which version runs, and which one the Function names."""
        text = f"{self.function.name} {self.function.version} is built in"
        other = self.other_version
        return f"{text}; the Function names {other}" if other else text

    def call(self, call: StepCall, caller: model.FunctionCaller) -> StepResponse:
        """Answer as the real function does."""
        del caller
        answer = builtin.call(self.function, call.request)
        prefix = f'pipeline step "{call.step.name}" returned a fatal result: '
        problems = (
            replace(problem, message=f"{prefix}{problem.message}") for problem in answer.diagnostics
        )
        return replace(answer, diagnostics=tuple(problems))


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip(model.Runtime):
    """No call: desired state and context pass unchanged.

    Only the command line skips a step: leaving one out is the author's decision.
    """

    word = "skip"
    meaning = "leaves the step out"
    suits_all = True

    def describe(self) -> str:
        """Return the words after the function's name."""
        return "is skipped"

    def call(self, call: StepCall, caller: model.FunctionCaller) -> StepResponse:
        """Return the response of a function that changes nothing."""
        del caller
        return StepResponse(response=messages.pass_through(call.request))


def compose_input(value: Object, xr: Object, name: str = "input") -> Object:
    """Return a Composition for XRs of a type, whose one step has an input of ours."""
    api_version, kind = objects.api_version_and_kind(xr)
    step: Object = {"step": name, "functionRef": {"name": OURS}, "input": value}
    return {
        "apiVersion": manifests.COMPOSITION[0],
        "kind": manifests.COMPOSITION[1],
        "metadata": {"name": name},
        "spec": {
            "compositeTypeRef": {"apiVersion": api_version, "kind": kind},
            "mode": "Pipeline",
            "pipeline": [step],
        },
    }
