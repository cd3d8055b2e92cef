"""Map the positions of errors to the file that holds the Composition.

The commands wrap everything that reads or runs a pipeline in `map_errors`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from function_script.documents import Document
from function_script.request import objects
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.steps import Step
from function_script.tools.render.xr import XrError

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
        from function_script.tools import author_positions, step_inputs  # noqa: PLC0415 - slow

        step = error.step
        step_input = step_inputs.StepInput(
            step=step.name, value=step.input or {}, document=document, path=find_input(step)
        )
        problems = [
            author_positions.map_to_source(problem, step_input, programs)
            for problem in error.diagnostics
        ]
        raise PipelineError(step, *sorted(problems, key=_position)) from error
    except InputError as error:
        from function_script.tools import author_positions  # noqa: PLC0415 - slow

        problems = [author_positions.to_field(problem, document) for problem in error.diagnostics]
        raise InputError(*sorted(problems, key=_position)) from error


def _position(problem: Diagnostic) -> tuple[str, int, int]:
    """Return a sort key: the position in the file; problems without one come first."""
    span = problem.span
    return ("", 0, 0) if span is None else (span.name, span.line, span.column or 0)
