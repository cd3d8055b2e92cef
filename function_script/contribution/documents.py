"""From a template's documents to a Contribution.

A document is a composed resource (it carries the resource-name annotation), the XR (it has the
XR's type: its status is taken), or a meta document, which says what a script's response would.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from function_script.contribution import shapes
from function_script.contribution.response import READY, from_response
from function_script.contribution.sanitize import composed_object
from function_script.diagnostics import Diagnostic
from function_script.errors import DocumentError
from function_script.fields import Fields, Problems, nearest
from function_script.objects import merge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from function_script.documents import Document
    from function_script.source import Span
    from function_script.values import Object, Value

PREFIX = "script.fn.crossplane.io"
META_API_VERSION = f"meta.{PREFIX}/v1beta1"
RESOURCE_NAME = f"{PREFIX}/composition-resource-name"
READY_ANNOTATION = f"{PREFIX}/ready"
MERGE_ANNOTATION = f"{PREFIX}/merge"
_MERGE = {"Merge": False, "Replace": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meta:
    """A meta kind: its own fields, and the response-shaped object they amount to."""

    fields: tuple[str, ...]
    to_response: Callable[[Object], Object]


META_KINDS = {
    "Conditions": _Meta(
        fields=("conditions",), to_response=lambda doc: {"conditions": doc.get("conditions")}
    ),
    "ConnectionDetails": _Meta(
        fields=("data",),
        to_response=lambda doc: {"desired": {"composite": {"connection_details": doc.get("data")}}},
    ),
    "Context": _Meta(fields=("data",), to_response=lambda doc: {"context": doc.get("data")}),
    "Output": _Meta(fields=("data",), to_response=lambda doc: {"output": doc.get("data")}),
    "Readiness": _Meta(
        fields=("ready",),
        to_response=lambda doc: {"desired": {"composite": {"ready": doc.get("ready")}}},
    ),
    "Removal": _Meta(
        fields=("resources",),
        to_response=lambda doc: {"desired": {"resources": _removals(doc.get("resources"))}},
    ),
    "Requirements": _Meta(
        fields=("resources", "schemas"),
        to_response=lambda doc: {
            "requirements": {key: doc[key] for key in ("resources", "schemas") if key in doc}
        },
    ),
    "Response": _Meta(fields=("ttl",), to_response=lambda doc: {"meta": {"ttl": doc.get("ttl")}}),
    "Results": _Meta(fields=("results",), to_response=lambda doc: {"results": doc.get("results")}),
}


def _removals(names: Value) -> Value:
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return {str(name): None for name in names}
    return names


def from_documents(
    documents: Sequence[Document], xr: Object, locate: Callable[[int], Span | None]
) -> shapes.Contribution:
    """Read every document; raises one DocumentError with all that is wrong, each at its place."""
    found: list[Diagnostic] = []
    parts: list[shapes.Contribution] = []
    lines: dict[str, int] = {}
    for document in documents:
        problems = Problems()
        part = _read(document.value, xr, problems)
        for name in part.composed:
            if name in lines:
                first = locate(lines[name]) or f"line {lines[name]} of the rendered text"
                problems.add("", f'resource name "{name}" is used twice; first at {first}')
            lines.setdefault(name, document.line)
        found.extend(_diagnostics(problems, document, locate))
        parts.append(part)
    if found:
        raise DocumentError(*found)
    return _combined(parts)


def _diagnostics(
    problems: Problems, document: Document, locate: Callable[[int], Span | None]
) -> list[Diagnostic]:
    kind = document.value.get("kind")
    subject = kind if isinstance(kind, str) else "document"
    return [
        Diagnostic(message=f"{subject}: {text}", span=locate(document.line), hint=hint)
        for text, hint in problems.texts
    ]


def _read(value: Object, xr: Object, problems: Problems) -> shapes.Contribution:
    document = Fields(value, "", problems)
    api_version = document.text("apiVersion", required=True) or ""
    kind = document.text("kind", required=True) or ""
    metadata = document.object("metadata")
    annotations = metadata.texts("annotations") if metadata is not None else None
    if annotations and RESOURCE_NAME in annotations:
        return _composed(document, annotations)
    if api_version == META_API_VERSION:
        return _meta(document, kind)
    if (api_version, kind) == (xr.get("apiVersion"), xr.get("kind")):
        return _composite(document, annotations or {})
    _refuse_nameless(document, xr, annotations)
    return shapes.Contribution()


def _refuse_nameless(document: Fields, xr: Object, annotations: dict[str, str] | None) -> None:
    if document.problems.texts:
        return
    if document.value.get("kind") == xr.get("kind"):
        problem, hint = (
            f"has the XR's kind but not its apiVersion {xr.get('apiVersion')}",
            "write that apiVersion to set the XR's status",
        )
    else:
        near = nearest(RESOURCE_NAME, tuple(annotations or ()))
        problem = f"metadata.annotations lacks {RESOURCE_NAME}"
        hint = (
            f'did you mean that by "{near}"?'
            if near
            else "it names the composed resource; give each one a name of its own"
        )
    document.problems.add("", problem, hint=hint)


def _composed(document: Fields, annotations: dict[str, str]) -> shapes.Contribution:
    stated = Fields(dict(annotations), "metadata.annotations", document.problems)
    name = annotations[RESOURCE_NAME]
    if not name:
        document.problems.add("metadata.annotations", f"{RESOURCE_NAME} must not be empty")
    replaces = stated.choice(MERGE_ANNOTATION, _MERGE)
    entry = shapes.Composed(
        resource=_without_ours(composed_object(document)),
        ready=stated.choice(READY_ANNOTATION, READY),
        replace=bool(replaces),
    )
    return shapes.Contribution(composed={name: entry})


def _without_ours(resource: Object) -> Object:
    metadata = resource["metadata"]
    if isinstance(metadata, dict) and isinstance(annotations := metadata["annotations"], dict):
        kept = {k: v for k, v in annotations.items() if not k.startswith(f"{PREFIX}/")}
        metadata["annotations"] = kept
        if not kept:
            del metadata["annotations"]
        if not metadata:
            del resource["metadata"]
    return resource


def _composite(document: Fields, annotations: dict[str, str]) -> shapes.Contribution:
    stated = Fields(dict(annotations), "metadata.annotations", document.problems)
    status = document.object("status")
    return shapes.Contribution(
        composite=shapes.Composite(
            status=None if status is None else status.value,
            ready=stated.choice(READY_ANNOTATION, READY),
        )
    )


def _meta(document: Fields, kind: str) -> shapes.Contribution:
    meta = META_KINDS.get(kind)
    if meta is None:
        near = nearest(kind, META_KINDS)
        hint = f'did you mean "{near}"?' if near else f"there are {', '.join(META_KINDS)}"
        document.problems.add("kind", f'"{kind}" is not a kind of {META_API_VERSION}', hint=hint)
        return shapes.Contribution()
    document.refuse_unknown("apiVersion", "kind", "metadata", *meta.fields)
    return from_response(meta.to_response(document.value), document.problems)


def _combined(parts: list[shapes.Contribution]) -> shapes.Contribution:
    """All parts as one; later documents win where both speak of the same field."""
    whole = shapes.Contribution()
    for part in parts:
        context = whole.context
        if part.context:
            context = dict(whole.context)
            merge(context, part.context)
        whole = replace(
            whole,
            composed={**whole.composed, **part.composed},
            composite=_both(whole.composite, part.composite),
            context=context,
            results=whole.results + part.results,
            conditions=whole.conditions + part.conditions,
            resources={**whole.resources, **part.resources},
            schemas={**whole.schemas, **part.schemas},
            ttl_seconds=whole.ttl_seconds if part.ttl_seconds is None else part.ttl_seconds,
            output=whole.output if part.output is None else part.output,
        )
    return whole


def _both(first: shapes.Composite, second: shapes.Composite) -> shapes.Composite:
    status = dict(first.status) if first.status is not None else second.status
    if first.status is not None and second.status is not None and status is not None:
        merge(status, second.status)
    return shapes.Composite(
        status=status,
        ready=first.ready if second.ready is None else second.ready,
        connection_details={**first.connection_details, **second.connection_details},
    )
