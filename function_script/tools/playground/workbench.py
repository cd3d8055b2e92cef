"""Rendering of the page's texts, which the page can cancel: documents, events, problems, graph."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from function_script import documents, objects
from function_script.blocked import Blocked
from function_script.diagnostics import Diagnostic
from function_script.documents import Document
from function_script.errors import FatalError, InputError, SandboxError
from function_script.sandbox import Failed, Pool, PoolOptions, Reply
from function_script.sandbox.execution import Execution, WorkerLost
from function_script.sandbox.outcome import Cause
from function_script.tools import author_positions, render
from function_script.tools.cases.outcome import ResponseRecorder, to_object
from function_script.tools.playground import cases, graph, problems
from function_script.tools.playground.folders import Folder
from function_script.tools.playground.mirror import Mirror
from function_script.tools.processes.options import PackageOptions
from function_script.tools.render import command, error_positions, functions, loading, output, steps
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.runtimes.address import Remote
from function_script.tools.render.runtimes.model import FunctionCaller, Runtime, build_runner
from function_script.tools.render.runtimes.servers import Servers
from function_script.values import Object

# Gets a problem and its severity.
Report: TypeAlias = Callable[[Diagnostic, str], None]
_SKIP: Final = functions.parse_runtime("function=skip")[1]
_MILLISECONDS: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Project:
    """The objects of a folder; ``functions`` is None without a file of them."""

    composition: Document
    xr: Document
    inputs: render.RenderInputs
    functions: Sequence[Object] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rendering:
    """The result of rendering, and the responses of the steps as one plain object."""

    result: render.RenderResult
    outcome: Object
    waiting: Sequence[Blocked]


class CancellablePool(Pool):
    """Runs one step at a time for one rendering; a cancelled one runs no further step."""

    def __init__(self, options: PoolOptions) -> None:
        super().__init__(options)
        self._lock = threading.Lock()
        self._execution: Execution | None = None
        self._is_cancelled = False

    @contextmanager
    def cancellable(self) -> Iterator[None]:
        """Begin a rendering that was not cancelled yet."""
        with self._lock:
            self._is_cancelled = False
        yield

    def cancel(self) -> None:
        """Kill the worker of the current run."""
        with self._lock:
            self._is_cancelled = True
            if self._execution is not None:
                self._execution.worker.kill()

    def run(self, data: bytes, timeout_seconds: float | None = None) -> Reply:
        """Evaluate a request, as `Pool.run`; a cancelled rendering fails."""
        reply = None if self._is_cancelled else super().run(data, timeout_seconds)
        if reply is None or self._is_cancelled:
            return Failed(error=SandboxError.of("the rendering was cancelled"), cause=Cause.KILLED)
        return reply

    def _run(self, execution: Execution) -> Reply | WorkerLost:
        with self._lock:
            self._execution = execution
        try:
            return super()._run(execution)
        finally:
            with self._lock:
                self._execution = None


class RenderSession:
    """Renders texts in ``pool``, one run at a time, from a copy in ``directory``.

    ``runtimes`` say where functions run, by name; ``packages`` how their packages are fetched.
    ``timeout_seconds`` is for all steps together. ``is_strict``: see `FunctionIndex`.
    """

    def __init__(  # noqa: PLR0913 - the flags of the command
        self,
        pool: CancellablePool,
        directory: Path,
        runtimes: Mapping[str, functions.Selection],
        packages: PackageOptions | None = None,
        timeout_seconds: float = 20.0,
        *,
        is_strict: bool = False,
    ) -> None:
        self._timeout_seconds = timeout_seconds
        self._pool = pool
        self._mirror = Mirror(directory)
        self._runtimes = runtimes
        self._is_strict = is_strict
        self._lock = threading.Lock()
        self._servers = Servers(packages)

    def cancel(self) -> None:
        """End the run that is going on, if there is one: its step fails."""
        self._pool.cancel()

    def close(self) -> None:
        """Stop the functions that were started."""
        self._servers.close()

    def render(self, texts: Mapping[str, str], folder: Folder | None) -> Object:
        """Render ``texts``, by file name, over the files of ``folder`` to the page's JSON.

        Never raises for mistakes in the texts: ``problems`` lists them.
        """
        output_texts: list[str] = []
        errors: list[Object] = []

        def report(problem: Diagnostic, severity: str) -> None:
            errors.extend(problems.to_page([problem], self._mirror, severity))

        content: Object = {"documents": [], "events": [], "graph": {}, "waiting": []}
        with self._lock, self._pool.cancellable():
            started = time.perf_counter()
            try:
                project = self._load(texts, folder)
                rendering = self._run(project, report, output_texts.append)
                content = _to_page(rendering, project.inputs)
            except FatalError as error:
                errors += problems.to_page(error.diagnostics, self._mirror)
            seconds = time.perf_counter() - started
            findings = problems.find(self._mirror, errors)
        return {
            **content,
            "problems": [*errors, *findings],
            "printed": self._mirror.strip("".join(output_texts)),
            "milliseconds": round(seconds * _MILLISECONDS, 1),
        }

    def to_case(self, texts: Mapping[str, str], folder: Folder | None) -> str:
        """Render ``texts`` to a case file. Raises InputError if that is not possible."""
        with self._lock:
            try:
                project = self._load(texts, folder)
                if any(self._mirror.programs.iterdir()):
                    raise InputError.of(
                        "cannot make one case file: programs are in files of their own",
                        hint="put a case.yaml into the folder instead",
                    )
                expectation = self._expect(project)
            except FatalError as error:
                raise InputError.of(self._mirror.strip(str(error))) from error
        text = cases.to_case(project.inputs, project.functions or (), expectation)
        return self._mirror.strip(text)

    def _expect(self, project: _Project) -> Object:
        """Return the expectation of the result as it is. Raises FatalError if there is none."""
        omissions: list[Diagnostic] = []

        def report(problem: Diagnostic, severity: str) -> None:
            if severity == "error":
                omissions.append(problem)

        try:
            expectation = cases.expect_outcome(self._run(project, report, lambda _: None).outcome)
        except PipelineError as error:
            expectation = cases.expect_error(error)
        if omissions:
            raise InputError(*omissions)
        return expectation

    def _load(self, texts: Mapping[str, str], folder: Folder | None) -> _Project:
        """Write the page's texts beside the folder's other files, and load all as `render` does."""
        self._mirror.write(texts, folder)
        paths = loading.find_render_paths(self._mirror.directory)
        composition = loading.load_one(paths.composition, "a Composition")
        xr = loading.load_one(paths.xr, "an XR")
        manifests = None if paths.functions is None else loading.load_values([paths.functions])
        functions.check_kinds(manifests or [])
        return _Project(
            composition=composition,
            xr=xr,
            inputs=command.load_inputs(paths, composition, xr),
            functions=manifests,
        )

    def _run(
        self, project: _Project, report: Report, print_text: Callable[[str], None]
    ) -> _Rendering:
        """Render; ``report`` gets problems of the XR, and of steps that the result is without."""

        def locate(problem: Diagnostic) -> Diagnostic:
            return author_positions.locate(problem, project.xr, objects.read_path(problem.field))

        inputs = replace(
            project.inputs, report=lambda problem, severity: report(locate(problem), severity)
        )
        index = functions.FunctionIndex(
            manifests=project.functions,
            runtimes=self._runtimes,
            annotations={},
            is_strict=self._is_strict,
        )
        caller = FunctionCaller(pool=self._pool, print=print_text, servers=self._servers)
        with error_positions.map_errors(
            project.composition, self._mirror.programs, locate_xr=locate
        ):
            pipeline = steps.parse(inputs.composition)
            runtimes = _find_runtimes(pipeline, index, project.composition, report, caller)
            recorder = ResponseRecorder(
                build_runner(runtimes, caller, self._timeout_seconds, timeout_flag="")
            )
            result = render.render(inputs, recorder)
        return _Rendering(
            result=result,
            outcome=to_object(result, recorder.responses),
            waiting=[each for blocked in recorder.blocked.values() for each in blocked],
        )


def _find_runtimes(
    pipeline: Sequence[steps.Step],
    index: functions.FunctionIndex,
    composition: Document,
    report: Report,
    caller: FunctionCaller,
) -> dict[str, Runtime]:
    """Return where the steps run; steps whose function cannot be called are left out.

    ``report`` gets their problems, so that the results of the others are shown beside these.
    """
    runtimes: dict[str, Runtime] = {}
    for step in pipeline:
        problems: Sequence[Diagnostic] = ()
        try:
            runtimes |= functions.find_runtimes([step], index)
            runtime = runtimes[step.name]
            runtime.wait(caller)
        except FatalError as error:
            problems = error.diagnostics
        else:
            if isinstance(runtime, Remote) and not runtime.is_answering():
                message = f'cannot run step "{step.name}": no function answers at {runtime.address}'
                hint = (
                    f"serve {step.function} there with --insecure, or start the playground with "
                    f"--function {step.function}=HOST:PORT or --function {step.function}=skip"
                )
                problems = [Diagnostic(message=message, hint=hint)]
        if problems:
            skipping_index = replace(index, runtimes={**index.runtimes, step.function: _SKIP})
            runtimes |= functions.find_runtimes([step], skipping_index)
            span = composition.span(("spec", "pipeline", step.index, "functionRef"))
            note = "the result is without this step"
            for problem in problems:
                report(replace(problem, span=span, notes=(*problem.notes, note)), "error")
    return runtimes


def _to_page(rendering: _Rendering, inputs: render.RenderInputs) -> Object:
    result = rendering.result
    names = ["", *sorted(result.composition.resources)]
    manifests = output.documents(result, output.OutputOptions(full_xr=True))
    return {
        "documents": [
            {"name": name, "yaml": documents.to_yaml(value)}
            for name, value in zip(names, manifests, strict=True)
        ],
        "events": [
            {"severity": event.severity, "reason": event.reason, "message": event.message}
            for event in result.events
        ],
        "graph": graph.build(result, rendering.outcome, inputs.observed, rendering.waiting),
        "waiting": [{"name": each.subject, "reason": each.reason} for each in rendering.waiting],
    }
