"""Rendering of the page's texts, which the page can cancel: documents, events, problems, graph."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Final, TypeAlias

from function_script import documents
from function_script.documents import Document
from function_script.request import objects
from function_script.request.program import Blocked
from function_script.request.values import Object, Value
from function_script.sandbox.pool import Pool
from function_script.texts import diagnostics
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, InputError
from function_script.tools import author_positions, manifests, render
from function_script.tools.cases import comparison
from function_script.tools.check import checker
from function_script.tools.playground.folders import Folder, Mirror
from function_script.tools.project import Project
from function_script.tools.render import (
    blame,
    functions,
    loading,
    output,
    renderer,
    steps,
    validation,
)
from function_script.tools.render.compose import RenderResult
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.positions import Origin, Position
from function_script.tools.render.renderer import Renderer, Rendering
from function_script.tools.render.runtimes.address import Remote
from function_script.tools.render.runtimes.local import Skip
from function_script.tools.render.runtimes.model import FunctionCaller, Runtime
from function_script.tools.validate.catalog import Catalog
from function_script.tools.validate.evaluator import EVALUATOR

# Gets a problem and its severity.
Report: TypeAlias = Callable[[Diagnostic, str], None]
_MILLISECONDS: Final = 1000
_XR_ID: Final = "xr"
_REFERENCE: Final = ("Ref", "Refs")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Project:
    """The objects of a folder; ``functions`` is None without a file of them."""

    composition: Document
    xr: Document
    inputs: render.RenderInputs
    functions: Sequence[Object] | None


class RenderSession:
    """Renders texts in ``pool``, one run at a time, from their copy in ``mirror``.

    The page cancels a run by `Pool.cancel`: its step fails.
    """

    def __init__(self, pool: Pool, mirror: Mirror, options: renderer.Options) -> None:
        self._pool = pool
        self._mirror = mirror
        self._files = Project([mirror.directory])
        self._options = options
        self._lock = threading.Lock()
        self._runs = 0
        self._last: Rendering | None = None

    def render(self, texts: Mapping[str, str], folder: Folder) -> Object:
        """Render ``texts``, by file name, over the files of ``folder`` to the page's JSON.

        Never raises for mistakes in the texts: ``problems`` lists them. ``run`` is its number.
        """
        output_texts: list[str] = []
        errors: list[Object] = []

        def report(problem: Diagnostic, severity: str) -> None:
            errors.append(_to_entry(problem, severity, "", self._mirror))

        content: Object = {"documents": [], "events": [], "graph": {}, "waiting": []}
        with self._lock:
            self._runs += 1
            self._last = None
            # The page may have cancelled the run before this one.
            self._pool.allow_runs()
            EVALUATOR.begin_report()
            started = time.perf_counter()
            try:
                project = self._load(texts, folder)
                rendering = self._run(project, report, output_texts.append)
                catalog = Catalog(project.inputs.definitions)
                for problem, severity in validation.validate(rendering, catalog):
                    report(problem, "note" if severity == "note" else "warning")
                content = _to_page(rendering, project.inputs)
                self._last = rendering
            except FatalError as error:
                for problem in error.diagnostics:
                    report(problem, "error")
            seconds = time.perf_counter() - started
            findings = _find_findings(self._mirror, errors)
            number = self._runs
        return {
            **content,
            "run": number,
            "problems": [*errors, *findings],
            "printed": self._mirror.strip("".join(output_texts)),
            "milliseconds": round(seconds * _MILLISECONDS, 1),
        }

    def find_writers(self, number: int) -> Object:
        """Return who wrote each line of the documents of a run; null if it is not the last one.

        A line has its step, file and line; those that are not known are empty. It is null for what
        no step wrote.
        """
        with self._lock:
            rendering = self._last
            if rendering is None or number != self._runs:
                return {"writers": None}
            self._pool.allow_runs()
            writers: list[Value] = [
                [
                    self._to_writer(position)
                    for position in blame.find_writers(rendering, name, text)
                ]
                for name, text in _print(rendering)
            ]
        return {"writers": writers}

    def _to_writer(self, position: Position | None) -> Value:
        if position is None:
            return None
        span = position.span
        file = "" if span is None else self._mirror.strip(span.name)
        return {"step": position.step, "file": file, "line": None if span is None else span.line}

    def to_case(self, texts: Mapping[str, str], folder: Folder) -> str:
        """Render ``texts`` to a case file. Raises InputError if that is not possible.

        With the texts of the folder, the case is one of the folder's Composition, else of a copy.
        """
        is_saved = folder.holds(texts)
        with self._lock:
            try:
                project = self._load(texts, folder)
                if any(self._mirror.programs.iterdir()) and not is_saved:
                    raise InputError.of(
                        "cannot make one case file: programs are in files of their own",
                        hint="save the files first, or put a case.yaml into the folder instead",
                    )
                expectation = self._expect(project)
            except FatalError as error:
                raise InputError.of(self._mirror.strip(str(error))) from error
        whole = None if is_saved else project
        text = _to_case(project.inputs, whole, expectation)
        return self._mirror.strip(text)

    def _expect(self, project: _Project) -> Object:
        """Return the expectation of the same resources with the same readiness, or of the error.

        Raises FatalError if there is none.
        """
        omissions: list[Diagnostic] = []

        def report(problem: Diagnostic, severity: str) -> None:
            if severity == "error":
                omissions.append(problem)

        try:
            rendering = self._run(project, report, lambda _: None)
            outcome = comparison.to_outcome(rendering)
            by_name = manifests.copy(manifests.object_at(outcome, "resources"))
            for name in by_name:
                # The owner is always the XR, and its uid is generated.
                manifests.object_at(by_name, name, "metadata").pop("ownerReferences", None)
            expectation: Object = {"resources": by_name, "ready": outcome["ready"]}
        except PipelineError as error:
            expectation = {"error": [problem.message for problem in error.diagnostics]}
        if omissions:
            raise InputError(*omissions)
        return expectation

    def _load(self, texts: Mapping[str, str], folder: Folder) -> _Project:
        """Write the page's texts beside the folder's other files, and load all as `render` does."""
        self._mirror.write(texts, folder)
        paths = loading.find_render_paths(self._mirror.directory, self._files)
        composition = loading.load_one(paths.composition, "a Composition", self._files)
        xr = loading.load_one(paths.xr, "an XR", self._files)
        return _Project(
            composition=composition,
            xr=xr,
            inputs=loading.load_inputs(paths, composition, xr),
            functions=functions.load(paths.functions, self._files),
        )

    def _run(
        self, project: _Project, report: Report, print_text: Callable[[str], None]
    ) -> Rendering:
        """Render; ``report`` gets problems of the XR, and of steps that the result is without."""
        inputs = replace(project.inputs, report=report)
        options = replace(self._options, print=print_text)
        index = functions.FunctionIndex(manifests=project.functions, options=options)
        find = partial(_find_callable, index, project.composition, report)
        origin = Origin(
            document=project.composition,
            programs=self._mirror.programs,
            locate_xr=lambda problem: author_positions.locate(problem, project.xr),
        )
        return Renderer(self._pool, find, options).render(inputs, origin)


def _find_callable(
    index: functions.FunctionIndex,
    composition: Document,
    report: Report,
    pipeline: Sequence[steps.Step],
) -> Sequence[Runtime]:
    """Return the runtimes of steps; those whose function cannot be called are left out.

    ``report`` gets their problems, so that the results of the others are shown beside these.
    """
    # To wait for a function needs no sandbox.
    caller = FunctionCaller(None, index.options)
    runtimes: list[Runtime] = []
    for step in pipeline:
        problems: Sequence[Diagnostic] = ()
        try:
            (runtime,) = index.find_runtimes([step])
            runtime.wait(caller)
        except FatalError as error:
            problems = error.diagnostics
            runtime = Skip()
        if isinstance(runtime, Remote) and not runtime.is_answering():
            message = f'cannot run step "{step.name}": no function answers at {runtime.address}'
            hint = (
                f"serve {step.function} there with --insecure, or start the playground with "
                f"--function {step.function}=HOST:PORT or --function {step.function}=skip"
            )
            problems = [Diagnostic(message=message, hint=hint)]
            runtime = Skip()
        for problem in problems:
            span = composition.span(("spec", "pipeline", step.index, "functionRef"))
            notes = (*problem.notes, "the result is without this step")
            report(replace(problem, span=span, notes=notes), "error")
        runtimes.append(runtime)
    return runtimes


def _to_page(rendering: Rendering, inputs: render.RenderInputs) -> Object:
    result = rendering.result
    waiting = [each for call in rendering.calls for each in call.reply.blocked]
    return {
        "documents": [{"name": name or "", "yaml": text} for name, text in _print(rendering)],
        "events": [*map(asdict, result.events)],
        "graph": _build_graph(result, comparison.to_outcome(rendering), inputs.observed, waiting),
        "waiting": [{"name": each.subject, "reason": each.reason} for each in waiting],
    }


def _print(rendering: Rendering) -> Iterator[tuple[str | None, str]]:
    """Yield the YAML of the XR, which has no name, and of the composed resources."""
    names = (None, *sorted(rendering.result.resources))
    manifests = output.documents(rendering.result, output.OutputOptions(full_xr=True))
    for name, value in zip(names, manifests, strict=True):
        yield name, documents.to_yaml(value)


def _find_findings(mirror: Mirror, errors: Sequence[Object]) -> list[Object]:
    """Return what `check` finds in the folder, but for what ``errors`` say of the same place."""
    try:
        report = checker.check([str(mirror.directory)], mirror.programs)
    except FatalError:
        # There is nothing to check; the run says why.
        return []
    places = {_place(error) for error in errors}
    findings = (
        _to_entry(finding.diagnostic, finding.severity, finding.rule, mirror)
        for finding in report.findings
    )
    return [finding for finding in findings if _place(finding) not in places]


def _place(problem: Object) -> tuple[object, ...]:
    """Return the line of a problem; its message where it has none."""
    file, line = problem.get("file"), problem.get("line")
    return (file, line) if line else (file, problem["message"])


def _to_entry(problem: Diagnostic, severity: str, rule: str, mirror: Mirror) -> Object:
    return diagnostics.to_object(problem.rename(mirror.strip), severity, rule=rule)


def _to_case(inputs: render.RenderInputs, project: _Project | None, expectation: Object) -> str:
    """Return a ``NAME.case.yaml`` with the inputs and the expectation; comments are lost.

    ``project`` None: the case reads what is not its own from the folder.
    """
    shared: Object = {}
    if project is not None:
        shared = {
            "composition": inputs.composition,
            "xrd": inputs.xrd,
            "functions": [*(project.functions or ())],
            "credentials": [*inputs.credentials],
            "schemas": [*inputs.schemas],
        }
    case: Object = {
        "description": "From the playground.",
        "xr": inputs.xr,
        "observed": [*inputs.observed],
        "required": [*inputs.required],
        "context": inputs.context,
        **shared,
    }
    parts: Object = {key: value for key, value in case.items() if value}
    return documents.to_yaml({**parts, "expect": expectation})


def _build_graph(
    result: RenderResult,
    outcome: Object,
    observed: Sequence[Object],
    waiting: Sequence[Blocked],
) -> Object:
    """Return ``nodes`` with id, name, kind and state, and ``edges`` as pairs of ids.

    States: ready, unready, waiting, and deleted for a resource that exists and is no longer
    composed.
    """
    composed = result.resources
    resources = {
        manifests.resource_name(composed[name]) or name: composed[name] for name in composed
    }
    is_ready = manifests.object_at(outcome, "ready")
    state = "ready" if comparison.is_ready(outcome) else "unready"
    root = _node(_XR_ID, manifests.name(result.file), result.file, state)
    nodes: list[Value] = [root]
    for name in sorted(resources):
        state = "ready" if is_ready.get(name) is True else "unready"
        nodes.append(_node(_node_id(name), name, resources[name], state))
    blocked = {each.subject: each for each in waiting if each.subject not in resources}
    # A document about the XR itself is named by its kind.
    if own := blocked.pop(objects.api_version_and_kind(result.file)[1], None):
        root["note"] = own.reason
    for name, each in blocked.items():
        nodes.append({**_node(_node_id(name), name, {}, "waiting"), "note": each.reason})
    for manifest in observed:
        name = manifests.annotation(manifest, manifests.RESOURCE_NAME)
        if name and name not in composed and name not in blocked:
            nodes.append(_node(_node_id(name), name, manifest, "deleted"))
    composes: list[Value] = [[_XR_ID, _node_id(name)] for name in (*sorted(resources), *blocked)]
    dependencies: list[Value] = [
        [_node_id(name), _node_id(other)]
        for name, each in blocked.items()
        for other in each.dependencies
        if other in resources or other in blocked
    ]
    return {"nodes": nodes, "edges": composes + _references(resources) + dependencies}


def _node_id(name: str) -> str:
    return f"resource/{name}"


def _node(node_id: str, name: str, manifest: Object, state: str) -> Object:
    kind = objects.api_version_and_kind(manifest)[1]
    return {"id": node_id, "name": name, "kind": kind, "state": state}


def _references(resources: Mapping[str, Object]) -> list[Value]:
    """Return pairs where a resource names another's object, as in ``networkRef.name``."""
    owners = {manifests.name(manifest): name for name, manifest in resources.items()}
    pairs = {
        (name, owners[target])
        for name, manifest in resources.items()
        for target in _targets(manifest.get("spec"))
        if target in owners and owners[target] != name
    }
    return [[_node_id(name), _node_id(other)] for name, other in sorted(pairs)]


def _targets(value: Value) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _targets(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            references = item if isinstance(item, list) else [item]
            if key.endswith(_REFERENCE):
                for reference in references:
                    name = reference.get("name") if isinstance(reference, dict) else None
                    if name and isinstance(name, str):
                        yield name
            yield from _targets(item)
