"""sprig's functions on texts: trim, cut, test, build, split, indent, wrap.

Go's strings are bytes: functions that cut or count do so by bytes.
"""

import re
from collections.abc import Iterator
from typing import Final

from function_script.engines.gotemplate import printing, values
from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import FunctionTable
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.sprig.conversions import print_value, to_text, to_texts

# The spaces of unicode.IsSpace; Python has more.
SPACES: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)

FUNCTIONS: Final = FunctionTable()

# Searching is quick: this many characters take about as long as a step.
_CHARACTERS_PER_STEP: Final = 1024


@FUNCTIONS.add("hello")
def hello() -> str:
    """The text Hello!"""
    return "Hello!"


# Trimming and cutting


@FUNCTIONS.add("trim")
def trim(text: str) -> str:
    """The text without white space at both ends."""
    return text.strip(SPACES)


@FUNCTIONS.add("trimAll", "trimall")
def trim_all(characters: str, text: str) -> str:
    """The text without these characters at both ends."""
    return text.strip(characters)


@FUNCTIONS.add("trimSuffix")
def trim_suffix(suffix: str, text: str) -> str:
    """The text without this end."""
    return text.removesuffix(suffix)


@FUNCTIONS.add("trimPrefix")
def trim_prefix(prefix: str, text: str) -> str:
    """The text without this beginning."""
    return text.removeprefix(prefix)


@FUNCTIONS.add("nospace")
def without_spaces(text: str) -> str:
    """The text without white space."""
    return "".join(character for character in text if character not in SPACES)


@FUNCTIONS.add("trunc")
def truncate(count: int, text: str) -> str:
    """The first N characters; with a negative N the last ones."""
    length = values.byte_length(text)
    if count < 0 < length + count:
        return _slice(text, length + count, length)
    return _slice(text, 0, count) if 0 <= count < length else text


@FUNCTIONS.add("substr")
def substring(start: int, end: int, text: str) -> str:
    """The characters from START up to END."""
    length = values.byte_length(text)
    first, last = max(start, 0), end if start < 0 or 0 <= end <= length else length
    if not first <= last <= length:
        raise CallError(f"from {start} to {end} is no part of a text of {length} bytes")
    return _slice(text, first, last)


def _slice(text: str, start: int, end: int) -> str:
    return text[start:end] if text.isascii() else values.to_string(values.to_bytes(text)[start:end])


@FUNCTIONS.add("initials")
def initials(text: str) -> str:
    """The first letter of each word."""
    return "".join(word[0] for word in re.split(f"[{SPACES}]", text) if word)


# Testing


