"""A stream of YAML or JSON documents to objects, with the place of each in its author's text.

Called by the main path for rendered text, and by the tools for files. The text is split before
it is parsed, as Kubernetes does it: at lines that begin with ``---``; a stream that begins with
``{`` is read as JSON objects for as long as it is JSON.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from function_script.diagnostics import Diagnostic
from function_script.documents.cache import ByteLruCache
from function_script.documents.composer import ParsedDocument, parse
from function_script.documents.errors import TooLargeError, YamlError
from function_script.documents.json_objects import find_object
from function_script.documents.origin import TextOrigin
from function_script.documents.positions import Path, find_place
from function_script.documents.simple import parse_simple
from function_script.limits import Limits
from function_script.values import Object, Value, type_phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from function_script.errors import FatalError
    from function_script.source import Source, Span

_LIMITS = Limits()
_EMPTY = ParsedDocument(value=None, line=0, nodes=0, depth=0)
_NOT_BLANK = re.compile(r"[^ \t\r\n]")
_SEPARATOR_REST = re.compile(r"\s*(?:#.*)?\Z", re.DOTALL)

# Parsed documents by their text. A value takes about ten times the memory of its text.
_MEMO_BYTES = 16 << 20
_BYTES_PER_CHARACTER = 12
_memo: ByteLruCache[ParsedDocument] = ByteLruCache(_MEMO_BYTES)


class Document:
    """An object of a stream, and where it comes from.

    ``value`` is shared with later streams that hold the same text: it must not be changed, nor
    may parts of it be put where they are changed later (`objects.merge` and `copied` copy).
    ``key`` is the document's exact text, the key for whatever is derived from ``value`` alone.
    ``number`` counts the stream's documents from 1; ``line`` is the stream's line where the
    object begins, ``first_line`` that where ``key`` begins, both 1-based.
    ``doubts`` are the problems that a lenient reader let pass, ten at most; `doubt` places one.
    """

    def __init__(
        self,
        composed: ParsedDocument,
        key: str,
        origin: TextOrigin,
        *,
        number: int,
        first_line: int,
    ) -> None:
        self.value = cast("Object", composed.value)
        self.key = key
        self.number = number
        self.line = first_line + composed.line
        self.first_line = first_line
        self.doubts: tuple[YamlError, ...] = ()
        self.origin = origin

    def span(self, path: Path = ()) -> Span | None:
        """Where the author wrote the object, or the field at ``path`` or its nearest ancestor."""
        found = find_place(self.key, path) if path else None
        if found is None:
            return self.origin.span(self.line)
        return self.origin.span(self.first_line + found.line, found.column + 1)

    def doubt(self, error: YamlError) -> Diagnostic:
        """One of the doubts, at its place."""
        span = self.origin.span(self.first_line + error.line, error.column + 1)
        return Diagnostic(message=error.message, span=span, hint=error.hint)


def read_stream(
    text: str,
    *,
    locate: Callable[[int], Span | None] | None = None,
    limits: Limits = _LIMITS,
    lenient: bool = False,
) -> list[Document]:
    """The objects of a rendered stream; empty, null and comment-only documents are left out.

    ``locate`` maps a 1-based line of ``text`` to the place that rendered it; it is called for
    errors only. Raises DocumentError, or LimitError for more than ``limits`` allows in the whole
    stream: documents, nodes (maps, lists and scalars, aliases expanded), depth. ``lenient``: keys
    that come again and labels that are no strings are not refused, but noted as doubts.
    """
    return _Reader(TextOrigin(text=text, locate=locate), limits, lenient=lenient).documents()


def read_source(source: Source, *, limits: Limits = _LIMITS) -> list[Document]:
    """The objects of a stream that its author wrote as such: a file. See `read_stream`."""
    return _Reader(TextOrigin(text=source.text, source=source), limits).documents()


def read_value(text: str, *, limits: Limits = _LIMITS) -> Value:
    """The value of a text of at most one document, of any type; None when it is empty.

    Raises DocumentError or LimitError, with the place in the message and not in a span.
    """
    try:
        composed = parse(text, nodes=limits.nodes, depth=limits.depth)
    except YamlError as error:
        raise TextOrigin(text=text).error(error, first_line=1, what="the YAML") from error
    return None if composed is None else composed.value


class _Reader:
    """Collects the documents of one stream, within its limits."""

    def __init__(self, origin: TextOrigin, limits: Limits, *, lenient: bool = False) -> None:
        self._origin = origin
        self._lenient = lenient
        self._limits = limits
        self._nodes_left = limits.nodes
        self._documents: list[Document] = []

    def documents(self) -> list[Document]:
        self._read_yaml(self._read_json())
        return self._documents

    def _read_json(self) -> int:
        """Read the JSON objects the text begins with; returns where something else begins."""
        text = self._origin.text
        end = int(text.startswith("\ufeff"))
        line = 1
        while (begin := _NOT_BLANK.search(text, end)) is not None and begin[0] == "{":
            start = begin.start()
            line += text.count("\n", end, start)
            doubts: list[YamlError] = []
            found = self._json_object(start, line, doubts)
            if found is None:
                break
            self._add(found[0], text[start : found[1]], line, doubts)
            end = found[1]
            line += text.count("\n", start, end)
        return end

    def _json_object(
        self, start: int, line: int, doubts: list[YamlError]
    ) -> tuple[ParsedDocument, int] | None:
        nodes, depth = self._nodes_left, self._limits.depth
        noted = doubts if self._lenient else None
        try:
            found = find_object(self._origin.text, start, nodes=nodes, depth=depth, doubts=noted)
            if found is not None:
                _check_object(found[0], self._origin.text[start : found[1]], noted)
        except YamlError as error:
            raise self._error(error, line) from error
        return found

    def _read_yaml(self, start: int) -> None:
        text = self._origin.text
        line = text.count("\n", 0, start)
        first, *others = ("\n" + text[start:]).split("\n---")
        # The break before a separator ends the document's last line: a block's text has it.
        self._yaml(f"{first[1:]}\n" if others else first[1:], line + 1)
        line += first.count("\n") + 1
        for number, chunk in enumerate(others, 1):
            rest, _, body = chunk.partition("\n")
            if rest and not _SEPARATOR_REST.match(rest):
                what = "the documents"
                raise self._origin.error(_no_separator(rest), first_line=line, what=what)
            self._yaml(f"{body}\n" if number < len(others) else body, line + 1)
            line += chunk.count("\n") + 1

    def _yaml(self, text: str, line: int) -> None:
        if not text or text.isspace():
            return
        composed = _memo.find(text)
        doubts: list[YamlError] = []
        if composed is None or not self._has_room(composed):
            composed = self._composed(text, line, doubts)
            if not doubts:
                _memo.keep(text, composed, size_bytes=len(text) * _BYTES_PER_CHARACTER)
        if composed.value is not None:
            self._add(composed, text, line, doubts)

    def _composed(self, text: str, line: int, doubts: list[YamlError]) -> ParsedDocument:
        try:
            return _compose(
                text,
                nodes=self._nodes_left,
                depth=self._limits.depth,
                doubts=doubts if self._lenient else None,
            )
        except YamlError as error:
            raise self._error(error, line) from error

    def _has_room(self, composed: ParsedDocument) -> bool:
        return composed.nodes <= self._nodes_left and composed.depth <= self._limits.depth

    def _add(
        self, composed: ParsedDocument, text: str, line: int, doubts: Sequence[YamlError] = ()
    ) -> None:
        if len(self._documents) == self._limits.documents:
            message = f"more than {self._limits.documents:,} documents"
            error = TooLargeError(message, line=composed.line, column=0, limit="documents")
            raise self._error(error, line)
        self._nodes_left -= composed.nodes
        number = len(self._documents) + 1
        document = Document(composed, text, self._origin, number=number, first_line=line)
        if doubts:
            document.doubts = tuple(doubts)
        self._documents.append(document)

    def _error(self, error: YamlError, line: int) -> FatalError:
        what = f"document {len(self._documents) + 1}"
        return self._origin.error(error, first_line=line, what=what)


def _compose(
    text: str, *, nodes: int, depth: int, doubts: list[YamlError] | None
) -> ParsedDocument:
    composed = parse_simple(text, nodes=nodes, depth=depth)
    composed = composed or parse(text, nodes=nodes, depth=depth, doubts=doubts) or _EMPTY
    if composed.value is not None:
        _check_object(composed, text, doubts)
    return composed


def _check_object(
    composed: ParsedDocument, text: str, doubts: list[YamlError] | None = None
) -> None:
    """Refuse what no Kubernetes object is: other types, labels that are not strings.

    Labels are noted as ``doubts`` if there is such a list.
    """
    value = composed.value
    if not isinstance(value, dict):
        hint = "put a blank after the colon of a key" if ":" in str(value) else None
        message = f"a document must be an object, not {type_phrase(value)}"
        raise YamlError(message, line=composed.line, column=0, hint=hint)
    metadata = value.get("metadata")
    if isinstance(metadata, dict):
        _check_texts(metadata.get("annotations"), "annotations", text)
        try:
            _check_texts(metadata.get("labels"), "labels", text)
        except YamlError as error:
            if doubts is None:
                raise
            doubts.append(error.let_pass("Crossplane drops all labels of this object"))


def _check_texts(value: Value, name: str, text: str) -> None:
    if value is None:
        return
    if not isinstance(value, dict):
        message = f"metadata.{name} must be an object, not {type_phrase(value)}"
        hint = "write `key: value` lines below it, without dashes"
        raise _at(message, ("metadata", name), text, hint=hint)
    for key, item in value.items():
        if item is not None and not isinstance(item, str):
            message = f'metadata.{name}["{key}"] must be a string, not {type_phrase(item)}'
            raise _at(message, ("metadata", name, key), text, hint="quote the value")


def _at(message: str, path: Path, text: str, *, hint: str | None = None) -> YamlError:
    found = find_place(text, path)
    line, column = (0, 0) if found is None else (found.line, found.column)
    return YamlError(message, line=line, column=column, hint=hint)


def _no_separator(rest: str) -> YamlError:
    hint = "indent it if it belongs to a text" if rest.startswith("-") else None
    message = "a line that begins with --- separates documents and may hold only a comment"
    return YamlError(message, line=0, column=3, hint=hint)
