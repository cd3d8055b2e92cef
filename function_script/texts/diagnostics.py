"""A problem with its position and a hint: on one line, as a frame with its source, or as JSON."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Self, TypeAlias

from function_script.request.values import Object, Value
from function_script.texts.source import Excerpt, Source, Span, excerpt

# The forms of `--diagnostics`.
Form: TypeAlias = Literal["text", "line", "json"]
# A program fails by a mistake, refuses on purpose with words of its own, or reaches a limit.
Kind: TypeAlias = Literal["mistake", "refusal", "limit"]

# Kubernetes cuts event messages at 1,024 bytes, and not on a character boundary.
MAX_LINE_BYTES = 1024
# A text in quotes, or a word.
_VALUE = re.compile(r"\"[^\"]*(\")|\S+")
_MAX_VALUE = 200
_TAB = 4
_DIGITS = 6
# So much of a source line is shown on the narrowest terminal.
_MIN_COLUMNS = 20
# All of C0, DEL and C1 but tab and line feed, and the separators of lines and paragraphs.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


class Note(NamedTuple):
    """A further line of a framed rendering that ends with a position.

    ``is_cause``: on one line, too, it follows the message, which is no whole cause without it.
    """

    text: str
    span: Span
    is_cause: bool = False

    def __str__(self) -> str:
        return f"{self.text} {self.span}"


CodeName: TypeAlias = Literal[
    "dropped",
    "duplicate-key",
    "duplicate-name",
    "limit",
    "nameless",
    "no-runtime",
    "program",
    "undesired",
    "unknown-field",
    "unselected",
]


class Code(NamedTuple):
    """The identity of a problem for code, which reads no words.

    ``subject`` is a key, a name or a limit; of an ``undesired`` dependency it is the name that is
    meant, or empty. A problem of the ``program`` is the same with any data.
    """

    name: CodeName
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One problem.

    ``message`` follows "cannot VERB THING: cause": lower case, no full stop. ``notes`` are
    further lines for the framed rendering, for example the user's own call stack. ``field`` is
    the path of the field that is wrong, such as ``input.limits.timeout``; empty for other
    problems. ``kind`` says whether a program failed, or stopped itself, or was stopped. ``code`` is
    that of the few problems that a tool looks for.
    """

    message: str
    span: Span | None = None
    excerpt: Excerpt | None = None
    hint: str | None = None
    notes: tuple[str | Note, ...] = ()
    field: str = ""
    kind: Kind = "mistake"
    code: Code | None = None

    def at(self, source: Source | None, span: Span | None) -> Self:
        """Return the problem at a span, with the lines around it; None: a source that is not here.

        Without a span it has no position.
        """
        around = None if source is None or span is None else excerpt(source, span)
        return replace(self, span=span, excerpt=around)

    def rename(self, rename: Callable[[str], str]) -> Self:
        """Return the problem with other names of files in its texts and positions."""
        return replace(
            self,
            message=rename(self.message),
            span=self.span and replace(self.span, name=rename(self.span.name)),
            hint=self.hint and rename(self.hint),
            notes=tuple(
                rename(note)
                if isinstance(note, str)
                else note._replace(
                    text=rename(note.text), span=replace(note.span, name=rename(note.span.name))
                )
                for note in self.notes
            ),
        )


def cut(text: str, max_bytes: int = MAX_LINE_BYTES) -> str:
    """Shorten to at most ``max_bytes`` of UTF-8, ending in "…" when something was cut off."""
    data = text.encode("utf-8", "replace")
    if len(data) <= max_bytes:
        return data.decode()
    mark = "…".encode()
    # The bytes of a character that the cut goes through are left out.
    return data[: max_bytes - len(mark)].decode("utf-8", "ignore") + "…"


