"""Run one case: its steps one after the other, each in the state that the one before left.

`command` runs cases in threads that share a sandbox.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from google.protobuf import json_format

from function_script.capture import responses
from function_script.diagnostics import Diagnostic, to_frame
from function_script.errors import FatalError
from function_script.limits import Limits
from function_script.proto.v1.run_function_pb2 import RunFunctionRequest, RunFunctionResponse
from function_script.sandbox.pool import no_seed
from function_script.tools import render
from function_script.tools.cases import comparison, fake_cluster, model, outcome
from function_script.tools.cases.model import Case, Expectation, Setup, Step
from function_script.tools.cases.verdicts import CaseVerdict, Problem, VerdictBuilder
from function_script.tools.processes.options import PackageOptions
from function_script.tools.render import error_positions, functions, steps
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.runtimes.local import Local
from function_script.tools.render.runtimes.model import FunctionCaller, build_runner
from function_script.tools.results import fatal_messages
from function_script.values import Object


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of all cases.

    ``is_strict``: a built-in function must be of the version that its Function names. ``packages``
    are the choices about functions' packages.
    ``may_create_snapshots``: write those that do not exist. ``updates_snapshots``: write those
    that differ. ``derive_seed`` returns the seed of a request, see ``PoolOptions``.
    """

    runtimes: Mapping[str, functions.Selection] = field(default_factory=dict)
    is_strict: bool = False
    packages: PackageOptions = field(default_factory=PackageOptions)
    timeout_seconds: float = 60.0
    may_create_snapshots: bool = True
    updates_snapshots: bool = False
    skips_xr_validation: bool = False
    limits: Limits = field(default_factory=Limits)
    derive_seed: Callable[[bytes], bytes] = no_seed


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedStep:
    """The result of a reconcile, and the last response of each pipeline step."""

    result: render.RenderResult
    responses: Mapping[str, RunFunctionResponse]


def run(case: Case, path: Path, caller: FunctionCaller, options: RunOptions) -> CaseVerdict:
    """Run all steps, up to the first that fails unexpectedly. Raises no FatalError."""
    started = time.monotonic()
    verdict = VerdictBuilder(case)
    _CaseRun(case, replace(caller, print=verdict.print), options, verdict).run()
    return CaseVerdict(
        name=case.name,
        path=path,
        status=verdict.status(),
        problems=tuple(verdict.problems),
        snapshots=(*verdict.new_snapshots, *verdict.updated_snapshots),
        reports=tuple(verdict.reports),
        printed=tuple(verdict.printed),
        seconds=time.monotonic() - started,
    )


def render_in(
    cluster: fake_cluster.FakeCluster,
    setup: Setup,
    caller: FunctionCaller,
    options: RunOptions,
    report: Callable[[str], None],
) -> RenderedStep:
    """Run one reconcile; ``report`` gets the warnings about its XR.

    Raises FatalError, positions in the author's files.
    """
    observed = cluster.observed

    def locate_xr(problem: Diagnostic) -> Diagnostic:
        return model.locate_xr(problem, cluster.xr_parts)

    def report_xr(problem: Diagnostic, severity: str) -> None:
        report(to_frame(locate_xr(problem), severity))

    validates = not (setup.skips_xr_validation or options.skips_xr_validation)
    inputs = render.RenderInputs(
        xr=cluster.whole_xr(),
        composition=setup.program.composition,
        observed=[item.value for item in observed],
        required=cluster.required,
        credentials=setup.credentials,
        schemas=setup.schemas,
        xrd=setup.xrd,
        context=setup.context,
        spans={index: item.span for index, item in enumerate(observed) if item.span is not None},
        report=report_xr if validates else None,
    )
    index = functions.FunctionIndex(
        manifests=setup.functions,
        runtimes=options.runtimes,
        annotations={},
        is_strict=options.is_strict,
    )
    program = setup.program
    with error_positions.map_errors(program.document, program.root, program.find_input, locate_xr):
        runtimes = functions.find_runtimes(steps.parse(inputs.composition), index)
        recorder = outcome.ResponseRecorder(build_runner(runtimes, caller, options.timeout_seconds))
        result = render.render(inputs, recorder)
    return RenderedStep(result=result, responses=recorder.responses)


