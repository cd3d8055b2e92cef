"""Steps that select a revision of their function, by fields that Crossplane does not have."""

from collections.abc import Iterator
from typing import Final

from function_script.diagnostics import Diagnostic
from function_script.documents import Document
from function_script.reader import format_path
from function_script.tools import author_positions, step_inputs

# The fields of an accepted design; the API server drops them.
_FIELDS: Final = ("functionRevisionRef", "functionRevisionSelector")


def find_selected(document: Document) -> Iterator[Diagnostic]:
    """Yield a problem for each step that selects a revision of its function."""
    for path, step in step_inputs.find_steps(document):
        for name in _FIELDS:
            if step.get(name) is not None and "functionRef" in step:
                field = format_path((*path, name))
                problem = Diagnostic(
                    message=f"{field}: Crossplane 2.4 and earlier have no such field: the step "
                    "calls the active revision of its function",
                    hint="install the other version as a second Function, and give its name in "
                    "functionRef",
                    field=field,
                )
                yield author_positions.to_field(problem, document)
