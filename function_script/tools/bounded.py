"""Readers of foreign YAML and JSON for the tools, with limits like the server's."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import itemgetter
from typing import Final

from function_script import documents
from function_script.request.limits import Limits
from function_script.request.values import Object, Value, is_encodable
from function_script.texts.errors import FatalError, InputError
from function_script.texts.source import Source, Span

# A provider's schemas have many megabytes, in thousands of documents.
_LIMITS: Final = Limits(documents=1_000_000, depth=200)
# Every error means one more reading of the file.
_MAX_ERRORS: Final = 100
_TOO_DEEP: Final = f"it is nested more than {_LIMITS.depth} levels deep"
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def limits_of(text: str) -> Limits:
    """Return the limits for a text: what it spells out, and the server's limit for its aliases.

    A value takes at least one character of its text. More values than characters can only come
    from aliases, which let a text of 600 bytes stand for 10**12 values.
    """
    return replace(_LIMITS, nodes=_LIMITS.nodes + len(text))


def read_documents(source: Source) -> list[documents.Document]:
    """Read the objects of a text; raises DocumentError, or LimitError for too large ones.

    Empty and comment-only documents are left out.
    """
    return documents.read_source(source, limits=limits_of(source.text))


def read_each(source: Source) -> list[documents.Document | FatalError]:
    """Read the objects of a file one by one; an error takes the place of an unreadable one.

    After too many errors the last one says that the rest was not read. JSON objects without ``---``
    between them are one document. Raises LimitError for too large files.
    """
    errors: dict[int, FatalError] = {}
    lines = source.text.split("\n")
    outcome = _try_reading(source)
    while isinstance(outcome, FatalError):
        first = _erase(lines, outcome)
        if first is None or first in errors:
            raise outcome
        if len(errors) == _MAX_ERRORS:
            del lines[first:]
            errors[first] = InputError.of(
                f"cannot read further: {_MAX_ERRORS} documents before this one cannot be read",
                span=Span(name=source.name, line=first + 1),
            )
        else:
            # With the source's own lines around its positions.
            problems = (problem.at(source, problem.span) for problem in outcome.diagnostics)
            errors[first] = outcome.with_diagnostics(*problems)
        outcome = _try_reading(replace(source, text="\n".join(lines)))
    # An error stands for the empty object in its place.
    each: list[tuple[int, documents.Document | FatalError]] = [
        (document.first_line - 1, document)
        for document in outcome
        if document.first_line - 1 not in errors
    ]
    each += errors.items()
    each.sort(key=itemgetter(0))
    return [item for _, item in each]


def _try_reading(source: Source) -> list[documents.Document] | FatalError:
    try:
        return read_documents(source)
    except FatalError as error:
        return error


def _erase(lines: list[str], error: FatalError) -> int | None:
    """Replace the document with the error by an empty object; return its first line, 0-based."""
    span = error.diagnostics[0].span
    if span is None:
        return None
    number = min(span.line, len(lines)) - 1
    begin = next((n for n in range(number, -1, -1) if lines[n].startswith("---")), None)
    first = 0 if begin is None else begin + 1
    if begin is not None:
        lines[begin] = "---"
    end = next((n for n in range(first, len(lines)) if lines[n].startswith("---")), len(lines))
    # As many lines as before, so that later positions stay right.
    lines[first:end] = ["{}", *[""] * (end - first - 1)] if end > first else []
    return first


def read_value(text: str) -> Value:
    """Read one YAML value of any type; raises DocumentError or LimitError."""
    return documents.read_value(text, limits=limits_of(text))


def read_json(data: str | bytes) -> Value:
    """Read one JSON value; raises ValueError with a message for users."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8 text") from error
    parts = iter([text])
    return JsonReader(lambda _: next(parts, "")).read()