class _CaseRun:
    """Runs the steps of one case and collects problems in ``verdict``."""

    def __init__(
        self, case: Case, caller: FunctionCaller, options: RunOptions, verdict: VerdictBuilder
    ) -> None:
        self._case = case
        self._caller = caller
        self._options = options
        self._verdict = verdict

    def run(self) -> None:
        setup = self._case.setup
        cluster = fake_cluster.first(setup)
        for step in self._case.steps:
            if setup.request is not None:
                self._replay(step, setup.request)
                return
            try:
                cluster = fake_cluster.before_step(cluster, step)
            except FatalError as error:
                self._add_error(step, error)
                return
            report = self._verdict.report
            try:
                rendered = render_in(cluster, setup, self._caller, self._options, report)
            except FatalError as error:
                if not self._is_expected(step, error):
                    return
                continue
            if step.expect is not None:
                self._compare(step, step.expect, rendered)
            # A paused XR stays as it is, and so do its composed resources.
            if rendered.responses:
                cluster = fake_cluster.after_step(cluster, setup, rendered.result)

    def _replay(self, step: Step, request: RunFunctionRequest) -> None:
        """Call the function, and compare its response, not what Crossplane makes of it."""
        program, seconds = self._case.setup.program, self._options.timeout_seconds
        try:
            (pipeline_step,) = steps.parse(program.composition)
            runner = build_runner({pipeline_step.name: Local()}, self._caller, seconds)
            with error_positions.map_errors(program.document, program.root, program.find_input):
                reply = runner(pipeline_step, request)
                if messages := fatal_messages(reply.response):
                    problems = reply.diagnostics or [Diagnostic(message=text) for text in messages]
                    raise PipelineError(pipeline_step, *problems)
        except FatalError as error:
            self._is_expected(step, error)
            return
        if step.expect is not None:
            response: Object = json_format.MessageToDict(
                reply.response, preserving_proto_field_name=True
            )
            actual = responses.to_parts(response)
            self._add_mismatches(step, step.expect, comparison.compare(actual, step.expect))

    def _is_expected(self, step: Step, error: FatalError) -> bool:
        """Compare a failure with the expectation; report whether the step expects a failure."""
        expected = step.expect
        if expected is None or not expected.error:
            self._add_error(step, error)
            return False
        missing = list(comparison.compare_error(error, expected))
        self._add_mismatches(step, expected, missing)
        if missing:
            self._add_error(step, error)
        return True

    def _compare(self, step: Step, expected: Expectation, rendered: RenderedStep) -> None:
        actual = outcome.to_object(rendered.result, rendered.responses)
        self._add_mismatches(step, expected, comparison.compare(actual, expected))
        if expected.snapshot is not None:
            try:
                documents = outcome.documents(rendered.result)
                self._compare_snapshot(step, expected.snapshot, documents)
            except FatalError as error:
                self._add_error(step, error)

    def _compare_snapshot(self, step: Step, path: Path, documents: list[Object]) -> None:
        if not path.exists():
            if self._options.may_create_snapshots:
                comparison.write_snapshot(path, documents)
                self._verdict.new_snapshots.append(path)
                return
            message = f'documents: there is no "{path}" to compare with'
            hint = "run it without --ci to write the file, and review it"
            self._add_difference(step, Diagnostic(message=message, hint=hint))
            return
        difference = comparison.find_difference(path, documents)
        if difference is None:
            return
        if self._options.updates_snapshots:
            comparison.write_snapshot(path, documents)
            self._verdict.updated_snapshots.append(path)
            return
        message = f'documents: what was rendered is not what "{path}" holds'
        hint = "write it anew with --update, and review it"
        self._add_difference(step, Diagnostic(message=message, hint=hint), difference)

    def _add_mismatches(
        self, step: Step, expected: Expectation, mismatches: Iterable[comparison.Mismatch]
    ) -> None:
        count = self._case.setup.redacted
        note = f"{count} secrets of this request are redacted: what is made of them differs"
        for mismatch in mismatches:
            diagnostic = Diagnostic(
                message=mismatch.message, hint=mismatch.hint, notes=(note,) if count else ()
            )
            at = (*expected.at, *mismatch.at)
            self._verdict.add(step, at, Problem(diagnostic=diagnostic))

    def _add_error(self, step: Step, error: FatalError) -> None:
        for problem in error.diagnostics:
            self._verdict.add(step, step.at, Problem(diagnostic=problem))

    def _add_difference(self, step: Step, diagnostic: Diagnostic, difference: str = "") -> None:
        at = step.at if step.expect is None else step.expect.at
        problem = Problem(diagnostic=diagnostic, difference=difference)
        self._verdict.add(step, (*at, "documents"), problem)
