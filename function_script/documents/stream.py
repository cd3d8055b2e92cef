"""A stream of YAML or JSON documents to objects, each with its position in its author's text.

The text is split before it is parsed, as Kubernetes does it: at lines that begin with ``---``. A
stream that begins with ``{`` is parsed as JSON objects up to the first text that is not JSON.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias, cast

from yaml import events

from function_script.documents.errors import (
    KEY_WITHOUT_BLANK,
    TooLargeError,
    YamlError,
    YamlSyntaxError,
)
from function_script.documents.fast_path import parse_simple
from function_script.documents.json_objects import parse_object
from function_script.documents.kubernetes_yaml import ParsedDocument, parse, start_of, width_of
from function_script.documents.origin import TextOrigin
from function_script.documents.positions import Position, find_position, list_positions
from function_script.request.cache import ByteLruCache
from function_script.request.limits import Limits
from function_script.request.objects import Path
from function_script.request.values import Object, Value, text_hint, type_phrase
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError
from function_script.texts.source import Piece, Source, Span

_NO_MAP_HINT: Final = "write `key: value` lines below it, without dashes or brackets"
_LIMITS = Limits()
_EMPTY: Final = ParsedDocument(value=None, line=0, nodes=0, depth=0)
_NOT_BLANK: Final = re.compile(r"[^ \t\r\n]")
_SEPARATOR_REST: Final = re.compile(r"\s*(?:#.*)?\Z", re.DOTALL)

# The results of a document's readers, by all else that they depend on. They share nearly all of
# the document's value.
Derived: TypeAlias = dict[Hashable, object]
_Entry: TypeAlias = tuple[ParsedDocument, Derived]
# A cluster has few types of XRs whose programs write the same text.
_MAX_DERIVED: Final = 2
# Parsed documents by their text, with as many derived parts of each.
_CACHE_BYTES = 24 << 20
_BYTES_PER_CHARACTER: Final = 14
_cache: Final[ByteLruCache[str, _Entry]] = ByteLruCache(_CACHE_BYTES, is_of_requests=True)


def _remember(key: str, parsed: ParsedDocument, warnings: Sequence[YamlError]) -> _Entry:
    entry: _Entry = parsed, {}
    # From the cache it would come without them.
    if not warnings:
        _cache.put(key, entry, len(key) * _BYTES_PER_CHARACTER)
    return entry


class Document:
    """An object of a stream, with its origin.

    ``value`` is shared with later streams that hold the same text. It must not be changed, and no
    part of it may be put where it would be changed (`objects.merge` and `deep_copy` copy).
    ``text`` is the document's exact text. ``derived`` is remembered as long as ``value``.
    ``number`` is the document's, from 1. ``line`` is the stream's line where the object begins,
    ``first_line`` that where ``text`` begins, both 1-based.
    ``warnings`` are problems that a lenient reader accepts, ten at most; see `to_diagnostic`.
    """

    def __init__(
        self,
        entry: _Entry,
        text: str,
        origin: TextOrigin,
        *,
        number: int,
        first_line: int,
    ) -> None:
        parsed, self.derived = entry
        self.value = cast("Object", parsed.value)
        self.text = text
        self.number = number
        self.line = first_line + parsed.line
        self.first_line = first_line
        self.warnings: tuple[YamlError, ...] = ()
        self.origin = origin

    def remember(self, key: Hashable, part: object) -> None:
        """Add to ``derived``, which has few entries at most."""
        if len(self.derived) == _MAX_DERIVED:
            self.derived.clear()
        self.derived[key] = part

    def span(self, path: Path = ()) -> Span | None:
        """Return the author's position of the object, or of the field at ``path``.

        It is the nearest ancestor's if the field does not exist.
        """
        return self._to_span(find_position(self.text, path) if path else None)

    def span_each(self, paths: Iterable[Path]) -> Iterator[Span | None]:
        """Yield the `span` of each path, in one pass."""
        positions = list_positions(self.text)
        for path in paths:
            above = (path[:depth] for depth in range(len(path), 0, -1))
            nearest = next((each for each in above if each in positions), ())
            yield self._to_span(positions.get(nearest) if path else None)

    def _to_span(self, position: Position | None) -> Span | None:
        if position is None:
            return self.origin.span(self.line)
        return self.origin.span(
            self.first_line + position.line, position.column + 1, position.width
        )

    def spans(self) -> dict[Path, Span]:
        """Return the author's position of every field: `span` for all, in one pass.

        A value that begins in a later line than its key is where it begins.
        """
        spans: dict[Path, Span] = {}
        for path, position in list_positions(self.text).items():
            line, column, width = position.line, position.column, position.width
            value_line, value_column = start_of(position.value)
            if isinstance(position.value, events.ScalarEvent) and value_line > line:
                line, column, width = value_line, value_column, width_of(position.value)
            span = self.origin.span(self.first_line + line, column + 1, width)
            if span is not None:
                spans[path] = span
        return spans

    def to_diagnostic(self, warning: YamlError) -> Diagnostic:
        """Return one of the warnings with its position in the author's text."""
        span = self.origin.span(self.first_line + warning.line, warning.column + 1)
        code = warning.code
        return Diagnostic(message=warning.message, span=span, hint=warning.hint, code=code)