class JsonReader:
    """Reads JSON in parts, so that of a large list one item is in memory.

    ``read`` is that of a text file: it gets a number of characters, at first ``part_size``. All
    methods raise ValueError with a message for users.
    """

    def __init__(self, read: Callable[[int], str], part_size: int = 1 << 18) -> None:
        self._read_part = read
        self._part_size = part_size
        # The characters from ``_at`` on are not decoded yet.
        self._text = ""
        self._at = 0
        # The line and the column of the first character of ``_text``.
        self._line = self._column = 1
        # The fields of an object beside its ``items``.
        self.head: Object = {}

    @property
    def is_container(self) -> bool:
        """Report whether the text begins as an array or an object."""
        return self._peek() in {"{", "["}

    def read_text(self) -> str:
        """Return the whole text, if nothing has been decoded."""
        return self._text + self._read_part(-1)

    def read(self) -> Value:
        """Return the one value."""
        value = self._read_value()
        self._expect("")
        return value

    def read_items(self) -> Iterator[Value]:
        """Yield the items of an array, or of the array ``items`` of an object; else the object."""
        if self._peek() == "[":
            yield from self._read_array()
        else:
            yield from self._read_object()
        self._expect("")

    def _read_array(self) -> Iterator[Value]:
        for _ in self._read_members("[", "]"):
            yield self._read_value()

    def _read_object(self) -> Iterator[Value]:
        has_items = False
        for _ in self._read_members("{", "}"):
            key = self._read_value()
            if not isinstance(key, str):
                raise self._fail("Expecting property name")
            self._expect(":")
            if key == "items" and self._peek() == "[":
                has_items = True
                yield from self._read_array()
            else:
                self.head[key] = self._read_value()
        if not has_items:
            yield self.head

    def _read_members(self, first: str, last: str) -> Iterator[None]:
        """Read an array or an object; a value must be read at each yield."""
        self._expect(first)
        if self._peek() != last:
            yield
        while self._peek() == ",":
            self._expect(",")
            yield
        self._expect(last)

    def _expect(self, character: str) -> None:
        """Read a character that is no space, or the end if it is empty."""
        if self._peek() != character:
            raise self._fail(f"Expecting '{character}'" if character else "Extra data")
        self._at += len(character)

    def _peek(self) -> str:
        """Return the next character that is no space; empty at the end."""
        while True:
            self._at = _skip_space(self._text, self._at)
            if self._at < len(self._text) or not self._fill():
                return self._text[self._at : self._at + 1]

    def _read_value(self) -> Value:
        self._peek()
        while True:
            try:
                value, end = _decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._fill():
                    continue
                raise self._fail(error.msg, error.pos) from error
            # A number may go on in the next part, as 1 in 1e+2 does.
            if end + len("e+") < len(self._text) or not self._fill():
                self._at = end
                return value

    def _fail(self, message: str, at: int | None = None) -> ValueError:
        """Return an error at a place of the text so far, or at the next character."""
        error = json.JSONDecodeError(message, self._text, self._at if at is None else at)
        line = self._line + error.lineno - 1
        column = error.colno + (self._column - 1 if error.lineno == 1 else 0)
        return ValueError(f"it is not JSON: {message}: line {line} column {column}")

    def _fill(self) -> bool:
        """Read more; report whether there was more."""
        # A value that needs several parts is decoded again with each: they grow with it.
        part = self._read_part(max(self._part_size, len(self._text) - self._at))
        if not part:
            return False
        past = self._text[: self._at]
        self._line += past.count("\n")
        self._column = len(past) - past.rfind("\n") + (0 if "\n" in past else self._column - 1)
        self._text = self._text[self._at :] + part
        self._at = 0
        return True


def _skip_space(text: str, start: int) -> int:
    """Return the place of the first character that is no space of JSON, from ``start`` on."""
    match = _SPACE.match(text, start)
    return start if match is None else match.end()


def _decode(text: str, start: int) -> tuple[Value, int]:
    """Decode the JSON value at a place, and return it and its end.

    Raises JSONDecodeError, or a ValueError with a message for users.
    """
    value: Value
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    except (json.JSONDecodeError, _ConstantError):
        raise
    # Python converts no more of them, since that takes quadratic time.
    except ValueError as error:
        raise ValueError("a number in it has more than 4,300 digits") from error
    # Brackets are counted quickly, and few texts have so many.
    brackets = text.count("{", start, end) + text.count("[", start, end)
    if brackets > _LIMITS.depth and _depth(value) > _LIMITS.depth:
        raise ValueError(_TOO_DEEP)
    if _SURROGATE.search(text, start, end) and not is_encodable(value):
        raise ValueError("a string in it has half of a surrogate pair")
    return value, end


def read_object(data: str | bytes) -> Object:
    """Read one JSON object; raises ValueError with a message for users."""
    value = read_json(data)
    if not isinstance(value, dict):
        raise ValueError("it is no object")  # noqa: TRY004 - a problem of the text
    return value


class _ConstantError(ValueError):
    """NaN or Infinity, which JSON does not have."""


def _refuse_constant(name: str) -> Value:
    raise _ConstantError(f"it is not JSON: {name} is not a JSON value")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)


def _depth(value: Value) -> int:
    """Count the levels of a value, up to one more than the limit."""
    depth, level = 0, [value]
    while level and depth <= _LIMITS.depth:
        containers = [item for item in level if isinstance(item, (dict, list))]
        depth += bool(containers)
        level = [
            item
            for container in containers
            for item in (container.values() if isinstance(container, dict) else container)
        ]
    return depth
