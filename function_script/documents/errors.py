"""Errors in a YAML text, and the hints for classic mistakes.

YamlError               not YAML, or not YAML that Kubernetes accepts
├── DuplicateKeyError   a key that its map has before
├── YamlSyntaxError     not YAML, or no object
└── TooLargeError       more values, levels or expanded text than allowed

Positions are those of the text that was read; `TextOrigin.error` maps them to its author's. A
correction was tried: with it the text can be read, or is wrong farther below only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Final

import yaml

from function_script.texts.diagnostics import Code
from function_script.texts.errors import LimitName

try:
    from yaml._yaml import CParser
except ImportError:  # PyYAML was built without libyaml: the same events, fifteen times slower
    from yaml import SafeLoader as CParser  # type: ignore[assignment] # has the same get_event

UNQUOTED_BRACES = 'quote a value that begins with "{"; {{ }} that was not rendered also looks so'
NO_TABS = "YAML is not indented by tabs: use blanks"
_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
BLOCK = re.compile(r"\s*(?:- +)*(?P<key>[\w.-]+|\"[^\"]+\"|'[^']+'): +[|>][-+0-9]*\s*(?:#.*)?$")
"""The first line of a literal or folded block."""
_KEY = re.compile(r"\s*(?:- +)*[\w./-]+:(?: |$)")
# A line with a key, or with an item of one word, and one with a word alone.
_ENTRY = re.compile(r".*:(?: |$)|\s*- +\S*\s*$")
_WORD = re.compile(r"\s*(?:- +)?[\w./-]+\s*")
Parser: Final = CParser
PARSER_ERRORS: Final = (yaml.MarkedYAMLError, yaml.reader.ReaderError, UnicodeEncodeError)
"""The errors of the parser's events."""
_CLOSING: Final = {
    "[": ("the list", "]"),
    "{": ("the map", "}"),
    '"': ("the text", '"'),
    "'": ("the text", "'"),
}
_JOINED_LINES: Final = re.compile(r"\s*apiVersion: \S+ +kind: ")
# A program in the line of its key, or in those below it.
_PROGRAM: Final = re.compile(
    r"\s*(?P<key>script|inline|[\w./-]+\.(?:star|j2|gotmpl|tpl)):(?: *$| +(?![|>\"'&*])\S)"
)
KEY_WITHOUT_BLANK: Final = re.compile(r"\s*(?:- +)?[A-Za-z][\w./-]*:(?=[^\s:/]|/(?!/))")
"""A key with a colon and no blank behind it."""
_ITEM_WITHOUT_BLANK: Final = re.compile(r" *-(?=[A-Za-z][\w./:-]*(?: |$))")
_KEY_WITHOUT_COLON: Final = re.compile(
    r"(\s*(?:- +)?(?:\"[\w./-]+\"|'[\w./-]+'|[\w.-]+(?= *=| +[|>]))) *=* +(?=(?:[\w./-]+|[|>]-?)$)"
)
_MISSING_SIGNS: Final = (
    (KEY_WITHOUT_BLANK, " ", "put a blank after the colon of a key"),
    (_ITEM_WITHOUT_BLANK, " ", "put a blank after the dash of an item"),
    (_KEY_WITHOUT_COLON, ": ", "a colon is missing behind the key"),
)
_VALUE: Final = re.compile(
    r"(?P<key>\s*(?:- +)*(?:[\w./-]+|\"[^\"]*\"|'[^']*'): +|\s*(?:- +)+)(?P<value>\S.*)"
)
# Several texts in quotes, one with a brace, and what begins a list, a map or a block: no one text.
_TEXTS: Final = re.compile(r"[\"'] *(?:, *[\"']|\}$)")
_COLLECTION: Final = re.compile(r"[-?] |[\[{|>\"']")
_JSON_INSIDE: Final = re.compile(r"\S[\[{]\"")
NAME_LINE: Final = re.compile(r"[\w.-]+/composition-resource-name: ")
"""The line that a function writes for the name of a resource."""
# Nothing is in it: what is wrong is where it stands.
_PAIR: Final = re.compile(r"\{ *\}|\[ *\]")
# Each trial parses the text; an author may also indent a line as one of those above it.
_MAX_CHARACTERS: Final = 200_000
_MAX_COLUMNS: Final = 8


