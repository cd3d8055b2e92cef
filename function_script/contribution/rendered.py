"""From a template's documents to a Contribution.

A document is a composed resource (it carries the resource-name annotation), the XR (it has the
XR's type: its status is taken), or a meta document, which says what a script's response would.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from function_script.contribution import order, shapes, warnings
from function_script.contribution.places import path_of
from function_script.contribution.returned import READY
from function_script.contribution.sanitize import as_written, composed_object
from function_script.diagnostics import Diagnostic
from function_script.documents import Memo
from function_script.errors import DocumentError
from function_script.fields import Fields, Problems, nearest
from function_script.objects import merge

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from function_script import wire
    from function_script.contribution.dialects import Dialect
    from function_script.documents import Document
    from function_script.source import Span
    from function_script.values import Object

_RESOURCE_NAME = "resource name"
_MAX_DOUBTS = 3
_NAME = "composition-resource-name"
_TWICE = "make the name of something that differs, such as the loop's item"
_MERGE = {"Merge": False, "Replace": True}

# Composed resources by the text of their document. They share nearly all they hold with what
# `documents.stream` remembers of that text, so the same bound, which holds as many, costs little.
_MEMO_BYTES = 16 << 20
_BYTES_PER_CHARACTER = 12
_memo: Memo[shapes.Contribution] = Memo(_MEMO_BYTES)


def from_documents(
    documents: Sequence[Document],
    xr: Object,
    dialect: Dialect,
    locate: Callable[[int], Span | None],
) -> shapes.Contribution:
    """Read every document; raises one DocumentError with all that is wrong, each at its place."""
    found: list[Diagnostic] = []
    parts: list[shapes.Contribution] = []
    places: dict[str, Callable[[], Span | None]] = {}
    lines: dict[tuple[str, str], int] = {}
    doubts: list[Callable[[], Diagnostic]] = []
    for document in documents:
        problems = Problems()
        part = _remembered(document, dialect) or _read(document, xr, dialect, problems)
        doubts += [partial(document.doubt, error) for error in document.doubts]
        for key in _names(part):
            if key in lines and dialect.lenient and key[0] == _RESOURCE_NAME:
                doubts.append(partial(_used_twice, key[1], document))
            elif key in lines:
                first = locate(lines[key]) or f"line {lines[key]} of the rendered text"
                said = f'{key[0]} "{key[1]}" is used twice; first at {first}'
                problems.add("", said, hint=_TWICE)
            lines.setdefault(key, document.line)
        if problems.texts:
            found.extend(_diagnostics(problems, document))
        for name, entry in part.composed.items():
            if entry.order is not None:
                places[name] = _place(document, dialect)
        parts.append(part)
    if found:
        raise DocumentError(*found)
    if doubts:
        parts.append(shapes.Contribution(results=warnings.of_doubts(_told(doubts))))
    return replace(combined(parts), places=places) if places else combined(parts)


def _used_twice(name: str, document: Document) -> Diagnostic:
    message = f'resource name "{name}" is used before, and the last one counts'
    return Diagnostic(message=message, span=document.span(), hint=_TWICE)


def _told(doubts: Sequence[Callable[[], Diagnostic]]) -> list[Diagnostic]:
    """The first few; each place costs another run of the template."""
    told = [find() for find in doubts[:_MAX_DOUBTS]]
    if len(doubts) > _MAX_DOUBTS:
        more = len(doubts) - _MAX_DOUBTS
        told.append(Diagnostic(message=f"{more} more like those told before"))
    return told


def _place(document: Document, dialect: Dialect) -> Callable[[], Span | None]:
    path = ("metadata", "annotations", dialect.annotation(order.DEPENDS_ON))
    return lambda: document.span(path)


def _names(part: shapes.Contribution) -> list[tuple[str, str]]:
    """What one step may say only once: every name with what it names."""
    named = [(_RESOURCE_NAME, name) for name in part.composed]
    if part.resources:
        named += [("requirement", name) for name in part.resources]
    return named


def _diagnostics(problems: Problems, document: Document) -> list[Diagnostic]:
    kind = document.value.get("kind")
    subject = kind if isinstance(kind, str) else "document"
    return [
        Diagnostic(message=f"{subject}: {text}", span=document.span(path_of(text)), hint=hint)
        for text, hint in problems.texts
    ]


def _remembered(document: Document, dialect: Dialect) -> shapes.Contribution | None:
    """What this very text composed the last time, which depends on nothing else."""
    return _memo.find((dialect.prefix, document.key))


def _read(
    document: Document, xr: Object, dialect: Dialect, problems: Problems
) -> shapes.Contribution:
    key = (dialect.prefix, document.key)
    part = _part(Fields(document.value, "", problems), xr, dialect, key)
    is_composite = part.composite is not shapes.NOTHING and not part.results
    if is_composite and (warned := warnings.of_composite(document, xr)):
        part = replace(part, results=warned)
    if part.composed and not problems.texts:
        _memo.keep(key, part, size_bytes=len(document.key) * _BYTES_PER_CHARACTER)
    return part


def _part(document: Fields, xr: Object, dialect: Dialect, key: Hashable) -> shapes.Contribution:
    api_version = document.text("apiVersion", required=True) or ""
    kind = document.text("kind", required=True) or ""
    metadata = document.object("metadata")
    annotations = (metadata.texts("annotations") if metadata is not None else None) or {}
    if dialect.annotation(_NAME) in annotations:
        return _composed(document, annotations, dialect, key)
    if api_version == dialect.meta_api_version:
        return _meta(document, kind, dialect)
    if (api_version, kind) == (xr.get("apiVersion"), xr.get("kind")):
        return _composite(document, annotations, dialect)
    if not document.problems.texts:
        _refuse_nameless(document, xr, annotations, dialect)
    return shapes.Contribution()


def _refuse_nameless(
    document: Fields, xr: Object, annotations: dict[str, str], dialect: Dialect
) -> None:
    resource_name = dialect.annotation(_NAME)
    problem = f"metadata.annotations lacks {resource_name}"
    hint = "it names the composed resource; give each one a name of its own"
    if document.value.get("kind") == xr.get("kind"):
        problem = f"has the XR's kind but not its apiVersion {xr.get('apiVersion')}"
        hint = "write that apiVersion to set the XR's status"
    elif document.value.get("kind") == "List":
        problem, hint = "a List cannot be composed", "write its items as documents of their own"
    elif near := nearest(_NAME, tuple(last := {_last_part(key): key for key in annotations})):
        hint = f'did you mean that by "{last[near]}"?'
    document.problems.add("", problem, hint=hint)


def _last_part(annotation: str) -> str:
    return annotation.rpartition("/")[2]


def _composed(
    document: Fields, annotations: dict[str, str], dialect: Dialect, key: Hashable
) -> shapes.Contribution:
    name = annotations[dialect.annotation(_NAME)]
    stated = Fields(dict(annotations), "metadata.annotations", document.problems)
    if not name:
        stated.problems.add(stated.at(dialect.annotation(_NAME)), "must not be empty")
    if dialect.orders:
        order.refuse_unknown(stated, dialect.prefix)
    replaces = stated.choice(dialect.annotation("merge"), _MERGE)
    advice = Problems() if dialect.lenient else None
    resource = composed_object(document) if advice is None else as_written(document, advice)
    entry = shapes.Composed(
        resource=_without_ours(resource, dialect),
        keeps_nulls=dialect.lenient,
        ready=stated.choice(dialect.annotation("ready"), READY, exact=dialect.lenient),
        replace=dialect.replaces if replaces is None else replaces,
        order=order.from_annotations(stated, dialect.prefix) if dialect.orders else None,
        key=key,
    )
    results = warnings.of_names(name, advice) if advice is not None else ()
    return shapes.Contribution(composed={name: entry}, results=results)


def _without_ours(resource: Object, dialect: Dialect) -> Object:
    """Without the annotations that are meant for us."""
    metadata = resource["metadata"]
    if isinstance(metadata, dict) and isinstance(annotations := metadata["annotations"], dict):
        kept = {key: text for key, text in annotations.items() if not dialect.reads(key)}
        metadata["annotations"] = kept
        if not kept and not dialect.keeps_empty:
            del metadata["annotations"]
        if not metadata:
            del resource["metadata"]
    return resource


def _composite(
    document: Fields, annotations: dict[str, str], dialect: Dialect
) -> shapes.Contribution:
    stated = Fields(dict(annotations), "metadata.annotations", document.problems)
    status = document.object("status")
    return shapes.Contribution(
        composite=shapes.Composite(
            status=None if status is None else status.value,
            as_written=dialect.lenient,
            ready=stated.choice(dialect.annotation("ready"), READY, exact=dialect.lenient),
        ),
    )


def _meta(document: Fields, kind: str, dialect: Dialect) -> shapes.Contribution:
    reader = dialect.kinds.get(kind)
    if reader is not None:
        return reader(document)
    near = nearest(kind, dialect.kinds)
    hint = f'did you mean "{near}"?' if near else f"there are {', '.join(dialect.kinds)}"
    problem = f'"{kind}" is not a kind of {dialect.meta_api_version}'
    document.problems.add("kind", problem, hint=hint)
    return shapes.Contribution()


def combined(parts: Sequence[shapes.Contribution]) -> shapes.Contribution:
    """All parts as one; later documents win where both speak of the same field."""
    composed: dict[str, shapes.Composed] = {}
    composite, ttl_seconds, output = shapes.NOTHING, None, None
    context: Object = {}
    results: list[wire.Result] = []
    conditions: list[wire.Condition] = []
    resources: dict[str, wire.Selector] = {}
    schemas: dict[str, tuple[str, str]] = {}
    for part in parts:
        composed.update(part.composed)
        composite = _both(composite, part.composite)
        merge(context, part.context)
        results += part.results
        conditions += part.conditions
        resources.update(part.resources)
        schemas.update(part.schemas)
        ttl_seconds = ttl_seconds if part.ttl_seconds is None else part.ttl_seconds
        output = output if part.output is None else part.output
    return shapes.Contribution(
        composed=composed,
        composite=composite,
        context=context,
        results=tuple(results),
        conditions=tuple(conditions),
        resources=resources,
        schemas=schemas,
        ttl_seconds=ttl_seconds,
        output=output,
    )


def _both(first: shapes.Composite, second: shapes.Composite) -> shapes.Composite:
    if second is shapes.NOTHING:
        return first
    if first is shapes.NOTHING:
        return second
    status = second.status if first.status is None else first.status
    if first.status is not None and second.status is not None:
        # Both are shared with whoever writes the same documents.
        status = {}
        merge(status, first.status)
        merge(status, second.status)
    return shapes.Composite(
        status=status,
        as_written=first.as_written or second.as_written,
        ready=first.ready if second.ready is None else second.ready,
        connection_details={**first.connection_details, **second.connection_details},
    )
