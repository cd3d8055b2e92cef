"""Rewrites texts without secrets, wherever these are in them and however they are encoded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from function_script.redaction import decoded, layers
from function_script.redaction.layers import Base, Replacement
from function_script.redaction.secret_values import to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from function_script.redaction.budget import Budget
    from function_script.redaction.finder import Finder
    from function_script.redaction.layers import Layer

DEPTH: Final = 4
"""So many encodings of one another are undone: base64 of gzip is one, base64 in JSON are two."""

# Texts are searched together, as far as they have so many bytes.
_BATCH_BYTES: Final = 1 << 16


class Marks(Protocol):
    """The texts that replace secrets."""

    is_masked: bool
    """Whether they are for people, so are not encoded where a secret was."""

    def choose(self, secret: bytes) -> bytes:
        """The replacement of a secret that was found like this."""


class Rewriter:
    """Replaces what ``finder`` finds by ``marks``.

    ``is_cut``: a text may have been cut off at its end or before an ellipsis, in a secret.
    """

    def __init__(self, finder: Finder, marks: Marks, budget: Budget, *, is_cut: bool) -> None:
        self._finder = finder
        self._marks = marks
        self._budget = budget
        self._is_cut = is_cut

    def rewrite(self, texts: Sequence[str]) -> list[str]:
        """The texts in the same order. Raises TooMuchWorkError."""
        rewritten: list[str] = []
        for batch in _batches([to_bytes(text) for text in texts]):
            rewritten += self._rewrite(batch)
        return rewritten

    def _rewrite(self, batch: Sequence[bytes]) -> Iterator[str]:
        base = Base(batch, is_cut=self._is_cut)
        replacements = self._search(base, DEPTH, has_escapes=True)
        index = start = 0
        for end in base.ends:
            own = []
            while index < len(replacements) and replacements[index].end <= end:
                one = replacements[index]
                own.append(one._replace(start=one.start - start, end=one.end - start))
                index += 1
            text = layers.apply(base.text[start:end], own)
            yield text.decode("utf-8", "surrogatepass")
            start = end + len(layers.SEPARATOR)

    def _search(self, layer: Layer, depth: int, *, has_escapes: bool) -> list[Replacement]:
        """The replacements in a layer, of what is found in it and in those below."""
        replacements = []
        for start, end in self._finder.find(layer.text, layer.ends, layer.cuts, self._budget):
            mark = self._marks.choose(layer.text[start:end])
            replacements.append(Replacement(start, end, mark, mark))
        if depth:
            for below, is_text in self._layers_below(layer, has_escapes=has_escapes):
                lifted = self._search(below, depth - 1, has_escapes=is_text)
                replacements += below.lift(lifted, is_masked=self._marks.is_masked)
        return layers.merge(replacements)

    def _layers_below(self, layer: Layer, *, has_escapes: bool) -> Iterator[tuple[Layer, bool]]:
        yield from decoded.decode(layer, self._finder.shortest, self._budget)
        # They come last: what has no escapes in it has been found without them, and counts first.
        if has_escapes:
            for unescaped in layers.unescape(layer):
                yield unescaped, True


def _batches(texts: Sequence[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for text in texts:
        if batch and size + len(text) > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch
