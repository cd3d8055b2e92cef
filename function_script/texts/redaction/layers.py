"""Layers of a text, as bytes: the text itself, and the texts that it escapes or encodes.

A layer maps a part of its text to the part of the layer above that encodes it, so a replacement in
a layer becomes a replacement in the text. Encodings are base64, hex, and gzip in base64.

The start of base64 is unknown when a word precedes it. So a run of its characters is decoded from
each of the first four characters, and a run of hex digits from each of the first two.
"""

import binascii
import gzip
import json
import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple
from urllib.parse import quote

from function_script.texts.redaction.finder import Budget, TooMuchWorkError

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
# Both alphabets, also wrapped in lines.
_RUN: Final = re.compile(rb"[A-Za-z0-9+/_-]{6,}(?:\r?\n[ \t]*[A-Za-z0-9+/_-]+)*")
_HEX: Final = re.compile(rb"[0-9A-Fa-f]{8,}")
_PADDING: Final = re.compile(rb"={0,2}")
_WHITE: Final = frozenset(b"\r\n \t")
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")
_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
_GZIP: Final = re.compile(rb"\x1f\x8b\x08")
_GZIP_WINDOW_BITS: Final = 31
_MAX_GZIP_BYTES: Final = 1 << 20


class Replacement(NamedTuple):
    """``text`` for a layer's text[start:end]; ``mark`` where it overlaps another replacement."""

    start: int
    end: int
    text: bytes
    mark: bytes


class Layer:
    """Texts between separators. ``ends`` and ``cuts``, the ends of truncated texts, are sorted."""

    text: bytes
    ends: list[int]
    cuts: list[int]


class Base(Layer):
    """The layer of the texts themselves."""

    def __init__(self, texts: Sequence[bytes], *, is_cut: bool) -> None:
        self.text = SEPARATOR.join(texts)
        self.ends = []
        end = -1
        for text in texts:
            # Each text but the first has a separator before it.
            end += 1 + len(text)
            self.ends.append(end)
        self.cuts = _cuts(self.text, self.ends) if is_cut else []


class Unescaped(Layer):
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
            # A position within an escape is the end of what the escape stands for.
            return self._starts[index + 1]
        return self._starts[index] + position - self._starts_above[index]


class _Run(NamedTuple):
    """``text`` at above.text[start:end]; with line breaks, ``positions`` of its characters."""

    start: int
    end: int
    text: bytes
    positions: Sequence[int] = ()

    def find_position(self, index: int) -> int:
        """Return the position of the character with this index."""
        return self.positions[index] if self.positions else self.start + index


class _Piece(NamedTuple):
    """A reading of ``run`` from ``offset``: the layer's text[start:end]."""

    start: int
    end: int
    run: _Run
    offset: int


class Decoded(Layer):
    """A layer of readings of runs of the layer above. Add all, then ``close`` it."""

    def __init__(self, above: Layer) -> None:
        self.text, self.ends, self.cuts = b"", [], []
        self._above = above
        self._cuts_above = frozenset(above.cuts)
        self._texts: list[bytes] = []
        self._pieces: list[_Piece] = []
        self._starts: list[int] = []
        self._size = 0

    def add(self, text: bytes, run: _Run, offset: int) -> None:
        """Add a reading."""
        end = self._size + len(text)
        self._texts.append(text)
        self._pieces.append(_Piece(self._size, end, run, offset))
        self._starts.append(self._size)
        self.ends.append(end)
        if run.end in self._cuts_above:
            self.cuts.append(end)
        self._size = end + len(SEPARATOR)

    def close(self) -> None:
        """Join the readings into ``text``."""
        self.text = SEPARATOR.join(self._texts)
        self._texts.clear()

    def lift(
        self, replacements: Sequence[Replacement], *, is_masked: bool
    ) -> Iterator[Replacement]:
        """Yield the replacements for the layer above; encoded again, unless they are masked."""
        for number, group in groupby(
            replacements, lambda each: bisect_right(self._starts, each.start) - 1
        ):
            piece = self._pieces[number]
            in_piece = [
                item._replace(start=item.start - piece.start, end=item.end - piece.start)
                for item in group
            ]
            if is_masked:
                yield from (_mask(piece, item, *self._find_span(piece, item)) for item in in_piece)
            else:
                yield from self._encode(piece, in_piece)

    def _find_span(self, piece: _Piece, replacement: Replacement) -> tuple[int, int]:
        """Return the first and the last character of the run that encode a part of the piece."""
        raise NotImplementedError

    def _encode(self, piece: _Piece, replacements: Sequence[Replacement]) -> Iterator[Replacement]:
        """Yield the replacements of a piece, encoded, for the layer above."""
        raise NotImplementedError


