"""Rendering of the page's texts: documents, events, problems and the graph.

Only programs in files are written to disk, to a directory of their own, where inputs look for them.
"""

import shutil
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

from function_script import documents, objects
from function_script.diagnostics import Diagnostic, to_frame
from function_script.documents import Document
from function_script.errors import FatalError, InputError
from function_script.sandbox import Pool
from function_script.tools import author_positions, render
from function_script.tools.cases.outcome import ResponseRecorder, to_object
from function_script.tools.playground import cases, folders, graph
from function_script.tools.render import (
    RenderResult,
    error_positions,
    functions,
    output,
    runners,
    steps,
)
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.requirements import Runner
from function_script.tools.render.runners import FunctionCaller
from function_script.values import Object

# Gets a diagnostic with its severity.
Report: TypeAlias = Callable[[Diagnostic, str], None]
_PROGRAMS: Final = "programs"
_XRD: Final = "xrd.yaml"
_MILLISECONDS: Final = 1000
_MAX_NAME_QUOTED: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """The result of rendering, and the responses of the steps as one plain object."""

    result: RenderResult
    outcome: Object


class RenderSession:
    """Renders texts in ``pool``, one at a time; programs in files are written below ``root``.

    ``timeout_seconds`` is for all steps together.
    """

    def __init__(self, pool: Pool, root: Path, timeout_seconds: float = 20.0) -> None:
        self._timeout_seconds = timeout_seconds
        self._pool = pool
        self._root = root
        self._lock = threading.Lock()

    def render(self, files: Mapping[str, str]) -> Object:
        """Render ``files``, texts by file name, to the page's JSON.

        Never raises for mistakes in the texts: ``problems`` lists them.
        """
        printed: list[str] = []
        content: Object

        def report(problem: Diagnostic, severity: str) -> None:
            printed.append(f"{self._rename(to_frame(problem, severity))}\n\n")

        with self._lock:
            started = time.perf_counter()
            try:
                caller = runners.FunctionCaller(pool=self._pool, print=printed.append)
                rendered = self._render(files, caller, report)
            except FatalError as error:
                problems = [self._problem(problem) for problem in error.diagnostics]
                content = {"problems": [*problems], "documents": [], "events": [], "graph": {}}
            else:
                content = {
                    "problems": [],
                    **_to_page(rendered, folders.read_objects(files, "observed.yaml")),
                }
            seconds = time.perf_counter() - started
        milliseconds = round(seconds * _MILLISECONDS, 1)
        return {**content, "printed": "".join(printed), "milliseconds": milliseconds}

    def to_case(self, files: Mapping[str, str]) -> str:
        """Render ``files`` to a case file. Raises FatalError if that is not possible."""
        with self._lock:
            try:
                caller = runners.FunctionCaller(pool=self._pool, print=_discard)
                rendered = self._render(files, caller, lambda _problem, _severity: None)
            except PipelineError as error:
                return cases.to_case(files, cases.expected_error(error))
        return cases.to_case(files, cases.expected(rendered.outcome))

    def _render(self, files: Mapping[str, str], caller: FunctionCaller, report: Report) -> Rendered:
        composition = folders.read_one(files, folders.COMPOSITION, "a Composition")
        self._write_programs(files)
        observed = folders.read_objects(files, "observed.yaml")
        spans = {index: document.span() for index, document in enumerate(observed)}
        xr = folders.read_one(files, folders.XR, "an XR")

        def locate_xr(problem: Diagnostic) -> Diagnostic:
            return author_positions.locate(problem, xr, objects.read_path(problem.field))

        given = render.RenderInputs(
            xr=xr.value,
            composition=composition.value,
            observed=[document.value for document in observed],
            required=folders.read_values(files, "required.yaml"),
            credentials=folders.read_values(files, "credentials.yaml"),
            xrd=folders.read_one(files, _XRD, "an XRD").value if files.get(_XRD) else None,
            spans={index: span for index, span in spans.items() if span is not None},
            report=lambda problem, severity: report(locate_xr(problem), severity),
        )
        with error_positions.map_errors(composition, self._root, locate_xr=locate_xr):
            runner = ResponseRecorder(_runner(files, given, caller, self._timeout_seconds))
            result = render.render(given, runner)
        return Rendered(result=result, outcome=to_object(result, runner.responses))

    def _write_programs(self, files: Mapping[str, str]) -> None:
        shutil.rmtree(self._root)
        self._root.mkdir()
        for name, text in files.items():
            path = PurePosixPath(name)
            if path.parts[:1] != (_PROGRAMS,):
                continue
            if ".." in path.parts:
                raise InputError.of(f'cannot use "{name}": it leads out of its folder')
            target = self._root.joinpath(*path.parts[1:])
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
            except (OSError, ValueError) as error:
                cause = getattr(error, "strerror", None) or str(error)
                quoted = f"{name[:_MAX_NAME_QUOTED]!r}"
                raise InputError.of(
                    f"cannot write the program {quoted}: {cause.lower()}"
                ) from error

    def _problem(self, problem: Diagnostic) -> Object:
        """Convert a diagnostic, with positions in the page's files."""
        entry: Object = {
            "message": self._rename(problem.message),
            "frame": self._rename(to_frame(problem)),
            "notes": [self._rename(str(note)) for note in problem.notes],
            "hint": problem.hint,
        }
        span = problem.span
        if span is not None:
            position: Object = {"file": self._rename(span.name), "line": span.line}
            entry |= {**position, "column": span.column, "width": span.width}
        return entry

    def _rename(self, text: str) -> str:
        return text.replace(f"{self._root}", _PROGRAMS)


def _discard(text: str) -> None:
    """Discard a program's output, which is not part of a case."""


def _runner(
    files: Mapping[str, str],
    given: render.RenderInputs,
    caller: FunctionCaller,
    timeout_seconds: float,
) -> Runner:
    manifests = (
        folders.read_values(files, "functions.yaml") if files.get("functions.yaml") else None
    )
    functions.check_kinds(manifests or [])
    index = functions.FunctionIndex(manifests=manifests, runtimes={}, annotations={})
    runtimes = functions.find_runtimes(steps.parse(given.composition), index)
    return runners.build(runtimes, caller, timeout_seconds, timeout_flag="")


def _to_page(rendered: Rendered, observed: list[Document]) -> Object:
    result = rendered.result
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
        "graph": graph.build(result, rendered.outcome, [item.value for item in observed]),
    }
