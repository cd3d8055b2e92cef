"""Inputs of ours in a place of their step where no function gets them."""

from collections.abc import Iterator

from function_script.diagnostics import Diagnostic
from function_script.documents import Document
from function_script.tools import author_positions, step_inputs


def find_misplaced(document: Document) -> Iterator[Diagnostic]:
    """Yield a problem for each input, and each reference to one, that no function gets."""
    for field, misplaced in step_inputs.find_misplaced_fields(document):
        message = f"{field}: {misplaced.text}"
        problem = Diagnostic(message=message, hint=misplaced.hint, field=field)
        yield author_positions.to_field(problem, document)
