"""Readers of foreign YAML and JSON for the tools, with limits like the server's."""

import json
import re
from dataclasses import replace
from operator import itemgetter
from typing import Final

from function_script import documents
from function_script.request.limits import Limits
from function_script.request.values import Object, Value, is_encodable
from function_script.texts.errors import FatalError, InputError
from function_script.texts.source import Source, Span, excerpt

# A provider's schemas have many megabytes, in thousands of documents.
_LIMITS: Final = Limits(documents=1_000_000, depth=200)
# Every error means one more reading of the file.
_MAX_ERRORS: Final = 100
_TOO_DEEP: Final = f"it is nested more than {_LIMITS.depth} levels deep"
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def limits_of(text: str) -> Limits:
    """Return the limits for a text: what it spells out, and the server's limit for its aliases.

    A value takes at least one character of its text. More values than characters can only come
    from aliases, which let a text of 600 bytes stand for 10**12 values.
    """
    return replace(_LIMITS, nodes=_LIMITS.nodes + len(text))


def read_documents(source: Source) -> list[documents.Document]:
    """Read the objects of a file; raises DocumentError, or LimitError for too large ones."""
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
            problems = (
                problem
                if problem.span is None
                else replace(problem, excerpt=excerpt(source, problem.span))
                for problem in outcome.diagnostics
            )
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
        value: Value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8 text") from error
    except (json.JSONDecodeError, _ConstantError) as error:
        raise ValueError(f"it is not JSON: {error}") from error
    # Python converts no more of them, since that takes quadratic time.
    except ValueError as error:
        raise ValueError("a number in it has more than 4,300 digits") from error
    # Brackets are counted quickly, and few texts have so many.
    if text.count("{") + text.count("[") > _LIMITS.depth and _depth(value) > _LIMITS.depth:
        raise ValueError(_TOO_DEEP)
    if _SURROGATE.search(text) and not is_encodable(value):
        raise ValueError("a string in it has half of a surrogate pair")
    return value


def read_object(data: str | bytes) -> Object:
    """Read one JSON object; raises ValueError with a message for users."""
    value = read_json(data)
    if not isinstance(value, dict):
        raise ValueError("it is no object")  # noqa: TRY004 - a problem of the text
    return value


class _ConstantError(ValueError):
    """NaN or Infinity, which JSON does not have."""


def _refuse_constant(name: str) -> Value:
    raise _ConstantError(f"{name} is not a JSON value")


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
