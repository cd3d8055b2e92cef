"""Documents that need a value which does not exist: taken out of the text, each of them alone.

A template leaves gaps where such values were to be written. A document with a gap is never read
for what it says, only for which one it is; so nothing that stands in for a value can get out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from function_script import documents
from function_script.contribution.model import DeferredDocument
from function_script.diagnostics import Diagnostic
from function_script.errors import DocumentError, FatalError
from function_script.objects import api_version_and_kind, find_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from function_script.contribution.dialects import Dialect
    from function_script.contribution.model import Contribution
    from function_script.limits import Limits
    from function_script.program import MissingValue, TemplateResult
    from function_script.values import Object

_SEPARATOR = "\n---"


class _RawDocument(NamedTuple):
    """What stands between two separators: ``text[start:end]``, and its gaps."""

    start: int
    end: int
    gaps: Sequence[MissingValue]


class _Identity(NamedTuple):
    """A document as far as it can be read; ``word`` stands in its gaps, if anything does."""

    document: Object
    word: str


def split_deferred(
    result: TemplateResult, xr: Object, dialect: Dialect, limits: Limits
) -> tuple[str, tuple[DeferredDocument, ...]]:
    """The text without the documents that have gaps, line for line, and those documents.

    Raises DocumentError for a gap that leaves open which document it is in, or which resource
    that document is.
    """
    text, kept = result.text, 0
    parts: list[str] = []
    deferred: list[DeferredDocument] = []
    for piece in _pieces(text, result.gaps):
        found = _find_document(text, piece, limits)
        parts.append(text[kept : piece.start])
        # Later lines keep their numbers.
        parts.append("\n" * text.count("\n", piece.start, piece.end))
        kept = piece.end
        if found is not None:
            deferred.append(_identify(found, piece.gaps[0], xr, dialect))
    parts.append(text[kept:])
    return "".join(parts), tuple(deferred)


def check_names(deferred: Sequence[DeferredDocument], wanted: Contribution) -> None:
    """Raise DocumentError for a resource name that stands in two documents of the step."""
    names = set(wanted.composed)
    for each in deferred:
        if each.name in names:
            problem = f'resource name "{each.name}" is used twice, once where a value is missing'
            raise DocumentError.of(problem, span=each.span)
        if each.name is not None:
            names.add(each.name)


def _pieces(text: str, gaps: Sequence[MissingValue]) -> Iterator[_RawDocument]:
    """The pieces that have gaps."""
    waiting = list(gaps)
    for start, end, line_end in _borders(text):
        inside = [gap for gap in waiting if gap.offset <= end]
        waiting = waiting[len(inside) :]
        for gap in inside:
            if gap.offset < start:
                raise _ambiguous(gap, "it is in a line that separates documents")
        if inside:
            yield _RawDocument(start, end, inside)
        # What stands in the separator's own line could make it something else.
        for gap in waiting:
            if gap.offset <= line_end:
                raise _ambiguous(gap, "it is in a line that separates documents")


def _borders(text: str) -> Iterator[tuple[int, int, int]]:
    """Begin and end of every piece, and the end of the line of the separator after it."""
    start = 0
    padded = f"\n{text}"
    found = padded.find(_SEPARATOR)
    while found >= 0:
        # The line break before the separator is the last character of the piece.
        line_end = text.find("\n", found)
        line_end = len(text) if line_end < 0 else line_end
        yield start, max(start, found - 1), line_end
        start = min(len(text), line_end + 1)
        found = padded.find(_SEPARATOR, line_end + 1)
    yield start, len(text), len(text)


def _find_document(text: str, piece: _RawDocument, limits: Limits) -> _Identity | None:
    """The document as far as it can be read with gaps; None for a piece of comments only."""
    failure: FatalError | None = None
    for candidate, word in (_filled(text, piece), (_without_lines(text, piece), "")):
        try:
            found = documents.read_stream(candidate, limits=limits)
        except FatalError as error:
            failure = error
            continue
        if not found and word:
            return None
        if len(found) == 1:
            return _Identity(found[0].value, word)
    cause = "its document cannot be read without it"
    raise _ambiguous(piece.gaps[0], cause) from failure


def _filled(text: str, piece: _RawDocument) -> tuple[str, str]:
    """The piece with a word in every gap that it holds nowhere else."""
    number = 0
    while (word := f"gap{number}") in text[piece.start : piece.end]:
        number += 1
    parts: list[str] = []
    at = piece.start
    for gap in piece.gaps:
        parts += (text[at : gap.offset], word)
        at = gap.offset
    return "".join((*parts, text[at : piece.end])), word


def _without_lines(text: str, piece: _RawDocument) -> str:
    """The piece without the lines that have gaps: a gap may stand for a whole block of lines."""
    kept: list[str] = []
    at = piece.start
    for line in text[piece.start : piece.end].split("\n"):
        end = at + len(line)
        if not any(at <= gap.offset <= end for gap in piece.gaps):
            kept.append(line)
        at = end + 1
    return "\n".join(kept)


def _identify(
    found: _Identity, gap: MissingValue, xr: Object, dialect: Dialect
) -> DeferredDocument:
    """Which document is withheld; nothing that says so may have a gap itself."""
    kinds = api_version_and_kind(found.document)
    key = dialect.annotations.name
    name = find_path(found.document, ("metadata", "annotations", key))
    if found.word and any(found.word in str(part) for part in (*kinds, name)):
        raise _ambiguous(gap, "it is part of the name or the kind of a document")
    is_meta = kinds[0] == dialect.meta_api_version
    if isinstance(name, str) and name and not is_meta:
        return DeferredDocument(name=name, subject=name, missing=gap.missing, span=gap.span)
    if not is_meta and kinds != api_version_and_kind(xr):
        raise _ambiguous(gap, f"its document ({kinds[1] or 'of no kind'}) has no {key}")
    return DeferredDocument(name=None, subject=kinds[1], missing=gap.missing, span=gap.span)


def _ambiguous(gap: MissingValue, cause: str) -> DocumentError:
    return DocumentError(
        Diagnostic(
            message=f"cannot defer {gap.missing}: {cause}",
            span=gap.span,
            hint="give it a default, or keep it out of names, kinds and lines with ---",
        )
    )
