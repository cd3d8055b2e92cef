"""The search for secrets is compared with the obvious one, which tries everything everywhere."""

import base64
import binascii
import gzip
import json
import string
from urllib.parse import quote, unquote_to_bytes

from hypothesis import example, given
from hypothesis import strategies as st
from support.example_counts import examples

from function_script.texts.redaction.finder import MIN_LENGTH, WORD_LENGTH, Budget, Finder
from function_script.texts.redaction.rewriting import DEPTH, Rewriter

PLENTY = 1 << 30
MARK = "[secret]"


def rewrite(text: str, secret: bytes, *, is_masked: bool = True) -> str:
    """The text without that secret."""
    # One mark for every secret, encoded as it was unless it is masked.
    mark = MARK.encode() if is_masked else b"redacted1"
    finder, budget = Finder([secret]), Budget(PLENTY)
    rewriter = Rewriter(finder, lambda _: mark, budget, is_masked=is_masked)
    (rewritten,) = rewriter.rewrite([text])
    return rewritten


def is_word(text: bytes, start: int, end: int) -> bool:
    """Whether no letter, digit or underscore is beside it."""
    word = f"{string.ascii_letters}{string.digits}_".encode()
    return not (start and text[start - 1] in word) and not (end < len(text) and text[end] in word)


def obvious(text: bytes, values: list[bytes], ends: list[int], cuts: list[int]) -> set[int]:
    """Where there is a byte of a secret, of the beginning of one at a cut, or of a short word."""
    folded = text.lower()
    covered: set[int] = set()
    spans = [(start, end) for end in range(len(text) + 1) for start in range(end)]
    for start, end in spans:
        if any(start < limit < end for limit in ends):
            continue
        part = folded[start:end]
        for value in (value.lower() for value in values):
            is_whole = part == value and len(value) >= WORD_LENGTH
            is_short = part == value and len(value) >= MIN_LENGTH and is_word(text, start, end)
            is_begun = end in cuts and len(part) >= WORD_LENGTH and value.startswith(part)
            if is_whole or is_short or is_begun:
                covered |= set(range(start, end))
    return covered


ALPHABET = st.sampled_from([b"a", b"A", b"b", b"-", b"\xc3"])
BYTES = st.lists(ALPHABET, max_size=40).map(b"".join)
REPEATED = st.builds(lambda part, count: part * count, BYTES, st.integers(1, 8))


@examples(75)
@given(
    text=st.lists(BYTES | REPEATED, max_size=3).map(lambda parts: b"".join(parts)[:80]),
    values=st.lists(BYTES.map(lambda value: value[:14]), max_size=6),
    places=st.sets(st.integers(0, 80)),
    cut=st.sets(st.integers(0, 80)),
)
@example(text=b"aaaaaaaaaaaa", values=[b"a" * 8, b"a" * 9 + b"b"], places={4}, cut={12})
def test_finder_agrees_with_the_obvious_search(
    text: bytes, values: list[bytes], places: set[int], cut: set[int]
) -> None:
    """Every byte of every value, in any case; short ones as words; cut ones by their beginning."""
    ends = sorted({min(place, len(text)) for place in places if place} | {len(text)})
    cuts = sorted(place for place in cut if place <= len(text))
    matches = Finder(values).find(text, ends, cuts, Budget(PLENTY))
    covered = {place for start, end in matches for place in range(start, end)}
    assert covered == obvious(text, values, ends, cuts)


ENCODERS = {
    "base64": base64.b64encode,
    "base64 without padding": lambda data: base64.b64encode(data).rstrip(b"="),
    "base64 for URLs": base64.urlsafe_b64encode,
    "base64 in lines": base64.encodebytes,
    "gzip": lambda data: base64.b64encode(gzip.compress(data, mtime=0)),
    "hex": lambda data: data.hex().encode(),
    "HEX": lambda data: data.hex().upper().encode(),
    "JSON": lambda data: json.dumps(data.decode())[1:-1].encode(),
    "JSON beyond ASCII": lambda data: json.dumps(data.decode(), ensure_ascii=False)[1:-1].encode(),
    "Python": lambda data: repr(data.decode())[1:-1].encode(),
    "YAML": lambda data: data.replace(b"'", b"''"),
    "URL": lambda data: quote(data).encode(),
    "upper case": lambda data: data.upper(),
}
TEXT = st.text(st.sampled_from(string.ascii_letters + string.digits + " /+-_.:\"'\\\né€"))
SECRET = st.text(st.sampled_from("hunter2-\"'\\/:é€ %"), min_size=10, max_size=30).map(str.strip)
# Upper case comes first: in base64 it would be another text.
CHAINS = st.builds(
    lambda first, rest: [*first, *rest],
    st.sampled_from([[], ["upper case"]]),
    st.lists(st.sampled_from([name for name in ENCODERS if name != "upper case"]), max_size=DEPTH),
)


def readings(data: bytes) -> list[bytes]:
    """The text, and everything that any part of it can be decoded to once."""
    found = [data, data.replace(b"\n", b"")]
    for start in range(len(data)):
        for end in range(start + 4, len(data) + 1):
            part = data[start:end].replace(b"\n", b"").translate(bytes.maketrans(b"-_", b"+/"))
            if len(part) % 4 != 1 and part.replace(b"+", b"").replace(b"/", b"").isalnum():
                found.append(binascii.a2b_base64(part + b"=" * (-len(part) % 4)))
            if len(part) % 2 == 0 and all(byte in string.hexdigits.encode() for byte in part):
                found.append(bytes.fromhex(part.decode()))
    return [*found, unquote_to_bytes(data)]


@examples(37)
@given(before=TEXT, inner=TEXT, after=TEXT, secret=SECRET, chain=CHAINS, is_masked=st.booleans())
def test_encodings_never_hide_a_secret(
    *, before: str, inner: str, after: str, secret: str, chain: list[str], is_masked: bool
) -> None:
    """However it is encoded, in a text that has more, beside words that look like base64."""
    if len(secret) < WORD_LENGTH:
        return
    encoded = f"{inner}{secret}{inner}".encode()
    for name in chain:
        encoded = ENCODERS[name](encoded)
    text = before[:8] + encoded.decode() + after[:8]
    assert MARK in rewrite(text, secret.encode())
    rewritten = rewrite(text, secret.encode(), is_masked=is_masked)
    assert secret not in rewritten
    assert rewritten != text
    # No layer of it has the secret any more.
    assert rewrite(rewritten, secret.encode(), is_masked=is_masked) == rewritten


@examples(20)
@given(
    before=TEXT,
    after=TEXT,
    secret=SECRET,
    name=st.sampled_from(["base64", "base64 for URLs", "hex", "URL"]),
    is_masked=st.booleans(),
)
def test_redacted_text_cannot_be_decoded_to_the_secret(
    *, before: str, after: str, secret: str, name: str, is_masked: bool
) -> None:
    """As somebody would try who tries every part of the text."""
    if len(secret) < WORD_LENGTH:
        return
    encoded = ENCODERS[name](f"{before[:9]}{secret}{after[:9]}".encode()).decode()
    text = before[:5] + encoded + after[:5]
    rewritten = rewrite(text, secret.encode(), is_masked=is_masked)
    assert not [part for part in readings(rewritten.encode()) if secret.encode() in part]


@given(text=TEXT, secret=SECRET)
def test_text_without_the_secret_stays(text: str, secret: str) -> None:
    """To the character."""
    if len(secret) >= WORD_LENGTH and secret.lower() not in text.lower():
        assert rewrite(text, b"0123456789" + secret.encode()) == text
