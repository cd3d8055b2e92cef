"""Removal of the documents that need a missing value from a rendered text.

A template leaves a gap where it would have written the value. A document with a gap is parsed only
to identify it; its content is not used, so no placeholder can get into a resource.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from function_script import documents
from function_script.contribution import desired_resource
from function_script.contribution.desired_resource import Deferred
from function_script.contribution.dialects import Dialect
from function_script.contribution.from_response import READY
from function_script.contribution.model import Contribution
from function_script.request.limits import Limits
from function_script.request.objects import api_version_and_kind, find_path
from function_script.request.program import MissingValue, TemplateResult
from function_script.request.reader import ObjectReader
from function_script.request.values import Object
from function_script.texts.diagnostics import Code, Diagnostic
from function_script.texts.errors import DocumentError, FatalError
from function_script.texts.problems import ProblemList
from function_script.texts.source import Piece

_SEPARATOR = "\n---"
_IN_SEPARATOR = "it is in a line that separates documents"


class _RawDocument(NamedTuple):
    """The text between two separators, ``text[start:end]``, and the gaps in it."""

    start: int
    end: int
    gaps: Sequence[MissingValue]


class _Identity(NamedTuple):
    """A parsed document with ``placeholder`` in its gaps, or without their lines if it is empty."""

    document: Object
    placeholder: str


def split_deferred(
    result: TemplateResult, xr: Object, dialect: Dialect, limits: Limits
) -> tuple[TemplateResult, tuple[Deferred, ...]]:
    """Return the result with empty lines for the documents that have gaps, and those documents.

    Raises DocumentError if a gap makes it ambiguous which document it is in, or which resource
    that document is.
    """
    text, end = result.text, 0
    parts: list[str] = []
    deferred: list[Deferred] = []
    ranges: list[tuple[int, int]] = []
    for raw in _documents_with_gaps(text, result.gaps):
        identity = _parse(result, raw, limits)
        parts.append(text[end : raw.start])
        # The lines after it keep their numbers.
        parts.append("\n" * text.count("\n", raw.start, raw.end))
        end = raw.end
        ranges.append((raw.start, end))
        if identity is not None:
            deferred.append(_to_deferred(identity, raw.gaps[0], xr, dialect))
    parts.append(text[end:])
    trace = partial(_leave_out, result, ranges)
    return replace(result, text="".join(parts), gaps=(), trace=trace), tuple(deferred)


def _leave_out(result: TemplateResult, ranges: Sequence[tuple[int, int]]) -> list[Piece]:
    """Return the pieces of a result, of which ranges of the text have only their line breaks."""
    pieces: list[Piece] = []
    begin = 0
    for piece in result.trace():
        end = begin + len(piece.text)
        cuts = (at for bounds in ranges for at in bounds if begin < at < end)
        for first, last in pairwise([begin, *cuts, end]):
            text = piece.text[first - begin : last - begin]
            if any(start <= first < stop for start, stop in ranges):
                text = "\n" * text.count("\n")
            part = replace(piece, text=text)
            if piece.expression is None:
                at = piece.start + first - begin
                part = replace(part, start=at, end=at + last - first)
            pieces.append(part)
        begin = end
    return pieces


def check_names(deferred: Sequence[Deferred], contribution: Contribution) -> None:
    """Raise DocumentError for a resource name that two documents of the step have."""
    names = set(contribution.composed)
    for document in deferred:
        if document.name in names:
            name = document.name
            problem = f'resource name "{name}" is used twice, once where a value is missing'
            code = Code("duplicate-name", name)
            raise DocumentError(Diagnostic(message=problem, span=document.span, code=code))
        if document.name is not None:
            names.add(document.name)


def _documents_with_gaps(text: str, gaps: Sequence[MissingValue]) -> Iterator[_RawDocument]:
    remaining = list(gaps)
    for start, end, line_end in _split(text):
        inside = [gap for gap in remaining if gap.offset <= end]
        remaining = remaining[len(inside) :]
        for gap in inside:
            if gap.offset < start:
                raise _ambiguous(gap, _IN_SEPARATOR)
        if inside:
            yield _RawDocument(start, end, inside)
        # A value in the line of the separator could make another line of it.
        for gap in remaining:
            if gap.offset <= line_end:
                raise _ambiguous(gap, _IN_SEPARATOR)


def _split(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield start and end of each document, and the end of the line of the separator after it."""
    start = 0
    padded = f"\n{text}"
    separator = padded.find(_SEPARATOR)
    while separator >= 0:
        # The padding shifts offsets by one: at ``separator`` in ``text`` is the first dash.
        line_end = text.find("\n", separator)
        line_end = len(text) if line_end < 0 else line_end
        yield start, max(start, separator - 1), line_end
        start = min(len(text), line_end + 1)
        separator = padded.find(_SEPARATOR, line_end + 1)
    yield start, len(text), len(text)


