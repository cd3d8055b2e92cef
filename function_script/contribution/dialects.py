"""Whose annotations and meta kinds a template's documents use: ours, or those of a peer.

Read by everything that looks at documents; a dialect says what differs, and reads nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from function_script.contribution.annotations import Annotations
from function_script.contribution.from_response import from_response

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from function_script.contribution.model import Contribution
    from function_script.reader import ObjectReader
    from function_script.values import Object, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A set of annotations and meta kinds.

    ``kinds`` reads a meta document of each kind. ``replaces``: a document takes the place of an
    earlier step's resource unless an annotation says otherwise; else it merges into it.
    ``keeps_empty``: the annotations stay as an empty map when ours were all there was.
    ``lenient``: documents are taken as they are written, with nulls, status and all metadata, and
    what only Crossplane or the API server may refuse is a warning. ``orders``: it has annotations
    for merging, dependencies and rules of readiness, and refuses those it does not know.
    """

    annotations: Annotations
    meta_api_version: str
    kinds: Mapping[str, Callable[[ObjectReader], Contribution]]
    replaces: bool
    keeps_empty: bool
    lenient: bool
    orders: bool


def _reader(
    fields: tuple[str, ...], to_response: Callable[[Object], Object]
) -> Callable[[ObjectReader], Contribution]:
    """A meta kind that says what a script's response would: read by the same readers."""

    def read(document: ObjectReader) -> Contribution:
        document.refuse_unknown("apiVersion", "kind", "metadata", *fields)
        return from_response(to_response(document.value), document.problems)

    return read


def _removals(names: Value) -> Value:
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return {str(name): None for name in names}
    return names


def _composite(field: str, value: Value) -> Object:
    return {"desired": {"composite": {field: value}}}


OURS = Dialect(
    annotations=Annotations("script.fn.crossplane.io", claims_all=True),
    meta_api_version="meta.script.fn.crossplane.io/v1beta1",
    replaces=False,
    keeps_empty=False,
    lenient=False,
    orders=True,
    kinds={
        "Conditions": _reader(("conditions",), lambda doc: {"conditions": doc.get("conditions")}),
        "ConnectionDetails": _reader(
            ("data",), lambda doc: _composite("connection_details", doc.get("data"))
        ),
        "Context": _reader(("data",), lambda doc: {"context": doc.get("data")}),
        "Output": _reader(("data",), lambda doc: {"output": doc.get("data")}),
        "Readiness": _reader(("ready",), lambda doc: _composite("ready", doc.get("ready"))),
        "Removal": _reader(
            ("resources",),
            lambda doc: {"desired": {"resources": _removals(doc.get("resources"))}},
        ),
        "Requirements": _reader(
            ("resources", "schemas"),
            lambda doc: {
                "requirements": {key: doc[key] for key in ("resources", "schemas") if key in doc}
            },
        ),
        "Response": _reader(("ttl",), lambda doc: {"meta": {"ttl": doc.get("ttl")}}),
        "Results": _reader(("results",), lambda doc: {"results": doc.get("results")}),
    },
)
