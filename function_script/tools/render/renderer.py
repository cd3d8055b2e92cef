"""One renderer for all commands: the sandbox, the functions, and errors at the author's lines."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from function_script.proto.v1.run_function_pb2 import RunFunctionRequest, RunFunctionResponse
from function_script.texts.errors import InputError, LimitError, ProgramError
from function_script.tools import manifests, render
from function_script.tools.local_pool import Sandbox
from function_script.tools.render import RenderInputs, operation, steps
from function_script.tools.render.compose import ComposeError, RenderResult
from function_script.tools.render.operation import OperationInputs, OperationResult
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.positions import Call, Origin, Positions
from function_script.tools.render.requirements import StepCall, StepResponse
from function_script.tools.render.runtimes.local import Local, Skip
from function_script.tools.render.runtimes.model import (
    TIMEOUT_SECONDS,
    FunctionCaller,
    FunctionSource,
    Options,
    Runtime,
)
from function_script.tools.render.steps import Step

__all__ = ["TIMEOUT_SECONDS", "Answers", "Options", "Renderer", "Rendering", "StepRunner"]

Answers: TypeAlias = dict[tuple[str, Sandbox | None, bytes], StepResponse]
"""Responses by the function, the pool with the files of our programs, and the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """The result of a reconcile, and the last call of each step.

    ``skipped`` are the steps that were left out. ``positions`` locates every value; it costs
    nothing until it is asked.
    """

    result: RenderResult
    calls: Sequence[Call]
    skipped: Sequence[str]
    positions: Positions

    @property
    def responses(self) -> dict[str, RunFunctionResponse]:
        """The last response of each step, by its name."""
        return {call.step.name: call.reply.response for call in self.calls}


class Renderer:
    """Renders with ``functions``, and evaluates our steps in ``pool``; None if there are none.

    ``answers`` are the responses of earlier calls by their requests: an equal request is not made
    again. None: every call is made.
    """

    def __init__(
        self,
        pool: Sandbox | None,
        functions: FunctionSource,
        options: Options,
        answers: Answers | None = None,
    ) -> None:
        self._functions = functions
        self._answers = answers
        self._caller = FunctionCaller(pool, options)

    def render(self, inputs: RenderInputs, origin: Origin) -> Rendering:
        """Run the pipeline of a Composition, and compose; ``origin`` maps the errors.

        Raises InputError if the inputs cannot be rendered, PipelineError after a FATAL result.
        """
        with origin.map_errors():
            rendering = self.reconcile(inputs, origin)
            if rendering.result.failure is not None:
                raise rendering.result.failure
        return rendering

    def reconcile(self, inputs: RenderInputs, origin: Origin | None = None) -> Rendering:
        """`render`, but return a result after a FATAL result, too. Raises InputError, ComposeError.

        ``origin`` maps positions and what is reported of the XR, and no other errors than those
        about composed resources.
        """
        locate, report = None if origin is None else origin.locate_xr, inputs.report
        if locate is not None and report is not None:
            inputs = replace(
                inputs, report=lambda problem, severity: report(locate(problem), severity)
            )
        pipeline = steps.parse(inputs.composition, is_lenient=inputs.is_prepared)
        runner = self.start(pipeline)
        try:
            result = render.reconcile(inputs, pipeline, runner)
        except ComposeError as error:
            positions = Positions(runner.calls.values(), origin)
            place = (error.resource, error.path)
            problems = (positions.show_value(each, *place) for each in error.diagnostics)
            raise ComposeError(error.resource, error.path, *problems) from error
        calls = [*runner.calls.values()]
        return Rendering(
            result=result, calls=calls, skipped=runner.skipped, positions=Positions(calls, origin)
        )

    def render_operation(
        self, inputs: OperationInputs, origin: Origin
    ) -> tuple[OperationResult, Positions]:
        """Run the pipeline of an Operation; ``origin`` maps the errors.

        Raises InputError if the Operation cannot be run, PipelineError after a FATAL result.
        """
        with origin.map_errors():
            result, positions = self.reconcile_operation(inputs, origin)
            if result.failure is not None:
                raise result.failure
            if result.has_ended:
                raise InputError.of(
                    f"cannot render {manifests.describe(inputs.operation)}: "
                    "it has run already, or it is being deleted",
                    hint="take its status and metadata.deletionTimestamp out of the file",
                )
        return result, positions

    def reconcile_operation(
        self, inputs: OperationInputs, origin: Origin | None = None
    ) -> tuple[OperationResult, Positions]:
        """`render_operation`, but return a result after a FATAL result, too. Raises InputError."""
        pipeline = steps.parse_operation(inputs.operation, is_lenient=inputs.is_prepared)
        runner = self.start(pipeline)
        result = operation.reconcile(inputs, pipeline, runner)
        return result, Positions(runner.calls.values(), origin)

    def start(self, pipeline: Sequence[Step]) -> StepRunner:
        """Choose the runtimes; what has to be started begins to start at once."""
        # All of them before any starts: a function without a way to run is an error at once.
        runtimes = self._functions(pipeline)
        for runtime in runtimes:
            runtime.start(self._caller)
        return StepRunner(pipeline, runtimes, self._caller, self._answers)


class StepRunner:
    """Calls the functions of steps in the time of all, and records the last call of each."""

    def __init__(
        self,
        pipeline: Sequence[Step],
        runtimes: Sequence[Runtime],
        caller: FunctionCaller,
        answers: Answers | None,
    ) -> None:
        self._answers = answers
        self._runtimes = {
            step.index: runtime for step, runtime in zip(pipeline, runtimes, strict=True)
        }
        self._caller = caller
        self._remaining_seconds = caller.options.timeout_seconds
        self.calls: dict[int, Call] = {}
        self.skipped = [
            step.name for step in pipeline if isinstance(self._runtimes[step.index], Skip)
        ]

    def __call__(self, step: Step, request: RunFunctionRequest) -> StepResponse:
        """Call the function once."""
        if self._remaining_seconds <= 0:
            raise LimitError.of(
                f'cannot run step "{step.name}": the time for rendering is over',
                hint=self._caller.options.timeout_hint,
            )
        runtime = self._runtimes[step.index]
        if self._answers is None:
            response = self._call(runtime, step, request)
        else:
            pool = self._caller.pool if isinstance(runtime, Local) else None
            # The pool, too: a program in files is no part of the request.
            key = (step.function, pool, request.SerializeToString(deterministic=True))
            if key not in self._answers:
                self._answers[key] = self._call(runtime, step, request)
            response = self._answers[key]
        # Steps run in order, so the last entry is the last step of the pipeline.
        ask = partial(runtime.ask, request, self._caller)
        self.calls[step.index] = Call(step, request, response, ask)
        return response

    def _call(self, runtime: Runtime, step: Step, request: RunFunctionRequest) -> StepResponse:
        if note := runtime.note():
            self._caller.note(note)
        started = None
        try:
            # An image may have to be pulled, which takes no time of the pipeline's.
            runtime.wait(self._caller)
            started = time.monotonic()
            return runtime.call(StepCall(step, request, self._remaining_seconds), self._caller)
        except PipelineError:
            # Its problems are those of the step's program, and have positions there.
            raise
        except (InputError, ProgramError) as error:
            problems = (replace(each, field=step.name_field) for each in error.diagnostics)
            raise error.with_diagnostics(*problems) from error
        finally:
            if started is not None:
                self._remaining_seconds -= time.monotonic() - started
