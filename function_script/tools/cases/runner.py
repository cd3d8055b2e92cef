"""Run one case: its steps one after the other, each in the world that the one before left.

Called from any of the session's threads. What runs functions is a sandbox that cases share.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from function_script.diagnostics import Diagnostic
from function_script.errors import FatalError
from function_script.tools import render
from function_script.tools.cases import comparison, fake_cluster, outcome, requests, snapshot
from function_script.tools.cases.outcome import Recorder
from function_script.tools.cases.verdicts import Notes, Problem, Verdict
from function_script.tools.render import error_positions, functions, runners, steps

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from function_script.proto.v1.run_function_pb2 import RunFunctionRequest, RunFunctionResponse
    from function_script.tools.cases.fake_cluster import FakeCluster
    from function_script.tools.cases.matching import Mismatch
    from function_script.tools.cases.model import Case, Expectation, Setup, Step
    from function_script.tools.render import RenderResult
    from function_script.tools.render.functions import Runtime
    from function_script.tools.render.runners import FunctionCaller
    from function_script.values import Object


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What goes for all cases. ``may_seed``, ``updates``: which golden files are written."""

    runtimes: Mapping[str, Runtime] = field(default_factory=dict)
    timeout_seconds: float = 60.0
    may_seed: bool = True
    updates: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """What `render` returned, and the last response of each pipeline step it was made of."""

    result: RenderResult
    responses: Mapping[str, RunFunctionResponse]


def run(case: Case, path: Path, caller: FunctionCaller, terms: RunOptions) -> Verdict:
    """Run all steps, up to the first that fails unexpectedly. Raises no FatalError."""
    started = time.monotonic()
    notes = Notes(case)
    reconciles = _Reconciles(case, replace(caller, print=notes.print), terms, notes)
    reconciles.run()
    return Verdict(
        name=case.name,
        path=path,
        status=notes.status(),
        problems=tuple(notes.problems),
        written=(*notes.seeded, *notes.updated),
        printed=tuple(notes.printed),
        seconds=time.monotonic() - started,
    )


def render_in(
    world: FakeCluster, setup: Setup, caller: FunctionCaller, terms: RunOptions
) -> Rendered:
    """One reconcile. Raises FatalError, positions in the files of its author."""
    observed = world.observed
    given = render.RenderInputs(
        xr=world.whole_xr(),
        composition=setup.program.composition,
        observed=[item.value for item in observed],
        required=world.required,
        credentials=setup.credentials,
        schemas=setup.schemas,
        xrd=setup.xrd,
        context=setup.context,
        spans={index: item.span for index, item in enumerate(observed) if item.span is not None},
    )
    known = functions.FunctionIndex(
        manifests=setup.functions, runtimes=terms.runtimes, annotations={}
    )
    program = setup.program
    with error_positions.map_errors(program.document, program.root, program.find_input):
        runtimes = functions.find_runtimes(steps.parse(given.composition), known)
        recorder = Recorder(runners.build(runtimes, caller, terms.timeout_seconds))
        result = render.render(given, recorder)
    return Rendered(result=result, responses=recorder.responses)


class _Reconciles:
    """The steps of one case."""

    def __init__(self, case: Case, caller: FunctionCaller, terms: RunOptions, notes: Notes) -> None:
        self._case = case
        self._bench = caller
        self._terms = terms
        self._notes = notes

    def run(self) -> None:
        world = fake_cluster.FakeCluster(xr=self._case.setup.xr)
        for step in self._case.steps:
            following = self._step(step, world)
            if following is None:
                return
            world = following

    def _step(self, step: Step, world: FakeCluster) -> FakeCluster | None:
        """The world after the step; None when there is no going on."""
        setup = self._case.setup
        if setup.request is not None:
            self._replay(step, setup.request)
            return None
        try:
            world = fake_cluster.begin(world, step)
        except FatalError as error:
            self._note(step, error)
            return None
        try:
            rendered = render_in(world, setup, self._bench, self._terms)
        except FatalError as error:
            return world if self._is_expected(step, error) else None
        if step.expect is not None:
            self._compare(step, step.expect, rendered)
        # An XR that is paused stays as it is, and so does all that it composed.
        return fake_cluster.advance(world, setup, rendered.result) if rendered.responses else world

    def _replay(self, step: Step, request: RunFunctionRequest) -> None:
        setup, seconds = self._case.setup, self._terms.timeout_seconds
        try:
            found = requests.replay(setup, request, self._bench, seconds)
        except FatalError as error:
            self._is_expected(step, error)
            return
        if step.expect is not None:
            self._note_mismatches(step, step.expect, list(comparison.compare(found, step.expect)))

    def _is_expected(self, step: Step, error: FatalError) -> bool:
        expected = step.expect
        if expected is None or not expected.error:
            self._note(step, error)
            return False
        missing = list(comparison.compare_error(error, expected))
        self._note_mismatches(step, expected, missing)
        if missing:
            self._note(step, error)
        return True

    def _compare(self, step: Step, expected: Expectation, rendered: Rendered) -> None:
        found = outcome.to_object(rendered.result, rendered.responses)
        self._note_mismatches(step, expected, list(comparison.compare(found, expected)))
        if expected.golden is not None:
            try:
                self._compare_golden(step, expected.golden, outcome.documents(rendered.result))
            except FatalError as error:
                self._note(step, error)

    def _compare_golden(self, step: Step, golden: Path, found: list[Object]) -> None:
        if not golden.exists():
            self._seed(step, golden, found)
            return
        difference = snapshot.find_difference(golden, found)
        if difference is None:
            return
        if self._terms.updates:
            snapshot.write(golden, found)
            self._notes.updated.append(golden)
            return
        message = f'documents: what was rendered is not what "{golden}" holds'
        diagnostic = Diagnostic(message=message, hint="write it anew with --update, and review it")
        self._add(step, Problem(diagnostic=diagnostic, difference=difference), "documents")

    def _seed(self, step: Step, golden: Path, found: list[Object]) -> None:
        if self._terms.may_seed:
            snapshot.write(golden, found)
            self._notes.seeded.append(golden)
            return
        message = f'documents: there is no "{golden}" to compare with'
        hint = "run it without --ci to write the file, and review it"
        self._add(step, Problem(diagnostic=Diagnostic(message=message, hint=hint)), "documents")

    def _note_mismatches(
        self, step: Step, expected: Expectation, mismatches: list[Mismatch]
    ) -> None:
        for mismatch in mismatches:
            problem = Diagnostic(
                message=mismatch.message, hint=mismatch.hint, notes=self._redacted()
            )
            self._notes.add(step, (*expected.at, *mismatch.at), Problem(diagnostic=problem))

    def _redacted(self) -> tuple[str, ...]:
        count = self._case.setup.redacted
        if not count:
            return ()
        return (f"{count} secrets of this request are redacted: what is made of them differs",)

    def _note(self, step: Step, error: FatalError) -> None:
        for problem in error.diagnostics:
            self._notes.add(step, step.at, Problem(diagnostic=problem))

    def _add(self, step: Step, problem: Problem, key: str) -> None:
        at = step.at if step.expect is None else step.expect.at
        self._notes.add(step, (*at, key), problem)
