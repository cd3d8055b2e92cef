"""Map the positions of errors to the file that holds the Composition.

The commands wrap everything that reads or runs a pipeline in `map_errors`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from function_script import objects
from function_script.diagnostics import Diagnostic
from function_script.errors import InputError
from function_script.tools.render.errors import XrError
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.steps import Step

if TYPE_CHECKING:
    from function_script.documents import Document


# Returns the path of a step's input in its document.
InputPath: TypeAlias = "Callable[[Step], objects.Path]"
LocateXr: TypeAlias = Callable[[Diagnostic], Diagnostic]


def composition_input_path(step: Step) -> objects.Path:
    """Return the path of a step's input in its Composition."""
    return ("spec", "pipeline", step.index, "input")


@contextmanager
def map_errors(
    document: Document,
    programs: Path | None,
    find_input: InputPath = composition_input_path,
    locate_xr: LocateXr | None = None,
) -> Iterator[None]:
    """Give the errors of a ``with`` block positions in ``document`` and in program files.

    ``document`` holds the steps' inputs at ``find_input``; ``programs`` is the directory of
    programs in files, if there is one. ``locate_xr`` gives a problem with a field of the XR its
    position.
    """
    try:
        yield
    except XrError as error:
        if locate_xr is None:
            raise
        raise XrError(*map(locate_xr, error.diagnostics)) from error
    except PipelineError as error:
        raise _map_to_program(error, document, programs, find_input(error.step)) from error
    except InputError as error:
        from function_script.tools import author_positions  # noqa: PLC0415 - slow

        problems = [author_positions.to_field(problem, document) for problem in error.diagnostics]
        raise InputError(*sorted(problems, key=_position)) from error


def _map_to_program(
    error: PipelineError, document: Document, programs: Path | None, path: objects.Path
) -> PipelineError:
    """Map the error of a step whose input is at ``path``."""
    from function_script.tools import author_positions, step_inputs  # noqa: PLC0415 - slow

    step = error.step
    step_input = step_inputs.StepInput(
        step=step.name, value=step.input or {}, document=document, path=path
    )
    problems = [
        author_positions.map_to_source(problem, step_input, programs)
        for problem in error.diagnostics
    ]
    return PipelineError(step, *sorted(problems, key=_position))


def _position(problem: Diagnostic) -> tuple[str, int, int]:
    """Return a sort key: the position in the file; problems without one come first."""
    span = problem.span
    return ("", 0, 0) if span is None else (span.name, span.line, span.column or 0)
