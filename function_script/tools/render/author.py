"""Problems of rendering at the place their author knows: the file with the Composition.

Called around everything that reads or runs a pipeline, by the commands that do.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from function_script.errors import InputError
from function_script.tools import positions as places
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.step_inputs import StepInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from function_script import objects
    from function_script.documents import Document
    from function_script.tools.render.steps import Step


@contextmanager
def positions(
    composition: Document, programs: Path | None, path: objects.Path = ()
) -> Iterator[None]:
    """Give problems the positions their author knows.

    ``composition`` is a Composition, or holds one at ``path``; ``programs`` is the directory of
    programs in files, if there is one.
    """
    try:
        yield
    except PipelineError as error:
        found = _input(error.step, composition, path)
        moved = [places.to_author(problem, found, programs) for problem in error.diagnostics]
        raise PipelineError(error.step, *moved) from error
    except InputError as error:
        moved = [places.to_field(problem, composition) for problem in error.diagnostics]
        raise InputError(*moved) from error


def _input(step: Step, composition: Document, path: objects.Path) -> StepInput:
    path = (*path, "spec", "pipeline", step.index, "input")
    return StepInput(step=step.name, value=step.input or {}, document=composition, path=path)
