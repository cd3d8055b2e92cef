"""sprig's functions on texts: trim, cut, test, repeat, replace, join, split, quote.

Go's strings are bytes: what cuts or counts does so by bytes.
"""

from __future__ import annotations

from typing import Final

from function_script.engines.gotemplate import printing
from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Allocator, Function, Injects
from function_script.engines.gotemplate.sprig.characters import SPACES, to_narrow
from function_script.engines.gotemplate.sprig.conversions import to_text, to_texts
from function_script.engines.gotemplate.values import (
    StringMap,
    Strings,
    byte_length,
    to_bytes,
    to_string,
)

# Searching is quick: this many characters take about as long as a step.
_CHARACTERS_PER_STEP: Final = 1024


def _hello() -> str:
    return "Hello!"


# Trimming and cutting


def _trim(text: str) -> str:
    return text.strip(SPACES)


def _trim_all(characters: str, text: str) -> str:
    return text.strip(characters)


def _trim_suffix(suffix: str, text: str) -> str:
    return text.removesuffix(suffix)


def _trim_prefix(prefix: str, text: str) -> str:
    return text.removeprefix(prefix)


def _without_spaces(text: str) -> str:
    """Go looks at bytes here, and takes each for a character once one is a space."""
    characters = to_narrow(text)
    kept = "".join(character for character in characters if character not in SPACES)
    return text if len(kept) == len(characters) else kept


def _truncate(count: int, text: str) -> str:
    length = byte_length(text)
    if count < 0 < length + count:
        return _slice(text, length + count, length)
    return _slice(text, 0, count) if 0 <= count < length else text


def _substring(start: int, end: int, text: str) -> str:
    length = byte_length(text)
    if start < 0:
        if end < 0:
            raise _out_of_range(f"[:{end}]")
        if end > length:
            raise _out_of_range(f"[:{end}] with length {length}")
        return _slice(text, 0, end)
    if end < 0 or end > length:
        end = length
    if start > end:
        raise _out_of_range(f"[{start}:{end}]")
    return _slice(text, start, end)


def _out_of_range(what: str) -> CallError:
    return CallError(f"runtime error: slice bounds out of range {what}")


def _slice(text: str, start: int, end: int) -> str:
    return text[start:end] if text.isascii() else to_string(to_bytes(text)[start:end])


# Testing


def _contains(budget: Allocator, part: str, text: str) -> bool:
    budget.spend(len(text) // _CHARACTERS_PER_STEP)
    return part in text


def _has_prefix(prefix: str, text: str) -> bool:
    return text.startswith(prefix)


def _has_suffix(suffix: str, text: str) -> bool:
    return text.endswith(suffix)


def _plural(one: str, many: str, count: int) -> str:
    return one if count == 1 else many


# Building


def _repeat(budget: Allocator, count: int, text: str) -> str:
    if count < 0:
        raise CallError("strings: negative Repeat count")
    budget.check_string(len(text) * count)
    return text * count


def _replace(budget: Allocator, old: str, new: str, text: str) -> str:
    growth = len(new) - len(old)
    if growth > 0:
        budget.check_string(len(text) + text.count(old) * growth)
    return text.replace(old, new)


def _cat(budget: Allocator, *values: object) -> str:
    return _joined(budget, " ", [_shown(budget, value) for value in values if value is not None])


def _quote(budget: Allocator, *values: object) -> str:
    texts = [to_text(budget, value) for value in values if value is not None]
    return _joined(budget, " ", list(map(printing.quote, texts)))


def _single_quote(budget: Allocator, *values: object) -> str:
    shown = [_shown(budget, value) for value in values if value is not None]
    return _joined(budget, " ", [f"'{text}'" for text in shown])


def _shown(budget: Allocator, value: object) -> str:
    """As ``%v``: unlike to_text, bytes are numbers."""
    return printing.to_text(value) if isinstance(value, bytes) else to_text(budget, value)


def _joined(budget: Allocator, separator: str, texts: list[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    budget.check_string(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


# Lists of texts


def _join(budget: Allocator, separator: str, value: object) -> str:
    return _joined(budget, separator, list(map(str, to_texts(budget, value))))


def _split_list(budget: Allocator, separator: str, text: str) -> Strings:
    return Strings(_pieces(budget, separator, text, -1))


def _split(budget: Allocator, separator: str, text: str) -> StringMap:
    return _numbered(_pieces(budget, separator, text, -1))


def _split_some(budget: Allocator, separator: str, count: int, text: str) -> StringMap:
    return _numbered(_pieces(budget, separator, text, count))


def _numbered(pieces: list[str]) -> StringMap:
    return StringMap({f"_{index}": piece for index, piece in enumerate(pieces)})


def _pieces(budget: Allocator, separator: str, text: str, count: int) -> list[str]:
    """At most ``count`` pieces, the last one unsplit; all of them if it is negative."""
    if count == 0:
        return []
    if separator:
        budget.check_list(text.count(separator) + 1)
        return text.split(separator, count - 1 if count > 0 else -1)
    budget.check_list(len(text))
    if count < 0 or count >= len(text):
        return list(text)
    return [*text[: count - 1], text[count - 1 :]]


def _sort_alpha(budget: Allocator, value: object) -> Strings:
    if not isinstance(value, (list, bytes)):
        return Strings([to_text(budget, value)])
    texts = sorted(map(str, to_texts(budget, value)), key=to_bytes)
    return Strings(texts)


_BUDGET: Final = Injects.BUDGET


def _text(name: str, takes: str, call: object) -> Function:
    return Function(name=name, takes=takes, call=call, gives="string")


def _built(name: str, takes: str, call: object) -> Function:
    return Function(name=name, takes=takes, call=call, needs=_BUDGET, gives="string")


def _test(name: str, call: object) -> Function:
    return Function(name=name, takes="string string", call=call, gives="bool")


def _list(name: str, takes: str, call: object) -> Function:
    return Function(name=name, takes=takes, call=call, needs=_BUDGET)


FUNCTIONS: Final = (
    _text("hello", "", _hello),
    _text("trim", "string", _trim),
    _text("trimAll", "string string", _trim_all),
    _text("trimall", "string string", _trim_all),
    _text("trimSuffix", "string string", _trim_suffix),
    _text("trimPrefix", "string string", _trim_prefix),
    _text("nospace", "string", _without_spaces),
    _text("trunc", "int string", _truncate),
    _text("substr", "int int string", _substring),
    Function(name="contains", takes="string string", call=_contains, needs=_BUDGET, gives="bool"),
    _test("hasPrefix", _has_prefix),
    _test("hasSuffix", _has_suffix),
    _text("plural", "string string int", _plural),
    _built("repeat", "int string", _repeat),
    _built("replace", "string string string", _replace),
    _built("cat", "any...", _cat),
    _built("quote", "any...", _quote),
    _built("squote", "any...", _single_quote),
    _built("toString", "any", to_text),
    _built("join", "string any", _join),
    _list("toStrings", "any", to_texts),
    _list("splitList", "string string", _split_list),
    _list("split", "string string", _split),
    _list("splitn", "string int string", _split_some),
    _list("sortAlpha", "any", _sort_alpha),
)