class YamlError(Exception):
    """A problem at ``line`` and ``column``, both 0-based, of the text that was read.

    A hint that takes time is a function, which is called when the hint is read.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int,
        column: int,
        hint: str | Callable[[], str | None] | None = None,
        code: Code | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line
        self.column = column
        self._hint = hint

    @property
    def hint(self) -> str | None:
        """The text to write instead, if that is certain."""
        if callable(self._hint):
            self._hint = self._hint()
        return self._hint

    def with_consequence(self, consequence: str) -> YamlError:
        """Return the same problem as a warning: a lenient reader goes on with ``consequence``."""
        facts = {"line": self.line, "column": self.column}
        return YamlError(f"{self.message}: {consequence}", **facts, hint=self._hint, code=self.code)


class DuplicateKeyError(YamlError):
    """A key that its map has before; ``first`` and ``place`` are lines and columns, 0-based."""

    def __init__(self, key: str, first: tuple[int, int], place: tuple[int, int]) -> None:
        lines = place[0] - first[0]
        where = "on the same line" if lines == 0 else f"{lines} line{'s' * (lines > 1)} above"
        hint = "take one of them out, or give it another name"
        if key in {"apiVersion", "kind"} and place[1] == 0:
            hint = 'objects are separated by a line "---"'
        message = f"duplicate key {key!r}, first {where}"
        code = Code("duplicate-key", key)
        super().__init__(message, line=place[0], column=place[1], hint=hint, code=code)
        self.first = first


class YamlSyntaxError(YamlError):
    """The text is no YAML, or a document that is no object."""


class TooLargeError(YamlError):
    """The value would be larger than the limits allow; ``limit`` names the one that can be set."""

    def __init__(
        self, message: str, *, line: int, column: int, limit: LimitName | None = None
    ) -> None:
        super().__init__(message, line=line, column=column)
        self.limit = limit


def lacks_sign(line: str) -> bool:
    """Report whether a line has a key without a colon or a blank, or an item without a blank."""
    return any(pattern.match(line) for pattern, _, _ in _MISSING_SIGNS)


def find_early_end(lines: list[str], number: int) -> YamlError | None:
    """Return the error of a line that ends a block of text by its indentation, and must not.

    This is certain if the text goes on behind the line, or if the line is one of a template as the
    text is. ``number`` is the line at which the parser gives up.
    """
    matches = ((each, BLOCK.match(lines[each])) for each in range(number, -1, -1))
    header, match = next((pair for pair in matches if pair[1] is not None), (0, None))
    if match is None:
        return None
    name = match["key"].strip("\"'")
    following = [each for each in range(header + 1, len(lines)) if lines[each].strip()]
    depth = count_blanks(lines[following[0]]) if following else 0
    if depth <= count_blanks(lines[header]):
        return None
    end = next((each for each in following if count_blanks(lines[each]) < depth), None)
    if end is None or not end <= number <= end + 1:
        return None
    after = next((each for each in following if each > end), None)
    goes_on = after is not None and count_blanks(lines[after]) >= depth
    block = "\n".join(lines[header + 1 : end])
    is_template = any(mark in block and mark in lines[end] for mark in ("{{", "{%"))
    if not is_template and (not goes_on or _KEY.match(lines[end]) or lines[end].endswith(" |")):
        return None
    column = count_blanks(lines[end])
    if lines[end][column] == "\t":
        return YamlSyntaxError("a tab in the indentation", line=end, column=column, hint=NO_TABS)
    return YamlError(
        f"this line ends the text of `{name}`: it is less indented",
        line=end,
        column=column,
        hint=f"indent it by {depth} blanks or more, as the lines of the text",
    )


def find_missing_bar(lines: list[str], number: int) -> YamlError | None:
    """Return the error of a program that is read as YAML, if a line is of one; else None."""
    depth = count_blanks(lines[number]) + 1
    for header in range(number, -1, -1):
        line = lines[header]
        if line.lstrip().startswith("template:"):
            # Another input has the text below this key.
            return None
        if not line.strip() or count_blanks(line) >= depth:
            continue
        depth = count_blanks(line)
        if match := _PROGRAM.match(line):
            message = f"the text of `{match['key']}` is read as YAML, for no | begins it"
            hint = f"write `{match['key']}: |`, and the program in the lines below"
            return YamlError(message, line=header, column=depth, hint=hint)
    return None


def count_blanks(line: str) -> int:
    """Return the number of blanks before a line."""
    return len(line) - len(line.lstrip(" "))


def _invalid_character(text: str) -> YamlError:
    """Return the error for the first character that YAML does not allow."""
    match = _UNREADABLE.search(text)
    start = 0 if match is None else match.start()
    line = text.count("\n", 0, start)
    column = start - (text.rfind("\n", 0, start) + 1)
    name = "a character" if match is None else f"the character U+{ord(match[0]):04X}"
    hint = 'write it as an escape in double quotes, such as "\\x01"'
    return YamlError(f"{name} is not allowed in YAML", line=line, column=column, hint=hint)


def explain_parser_error(error: Exception, text: str) -> YamlError:
    """Convert one of PARSER_ERRORS; a classic mistake gets a hint."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return _invalid_character(text)
    mark = _mark(error)
    line, column = (0, 0) if mark is None else (mark.line, mark.column)
    lines = text.splitlines() or [""]
    if not "\n".join(lines[line:])[column:].strip():
        return _unfinished(error, lines)
    indentation = lines[line][: len(lines[line]) - len(lines[line].lstrip())]
    if "\t" in indentation[: column + 1]:
        tab = indentation.find("\t")
        return YamlSyntaxError("a tab in the indentation", line=line, column=tab, hint=NO_TABS)
    message = str(error.problem or error.context)
    if error.context and error.problem:
        message += f" {error.context}"
        above = 0 if error.context_mark is None else line - error.context_mark.line
        if above > 0:
            message += f" that begins {above} line{'s' * (above > 1)} above"
    rows = range(line - 1, -1, -1)
    above = next((each for each in rows if lines[each].lstrip()[:1] not in {"", "#"}), line)
    if _is_text_above(message, lines[above]):
        line, column = above, count_blanks(lines[above])
    hint = partial(_hint, message, lines, line, column)
    return YamlSyntaxError(message, line=line, column=column, hint=hint)


