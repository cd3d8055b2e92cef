"""The dialects of a template's documents: their annotations, meta kinds and options.

A dialect is a value. The readers of documents ask it; it reads nothing but meta documents.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from function_script.contribution.annotations import Annotations
from function_script.contribution.from_response import read_response
from function_script.contribution.model import Contribution
from function_script.request.reader import ObjectReader
from function_script.request.values import Object, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The annotations, meta kinds and options of documents.

    ``kinds`` has a reader for each kind of meta document. ``replaces_by_default``: a document
    without an annotation replaces an earlier step's resource; otherwise it is merged into it.
    ``is_lenient``: a resource is sent verbatim, with nulls, status, all metadata and annotations
    that are empty without the function's own, and a mistake that only Crossplane or the API server
    rejects is a warning. ``supports_policies``: there are annotations for merging, dependencies,
    readiness and Usages, and unknown ones are errors.
    """

    annotations: Annotations
    meta_api_version: str
    kinds: Mapping[str, Callable[[ObjectReader], Contribution]]
    replaces_by_default: bool
    is_lenient: bool
    supports_policies: bool


def _response_reader(
    fields: tuple[str, ...], to_response: Callable[[Object], Object]
) -> Callable[[ObjectReader], Contribution]:
    """Return the reader of a meta kind that has ``fields`` of a script's response."""

    def read(document: ObjectReader) -> Contribution:
        document.refuse_unknown("apiVersion", "kind", "metadata", *fields)
        return read_response(to_response(document.value), document.problems)

    return read


def _removals(names: Value) -> Value:
    """Return null entries for a list of names; another value is returned for its error."""
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return {str(name): None for name in names}
    return names


def _composite(field: str, value: Value) -> Object:
    return {"desired": {"composite": {field: value}}}


SCRIPT = Dialect(
    annotations=Annotations("script.fn.crossplane.io", owns_prefix=True),
    meta_api_version="meta.script.fn.crossplane.io/v1beta1",
    replaces_by_default=False,
    is_lenient=False,
    supports_policies=True,
    kinds={
        "Conditions": _response_reader(
            ("conditions",), lambda doc: {"conditions": doc.get("conditions")}
        ),
        "ConnectionDetails": _response_reader(
            ("data",), lambda doc: _composite("connection_details", doc.get("data"))
        ),
        "Context": _response_reader(("data",), lambda doc: {"context": doc.get("data")}),
        "Output": _response_reader(("data",), lambda doc: {"output": doc.get("data")}),
        "Readiness": _response_reader(
            ("ready",), lambda doc: _composite("ready", doc.get("ready"))
        ),
        "Removal": _response_reader(
            ("resources",),
            lambda doc: {"desired": {"resources": _removals(doc.get("resources"))}},
        ),
        "Requirements": _response_reader(
            ("resources", "schemas"),
            lambda doc: {
                "requirements": {key: doc[key] for key in ("resources", "schemas") if key in doc}
            },
        ),
        "Response": _response_reader(("ttl",), lambda doc: {"meta": {"ttl": doc.get("ttl")}}),
        "Results": _response_reader(("results",), lambda doc: {"results": doc.get("results")}),
    },
)
