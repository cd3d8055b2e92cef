"""Inputs of ours in a place of their step where no function gets them."""

from collections.abc import Iterator

from function_script.diagnostics import Diagnostic
from function_script.documents import Document
from function_script.tools import author_positions, step_inputs


def find_misplaced(document: Document) -> Iterator[Diagnostic]:
    """Yield a problem for each input that is deeper in its step than it must be."""
    for field in step_inputs.find_misplaced_fields(document):
        problem = Diagnostic(
            message=f"{field}: {step_inputs.MISPLACED}",
            hint=step_inputs.MISPLACED_HINT,
            field=field,
        )
        yield author_positions.to_field(problem, document)