def read_stream(  # noqa: PLR0913 # a text and what may explain it
    text: str,
    *,
    locate: Callable[[int], Span | None] | None = None,
    explain: Callable[[int], tuple[Span, str] | None] | None = None,
    trace: Callable[[], Sequence[Piece]] = tuple,
    limits: Limits = _LIMITS,
    lenient: bool = False,
) -> list[Document]:
    """Read the objects of a rendered stream without its empty, null and comment-only documents.

    ``locate`` maps a 1-based line of ``text`` to the place that rendered it; it is called for
    errors only, as are ``explain``, which gives the place to correct and a hint for a line of
    another language, and ``trace``, which returns the pieces of ``text``. Raises DocumentError, or
    LimitError for more than ``limits`` allow in the whole stream: documents, nodes (maps, lists and
    scalars, aliases expanded), depth. ``lenient``: repeated keys and labels that are not strings
    are warnings, not errors.
    """
    origin = TextOrigin(text=text, locate=locate, explain=explain, trace=trace)
    return _StreamReader(origin, limits, lenient=lenient).read()


def read_source(source: Source, *, limits: Limits = _LIMITS) -> list[Document]:
    """Read the objects of a file that its author wrote. See `read_stream`."""
    return _StreamReader(TextOrigin(text=source.text, source=source), limits).read()


def read_value(text: str, *, limits: Limits = _LIMITS) -> Value:
    """Read the value, of any type, of a text of at most one document; None when it is empty.

    Raises DocumentError or LimitError, with the position in the message and not in a span.
    """
    try:
        parsed = parse(text, nodes=limits.nodes, depth=limits.depth)
    except YamlError as error:
        raise TextOrigin(text=text).error(error, first_line=1, what="the YAML") from error
    return None if parsed is None else parsed.value