def _is_text_above(message: str, line: str) -> bool:
    """Report whether a line is no entry, so that the next one, which is, cannot follow it."""
    return "mapping values" in message and (lacks_sign(line) or not _ENTRY.match(line))


def _mark(error: yaml.MarkedYAMLError) -> yaml.Mark | None:
    """Return the place of an error; the parser gives up behind the line of a key."""
    is_of_key = error.context == "while scanning a simple key"
    return (error.context_mark if is_of_key else None) or error.problem_mark or error.context_mark


def _unfinished(error: yaml.MarkedYAMLError, lines: list[str]) -> YamlError:
    """Return the error for a text that ends too early.

    An unclosed list, map or quote is reported at its beginning, where it has to be corrected.
    """
    mark = error.context_mark
    opening = "" if mark is None or mark.line >= len(lines) else lines[mark.line][mark.column :][:1]
    if mark is not None and opening in _CLOSING and not _PAIR.match(lines[mark.line], mark.column):
        noun, closing = _CLOSING[opening]
        message = f"{noun} that begins here does not end"
        hint = f"close it with {closing}"
        return YamlSyntaxError(message, line=mark.line, column=mark.column, hint=hint)
    line = max((number for number, text in enumerate(lines) if text.strip()), default=0)
    message = "the text ends where a value is expected"
    return YamlSyntaxError(message, line=line, column=len(lines[line].rstrip()))


def _hint(message: str, lines: list[str], number: int, column: int) -> str | None:
    if _JOINED_LINES.match(lines[number]):
        return "the lines were joined: > folds a text in YAML, | keeps its lines"
    if sum(map(len, lines)) > _MAX_CHARACTERS:
        return None
    below = next((each for each in range(number + 1, len(lines)) if lines[each].strip()), number)
    # Deeper lines belong to a key, and have to be readable with it.
    is_part = count_blanks(lines[below]) > len(lines[number]) - len(lines[number].lstrip(" -"))
    own = ((number, *each) for each in _corrections(message, lines, number, column))
    return next(
        (
            hint
            for each, text, hint in chain(own, _close_text(lines, number))
            if _mends([*lines[:each], text, *lines[each + 1 :]], below if is_part else number)
        ),
        None,
    )


