"""From a template's documents to a Contribution.

A document is a composed resource (it carries the resource-name annotation), the XR (it has the
XR's type: its status is taken), or a meta document, which says what a script's response would.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from function_script import objects
from function_script.contribution import lint, model, ordering
from function_script.contribution.desired_resource import DesiredResource
from function_script.contribution.from_response import READY
from function_script.contribution.sanitize import composed_object, without_server_fields
from function_script.diagnostics import Diagnostic
from function_script.documents import ByteLruCache
from function_script.errors import DocumentError
from function_script.problems import ProblemList, nearest, suggest
from function_script.reader import ObjectReader

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from function_script import wire
    from function_script.contribution.dialects import Dialect
    from function_script.documents import Document
    from function_script.source import Span
    from function_script.values import Object

_RESOURCE_NAME = "resource name"
_MAX_DOUBTS = 3
_TWICE = "make the name of something that differs, such as the loop's item"
_MERGE = {"Merge": False, "Replace": True}

# Composed resources by the text of their document. They share nearly all they hold with what
# `documents.stream` remembers of that text, so the same bound, which holds as many, costs little.
_MEMO_BYTES = 16 << 20
_BYTES_PER_CHARACTER = 12


class _ParsedDocument:
    """What one document says of a composed resource; it may be shared between requests.

    Most documents are one of these, so it is much less than a whole Contribution.
    """

    def __init__(
        self, name: str, entry: DesiredResource, results: tuple[wire.Result, ...] = ()
    ) -> None:
        self.name = name
        self.entry = entry
        self.results = results


_memo: ByteLruCache[_ParsedDocument] = ByteLruCache(_MEMO_BYTES)


def from_documents(
    documents: Sequence[Document],
    xr: Object,
    dialect: Dialect,
    locate: Callable[[int], Span | None],
) -> model.Contribution:
    """Read every document; raises one DocumentError with all that is wrong, each at its place."""
    gathering = _Collector(dialect, locate)
    prefix = dialect.annotations.prefix
    for document in documents:
        problems = ProblemList()
        key = (prefix, document.key)
        stated = _memo.find(key)
        read = _read(document, xr, dialect, problems, key) if stated is None else stated
        if isinstance(read, _ParsedDocument):
            gathering.add_stated(read, document, problems)
        else:
            gathering.add(read, document, problems)
        gathering.add_problems(problems, document)
    return gathering.whole()


class _Collector:
    """What the documents so far add up to, and what is wrong with them."""

    def __init__(self, dialect: Dialect, locate: Callable[[int], Span | None]) -> None:
        self._dialect = dialect
        self._locate = locate
        self._found: list[Diagnostic] = []
        self._doubts: list[Callable[[], Diagnostic]] = []
        self._composed: dict[str, DesiredResource] = {}
        self._parts: list[model.Contribution] = []
        self._places: dict[str, Callable[[], Span | None]] = {}
        self._lines: dict[tuple[str, str], int] = {}

    def add_stated(
        self, stated: _ParsedDocument, document: Document, problems: ProblemList
    ) -> None:
        """A document that is a composed resource."""
        name, entry = stated.name, stated.entry
        self._take_name(_RESOURCE_NAME, name, document, problems)
        self._composed[name] = entry
        if stated.results:
            self._parts.append(model.Contribution(results=stated.results))
        if entry.order is not None:
            self._places[name] = _place(document, self._dialect)

    def add(self, part: model.Contribution, document: Document, problems: ProblemList) -> None:
        """Any other document."""
        for name in part.composed:
            self._take_name(_RESOURCE_NAME, name, document, problems)
        for name in part.resources:
            self._take_name("requirement", name, document, problems)
        self._composed.update(part.composed)
        self._parts.append(part)

    def add_problems(self, problems: ProblemList, document: Document) -> None:
        """What was found wrong with a document, and what is doubtful about it."""
        for error in document.doubts:
            self._doubts.append(partial(document.doubt, error))
        if problems:
            self._found += _diagnostics(problems, document)

    def whole(self) -> model.Contribution:
        """All of it; raises DocumentError."""
        if self._found:
            raise DocumentError(*self._found)
        if self._doubts:
            warned = lint.dialect_warnings(_told(self._doubts))
            self._parts.append(model.Contribution(results=warned))
        return merge_parts(self._parts, composed=self._composed, places=self._places)

    def _take_name(self, what: str, name: str, document: Document, problems: ProblemList) -> None:
        """Note a name that one step may use only once."""
        line = self._lines.get((what, name))
        if line is None:
            self._lines[what, name] = document.line
            return
        if self._dialect.lenient and what == _RESOURCE_NAME:
            self._doubts.append(partial(_used_twice, name, document))
            return
        span = self._locate(line)
        first = span or f"line {line} of the rendered text"
        problem = f'{what} "{name}" is used twice; first at {first}'
        problems.add("", problem, hint=_TWICE, mention=span)


def _used_twice(name: str, document: Document) -> Diagnostic:
    message = f'resource name "{name}" is used before, and the last one counts'
    return Diagnostic(message=message, span=document.span(), hint=_TWICE)


def _told(doubts: Sequence[Callable[[], Diagnostic]]) -> list[Diagnostic]:
    """The first few; each place costs another run of the template."""
    told = [find() for find in doubts[:_MAX_DOUBTS]]
    if len(doubts) > _MAX_DOUBTS:
        more = len(doubts) - _MAX_DOUBTS
        told.append(Diagnostic(message=f"{more} more warnings like these"))
    return told


def _place(document: Document, dialect: Dialect) -> Callable[[], Span | None]:
    path = ("metadata", "annotations", dialect.annotations.depends_on)
    return lambda: document.span(path)


def _diagnostics(problems: ProblemList, document: Document) -> list[Diagnostic]:
    kind = document.value.get("kind")
    subject = kind if isinstance(kind, str) else "document"
    return [
        problem.to_diagnostic(f"{subject}: ", document.span(objects.read_path(problem.path)))
        for problem in problems
    ]


def _read(
    document: Document,
    xr: Object,
    dialect: Dialect,
    problems: ProblemList,
    key: tuple[str, str],
) -> _ParsedDocument | model.Contribution:
    read = _part(ObjectReader(document.value, "", problems), xr, dialect, key)
    if isinstance(read, _ParsedDocument):
        if not problems:
            _memo.keep(key, read, size_bytes=len(document.key) * _BYTES_PER_CHARACTER)
        return read
    if read.reads_xr and (warned := lint.of_composite(document, xr)):
        return replace(read, results=warned)
    return read


def _part(
    document: ObjectReader, xr: Object, dialect: Dialect, key: Hashable
) -> _ParsedDocument | model.Contribution:
    api_version = document.text("apiVersion", required=True) or ""
    kind = document.text("kind", required=True) or ""
    metadata = document.object("metadata")
    annotations = (metadata.texts("annotations") if metadata is not None else None) or {}
    if api_version == dialect.meta_api_version:
        return _meta(document, kind, dialect)
    if dialect.annotations.name in annotations:
        return _composed(document, annotations, dialect, key)
    if (api_version, kind) == (xr.get("apiVersion"), xr.get("kind")):
        return _composite(document, annotations, dialect)
    if not document.problems:
        _refuse_nameless(document, xr, annotations, dialect)
    return model.Contribution()


def _refuse_nameless(
    document: ObjectReader, xr: Object, annotations: dict[str, str], dialect: Dialect
) -> None:
    resource_name = dialect.annotations.name
    problem = f"metadata.annotations lacks {resource_name}"
    hint = "it names the composed resource; give each one a name of its own"
    if document.value.get("kind") == xr.get("kind"):
        problem = f"has the XR's kind but not its apiVersion {xr.get('apiVersion')}"
        hint = "write that apiVersion to set the XR's status"
    elif document.value.get("kind") == "List":
        problem, hint = "a List cannot be composed", "write its items as documents of their own"
    elif near := nearest(
        _last_part(resource_name), tuple(last := {_last_part(key): key for key in annotations})
    ):
        hint = f'did you mean that by "{last[near]}"?'
    document.problems.add("", problem, hint=hint)


def _last_part(annotation: str) -> str:
    return annotation.rpartition("/")[2]


def _composed(
    document: ObjectReader, annotations: dict[str, str], dialect: Dialect, key: Hashable
) -> _ParsedDocument:
    keys = dialect.annotations
    name = annotations[keys.name]
    stated = ObjectReader(dict(annotations), "metadata.annotations", document.problems)
    if not name:
        stated.problems.add(stated.at(keys.name), "must not be empty")
    if dialect.orders:
        ordering.refuse_unknown(stated, keys)
    replaces = stated.choice(keys.merge, _MERGE) if dialect.orders else None
    advice = ProblemList() if dialect.lenient else None
    resource = (
        composed_object(document) if advice is None else without_server_fields(document, advice)
    )
    entry = DesiredResource(
        resource=_without_ours(resource, dialect),
        keeps_nulls=dialect.lenient,
        ready=stated.choice(keys.ready, READY, exact=dialect.lenient),
        replace=dialect.replaces if replaces is None else replaces,
        order=ordering.from_annotations(stated, keys) if dialect.orders else None,
        key=key,
    )
    results = lint.of_names(name, advice) if advice is not None else ()
    return _ParsedDocument(name, entry, results)


def _without_ours(resource: Object, dialect: Dialect) -> Object:
    """Without the annotations that are meant for us."""
    metadata, keys = resource["metadata"], dialect.annotations
    if isinstance(metadata, dict) and isinstance(annotations := metadata["annotations"], dict):
        kept = {key: text for key, text in annotations.items() if not keys.claims(key)}
        metadata["annotations"] = kept
        if not kept and not dialect.keeps_empty:
            del metadata["annotations"]
        if not metadata:
            del resource["metadata"]
    return resource


def _composite(
    document: ObjectReader, annotations: dict[str, str], dialect: Dialect
) -> model.Contribution:
    stated = ObjectReader(dict(annotations), "metadata.annotations", document.problems)
    found = document.object("status")
    status = None if found is None else found.value
    if dialect.lenient and "status" in document.value and status is None:
        status = {}
    return model.Contribution(
        composite=model.Composite(
            status=status,
            as_written=dialect.lenient,
            ready=stated.choice(dialect.annotations.ready, READY, exact=dialect.lenient),
        ),
        reads_xr=lint.reads_xr(document.value),
    )


def _meta(document: ObjectReader, kind: str, dialect: Dialect) -> model.Contribution:
    reader = dialect.kinds.get(kind)
    if reader is not None:
        return reader(document)
    hint = suggest(kind, dialect.kinds, f"there are {', '.join(dialect.kinds)}")
    problem = f'"{kind}" is not a kind of {dialect.meta_api_version}'
    document.problems.add("kind", problem, hint=hint)
    return model.Contribution()


def merge_parts(
    parts: Sequence[model.Contribution],
    *,
    composed: dict[str, DesiredResource] | None = None,
    places: dict[str, Callable[[], Span | None]] | None = None,
) -> model.Contribution:
    """All parts as one, beside ``composed`` and ``places``; later ones win where they differ."""
    composed = {} if composed is None else composed
    composite, ttl_seconds, output = model.NOTHING, None, None
    reads_xr = False
    context: Object = {}
    results: list[wire.Result] = []
    conditions: list[wire.Condition] = []
    resources: dict[str, wire.Selector] = {}
    schemas: dict[str, tuple[str, str]] = {}
    for part in parts:
        composed.update(part.composed)
        composite = _both(composite, part.composite)
        objects.merge(context, part.context)
        results += part.results
        conditions += part.conditions
        resources.update(part.resources)
        schemas.update(part.schemas)
        ttl_seconds = ttl_seconds if part.ttl_seconds is None else part.ttl_seconds
        output = output if part.output is None else part.output
        reads_xr = reads_xr or part.reads_xr
    return model.Contribution(
        composed=composed,
        composite=composite,
        context=context,
        results=tuple(results),
        conditions=tuple(conditions),
        resources=resources,
        schemas=schemas,
        ttl_seconds=ttl_seconds,
        output=output,
        places=places or {},
        reads_xr=reads_xr,
    )


def _both(first: model.Composite, second: model.Composite) -> model.Composite:
    if second is model.NOTHING:
        return first
    if first is model.NOTHING:
        return second
    status = second.status if first.status is None else first.status
    if first.status is not None and second.status is not None:
        # Both are shared with whoever writes the same documents.
        status = {}
        objects.merge(status, first.status)
        objects.merge(status, second.status)
    return model.Composite(
        status=status,
        as_written=first.as_written or second.as_written,
        ready=first.ready if second.ready is None else second.ready,
        connection_details={**first.connection_details, **second.connection_details},
    )
