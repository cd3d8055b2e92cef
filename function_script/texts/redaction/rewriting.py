"""The replacement of secrets in texts, at any position and in many encodings."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from function_script.texts.redaction import layers
from function_script.texts.redaction.finder import Budget, Finder
from function_script.texts.redaction.layers import Base, Decoded, Layer, Replacement, Unescaped
from function_script.texts.redaction.secret_values import to_bytes

DEPTH: Final = 4
"""The number of nested encodings that are decoded: gzip in base64 is one, base64 in JSON two."""

# Texts are searched together up to this size.
_BATCH_BYTES: Final = 1 << 16


class Rewriter:
    """Replaces the matches of ``finder`` by what ``choose`` returns for a secret.

    ``is_masked``: the texts are messages for people. Marks are not encoded like the secrets, and a
    text may be truncated within a secret, at its end or before an ellipsis.
    """

    def __init__(
        self,
        finder: Finder,
        choose: Callable[[bytes], bytes],
        budget: Budget,
        *,
        is_masked: bool,
    ) -> None:
        self._finder = finder
        self._choose = choose
        self._budget = budget
        self._is_masked = is_masked

    def rewrite(self, texts: Sequence[str]) -> list[str]:
        """Return the texts without secrets, in the same order. Raises TooMuchWorkError."""
        rewritten: list[str] = []
        for batch in _batches([to_bytes(text) for text in texts]):
            base = Base(batch, is_cut=self._is_masked)
            replacements = self._search(base, DEPTH, has_escapes=True)
            index = start = 0
            for end in base.ends:
                in_text = []
                while index < len(replacements) and replacements[index].end <= end:
                    item = replacements[index]
                    in_text.append(item._replace(start=item.start - start, end=item.end - start))
                    index += 1
                text = layers.apply(base.text[start:end], in_text)
                rewritten.append(text.decode("utf-8", "surrogatepass"))
                start = end + len(layers.SEPARATOR)
        return rewritten

    def _search(self, layer: Layer, depth: int, *, has_escapes: bool) -> list[Replacement]:
        """Return the replacements in a layer, for the secrets in it and in the layers below."""
        replacements = []
        for start, end in self._finder.find(layer.text, layer.ends, layer.cuts, self._budget):
            mark = self._choose(layer.text[start:end])
            replacements.append(Replacement(start, end, mark, mark))
        if depth:
            for below, is_text in self._layers_below(layer, has_escapes=has_escapes):
                lifted = self._search(below, depth - 1, has_escapes=is_text)
                replacements += below.lift(lifted, is_masked=self._is_masked)
        return layers.merge(replacements)

    def _layers_below(
        self, layer: Layer, *, has_escapes: bool
    ) -> Iterator[tuple[Unescaped | Decoded, bool]]:
        yield from layers.decode(layer, self._finder.shortest, self._budget)
        # Last, because a match that needs no decoding of escapes counts first.
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
