"""The part of a template that makes a rendered line wrong, and what to write instead.

Each hint was tried: with it the document can be read, or is wrong farther below only. Outdented
values are printed values of several lines, of which some lack the indentation of their place:
`engines/outdents.py` finds them in each run.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import accumulate, chain, islice, pairwise
from typing import Final, NamedTuple

from function_script.documents.errors import BLOCK, NAME_LINE, YamlError, count_blanks, lacks_sign
from function_script.documents.kubernetes_yaml import parse, start_of
from function_script.documents.positions import walk
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.source import JINJA_FILTER, Piece, Span

_OUTDENTED: Final = (
    "not all lines of this value have the indentation of their place: "
    "they became fields of an object around it"
)
_MAX_TRIALS: Final = 12
# Each trial parses the document.
_MAX_CHARACTERS: Final = 200_000
_MAX_VALUES: Final = 100_000
_MAX_DEPTH: Final = 100
_SEPARATOR: Final = "\n---"
_LEAD: Final = re.compile(r" *(?:- +)*")
KEY: Final = re.compile(
    r" *(?:(?:- +)*(?:[\w./-]+|\"[^\"]*\"|'[^']*'): *|(?:- +)+)(?P<quote>[\"']?)"
)
_INDENT: Final = re.compile(
    r"(?<!\s)\s*\|\s*n?indent\b[\s(]*(?P<filter>\d*)[^|]*$|^n?indent\s+(?P<call>\d+)\s+"
)
_QUOTED: Final = re.compile(r"(?:^|\|\s*)(?:s?quote|to_?json)\b", re.IGNORECASE)
_YAML: Final = re.compile(r"\bto_?yaml\b", re.IGNORECASE)
_JSON: Final = re.compile(r"""\{"|\[["\[{\d]""")
_BREAK: Final = re.compile(r"[ \t]*\n\s*")
# Marks of tags that trim, whatever the delimiters are.
_MARK_WIDTH: Final = 17
_OPENING: Final = re.compile(r"[^\w\s\"'-]{1,16}-")
_CLOSING: Final = re.compile(r"-[^\w\s\"'-]{1,16}\Z")
# A block or a comment of Jinja takes away the line break behind it, also without "-".
_CLOSING_TAG: Final = re.compile(r"(?:-[^\w\s\"'-]{1,16}|[%#]\})\Z")
INDENTED_TAGS: Final = re.compile(r"(?P<blanks>[ \t]+)(?P<tag>\{%)(?![-+])(?P<loop> *for\b)?.*%\}")
"""Tags of Jinja that begin an indented line: the first one takes away the blanks before it."""


class Edit(NamedTuple):
    """The replacement of the characters from ``start`` to ``end``."""

    start: int
    end: int
    text: str


class _Correction(NamedTuple):
    """Changes of the rendered text, and the place and hint for the template that makes them."""

    edits: Sequence[Edit]
    span: Span
    hint: str


class _Mark(NamedTuple):
    """A mark of a tag that takes away white space, and the place of the character that does it.

    ``correction`` is the mark as it is to be written, ``loss`` what it takes, and on which side.
    """

    span: Span
    text: str
    correction: str
    loss: str

    @property
    def hint(self) -> str:
        """The mark to write, for one mark alone."""
        return f"{self.text} takes away the {self.loss} it: write {self.correction}"


class Rendering:
    """A rendered text with its pieces, to explain its lines; without pieces nothing is.

    ``trace`` returns the pieces; it may be slow, and is called once at most.
    """

    def __init__(self, text: str, trace: Callable[[], Sequence[Piece]]) -> None:
        self._text = text
        self._trace = trace

    @cached_property
    def _pieces(self) -> Sequence[Piece]:
        pieces = self._trace()
        return pieces if "".join(piece.text for piece in pieces) == self._text else ()

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(piece.text) for piece in self._pieces)]

    def explain(
        self, first_line: int, error: YamlError, read: Callable[[str], object]
    ) -> tuple[Span, str] | None:
        """Return the place and the hint for an error in the document that begins in a line.

        ``read`` raises YamlError for a document that is wrong.
        """
        begin = self._offset(first_line)
        end = self._end(begin, _SEPARATOR)
        if not self._pieces or end - begin > _MAX_CHARACTERS:
            return None
        reason = None
        for each in islice(self._corrections(first_line + error.line, begin, end), _MAX_TRIALS):
            parts: list[str] = []
            at, more = begin, 0
            for start, stop, text in sorted(each.edits):
                parts += self._text[at:start], text
                at = stop
                if bisect_right(self._line_starts, start) - first_line <= error.line:
                    more += text.count("\n") - self._text.count("\n", start, stop)
            changed = "".join((*parts, self._text[at:end]))
            try:
                # A line break that was restored may make a separator of documents.
                read(f"{changed.partition(_SEPARATOR)[0]}\n")
            except YamlError as other:
                if other.line > error.line + more and reason is None:
                    reason = each.span, each.hint
            else:
                return each.span, each.hint
        return reason

    def find_span(self, line: int, column: int, width: int) -> Span | None:
        """Return what wrote a part of a line, both from 1: literal text, or a whole expression.

        None if it is unknown.
        """
        offset = self._offset(line) + column - 1
        piece = self.find_piece(offset)
        if piece is None or piece.start < 0:
            return None
        if piece.expression is not None:
            return piece.span
        start = offset - self._starts[self._index_at(offset)]
        return piece.locate(piece.start + start, min(width, len(piece.text) - start))

    def is_repeated(self, first: tuple[int, int], second: tuple[int, int]) -> bool:
        """Report whether a part of the template wrote two positions, both from 1: in a loop."""
        offsets = [self._offset(line) + column - 1 for line, column in (first, second)]
        span = self.find_span(*second, 1)
        is_one_value = self._index_at(offsets[0]) == self._index_at(offsets[1])
        return not is_one_value and span is not None and self.find_span(*first, 1) == span

    def find_piece(self, offset: int) -> Piece | None:
        """Return the piece that has the character at an offset."""
        index = self._index_at(offset)
        return self._pieces[index] if index >= 0 else None

    def is_own(self, line: int) -> bool:
        """Report whether a line (from 1) is the template's, or begins an object or a block's text.

        Any other one is a part of a text, such as nginx:1.27, or is behind another one or a tag.
        """
        start = self._offset(line)
        text = self._text[start : self._end(start)]
        column = len(text) - len(text.lstrip()) + 1
        piece = self.find_piece(start + column - 1)
        first, last = (self.find_span(line, each, 1) for each in (column, len(text.rstrip()) or 1))
        if piece is None or first is None or last is None:
            return True
        if piece.expression is None:
            return (first.line, first.column) == (last.line, column)
        above = self._text[: max(start - 1, 0)].rpartition("\n")[2]
        is_whole = "apiVersion: " in text or (":" not in text and BLOCK.match(above) is not None)
        is_begin = is_whole and piece.text.lstrip().startswith(text.strip())
        return first.line == last.line and (is_begin or text.strip() not in piece.text)

    def find_outdents(self, ranges: Iterable[tuple[int, int]]) -> Iterator[Diagnostic]:
        """Yield a warning for each value of several lines whose later lines are of an outer object.

        ``ranges`` are where values begin and end that are less indented than their place.
        """
        read = (-1, -1)
        entries: set[tuple[int, int]] = set()
        budget = _MAX_CHARACTERS
        for start, end in ranges:
            begin = self._text.rfind(_SEPARATOR, 0, start) + 1
            begin = self._end(begin) + 1 if begin else 0
            stop = self._end(start, _SEPARATOR)
            if (begin, stop) != read:
                budget -= stop - begin
                if budget < 0:
                    return
                read, entries = (begin, stop), _find_entries(self._text[begin:stop])
            index, first = self._index_at(start), self._text.count("\n", begin, start)
            prefix, value = self._prefix(start), self._text[start:end]
            if key := self._find_written_key(start, prefix):
                prefix, value, first = key, f"\n{prefix}{value}", first - 1
            width = required_indentation(prefix, value)
            rows = enumerate(value.split("\n")[1:], first + 1)
            outer = {(row, count_blanks(line)) for row, line in rows if line[:width].strip(" ")}
            if end > stop or entries.isdisjoint(outer):
                continue
            corrections = chain(self._indent(index), self._quote(index)) if index >= 0 else ()
            hints = [each.hint for each in corrections]
            if index >= 0 and self._text[start] == "\n":
                form = self._pieces[index].filter_form.format("nindent", width + 1)
                hints = [f"write {form}, which is deeper than the key"]
            yield Diagnostic(
                message=_OUTDENTED,
                span=None if index < 0 else self._pieces[index].span,
                hint=next(iter(hints), None),
            )

    def _corrections(self, line: int, begin: int, end: int) -> Iterator[_Correction]:
        """Yield what may mend a line, or the line above it, which may make it unreadable."""
        stop = min(self._end(self._offset(line)), end)
        yield from self._restore_breaks(begin, stop, end)
        yield from self._restore_blanks(begin, stop)
        above = line - 1
        while above > 1 and self._rest(self._offset(above)).lstrip()[:1] in {"", "#"}:
            above -= 1
        start = max(self._offset(max(above, 1)), begin)
        for index, piece in enumerate(self._pieces):
            is_near = self._starts[index] <= stop and self._starts[index + 1] >= start
            if is_near and piece.expression is not None:
                yield from self._indent(index)
                yield from self._quote(index)

    def _restore_breaks(self, begin: int, stop: int, end: int) -> Iterator[_Correction]:
        """Yield the line breaks that marks of tags took away where two lines became one.

        The nearest lines above ``stop`` come first. A mark may do so in each turn of a loop.
        """
        edits: dict[_Mark, list[Edit]] = {}
        joints: list[list[_Mark]] = []
        # The marks in the line of the error.
        row: dict[_Mark, None] = {}
        # A loop writes the same two pieces side by side in each turn.
        marks_between: dict[tuple[str, int, int, str, int], list[tuple[_Mark, str]]] = {}
        for index in range(1, len(self._pieces)):
            at = self._starts[index]
            if not begin < at < end:
                continue
            before, after = self._pieces[index - 1], self._pieces[index]
            pair = (before.source, before.start, before.end, after.source, after.start)
            if pair not in marks_between:
                marks_between[pair] = [*_find_marks(before, after)]
            marks = marks_between[pair]
            for mark, text in marks:
                edits.setdefault(mark, []).append(Edit(at, at, text))
            if marks and at <= stop and self._prefix(at) and self._rest(at).strip():
                joints.append([mark for mark, _ in marks])
                row |= {marks[-1][0]: None} if "\n" not in self._text[at:stop] else {}
        for joint in reversed(joints):
            # The mark behind has the indentation of the line that follows.
            singles = [_Correction(edits[mark], mark.span, mark.hint) for mark in reversed(joint)]
            if len(joint) == 1:
                yield from singles
                continue
            first, other = joint
            is_block = other.correction.startswith("+")
            behind = other.correction.lstrip("+")
            hint = f"{first.text} and {other.text} take away line breaks: "
            # A block of Jinja takes the first line break behind it also without "-".
            of_other = [
                each._replace(text=each.text.replace("\n", "", is_block)) for each in edits[other]
            ]
            both = _Correction(
                _join(edits[first], of_other),
                first.span,
                f"{hint}write {first.correction} and {behind}",
            )
            yield from [both, *singles] if is_block else [singles[0], both, singles[1]]
        if len(row) > 1:
            # Each alone leaves the line unreadable.
            mark, *_ = row
            yield _Correction(_join(*(edits[each] for each in row)), mark.span, mark.hint)

    def _restore_blanks(self, begin: int, stop: int) -> Iterator[_Correction]:
        """Yield the indentation that a tag of Jinja took away from what is behind it."""
        for at, (before, after) in zip(self._starts[1:], pairwise(self._pieces), strict=False):
            if not (begin < at <= stop and self._text[at - 1] == "\n" and after.text[:1].strip()):
                continue
            content = after.source[: max(after.start, 0)].rstrip()
            blanks = after.source[len(content) : max(after.start, 0)].rpartition("\n")[2]
            if content.endswith(("-%}", "-#}")) and blanks:
                mark = content[-len("-%}") :]
                hint = f"{mark} takes away the blanks behind it: write {mark[1:]}"
                span = after.locate(len(content) - len(mark), len(mark))
                yield _Correction([Edit(at, at, blanks)], span, hint)
            if match := INDENTED_TAGS.fullmatch(before.source, before.end, max(after.start, 0)):
                hint = "{% takes away the blanks before it: write {%+"
                line = before.source[match.end() :].partition("\n")[0]
                if match["loop"] and "endfor" not in line:
                    # They would be those of its first turn alone.
                    hint = "the lines of a loop begin below its tag"
                span = before.locate(match.start("tag"), 2)
                yield _Correction([Edit(at, at, match["blanks"])], span, hint)

    def _indent(self, index: int) -> Iterator[_Correction]:
        """Yield the lines of a value of several lines, with the indentation of their place."""
        piece, at = self._pieces[index], self._starts[index]
        value = piece.text.rstrip("\n")
        expression = piece.expression or ""
        end = at + len(value)
        if "\n" not in value.lstrip("\n") or value[0] == "\n" or self._rest(end).strip():
            return
        if value.startswith(("map[", "[map[")):
            # A map as Go prints it is no text that can be indented.
            return
        prefix = self._prefix(at)
        lead = _LEAD.match(prefix)
        width = 0 if lead is None else len(lead[0])
        name = "nindent"
        filtered = _INDENT.search(expression)
        # Jinja's filter adds four blanks, if it is not told how many.
        added = int(filtered["filter"] or filtered["call"] or 4) if filtered else 0
        lines = [line[min(added, count_blanks(line)) :] for line in value.split("\n")]
        is_list = lines[0].startswith("- ")
        if width < len(prefix):
            # Behind a key: a text of several lines needs quotes, and no indentation. A key with a
            # dot is the name of a file, whose content is a text.
            if not KEY.fullmatch(prefix) or "." in prefix or not _is_collection(lines):
                return
            width += 2
        elif (key := required_indentation(self._key_above(at - width))) > width + is_list:
            width = key + 1
        elif piece.filter_form == JINJA_FILTER:
            name = "indent"
        margin = " " * width
        body = "\n".join(margin + line if line else line for line in lines)
        form = piece.filter_form.format(name, width)
        # nindent begins a line: blanks before it would be one more.
        mark = "-" * (name == "nindent" and not prefix.strip())
        text = piece.to_operand(_INDENT.sub("", expression))
        hint = f"the value has several lines: write {{{{{mark} {text} | {form} }}}}"
        text = body[width:] if name == "indent" else f"\n{body}"
        yield _Correction([Edit(at, end, text)], piece.span, hint)

    def _quote(self, index: int) -> Iterator[_Correction]:
        """Yield a value as a text in quotes, or without those that are around its own."""
        piece, at = self._pieces[index], self._starts[index]
        end = at + len(piece.text)
        rest = self._rest(end)
        # Behind most of the values of a long line are others, and the search reads all before.
        key = KEY.fullmatch(self._prefix(at)) if len(rest.strip()) <= 1 else None
        quote = "" if key is None else key["quote"]
        if key is None or rest.strip() != quote or lacks_sign(key[0]):
            return
        start, end = at - len(quote), end + (rest.index(quote) + 1 if quote else 0)
        expression = piece.expression or ""
        is_json = _JSON.match(piece.text) is not None
        # Objects that are joined or indented were to be no text, except below a file's name.
        is_data = is_json or "map[" in piece.text or _YAML.search(expression) is not None
        has_quotes = not is_json and _QUOTED.search(expression) is not None
        is_file = "." in self._prefix(at)
        if ((has_quotes or is_data) and not quote and not is_file) or _INDENT.search(expression):
            return
        value = piece.text if has_quotes else json.dumps(piece.text)
        if NAME_LINE.match(piece.text) or not re.search(r"\w", piece.text):
            # A line of its own, or what is left of another mistake.
            return
        filtered = expression if has_quotes else f"{piece.to_operand(expression)} | quote"
        text = f"{{{{ {filtered} }}}}"
        hint = f"write {text}{', without quotes around it' * bool(quote)}"
        lines = piece.text.rstrip("\n").split("\n")
        if quote and (piece.text[:1] in "[{" or (len(lines) > 1 and _is_collection(lines))):
            indent = " and print it with nindent" * (len(lines) > 1)
            hint = f"leave out the quotes around it{indent}; as a text it is {text}"
        if expression.endswith(","):
            hint = "leave out the comma behind the value, which makes a list of it"
        yield _Correction([Edit(start, end, value)], piece.span, hint)

    def _key_above(self, offset: int) -> str:
        """Return the line of the key or the block above an offset; "" for other lines."""
        above = self._text[:offset].rstrip().rpartition("\n")[2]
        return above if is_key(above) else ""

    def _find_written_key(self, offset: int, prefix: str) -> str:
        """Return the key above a value behind blanks, if the template has it there; else ""."""
        key, piece = self._key_above(offset - len(prefix)), self.find_piece(offset)
        before = "" if piece is None else piece.source[: max(piece.start, 0)]
        return key if not prefix.strip(" ") and before.endswith(f"{key}\n{prefix}") else ""

    def _index_at(self, offset: int) -> int:
        """Return the index of the piece that has an offset; -1 if there is none."""
        index = bisect_right(self._starts, offset) - 1
        return index if index < len(self._pieces) else -1

    def _rest(self, offset: int) -> str:
        return self._text[offset : self._end(offset)]

    def _prefix(self, offset: int) -> str:
        return self._text[self._text.rfind("\n", 0, offset) + 1 : offset]

    def _offset(self, line: int) -> int:
        """Return the offset of a line's begin (from 1); that of the last line for one beyond it."""
        return self._line_starts[min(line, len(self._line_starts)) - 1]

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(end.end() for end in re.finditer("\n", self._text))]

    def _end(self, offset: int, mark: str = "\n") -> int:
        """Return the offset of the first mark behind an offset, that of the text's end without."""
        end = self._text.find(mark, offset)
        return len(self._text) if end < 0 else end


def _join(*edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits, those of one place as one."""
    texts: dict[int, str] = {}
    for start, _, text in chain(*edits):
        texts[start] = texts.get(start, "") + text
    return [Edit(start, start, text) for start, text in texts.items()]


def _find_marks(before: Piece, after: Piece) -> Iterator[tuple[_Mark, str]]:
    """Yield the marks that took away white space between two pieces, and what they took."""
    closing = _CLOSING_TAG
    if line_break := _BREAK.match(before.source, before.end):
        closing = _CLOSING
        own = _CLOSING.search(before.source, before.start, before.end)
        mark = _OPENING.match(before.source, line_break.end())
        # Jinja leaves out the blanks before a block, too.
        is_block = before.source.startswith(("{%", "{#"), line_break.end())
        blanks = " \t" if is_block and before.filter_form == JINJA_FILTER else ""
        if own is not None and before.expression is not None:
            yield _mark(before, own, "line break behind"), line_break[0].rstrip(blanks)
        elif mark is not None:
            yield _mark(before, mark, "line break before"), line_break[0].rstrip(blanks)
    text = after.source[: max(after.start, 0)]
    content = text.rstrip()
    first, end_of_line, rest = text[len(content) :].partition("\n")
    white_space = first[len(first.rstrip(" \t")) :] + end_of_line + rest
    # Also the blank behind the colon of a key.
    if end_of_line or (content.endswith(":") and white_space and not white_space.strip(" ")):
        end = len(text) - len(white_space)
        own = _OPENING.match(after.source, after.start)
        if own is not None and after.expression is not None:
            if after.filter_form != JINJA_FILTER and " indent " in after.expression:
                # With the break, the first line alone would be indented twice.
                return
            loss = "line break" if end_of_line else "blank"
            yield _mark(after, own, f"{loss} before"), white_space
        elif mark := closing.search(text, max(end - _MARK_WIDTH, 0), end):
            yield _mark(after, mark, "line break behind"), white_space


def _mark(piece: Piece, match: re.Match[str], loss: str) -> _Mark:
    """Return the mark of a match; a block of Jinja needs a "+" to leave the break behind it."""
    text = match[0]
    is_block = piece.filter_form == JINJA_FILTER and text[-2:] in {"%}", "#}"}
    correction = f"{'+' * is_block}{text.strip('-')}"
    return _Mark(piece.locate(match.start(), len(text)), text, correction, loss)


def _is_collection(lines: Sequence[str]) -> bool:
    """Report whether lines are a map or a list in YAML."""
    try:
        parsed = parse("\n".join(lines), nodes=_MAX_VALUES, depth=_MAX_DEPTH)
    except YamlError:
        return False
    return parsed is not None and isinstance(parsed.value, (dict, list))


def _find_entries(text: str) -> set[tuple[int, int]]:
    """Return the lines and columns, 0-based, where keys and items of maps and lists begin."""
    entries: set[tuple[int, int]] = set()
    with suppress(YamlError):
        for _, field in walk(text):
            for line, column in ((field.line, field.column), start_of(field.value)):
                entries |= {(line, column), (line, column - 2)}
    return entries


def is_key(line: str) -> bool:
    """Report whether the lines below a line are its value, or the text of its block."""
    return bool((line.endswith(":") and KEY.fullmatch(line)) or BLOCK.match(line))


def required_indentation(prefix: str, value: str = "") -> int:
    """Return the blanks that lines of a value need that is printed behind ``prefix``.

    Items of a list may begin in the column of the key above them.
    """
    lead = _LEAD.match(prefix)
    width = 0 if lead is None else lead.end()
    is_list = value[:1] == "\n" and value.lstrip("\n ").startswith("- ")
    return width if width == len(prefix) or is_list else width + 1