@FUNCTIONS.add("contains")
def contains(run: Run, part: str, text: str) -> bool:
    """True if the second text holds the first."""
    run.spend(len(text) // _CHARACTERS_PER_STEP)
    return part in text


@FUNCTIONS.add("hasPrefix")
def has_prefix(prefix: str, text: str) -> bool:
    """True if the second text begins with the first."""
    return text.startswith(prefix)


@FUNCTIONS.add("hasSuffix")
def has_suffix(suffix: str, text: str) -> bool:
    """True if the second text ends with the first."""
    return text.endswith(suffix)


@FUNCTIONS.add("plural")
def plural(one: str, many: str, count: int) -> str:
    """The first text if the number is 1, or else the second."""
    return one if count == 1 else many


# Building


@FUNCTIONS.add("repeat")
def repeat(run: Run, count: int, text: str) -> str:
    """The text, N times."""
    if count < 0:
        raise CallError("strings: negative Repeat count")
    run.check_string(len(text) * count)
    return text * count


@FUNCTIONS.add("replace")
def replace(run: Run, old: str, new: str, text: str) -> str:
    """The third text with each of the first replaced by the second."""
    growth = len(new) - len(old)
    if growth > 0:
        run.check_string(len(text) + text.count(old) * growth)
    return text.replace(old, new)


@FUNCTIONS.add("cat")
def cat(run: Run, *items: object) -> str:
    """The values as text, with blanks between them."""
    return _joined(run, " ", [print_value(run, value) for value in items if value is not None])


@FUNCTIONS.add("quote", allocates=False)
def quote(run: Run, *items: object) -> str:
    """The values in double quotes."""
    texts = [to_text(run, value) for value in items if value is not None]
    return _joined(run, " ", list(map(printing.quote, texts)))


@FUNCTIONS.add("squote")
def single_quote(run: Run, *items: object) -> str:
    """The values in single quotes."""
    texts = [print_value(run, value) for value in items if value is not None]
    return _joined(run, " ", [f"'{text}'" for text in texts])


def _joined(run: Run, separator: str, texts: list[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    run.check_string(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


FUNCTIONS.add("toString", summary="The value as text.")(to_text)


# Lists of texts


@FUNCTIONS.add("join")
def join(run: Run, separator: str, value: object) -> str:
    """The items of the list as one text, with the separator between them."""
    return _joined(run, separator, list(map(str, to_texts(run, value))))


FUNCTIONS.add("toStrings", summary="The items as texts.")(to_texts)


@FUNCTIONS.add("splitList")
def split_list(run: Run, separator: str, text: str) -> values.Strings:
    """The parts of the text between separators, as a list."""
    return values.Strings(_pieces(run, separator, text, -1))


@FUNCTIONS.add("split")
def split(run: Run, separator: str, text: str) -> values.StringMap:
    """The parts of the text between separators, as a map of _0, _1 and so on."""
    return _number_pieces(_pieces(run, separator, text, -1))


@FUNCTIONS.add("splitn")
def split_some(run: Run, separator: str, count: int, text: str) -> values.StringMap:
    """Like split, into at most N parts."""
    return _number_pieces(_pieces(run, separator, text, count))


def _number_pieces(pieces: list[str]) -> values.StringMap:
    return values.StringMap({f"_{index}": piece for index, piece in enumerate(pieces)})


def _pieces(run: Run, separator: str, text: str, count: int) -> list[str]:
    """Split into at most ``count`` pieces, the last one unsplit; into all if it is negative."""
    if count == 0:
        return []
    if separator:
        run.check_list(text.count(separator) + 1)
        return text.split(separator, count - 1 if count > 0 else -1)
    run.check_list(len(text))
    if count < 0 or count >= len(text):
        return list(text)
    return [*text[: count - 1], text[count - 1 :]]


@FUNCTIONS.add("sortAlpha")
def sort_alpha(run: Run, value: object) -> values.Strings:
    """The items as texts in order."""
    if not isinstance(value, (list, bytes)):
        return values.Strings([to_text(run, value)])
    texts = sorted(map(str, to_texts(run, value)), key=values.to_bytes)
    return values.Strings(texts)


# Layout: widths count bytes

_ELLIPSIS: Final = "..."
# An abbreviation has at least one character of the text, with an offset four of them.
_MIN_WIDTH: Final = 4
_MIN_WIDTH_BOTH: Final = 7
# A smaller offset is not worth an ellipsis.
_SMALL_OFFSET: Final = 4


@FUNCTIONS.add("indent")
def indent(run: Run, spaces: int, text: str) -> str:
    """The text with N blanks before each line."""
    if spaces < 0:
        raise CallError("strings: negative Repeat count")
    run.check_width(spaces)
    run.check_string(len(text) + spaces * (text.count("\n") + 1))
    padding = " " * spaces
    return padding + text.replace("\n", f"\n{padding}")


@FUNCTIONS.add("nindent")
def indent_below(run: Run, spaces: int, text: str) -> str:
    """A line break, and the text with N blanks before each line."""
    return f"\n{indent(run, spaces, text)}"


# Wrapping


@FUNCTIONS.add("wrap")
def wrap(run: Run, width: int, text: str) -> str:
    """The text in lines of at most N characters."""
    pieces = _lines(values.to_narrow(text), max(width, 1), cuts_words=False)
    return _join_narrow(run, "\n", list(pieces))


@FUNCTIONS.add("wrapWith")
def wrap_with(run: Run, width: int, separator: str, text: str) -> str:
    """Like wrap, with this text between the lines."""
    pieces = _lines(values.to_narrow(text), max(width, 1), cuts_words=True)
    return _join_narrow(run, values.to_narrow(separator) or "\n", list(pieces))


def _join_narrow(run: Run, separator: str, pieces: list[str]) -> str:
    run.check_string(sum(map(len, pieces)) + len(separator) * len(pieces))
    return values.to_wide(separator.join(pieces))


def _lines(text: str, width: int, *, cuts_words: bool) -> Iterator[str]:
    """Yield lines of at most ``width``: a longer word is cut, or else exceeds it."""
    start = 0
    while len(text) - start > width:
        if text[start] == " ":
            start += 1
            continue
        end = text.rfind(" ", start, start + width + 1)
        following = end + 1
        if end < 0 and cuts_words:
            end = following = start + width
        elif end < 0:
            end = text.find(" ", start + width)
            following = end + 1
            if end < 0:
                yield text[start:]
                return
        yield text[start:end]
        start = following
    yield text[start:]


# Abbreviating


@FUNCTIONS.add("abbrev")
def abbreviate(width: int, text: str) -> str:
    """The text cut to N characters, with ... at its end."""
    # sprig leaves a text alone for which there is no room, and gives no error.
    if width < _MIN_WIDTH:
        return text
    return values.to_wide(_cut(values.to_narrow(text), 0, width))


@FUNCTIONS.add("abbrevboth")
def abbreviate_both(offset: int, width: int, text: str) -> str:
    """The text cut at both ends."""
    if width < _MIN_WIDTH or (offset > 0 and width < _MIN_WIDTH_BOTH):
        return text
    return values.to_wide(_cut(values.to_narrow(text), offset, width))


def _cut(text: str, offset: int, width: int) -> str:
    if len(text) <= width:
        return text
    room = width - len(_ELLIPSIS)
    offset = min(offset, len(text) - room)
    if offset <= _SMALL_OFFSET:
        return text[:room] + _ELLIPSIS
    if offset + room < len(text):
        return _ELLIPSIS + _cut(text[offset:], 0, room)
    return _ELLIPSIS + text[-room:]
