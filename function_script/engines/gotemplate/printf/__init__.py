"""``printf``: Go's format strings, read left to right; verbs.py formats the arguments.

Every mistake in a format is text in the result, in Go's words: ``%!d(string=x)``.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from function_script.engines.gotemplate.function import Allocator
from function_script.engines.gotemplate.printf.verbs import Flags, format_argument
from function_script.engines.gotemplate.printing import NIL
from function_script.engines.gotemplate.values import go_type

# Go ignores a width or precision beyond this.
_MAX_NUMBER: Final = 1_000_000
_PLAIN: Final = Flags()
_FLAGS: Final = re.compile(r"[#0+\- ]*")
_NUMBER: Final = re.compile(r"[0-9]*")
_INDEX: Final = re.compile(r"\[([0-9]+)\]")
_BRACKETS: Final = re.compile(r"\[[^\]]*\]")


class _Number(NamedTuple):
    """A width or precision; ``value`` is None without one."""

    value: int | None
    complaint: str = ""


def sprintf(allocator: Allocator, template: str, *arguments: object) -> str:
    """Return ``fmt.Sprintf``; raises LimitExceededError for excessive padding and length."""
    simple = _read_simple(template)
    if simple is None or len(simple.verbs) != len(arguments):
        return _Formatter(allocator, template, arguments).run()
    parts = [simple.texts[0]]
    for verb, text, value in zip(simple.verbs, simple.texts[1:], arguments, strict=True):
        plain = type(value) is str and verb in "sv"
        parts.append(str(value) if plain else format_argument(value, verb, _PLAIN))
        parts.append(text)
    allocator.check_string(sum(map(len, parts)))
    return "".join(parts)


class _Simple(NamedTuple):
    """A format of plain verbs, one for each argument: the texts around the verbs, and the verbs."""

    texts: list[str]
    verbs: str


@lru_cache(maxsize=256)
def _read_simple(template: str) -> _Simple | None:
    """Read a format without flags, widths and the like; None for any other."""
    pieces = _VERB.split(template)
    texts, verbs = pieces[::2], "".join(pieces[1::2])
    simple = "%" not in "".join(texts)
    return _Simple(texts, verbs) if simple else None


_VERB: Final = re.compile(r"%([a-zA-Z])")


class _Formatter:
    def __init__(self, allocator: Allocator, template: str, arguments: tuple[object, ...]) -> None:
        self.allocator = allocator
        self.template = template
        self.arguments = arguments
        self.position = 0
        self.next_argument = 0
        self.is_reordered = False
        # Whether every index like [2] of the current verb names an argument, and whether one ends
        # at the current position.
        self.has_good_index = True
        self.is_after_index = False

    def run(self) -> str:
        parts: list[str] = []
        while True:
            percent = self.template.find("%", self.position)
            if percent < 0:
                parts.append(self.template[self.position :])
                break
            parts.append(self.template[self.position : percent])
            self.position = percent + 1
            parts.append(self.format_verb())
        if not self.is_reordered and self.next_argument < len(self.arguments):
            parts.append(self.format_extra())
        self.allocator.check_string(sum(map(len, parts)))
        return "".join(parts)

    def format_verb(self) -> str:
        """Format one verb, from behind its percent sign."""
        self.has_good_index = True
        names = self.consume(_FLAGS)
        letter = self.peek()
        if "a" <= letter <= "z" and self.next_argument < len(self.arguments):
            return self.format_next_argument(letter, names, _Number(None), _Number(None))
        self.read_index()
        width = self.read_width()
        precision = self.read_precision()
        if not self.is_after_index:
            self.read_index()
        complaints = width.complaint + precision.complaint
        letter = self.peek()
        if not letter:
            return f"{complaints}%!(NOVERB)"
        if letter == "%":
            self.position += 1
            return f"{complaints}%"
        if not self.has_good_index or self.next_argument >= len(self.arguments):
            self.position += 1
            reason = "MISSING" if self.has_good_index else "BADINDEX"
            return f"{complaints}%!{letter}({reason})"
        return complaints + self.format_next_argument(letter, names, width, precision)

    def format_next_argument(
        self, letter: str, names: str, width: _Number, precision: _Number
    ) -> str:
        """Format the next argument by the verb ``letter``."""
        self.position += 1
        value = self.arguments[self.next_argument]
        self.next_argument += 1
        minus = "-" in names or (width.value is not None and width.value < 0)
        flags = Flags(
            sharp="#" in names,
            zero="0" in names and not (width.value is not None and width.value < 0),
            plus="+" in names,
            minus=minus,
            space=" " in names,
            width=abs(width.value) if width.value is not None else None,
            precision=precision.value,
        )
        self.allocator.check_width(max(flags.width or 0, flags.precision or 0))
        return format_argument(value, letter, flags.for_value() if letter == "v" else flags)

    def read_index(self) -> None:
        """Read an explicit argument index, ``[2]``."""
        self.is_after_index = False
        if not self.template.startswith("[", self.position):
            return
        self.is_reordered = True
        match = _INDEX.match(self.template, self.position)
        number = int(match[1]) if match is not None and len(match[1]) <= len("1000000") else 0
        if 0 < number <= len(self.arguments):
            self.next_argument = number - 1
            self.is_after_index = True
        else:
            self.has_good_index = False
            self.is_after_index = match is not None
        brackets = _BRACKETS.match(self.template, self.position)
        self.position = brackets.end() if brackets is not None else self.position + 1

    def read_width(self) -> _Number:
        """Read the width: digits, or a star that takes it from an argument."""
        if self.peek() == "*":
            return self.take_number("BADWIDTH")
        digits = self.consume(_NUMBER)
        if not digits:
            return _Number(None)
        if self.is_after_index:
            self.has_good_index = False
        return self.read_number(digits)

    def read_precision(self) -> _Number:
        """Read the precision, from its point; a point at the very end is no precision."""
        if self.peek() != "." or self.position + 1 >= len(self.template):
            return _Number(None)
        self.position += 1
        if self.is_after_index:
            self.has_good_index = False
        self.read_index()
        if self.peek() == "*":
            number = self.take_number("BADPREC")
            negative = number.value is not None and number.value < 0
            return _Number(None, "%!(BADPREC)") if negative else number
        digits = self.consume(_NUMBER)
        return self.read_number(digits) if digits else _Number(0)

    def read_number(self, digits: str) -> _Number:
        """Read a number of the format; Go stops reading at one that is too large."""
        if int(digits[: len("10000000")]) > _MAX_NUMBER * 10:
            self.position = len(self.template)
            return _Number(None)
        return _Number(int(digits))

    def take_number(self, complaint: str) -> _Number:
        """Take a number from the arguments."""
        self.position += 1
        self.is_after_index = False
        if self.next_argument >= len(self.arguments):
            return _Number(None, f"%!({complaint})")
        value = self.arguments[self.next_argument]
        self.next_argument += 1
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _MAX_NUMBER:
            return _Number(None, f"%!({complaint})")
        return _Number(int(value))

    def format_extra(self) -> str:
        """Return the complaint about superfluous arguments."""
        texts = (
            NIL if value is None else f"{go_type(value)}={format_argument(value, 'v', _PLAIN)}"
            for value in self.arguments[self.next_argument :]
        )
        return f"%!(EXTRA {', '.join(texts)})"

    def consume(self, pattern: re.Pattern[str]) -> str:
        """Consume and return a match of ``pattern``."""
        match = pattern.match(self.template, self.position)
        if match is None:
            return ""
        self.position = match.end()
        return match[0]

    def peek(self) -> str:
        """Return the character at the position; empty at the end."""
        return self.template[self.position : self.position + 1]
