"""Layers of a text, as bytes: the text itself, and the texts that it escapes or encodes.

A layer maps a part of its text to the part of the layer above that encodes it, so a replacement in
a layer becomes a replacement in the text.
"""

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol
from urllib.parse import quote

SEPARATOR: Final = b"\xff"
"""The byte between the texts of a layer, which is not in UTF-8 and not in a word."""

_ELLIPSIS: Final = re.compile("…|[.]{3}".encode())
_ESCAPE: Final = re.compile(
    rb"\\(?:u[0-9A-Fa-f]{4}(?:\\u[Dd][C-Fc-f][0-9A-Fa-f]{2})?|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2}"
    rb"|[0abtnvfre\"'/\\])"
)
_ESCAPED: Final = dict(zip(b"0abtnvfre\"'/\\", b"\0\a\b\t\n\v\f\r\x1b\"'/\\", strict=True))
_DOUBLED: Final = re.compile(rb"''")
_PERCENT: Final = re.compile(rb"%[0-9A-Fa-f]{2}")
# Every ninth of random bytes is a control character. A text may have some random bytes around it.
_CONTROLS: Final = bytes({*range(32), 127} - {*b"\t\r\n\x1b"})
_FEW_CONTROLS: Final = 3
_FEW_CONTROLS_IN: Final = 32
_MAX_CODE_POINT: Final = 0x10FFFF


class Replacement(NamedTuple):
    """``text`` for a layer's text[start:end]; ``mark`` where it overlaps another replacement."""

    start: int
    end: int
    text: bytes
    mark: bytes


class Layer(Protocol):
    """Texts between separators. ``ends`` and ``cuts``, the ends of truncated texts, are sorted."""

    text: bytes
    ends: list[int]
    cuts: list[int]

    def lift(
        self, replacements: Sequence[Replacement], *, is_masked: bool
    ) -> Iterable[Replacement]:
        """Return the replacements for the layer above; encoded again, unless they are masked."""


class Base:
    """The layer of the texts themselves."""

    def __init__(self, texts: Sequence[bytes], *, is_cut: bool) -> None:
        self.text = SEPARATOR.join(texts)
        self.ends: list[int] = []
        end = -1
        for text in texts:
            # Each text but the first has a separator before it.
            end += 1 + len(text)
            self.ends.append(end)
        self.cuts = _cuts(self.text, self.ends) if is_cut else []

    def lift(
        self,
        replacements: Sequence[Replacement],
        *,
        is_masked: bool,  # noqa: ARG002 # the protocol
    ) -> Iterable[Replacement]:
        """Return the replacements themselves, because no layer is above."""
        return replacements


class Unescaped:
    """The layer above without the escapes that ``pattern`` matches."""

    def __init__(
        self,
        above: Layer,
        pattern: re.Pattern[bytes],
        decode: Callable[[bytes], bytes],
        encode: Callable[[bytes], bytes],
    ) -> None:
        self._encode = encode
        # The offsets of segments, here and in the layer above. Every second one is an escape.
        self._starts = [0]
        self._starts_above = [0]
        pieces = []
        position = size = 0
        for match in pattern.finditer(above.text):
            for piece, stop in (
                (above.text[position : match.start()], match.start()),
                (decode(match[0]), match.end()),
            ):
                pieces.append(piece)
                size += len(piece)
                self._starts.append(size)
                self._starts_above.append(stop)
            position = match.end()
        pieces.append(above.text[position:])
        self.text = b"".join(pieces)
        self.ends = [self._from_above(end) for end in above.ends]
        cuts = [self._from_above(cut) for cut in above.cuts]
        self.cuts = _cuts(self.text, cuts) if cuts else []

    def lift(
        self, replacements: Sequence[Replacement], *, is_masked: bool
    ) -> Iterator[Replacement]:
        """Yield the replacements for the layer above, where an escape is replaced as a whole."""
        for item in replacements:
            first = bisect_right(self._starts, item.start) - 1
            last = bisect_left(self._starts, item.end) - 1
            start, end = self._starts_above[first], self._starts_above[last + last % 2]
            if not first % 2:
                start += item.start - self._starts[first]
            if not last % 2:
                end += item.end - self._starts[last]
            if is_masked:
                yield item._replace(start=start, end=end)
            else:
                yield Replacement(start, end, self._encode(item.text), self._encode(item.mark))

    def _from_above(self, position: int) -> int:
        index = max(bisect_left(self._starts_above, position) - 1, 0)
        if index % 2:
            return self._starts[index + 1]
        return self._starts[index] + position - self._starts_above[index]


def has_escapes(text: bytes) -> bool:
    """Report whether a text may have escapes. A wrong reading of base64 has control characters."""
    if b"\\" not in text and b"%" not in text and b"''" not in text:
        return False
    controls = len(text) - len(text.translate(None, _CONTROLS))
    return controls <= _FEW_CONTROLS + len(text) // _FEW_CONTROLS_IN


def unescape(above: Layer) -> Iterator[Unescaped]:
    """Yield layers without escapes of JSON, Python or Go, doubled quotes of YAML, URL encoding."""
    if b"\\" in above.text:
        yield Unescaped(
            above,
            _ESCAPE,
            _decode_escape,
            lambda text: json.dumps(text.decode("utf-8", "surrogateescape"))[1:-1].encode(),
        )
    if b"''" in above.text:
        yield Unescaped(
            above, _DOUBLED, lambda quotes: quotes[:1], lambda text: text.replace(b"'", b"''")
        )
    if _PERCENT.search(above.text):
        yield Unescaped(
            above,
            _PERCENT,
            lambda escape: bytes([int(escape[1:], 16)]),
            lambda text: quote(text).encode(),
        )


def merge(replacements: Iterable[Replacement]) -> list[Replacement]:
    """Return the replacements by position, with overlapping ones joined.

    Of several for the same part, the first one counts.
    """
    merged: list[Replacement] = []
    for item in sorted(replacements, key=lambda each: (each.start, -each.end)):
        last = merged[-1] if merged else None
        if last is None or item.start >= last.end:
            merged.append(item)
        elif (item.start, item.end) != (last.start, last.end):
            end = max(item.end, last.end)
            merged[-1] = Replacement(last.start, end, last.mark, last.mark)
    return merged


def apply(text: bytes, replacements: Iterable[Replacement]) -> bytes:
    """Return the text with its replacements, which are merged."""
    pieces = []
    position = 0
    for replacement in replacements:
        pieces += [text[position : replacement.start], replacement.text]
        position = replacement.end
    pieces.append(text[position:])
    return b"".join(pieces)


def _cuts(text: bytes, ends: Iterable[int]) -> list[int]:
    return sorted({*ends, *(match.start() for match in _ELLIPSIS.finditer(text))})


def _decode_escape(escape: bytes) -> bytes:
    kind, digits = escape[1:2], escape[2:].decode()
    if kind == b"u":
        units = bytes.fromhex(digits.replace("\\u", ""))
        text = units.decode("utf-16-be", "surrogatepass")
    elif kind == b"U" and int(digits, 16) > _MAX_CODE_POINT:
        return escape
    elif kind in {b"U", b"x"}:
        text = chr(int(digits, 16))
    else:
        return bytes([_ESCAPED[escape[1]]])
    return text.encode("utf-8", "surrogatepass")
