"""Fields of an operationTemplate's metadata, which a cluster drops."""

from collections.abc import Iterator
from typing import Final

from function_script.diagnostics import Diagnostic
from function_script.documents import Document
from function_script.tools import author_positions, manifests

_METADATA: Final = ("spec", "operationTemplate", "metadata")


def find_dropped(document: Document) -> Iterator[Diagnostic]:
    """Yield a problem for each field in the metadata of the template.

    The CRDs declare it as an object without fields, so the API server refuses or drops them.
    """
    for key in manifests.object_at(document.value, *_METADATA):
        field = ".".join((*_METADATA, key))
        problem = Diagnostic(
            message=f"{field}: no cluster keeps this field: kubectl refuses "
            "it, and for other clients the API server drops it",
            hint="take it out",
            field=field,
        )
        yield author_positions.to_field(problem, document)
