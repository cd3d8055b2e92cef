"""sprig's functions that lay text out: indent, wrap, abbreviate. Widths count bytes, as in Go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Allocator, Function, Injects
from function_script.engines.gotemplate.sprig.characters import to_narrow, to_wide

if TYPE_CHECKING:
    from collections.abc import Iterator

_ELLIPSIS: Final = "..."
# An abbreviation has at least one character of the text, with an offset four of them.
_MIN_WIDTH: Final = 4
_MIN_WIDTH_BOTH: Final = 7
# An offset of no more than this is not worth an ellipsis.
_SMALL_OFFSET: Final = 4


def _indent(budget: Allocator, spaces: int, text: str) -> str:
    if spaces < 0:
        raise CallError("strings: negative Repeat count")
    budget.check_width(spaces)
    budget.check_string(len(text) + spaces * (text.count("\n") + 1))
    padding = " " * spaces
    return padding + text.replace("\n", f"\n{padding}")


def _indent_below(budget: Allocator, spaces: int, text: str) -> str:
    return f"\n{_indent(budget, spaces, text)}"


# Wrapping


def _wrap(budget: Allocator, width: int, text: str) -> str:
    pieces = _lines(to_narrow(text), max(width, 1), cuts_words=False)
    return _joined(budget, "\n", list(pieces))


def _wrap_with(budget: Allocator, width: int, separator: str, text: str) -> str:
    pieces = _lines(to_narrow(text), max(width, 1), cuts_words=True)
    return _joined(budget, to_narrow(separator) or "\n", list(pieces))


def _joined(budget: Allocator, separator: str, pieces: list[str]) -> str:
    budget.check_string(sum(map(len, pieces)) + len(separator) * len(pieces))
    return to_wide(separator.join(pieces))


def _lines(text: str, width: int, *, cuts_words: bool) -> Iterator[str]:
    """Lines of at most ``width``, if need be by cutting words or else by exceeding it."""
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


def _abbreviate(width: int, text: str) -> str:
    if width < _MIN_WIDTH:
        return text
    return to_wide(_cut(to_narrow(text), 0, width))


def _abbreviate_both(offset: int, width: int, text: str) -> str:
    if width < _MIN_WIDTH or (offset > 0 and width < _MIN_WIDTH_BOTH):
        return text
    return to_wide(_cut(to_narrow(text), offset, width))


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


def _laid_out(name: str, takes: str, call: object) -> Function:
    return Function(name=name, takes=takes, call=call, needs=Injects.BUDGET, gives="string")


FUNCTIONS: Final = (
    _laid_out("indent", "int string", _indent),
    _laid_out("nindent", "int string", _indent_below),
    _laid_out("wrap", "int string", _wrap),
    _laid_out("wrapWith", "int string string", _wrap_with),
    Function(name="abbrev", takes="int string", call=_abbreviate, gives="string"),
    Function(name="abbrevboth", takes="int int string", call=_abbreviate_both, gives="string"),
)
