"""What one step adds to the response, read from what its program produced.

The main path calls ``read`` with an engine's result. A script's dict and a template's documents
end in the same Contribution, by the same readers; merging it is somebody else's work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script import documents
from function_script.contribution.documents import from_documents
from function_script.contribution.response import from_response
from function_script.contribution.shapes import Composed, Composite, Contribution
from function_script.diagnostics import Diagnostic
from function_script.errors import DocumentError
from function_script.fields import Problems
from function_script.program import Rendered, Returned

if TYPE_CHECKING:
    from function_script.limits import Limits
    from function_script.values import Object

__all__ = ["Composed", "Composite", "Contribution", "read"]


def read(result: Rendered | Returned, xr: Object, limits: Limits) -> Contribution:
    """What ``result`` adds; ``xr`` is the observed composite. Raises DocumentError."""
    if isinstance(result, Rendered):
        stream = documents.read_stream(result.text, locate=result.locate, limits=limits)
        return from_documents(stream, xr, result.locate)
    problems = Problems()
    contribution = from_response(result.value, problems)
    if problems.texts:
        raise DocumentError(
            *(
                Diagnostic(message=f"main returned {text}", span=result.span, hint=hint)
                for text, hint in problems.texts
            )
        )
    return contribution