def _mends(lines: Sequence[str], number: int) -> bool:
    """Report whether lines can be read, or are wrong only below a line."""
    try:
        parser = Parser("\n".join(lines))
        while parser.get_event() is not None:
            pass
    except yaml.MarkedYAMLError as error:
        mark = _mark(error)
        return mark is not None and mark.line > number
    except yaml.YAMLError:
        return False
    return True


def _close_text(lines: Sequence[str], number: int) -> Iterator[tuple[int, str, str]]:
    """Yield the nearest line above that has a text in quotes, if they are open, and the hint."""
    matches = ((each, _VALUE.fullmatch(lines[each])) for each in range(number - 1, -1, -1))
    texts = ((each, match) for each, match in matches if match and match["value"][0] in "\"'")
    each, match = next(texts, (0, None))
    if match is not None and match["value"].count(quote := match["value"][0]) == 1:
        hint = f"close the text of `{match['key'].strip(' -:')}` with {quote}"
        yield each, match[0] + quote, hint


def _corrections(
    message: str, lines: Sequence[str], number: int, column: int
) -> Iterator[tuple[str, str]]:
    """Yield what may mend the line where the parser gives up at a column, and the hint."""
    line = lines[number]
    if number and (match := BLOCK.match(lines[number - 1])):
        hint = f"indent the lines of the text below `{match['key']}`, deeper than it"
        yield " " * (count_blanks(lines[number - 1]) + 2) + line.lstrip(" "), hint
    for pattern, sign, hint in _MISSING_SIGNS:
        if match := pattern.match(line):
            yield f"{match[match.lastindex or 0]}{sign}{line[match.end() :]}", hint
    if line.strip() in {"--", "---"}:
        yield "---", "write --- at the margin, where a document begins"
    below = next((each for each in lines[number + 1 :] if each.strip()), "")
    if _WORD.fullmatch(line) and count_blanks(below) > count_blanks(line):
        yield f"{line.rstrip()}:", "a colon is missing behind the key"
    if _is_text_above(message, line):
        return
    if match := _VALUE.fullmatch(line):
        yield from _value_corrections(message, line, column, match)
    above = lines[max(number - 1, 0)]
    is_item, is_below_item = (each.lstrip().startswith("- ") for each in (line, above))
    # Else what is above is no sibling, or the line would become a part of its value.
    is_entry = is_item or _KEY.match(line) is not None
    is_sibling = is_entry and ((is_item and is_below_item) or _KEY.match(above) is not None)
    columns = dict.fromkeys(len(each) - len(each.lstrip(" -")) for each in reversed(lines[:number]))
    for width in [*columns][: _MAX_COLUMNS * is_sibling]:
        hint = "check the indentation and the dashes: siblings begin in the same column"
        yield " " * width + line.lstrip(" "), hint


def _value_corrections(
    message: str, line: str, column: int, match: re.Match[str]
) -> Iterator[tuple[str, str]]:
    """Yield what may mend a value in the line of its key."""
    value = match["value"]
    if NAME_LINE.match(value):
        text = " " * count_blanks(line) + value
        yield text, "it is a line of its own below annotations, without a key"
    if _JSON_INSIDE.search(value) or not re.search(r"\w", value):
        # JSON inside of a text has quotes of its own. A sign alone is of another mistake.
        return
    if "{{" in line or "{%" in line:
        hint = UNQUOTED_BRACES
    elif "cannot start any token" in message and line[column : column + 1]:
        hint = f"quote a value that begins with {line[column]!r}"
    elif "alias" in message or "anchor" in message:
        hint = 'quote a value that begins with "*" or "&"'
    elif "while parsing a quoted scalar" in message:
        hint = r"in double quotes \ begins an escape: write \\"
    elif value[0] in "\"'" and not _TEXTS.search(value):
        hint = "a text ends at its second quote: put one pair of quotes around all of it"
    elif ": " in value and not _COLLECTION.match(value):
        hint = 'quote a value that holds ": "; a key begins a line of its own'
    else:
        return
    yield match["key"] + json.dumps(value), hint
