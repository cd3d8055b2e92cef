"""The author's positions of errors and of every value of a rendering, and the step that wrote it.

A step's program is evaluated once more when the first of its positions is asked for.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path as File
from typing import NamedTuple

from function_script import inputs
from function_script.documents import Document
from function_script.engines.lint import LIBRARY
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.limits import Limits
from function_script.request.objects import Path
from function_script.request.program import Branch
from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, InputError, ProgramError
from function_script.texts.source import Excerpt, Span, excerpt
from function_script.tools import author_positions, step_inputs, worker_marks
from function_script.tools.render import messages
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.requirements import StepResponse
from function_script.tools.render.steps import Step
from function_script.tools.render.xr import XrError
from function_script.tools.step_inputs import StepInput


class Position(NamedTuple):
    """The step that wrote a value, and the place in the author's file; None if it is not known."""

    step: str
    span: Span | None


class Call(NamedTuple):
    """The last call of a step's function: what it got, its reply, and how to ask it again.

    ``ask`` returns what `local_worker` answers to a mark, or None.
    """

    step: Step
    request: fnv1.RunFunctionRequest
    reply: StepResponse
    ask: Callable[[bytes], bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The author's files: the document of the pipeline, and the directory of programs in files.

    ``at`` is the path in the document of the Composition or Operation, or of the only step's input,
    if it ``is_input``. ``locate_xr`` gives a problem with a field of the XR its position.
    """

    document: Document
    programs: File | None
    at: Path = ()
    is_input: bool = False
    locate_xr: Callable[[Diagnostic], Diagnostic] | None = None

    @contextmanager
    def map_errors(self) -> Iterator[None]:
        """Give the errors of a ``with`` block positions in the files.

        The commands wrap everything that reads or runs a pipeline in it.
        """
        try:
            yield
        except XrError as error:
            if self.locate_xr is None:
                raise
            raise XrError(*map(self.locate_xr, error.diagnostics)) from error
        except PipelineError as error:
            located = self.locate(error.step, error.diagnostics)
            raise PipelineError(error.step, *sorted(located, key=_order)) from error
        except (InputError, ProgramError) as error:
            problems = map(self.locate_field, error.diagnostics)
            raise error.with_diagnostics(*sorted(problems, key=_order)) from error

    def locate_field(self, problem: Diagnostic) -> Diagnostic:
        """Return a problem with its position in the file, if it has a field of the pipeline."""
        if not problem.field:
            return problem
        path = objects.read_path(problem.field)
        if not self.is_input and path[: len(self.at)] != self.at:
            path = (*self.at, *path)
        return author_positions.locate(problem, self.document, path)

    def locate(self, step: Step, problems: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return the problems of a step with their positions in the files."""
        step_input = self.input_of(step)
        return tuple(
            author_positions.map_to_source(each, step_input, self.programs) for each in problems
        )

    def input_of(self, step: Step) -> StepInput:
        """Return the input of a step with its place in the document."""
        return StepInput(
            step=step.name,
            value=step.input or {},
            document=self.document,
            path=self.at if self.is_input else (*self.at, *step.input_path),
        )


def _order(problem: Diagnostic) -> tuple[str, int, int]:
    """Return a sort key: the position in the file; problems without one come first."""
    span = problem.span
    return ("", 0, 0) if span is None else (span.name, span.line, span.column or 0)


class Positions:
    """Locates the values of one rendering, while the pool of its renderer is open.

    Without ``origin``, positions are those in the texts of the programs: ``owner`` says whose.
    """

    def __init__(self, calls: Iterable[Call], origin: Origin | None) -> None:
        self.owner = ""
        self._origin = origin
        self._steps = [_CalledStep(call, origin) for call in calls]

    def locate(
        self, resource: str | None, path: Path, *, skips_passed: bool = False
    ) -> Position | None:
        """Return the position of a value, from the root of the object on; None if nobody knows.

        ``resource`` is a resource name, and None is the XR, of which steps write the status. For a
        merged value it is the last step that wrote it. Crossplane writes values, too: those have no
        position. ``skips_passed``: steps that return the value as they get it are not run again,
        although they may have written it once more.
        """
        is_of_steps = resource is not None or path[:1] == ("status",)
        if not is_of_steps or not self._steps or not self._steps[-1].has(resource, path):
            return None
        # Of two steps that write a value the later one has the last word.
        for step in reversed(self._steps):
            if skips_passed and step.passes(resource, path):
                continue
            if position := step.find(resource, path):
                if self.owner and (span := position.span):
                    span = replace(span, name=f"{self.owner}, {span.name}")
                    return position._replace(span=span)
                return position
        return None

    def nearest(
        self, resource: str | None, path: Path, *, skips_passed: bool = False
    ) -> Position | None:
        """`locate` the value, or the nearest one above it that exists and has a position."""
        for end in range(len(path), -1, -1):
            if position := self.locate(resource, path[:end], skips_passed=skips_passed):
                return position
        return None

    def nearest_line(self, resource: str | None, path: Path) -> Position | None:
        """`nearest`, with the position of the step where that of the value is not known."""
        position = self.nearest(resource, path)
        if position is not None and position.span is None:
            return position._replace(span=self.find_step(position.step))
        return position

    def find_step(self, name: str) -> Span | None:
        """Return the position of a step in the document of the pipeline; None if it is unknown."""
        called = self._find_called(name)
        if called is None or self._origin is None:
            return None
        return self._origin.document.span(self._origin.input_of(called.step).path[:-1])

    def find_requirement(self, step: Step, name: str) -> Span | None:
        """Return the position of what declares a requirement; of the step if its program does."""
        if self._origin is None:
            return None
        step_input = self._origin.input_of(step)
        requirements = step_inputs.find_requirements(step_input.entry)
        paths = (path for path, each in requirements if each == name)
        return step_input.document.span((*step_input.path[:-1], *next(paths, ())))

    def show_value(self, problem: Diagnostic, resource: str | None, path: Path) -> Diagnostic:
        """Return a problem at the line that wrote a value; see `nearest_line`."""
        position = self.nearest_line(resource, path)
        return self.show(problem, position and position.span)

    def show(self, problem: Diagnostic, span: Span | None) -> Diagnostic:
        """Return a problem at a position, with the lines around it."""
        return replace(problem, span=span, excerpt=self.excerpt(span))

    def excerpt(self, span: Span | None) -> Excerpt | None:
        """Return the lines around a position, if it is in the document of the pipeline."""
        source = None if self._origin is None else self._origin.document.origin.source
        if source is None or span is None or source.name != span.name:
            return None
        return excerpt(source, span)

    def find_branches(self) -> dict[str, list[Branch] | None]:
        """Run each program once more; return its branches in its own texts, by the step.

        None: it is not known which of them the run reached.
        """
        return {step.step.name: step.find_branches() for step in self._steps}

    def find_warnings(self) -> Iterator[tuple[Step, Sequence[Diagnostic]]]:
        """Yield what our steps warn of, in the texts of their programs.

        Those of programs and of other functions are events alone.
        """
        for step in self._steps:
            if problems := step.find_warnings():
                yield step.step, problems

    def find_reads(self, position: Position) -> list[Path] | None:
        """Return the fields of the request that a line certainly reads; None if it is not known.

        An index, or a key that only a run knows, is `lint.ANY`. Names stand for their values.
        """
        called, origin, span = self._find_called(position.step), self._origin, position.span
        if called is None or origin is None or span is None:
            # A program that is not in the author's files.
            return None
        step_input, programs = origin.input_of(called.step), origin.programs
        if not inputs.is_meant_for_us(step_input.value):
            return None
        limits = Limits().with_root(None if programs is None else programs.resolve())
        try:
            step = step_inputs.parse(step_input, limits)
        except FatalError:
            return None
        if not step.program.main.text:
            return None
        paths = {
            read.path
            for read in step.language.lint.find_accesses(step.program)
            if (place := author_positions.to_author(read.span, step_input, programs)) is not None
            and (place.name, place.line) == (span.name, span.line)
        }
        # Each lookup is one of the field above it, too.
        inner = {path[:end] for path in paths for end in range(len(path))}
        outer = (path for path in paths - inner if path and path[0] not in LIBRARY)
        return sorted(outer, key=str)

    def _find_called(self, name: str) -> "_CalledStep | None":
        return next((each for each in self._steps if each.step.name == name), None)


def _to_span(name: str, line: int, column: int | None, width: int) -> Span:
    return Span(name=name, line=line, column=column, width=width)


class _CalledStep:
    """One step of a pipeline: the values before and after it, and the positions of its own."""

    def __init__(self, call: Call, origin: Origin | None) -> None:
        self.step = call.step
        self._call = call
        self._origin = origin
        self._spans: Mapping[str | None, Mapping[Path, Span | None]] | None = None
        self._values: dict[tuple[bool, str | None], Object] = {}

    def has(self, resource: str | None, path: Path, *, is_after: bool = True) -> bool:
        """Report whether there is a value after this step; a null item of a list is one."""
        whole = self._object(resource, is_after=is_after)
        above = objects.find_path(whole, path[:-1]) if path else None
        is_item = isinstance(above, list) and path[-1] in range(len(above))
        return is_item or objects.find_path(whole, path) is not None

    def passes(self, resource: str | None, path: Path) -> bool:
        """Report whether this step returns a value as it got it."""
        before = objects.find_path(self._object(resource, is_after=False), path)
        after = objects.find_path(self._object(resource, is_after=True), path)
        return self.has(resource, path, is_after=False) and before == after

    def find(self, resource: str | None, path: Path) -> Position | None:
        """Return the position of a value if this step wrote it; see `local_worker`."""
        spans = self._read().get(resource, {})
        # Before `passes`: a program may write a value once more as it was.
        if span := spans.get(path):
            return self._position(span)
        if self.passes(resource, path):
            # The program may have it from the request.
            return None
        above = (path[:end] for end in range(len(path), -1, -1))
        # An object that no line begins has the line of its first field.
        places = chain(above, (each for each in spans if each[: len(path)] == path))
        return self._position(next((spans[each] for each in places if each in spans), None))

    def find_branches(self) -> list[Branch] | None:
        """Return the branches of the step's program; None if they are not known."""
        answer = self._call.ask(worker_marks.BRANCHES)
        if not answer:
            return None
        entries = json.loads(answer)
        return [Branch(_to_span(*span), last, is_reached) for span, last, is_reached in entries]

    def find_warnings(self) -> Sequence[Diagnostic]:
        """Return the problems behind the Warnings of the step that are not its program's."""
        results = self._call.reply.response.results
        warnings = [result for result in results if result.severity == fnv1.SEVERITY_WARNING]
        if not warnings:
            return []
        from function_script.contribution import lint  # noqa: PLC0415 - slow
        from function_script.sandbox import report  # noqa: PLC0415 - slow

        problems = [
            Diagnostic(message=each.message) for each in warnings if each.reason in lint.REASONS
        ]
        answer = self._call.ask(worker_marks.WARNINGS) if problems else None
        return report.from_json(answer).diagnostics if answer else problems

    def _position(self, span: Span | None) -> Position:
        if span is not None and self._origin is not None:
            step_input = self._origin.input_of(self.step)
            span = author_positions.to_author(span, step_input, self._origin.programs)
        return Position(self.step.name, span)

    def _read(self) -> Mapping[str | None, Mapping[Path, Span | None]]:
        if self._spans is None:
            answer = json.loads(self._call.ask(worker_marks.POSITIONS) or b"[]")
            self._spans = {
                resource: {
                    tuple(path): None if span is None else _to_span(*span) for path, span in spans
                }
                for resource, spans in answer
            }
        return self._spans

    def _object(self, resource: str | None, *, is_after: bool) -> Object:
        key = (is_after, resource)
        if key not in self._values:
            state = (self._call.reply.response if is_after else self._call.request).desired
            # Reading a name that a map of protobuf does not have adds it.
            entry = state.composite if resource is None else fnv1.Resource()
            if resource is not None and resource in state.resources:
                entry = state.resources[resource]
            self._values[key] = messages.read_struct(entry.resource)
        return self._values[key]