def digest(text: str) -> str:
    """Return hexadecimal digits that stand for a text among few others."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGITS]


def to_line(diagnostics: tuple[Diagnostic, ...]) -> str:
    """Render problems on one line of at most 1,024 bytes: for results, conditions and events."""
    return cut("; ".join(_line(diagnostic) for diagnostic in diagnostics))


def _line(diagnostic: Diagnostic) -> str:
    causes = [note for note in diagnostic.notes if isinstance(note, Note) and note.is_cause]
    text = "; ".join((diagnostic.message, *map(str, causes)))
    if diagnostic.span is not None:
        text = f"{diagnostic.span}: {text}"
    if diagnostic.hint is not None:
        text = f"{text} ({diagnostic.hint})"
    line = CONTROL.sub("", " ".join(text.split()))
    # A value of a megabyte would take the room of the reason behind it.
    return line if len(line) <= MAX_LINE_BYTES else _VALUE.sub(_shorten, line)


def _shorten(value: re.Match[str]) -> str:
    return value[0] if len(value[0]) <= _MAX_VALUE else f"{value[0][:_MAX_VALUE]}…{value[1] or ''}"


def to_frame(diagnostic: Diagnostic, severity: str = "error", columns: int | None = None) -> str:
    """Render a problem on several lines with the source around it: for terminals and logs.

    ``columns``: the width of the terminal; longer lines of the source are cut around the span.
    """
    lines = draw_frame(diagnostic, severity, columns)
    return "\n".join(f"{margin}{text}" for margin, text, _ in lines)


# The margin of a line, its text, and whether that underlines the line above.
FrameLine: TypeAlias = tuple[str, str, bool]


def draw_frame(
    diagnostic: Diagnostic, severity: str = "error", columns: int | None = None
) -> Iterator[FrameLine]:
    """Yield the lines of `to_frame`; a message, a note and a hint may have several."""
    yield f"{severity}:", f" {CONTROL.sub('', diagnostic.message)}", False
    if diagnostic.span is not None:
        # A stranger's file may have any name.
        yield "  --> ", CONTROL.sub("", str(diagnostic.span)).replace("\n", " "), False
        yield from _draw(diagnostic.span, diagnostic.excerpt, columns)
    for note in diagnostic.notes:
        yield "  = ", CONTROL.sub("", str(note)), False
    if diagnostic.hint is not None:
        yield "  = hint: ", CONTROL.sub("", diagnostic.hint), False


def to_form(diagnostic: Diagnostic, severity: str, form: Form, **facts: str) -> str:
    """Render a problem as a frame, as ``file:line:column: severity: message``, or as JSON.

    JSON is on one line, and has those of ``facts`` that are not empty as further members.
    """
    if form == "json":
        return json.dumps(to_object(diagnostic, severity, **facts), ensure_ascii=False)
    if form == "text":
        return to_frame(diagnostic, severity)
    text = _line(replace(diagnostic, message=f"{severity}: {diagnostic.message}", span=None))
    span = diagnostic.span
    return text if span is None else f"{span.name}:{span.line}:{span.column or 1}: {text}"


def to_object(diagnostic: Diagnostic, severity: str, **facts: str) -> Object:
    """Return a problem as plain data: docs/reference/diagnostics.schema.json describes it."""
    notes: list[Value] = [str(note) for note in diagnostic.notes]
    related: list[Value] = [
        {"message": note.text, **_to_members(note.span)}
        for note in diagnostic.notes
        if isinstance(note, Note)
    ]
    members = {key: text for key, text in facts.items() if text}
    value: Object = {"severity": severity, **members, "message": diagnostic.message}
    if diagnostic.hint is not None:
        value["hint"] = diagnostic.hint
    if notes:
        value["notes"] = notes
    if related:
        value["related"] = related
    return value | _to_members(diagnostic.span)


def _to_members(span: Span | None) -> Object:
    if span is None:
        return {}
    value: Object = {"file": span.name, "line": span.line}
    return value if span.column is None else {**value, "column": span.column, "width": span.width}


def _draw(span: Span, excerpt: Excerpt | None, columns: int | None) -> Iterator[FrameLine]:
    if excerpt is None:
        return
    margin = len(str(excerpt.first_line + len(excerpt.lines) - 1))
    column = None if span.column is None else span.column - excerpt.first_column + 1
    start, end = 0, None
    if columns is not None:
        room = max(_MIN_COLUMNS, columns - margin - len(" | "))
        if column is not None and column + min(span.width, room // 2) > room:
            # The span comes into the middle, so that text is around it on both sides.
            start = max(0, column - room // 2)
        end = start + room
    yield f"{'':{margin}} |", "", False
    for number, line in enumerate(excerpt.lines, excerpt.first_line):
        text = line.expandtabs(_TAB)
        visible = text[start:end]
        if text and (excerpt.first_column > 1 or start > 0):
            visible = f"…{visible[1:]}"
        if end is not None and len(text) > end:
            visible = f"{visible[:-1]}…"
        yield f"{number:{margin}} |", f" {CONTROL.sub('', visible)}".rstrip(), False
        if number == span.line and column is not None:
            before = line[: column - 1].expandtabs(_TAB)
            marked = line[column - 1 : column - 1 + max(1, span.width)]
            underline = " " * _cells(before) + "^" * max(1, _cells(marked))
            yield f"{'':{margin}} | ", underline[start:end], True


def _cells(text: str) -> int:
    """Count terminal cells: two for wide East Asian characters, none for combining ones."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)