class Base64(Decoded):
    """A layer of readings of base64."""

    def _find_span(self, piece: _Piece, replacement: Replacement) -> tuple[int, int]:
        first = piece.offset + replacement.start * 4 // 3
        last = piece.offset + -(-replacement.end * 4 // 3) - 1
        return first, min(last, len(piece.run.text) - 1)

    def _encode(self, piece: _Piece, replacements: Sequence[Replacement]) -> Iterator[Replacement]:
        text = self.text[piece.start : piece.end]
        is_whole = (replacements[0].start, replacements[0].end) == (0, len(text))
        if is_whole or _is_text(text):
            yield self._encode_run(piece, apply(text, replacements), replacements[0].mark)
            return
        run = piece.run
        for replacement in replacements:
            # Encoded from a group of three bytes on. The characters after it may not be base64.
            start = replacement.start // 3 * 3
            first, last = self._find_span(piece, replacement._replace(start=start))
            data = text[start : replacement.start] + replacement.text
            yield Replacement(
                run.find_position(first),
                run.find_position(last) + 1,
                _to_base64(data, run, is_padded=False),
                _to_base64(replacement.mark, run, is_padded=False),
            )

    def _encode_run(self, piece: _Piece, text: bytes, mark: bytes) -> Replacement:
        """Return a replacement of the whole run, with ``text`` instead of the piece."""
        run = piece.run
        padding = _PADDING.match(self._above.text, run.end)
        end = padding.end() if padding else run.end
        is_whole = (len(run.text) - piece.offset) % 4 == 0
        is_padded = end > run.end or (is_whole and not _is_url_safe(run))
        encoded = _to_base64(text, run, is_padded=is_padded)
        before = run.text[: piece.offset]
        return Replacement(
            run.start, end, before + encoded, _to_base64(mark, run, is_padded=is_padded)
        )


class Gzip(Base64):
    """A layer of gzip data in readings of base64, which are replaced as a whole."""

    def _find_span(self, piece: _Piece, replacement: Replacement) -> tuple[int, int]:  # noqa: ARG002 # see above
        return 0, len(piece.run.text) - 1

    def _encode(self, piece: _Piece, replacements: Sequence[Replacement]) -> Iterator[Replacement]:
        text = apply(self.text[piece.start : piece.end], replacements)
        yield self._encode_run(piece, gzip.compress(text, mtime=0), replacements[0].mark)


class Hex(Decoded):
    """A layer of readings of hex digits."""

    def _find_span(self, piece: _Piece, replacement: Replacement) -> tuple[int, int]:
        return piece.offset + 2 * replacement.start, piece.offset + 2 * replacement.end - 1

    def _encode(self, piece: _Piece, replacements: Sequence[Replacement]) -> Iterator[Replacement]:
        is_upper = piece.run.text.isupper()
        for replacement in replacements:
            text, mark = (data.hex().encode() for data in (replacement.text, replacement.mark))
            if is_upper:
                text, mark = text.upper(), mark.upper()
            encoded = replacement._replace(text=text, mark=mark)
            yield _mask(piece, encoded, *self._find_span(piece, replacement))


def _has_escapes(text: bytes) -> bool:
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


def decode(above: Layer, shortest: int, budget: Budget) -> Iterator[tuple[Decoded, bool]]:
    """Yield the layers of text that is encoded in ``above``, each with whether it may have escapes.

    Readings shorter than ``shortest`` bytes are ignored. Raises TooMuchWorkError.
    """
    budget.spend(len(above.text))
    plain, escaped, decompressed, hexes = Base64(above), Base64(above), Gzip(above), Hex(above)
    for run in _find_runs(above.text):
        for text, offset in _read_base64(run.text.translate(_STANDARD), shortest):
            (escaped if _has_escapes(text) else plain).add(text, run, offset)
            for match in _GZIP.finditer(text):
                start = match.start()
                # In one of the readings, gzip data starts a group of three bytes.
                if start % 3 == 0:
                    data = _decompress(text[start:], budget)
                    decompressed.add(data, run, offset + start // 3 * 4)
    for match in _HEX.finditer(above.text):
        run = _Run(match.start(), match.end(), match[0])
        for offset in (0, 1):
            stop = len(run.text) - (len(run.text) - offset) % 2
            if stop - offset >= 2 * shortest:
                hexes.add(binascii.unhexlify(run.text[offset:stop]), run, offset)
    for layer in (plain, escaped, decompressed, hexes):
        if layer.ends:
            layer.close()
            yield layer, layer is not plain


def _is_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _find_runs(text: bytes) -> Iterator[_Run]:
    for match in _RUN.finditer(text):
        run = match[0]
        if b"\n" not in run:
            yield _Run(match.start(), match.end(), run)
            continue
        indices = [index for index, byte in enumerate(run) if byte not in _WHITE]
        characters = bytes([run[index] for index in indices])
        positions = [match.start() + index for index in indices]
        yield _Run(match.start(), match.end(), characters, positions)


def _read_base64(characters: bytes, shortest: int) -> Iterator[tuple[bytes, int]]:
    size = len(characters)
    for offset in range(4):
        rest = (size - offset) % 4
        # A single character in the last group of four encodes no byte.
        stop = size - 1 if rest == 1 else size
        if (stop - offset) * 3 // 4 < shortest:
            return
        padding = b"=" * (-(stop - offset) % 4)
        yield binascii.a2b_base64(characters[offset:stop] + padding), offset


def _decompress(data: bytes, budget: Budget) -> bytes:
    """Decompress gzip data, which may be truncated. Raises TooMuchWorkError."""
    budget.spend(len(data))
    decompressor = zlib.decompressobj(_GZIP_WINDOW_BITS)
    try:
        text = decompressor.decompress(data, _MAX_GZIP_BYTES)
    except zlib.error:
        return b""
    if decompressor.unconsumed_tail:
        raise TooMuchWorkError
    budget.spend(len(text))
    return text


def _mask(piece: _Piece, replacement: Replacement, first: int, last: int) -> Replacement:
    run = piece.run
    return replacement._replace(start=run.find_position(first), end=run.find_position(last) + 1)


def _to_base64(text: bytes, run: _Run, *, is_padded: bool) -> bytes:
    encoded = binascii.b2a_base64(text, newline=False)
    if not is_padded:
        encoded = encoded.rstrip(b"=")
    return encoded.translate(_URL_SAFE) if _is_url_safe(run) else encoded


def _is_url_safe(run: _Run) -> bool:
    """Report whether a run has characters of the URL alphabet, which omits the padding."""
    return b"-" in run.text or b"_" in run.text


def merge(replacements: Iterable[Replacement]) -> list[Replacement]:
    """Return the replacements by position, with overlapping ones joined.

    Of several for the same part, the first one counts.
    """
    merged: list[Replacement] = []
    # Of those that begin at one place the longest is first: it covers the others.
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