def _parse(result: TemplateResult, raw: _RawDocument, limits: Limits) -> _Identity | None:
    """Parse a document with a placeholder in its gaps, else without the lines that have gaps.

    A gap may stand for a whole block of lines. Returns None if there are only comments.
    Raises DocumentError, that of the other lines if these are no YAML either.
    """
    before = "\n" * result.text.count("\n", 0, raw.start)
    for candidate, placeholder in _candidates(result.text, raw):
        try:
            stream = documents.read_stream(
                before + candidate, locate=result.locate, explain=result.explain, limits=limits
            )
        except FatalError:
            if placeholder:
                continue
            raise
        if not stream and placeholder:
            return None
        if len(stream) == 1:
            return _Identity(stream[0].value, placeholder)
    raise _ambiguous(raw.gaps[0], "its document cannot be read without it")


def _candidates(text: str, raw: _RawDocument) -> Iterator[tuple[str, str]]:
    """Yield the document with a placeholder in its gaps, then empty lines where it has gaps.

    The placeholder stands beside the text; it occurs nowhere else in the document, and is empty
    where none is used.
    """
    number = 0
    while (placeholder := f"gap{number}") in text[raw.start : raw.end]:
        number += 1
    parts: list[str] = []
    at = raw.start
    for gap in raw.gaps:
        parts += (text[at : gap.offset], placeholder)
        at = gap.offset
    yield "".join((*parts, text[at : raw.end])), placeholder
    lines: list[str] = []
    at = raw.start
    for line in text[raw.start : raw.end].split("\n"):
        end = at + len(line)
        has_gap = any(at <= gap.offset <= end for gap in raw.gaps)
        lines.append("" if has_gap else line)
        at = end + 1
    yield "\n".join(lines), ""


def _to_deferred(identity: _Identity, gap: MissingValue, xr: Object, dialect: Dialect) -> Deferred:
    """Identify a document by its kind and resource name, which must not have gaps themselves."""
    kinds = api_version_and_kind(identity.document)
    key = dialect.annotations.name
    name = find_path(identity.document, ("metadata", "annotations", key))
    placeholder = identity.placeholder
    if placeholder and any(placeholder in str(part) for part in (*kinds, name)):
        raise _ambiguous(gap, "it is part of the name or the kind of a document")
    is_meta = kinds[0] == dialect.meta_api_version
    if isinstance(name, str) and name and not is_meta:
        keys = dialect.annotations
        value = find_path(identity.document, ("metadata", "annotations"))
        annotations = value if isinstance(value, dict) else {}
        needing = [
            key for key in keys.keys if placeholder and placeholder in str(annotations.get(key))
        ]
        readable = {key: text for key, text in annotations.items() if key not in needing}
        reader = ObjectReader(readable, "", ProblemList())
        policy = desired_resource.from_annotations(reader, keys, name)
        ready = reader.choice(keys.ready, READY)
        needing += [problem.path for problem in reader.problems]
        # The old names say which object it keeps.
        if any(keys.moved_from in each for each in needing):
            raise _ambiguous(gap, f"{keys.moved_from} cannot be read without it")
        unreadable = ", ".join(needing)
        return Deferred(name, name, gap.missing, gap.span, ready, policy, unreadable)
    if not is_meta and kinds != api_version_and_kind(xr):
        raise _ambiguous(gap, f"its document ({kinds[1] or 'of no kind'}) has no {key}")
    return Deferred(None, kinds[1], gap.missing, gap.span)


def _ambiguous(gap: MissingValue, cause: str) -> DocumentError:
    return DocumentError(
        Diagnostic(
            message=f"cannot defer {gap.missing}: {cause}",
            span=gap.span,
            hint="give it a default, or keep it out of names, kinds and lines with ---",
        )
    )