class _StreamReader:
    """Collects the documents of one stream within its limits."""

    def __init__(self, origin: TextOrigin, limits: Limits, *, lenient: bool = False) -> None:
        self._origin = origin
        self._lenient = lenient
        self._limits = limits
        self._nodes_left = limits.nodes
        self._documents: list[Document] = []

    def read(self) -> list[Document]:
        self._read_yaml(self._read_json())
        return self._documents

    def _read_json(self) -> int:
        """Read the JSON objects that the text begins with, and return the offset behind them."""
        text = self._origin.text
        # A byte order mark is not JSON, and some editors write one.
        end = int(text.startswith("\ufeff"))
        line = 1
        while (begin := _NOT_BLANK.search(text, end)) is not None and begin[0] == "{":
            start = begin.start()
            line += text.count("\n", end, start)
            nodes, depth = self._nodes_left, self._limits.depth
            warnings: list[YamlError] = []
            sink = warnings if self._lenient else None
            try:
                parsed = parse_object(text, start, nodes=nodes, depth=depth, warnings=sink)
                if parsed is None:
                    break
                document, end = parsed
                whole = text[start:end]
                _check_object(document, whole, sink)
            except YamlError as error:
                raise self._error(error, line) from error
            # YAML, which may read the text in another way, never begins so.
            key = f"\0{whole}"
            self._add(_cache.get(key) or _remember(key, document, warnings), whole, line, warnings)
            line += text.count("\n", start, end)
        return end

    def _read_yaml(self, start: int) -> None:
        text = self._origin.text
        line = text.count("\n", 0, start)
        # The line break before a separator ends the document's last line: a literal block has it.
        # So has one at the end of the text, where the line break may be missing.
        first, *others = ("\n" + text[start:].removesuffix("\n")).split("\n---")
        self._add_yaml(f"{first[1:]}\n", line + 1)
        line += first.count("\n") + 1
        for chunk in others:
            rest, _, body = chunk.partition("\n")
            if rest and not _SEPARATOR_REST.match(rest):
                hint = "write three dashes, or indent a line of a text" if rest[0] == "-" else None
                message = (
                    "a line that begins with --- separates documents and may hold only a comment"
                )
                error = YamlError(message, line=0, column=3, hint=hint)

                def read(document: str, error: YamlError = error) -> None:
                    if not _SEPARATOR_REST.match(document.partition("\n")[0][3:]):
                        raise error

                raise self._origin.error(error, first_line=line, what="the documents", read=read)
            self._add_yaml(f"{body}\n", line + 1)
            line += chunk.count("\n") + 1

    def _add_yaml(self, text: str, line: int) -> None:
        if not text or text.isspace():
            return
        entry = _cache.get(text)
        warnings: list[YamlError] = []
        nodes, depth = self._nodes_left, self._limits.depth
        # One that exceeds what is left of the limits is parsed again, which finds the place.
        if entry is None or entry[0].nodes > nodes or entry[0].depth > depth:
            try:
                parsed = self._parse(text, nodes, depth, warnings)
            except YamlError as error:
                raise self._error(error, line) from error
            entry = _remember(text, parsed, warnings)
        if entry[0].value is not None:
            self._add(entry, text, line, warnings)

    def _parse(
        self, text: str, nodes: int, depth: int, warnings: list[YamlError]
    ) -> ParsedDocument:
        sink = warnings if self._lenient else None
        parsed = (
            parse_simple(text, nodes=nodes, depth=depth)
            or parse(text, nodes=nodes, depth=depth, warnings=sink)
            or _EMPTY
        )
        if parsed.value is not None:
            _check_object(parsed, text, sink)
        return parsed

    def _add(self, entry: _Entry, text: str, line: int, warnings: Sequence[YamlError]) -> None:
        parsed, _ = entry
        if len(self._documents) == self._limits.documents:
            message = f"more than {self._limits.documents:,} documents"
            error = TooLargeError(message, line=parsed.line, column=0, limit="documents")
            raise self._error(error, line)
        self._nodes_left -= parsed.nodes
        number = len(self._documents) + 1
        document = Document(entry, text, self._origin, number=number, first_line=line)
        if warnings:
            document.warnings = tuple(warnings)
        self._documents.append(document)

    def _error(self, error: YamlError, line: int) -> FatalError:
        what = f"document {len(self._documents) + 1}"
        limits = self._limits
        return self._origin.error(
            error,
            first_line=line,
            what=what,
            read=lambda text: self._parse(text, limits.nodes, limits.depth, []),
        )


def _check_object(parsed: ParsedDocument, text: str, warnings: list[YamlError] | None) -> None:
    """Raise YamlError for other types than objects, and for annotations that are not strings.

    Labels that are not strings are added to ``warnings`` if there is such a list.
    """
    value = parsed.value
    if not isinstance(value, dict):
        is_key = isinstance(value, str) and KEY_WITHOUT_BLANK.match(value)
        hint = "put a blank after the colon of a key" if is_key else None
        message = f"a document must be an object, not {type_phrase(value)}"
        raise YamlSyntaxError(message, line=parsed.line, column=0, hint=hint)
    metadata = value.get("metadata")
    if isinstance(metadata, dict):
        _check_strings(metadata.get("annotations"), "annotations", text)
        try:
            _check_strings(metadata.get("labels"), "labels", text)
        except YamlError as error:
            if warnings is None:
                raise
            warnings.append(error.with_consequence("Crossplane drops all labels of this object"))


def _check_strings(value: Value, name: str, text: str) -> None:
    if value is None:
        return
    if not isinstance(value, dict):
        message = f"metadata.{name} must be an object, not {type_phrase(value)}"
        hint = _NO_MAP_HINT if isinstance(value, list) else None
        raise _error_at(message, ("metadata", name), text, hint=hint)
    for key, item in value.items():
        if item is not None and not isinstance(item, str):
            message = f'metadata.{name}["{key}"] must be a string, not {type_phrase(item)}'
            raise _error_at(message, ("metadata", name, key), text, hint=text_hint(item))


def _error_at(message: str, path: Path, text: str, *, hint: str | None) -> YamlError:
    position = find_position(text, path)
    line, column = (0, 0) if position is None else (position.line, position.column)
    return YamlError(message, line=line, column=column, hint=hint)
