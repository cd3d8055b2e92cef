"""Problems of rendering at the place their author knows: the file with the Composition.

Called around everything that reads or runs a pipeline, by the commands that do.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from function_script.errors import InputError
from function_script.tools.render.pipeline import PipelineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from function_script import objects
    from function_script.diagnostics import Diagnostic
    from function_script.documents import Document
    from function_script.tools.render.steps import Step


# Says where a step's input stands in its document.
InputPath: TypeAlias = "Callable[[Step], objects.Path]"


def composition_input_path(step: Step) -> objects.Path:
    """Where a step's input stands in its Composition."""
    return ("spec", "pipeline", step.index, "input")


@contextmanager
def map_errors(
    document: Document,
    programs: Path | None,
    find_input: InputPath = composition_input_path,
) -> Iterator[None]:
    """Give problems the positions their author knows.

    ``document`` holds the steps' inputs, at ``find_input``; ``programs`` is the directory of
    programs in files, if there is one.
    """
    try:
        yield
    except PipelineError as error:
        raise _in_program(error, document, programs, find_input(error.step)) from error
    except InputError as error:
        raise _in_field(error, document) from error


def _in_program(
    error: PipelineError, document: Document, programs: Path | None, path: objects.Path
) -> PipelineError:
    """The error of a step whose input is at ``path``."""
    from function_script.tools import author_positions, step_inputs  # noqa: PLC0415 - slow

    step = error.step
    found = step_inputs.StepInput(
        step=step.name, value=step.input or {}, document=document, path=path
    )
    moved = [
        author_positions.map_to_source(problem, found, programs) for problem in error.diagnostics
    ]
    return PipelineError(step, *sorted(moved, key=_place))


def _in_field(error: InputError, document: Document) -> InputError:
    from function_script.tools import author_positions  # noqa: PLC0415 - slow

    moved = [author_positions.to_field(problem, document) for problem in error.diagnostics]
    return InputError(*sorted(moved, key=_place))


def _place(problem: Diagnostic) -> tuple[str, int, int]:
    """Problems are told as their places come in the file; those without a place first."""
    span = problem.span
    return ("", 0, 0) if span is None else (span.name, span.line, span.column or 0)
