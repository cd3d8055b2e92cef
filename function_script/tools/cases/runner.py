"""Run one case: its steps one after the other, each in the state that the one before left.

`command` runs cases in threads that share a sandbox.
"""

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Final

from google.protobuf import json_format

from function_script.proto.v1.run_function_pb2 import RunFunctionRequest
from function_script.request import objects
from function_script.request.capture import responses
from function_script.request.values import Object
from function_script.sandbox.pool import Pool, PoolOptions
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError
from function_script.tools import bounded, local_pool, sources
from function_script.tools.cases import comparison, fake_cluster, model
from function_script.tools.cases.model import Case, Expectation, Step
from function_script.tools.cases.verdicts import CaseVerdict, Status
from function_script.tools.render import output, renderer, steps, validation
from function_script.tools.render.functions import FunctionIndex
from function_script.tools.render.messages import fatal_messages
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.renderer import Renderer, Rendering
from function_script.tools.render.runtimes.local import Local
from function_script.tools.validate.catalog import Catalog

# Of the values in which documents differ, those whose lines are named.
_MAX_WRITERS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of all cases; ``rendering`` are those of the renderer, ``pool`` of the sandbox.

    ``updates_snapshots``: write the expected documents that differ or do not exist.
    """

    rendering: renderer.Options = field(default_factory=renderer.Options)
    updates_snapshots: bool = False
    skips_xr_validation: bool = False
    skips_validation: bool = False
    pool: PoolOptions = local_pool.OPTIONS


def run(case: Case, pool: Pool, options: RunOptions) -> CaseVerdict:
    """Run all steps, up to the first that fails unexpectedly. Raises no FatalError."""
    started = time.monotonic()
    verdict = CaseVerdict(case.path, case.document)
    # Cases run at the same time, and what a program prints belongs to its case.
    rendering = replace(options.rendering, print=verdict.print, notes=set())
    _CaseRun(case, pool, replace(options, rendering=rendering), verdict).run()
    verdict.seconds = time.monotonic() - started
    return verdict


def render_in(
    cluster: fake_cluster.FakeCluster,
    case: Case,
    pool: Pool,
    options: RunOptions,
    report: Callable[[Diagnostic, str], None],
) -> Rendering:
    """Run one reconcile; ``report`` gets the warnings about its XR.

    Raises FatalError, positions in the author's files.
    """
    setup, inputs = case.setup, cluster.inputs
    if not (setup.skips_xr_validation or options.skips_xr_validation):
        inputs = replace(inputs, report=report)
    origin = replace(
        setup.origin, locate_xr=lambda problem: model.locate_xr(problem, cluster.xr_parts)
    )
    index = FunctionIndex(manifests=setup.functions, options=options.rendering)
    sandbox = local_pool.bind_programs(pool, origin.programs, case.project)
    return Renderer(sandbox, index.find_runtimes, options.rendering).render(inputs, origin)


class _CaseRun:
    """Runs the steps of one case and collects problems in ``verdict``."""

    def __init__(self, case: Case, pool: Pool, options: RunOptions, verdict: CaseVerdict) -> None:
        self._case = case
        self._pool = pool
        self._options = options
        self._verdict = verdict
        self._catalog = Catalog(case.setup.inputs.definitions)

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
                for problem in error.diagnostics:
                    at = (*step.at, *objects.read_path(problem.field))
                    self._verdict.add(step, at, problem)
                return
            report = self._verdict.report
            try:
                rendered = render_in(cluster, self._case, self._pool, self._options, report)
            except FatalError as error:
                if not self._is_expected(step, error):
                    return
                continue
            if not (setup.skips_validation or self._options.skips_validation):
                self._validate(step, rendered)
            if step.expect is not None:
                self._compare(step, step.expect, rendered)
            # A paused XR stays as it is, and so do its composed resources.
            if rendered.responses:
                cluster = fake_cluster.after_step(cluster, rendered.result)

    def _validate(self, step: Step, rendered: Rendering) -> None:
        for problem, severity in validation.validate(rendered, self._catalog):
            if severity == "error":
                self._verdict.add_once(step, problem)
            else:
                self._verdict.report(problem, severity)

    def _replay(self, step: Step, request: RunFunctionRequest) -> None:
        """Call the function, and compare its response, not what Crossplane makes of it."""
        origin = self._case.setup.origin
        try:
            (pipeline_step,) = steps.parse(self._case.setup.inputs.composition)
            with origin.map_errors():
                project = self._case.project
                sandbox = local_pool.bind_programs(self._pool, origin.programs, project)
                replayer = Renderer(sandbox, lambda *_: [Local()], self._options.rendering)
                runner = replayer.start([pipeline_step])
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

    def _compare(self, step: Step, expected: Expectation, rendered: Rendering) -> None:
        actual = comparison.to_outcome(rendered)
        mismatches = comparison.compare(actual, expected)
        self._add_mismatches(step, expected, mismatches, rendered)
        if expected.snapshot is not None:
            try:
                self._compare_snapshot(step, expected, expected.snapshot, rendered)
            except FatalError as error:
                self._add_error(step, error)

    def _compare_snapshot(
        self, step: Step, expectation: Expectation, path: Path, rendered: Rendering
    ) -> None:
        self._verdict.expected.add(path.absolute())
        # Those that `render --include-function-results` prints.
        documents = output.documents(rendered.result, output.OutputOptions(results=True))
        difference: str | None = ""
        expected: list[Object] = []
        message = f'documents: there is no "{path}" to compare with'
        status, verb = Status.NEW, "write it"
        # A link that leads nowhere is a file to refuse.
        if os.path.lexists(path):
            source = sources.load_file(path, self._case.project)
            expected = [document.value for document in bounded.read_documents(source)]
            difference = comparison.find_difference(path, expected, documents)
            message = f'documents: what was rendered is not what "{path}" holds'
            status, verb = Status.UPDATED, "write it anew"
        if difference is None:
            return
        if self._options.updates_snapshots:
            comparison.write_snapshot(path, documents, self._case)
            self._verdict.written[path] = status
            return
        hint: str | None = f"{verb} with `function-script test --update`, and review it"
        actual = comparison.to_outcome(rendered)
        places = comparison.find_different(actual, expected) if expected else ()
        writers = (
            comparison.find_writer(rendered, place) for place in islice(places, _MAX_WRITERS)
        )
        notes = tuple(dict.fromkeys(each for each in writers if each is not None))
        hint = None if self._case.is_input(path) else hint
        diagnostic = Diagnostic(message=message, hint=hint, notes=notes)
        self._verdict.add(step, (*expectation.at, "documents"), diagnostic, difference)

    def _add_mismatches(
        self,
        step: Step,
        expected: Expectation,
        mismatches: Iterable[comparison.Mismatch],
        rendered: Rendering | None = None,
    ) -> None:
        own_notes: list[str] = []
        if count := self._case.setup.redacted:
            own_notes.append(
                f"{count} secrets of this request are redacted: what is made of them differs"
            )
        if self._options.updates_snapshots:
            own_notes.append("--update writes files of expected documents: edit this expectation")
        for mismatch in mismatches:
            writer = None
            if rendered is not None:
                path = mismatch.at if mismatch.place is None else mismatch.place
                writer = comparison.find_writer(rendered, path)
            notes = (*([] if writer is None else [writer]), *own_notes)
            diagnostic = Diagnostic(message=mismatch.message, hint=mismatch.hint, notes=notes)
            self._verdict.add(step, (*expected.at, *mismatch.at), diagnostic)

    def _add_error(self, step: Step, error: FatalError) -> None:
        for problem in error.diagnostics:
            self._verdict.add(step, step.at, problem)
