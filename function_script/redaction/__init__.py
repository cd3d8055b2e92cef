"""Takes a request's secrets out of the texts that people get to see.

Called by the main path for every error, since a message may quote a value and a note a rendered
line; by workers for what native code says; by the server for what programs print.
A secret is known by its value, wherever a program has put it and however it is encoded there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from function_script import wire
from function_script.contribution import lint
from function_script.redaction import secret_values
from function_script.redaction.budget import Budget, TooMuchWorkError
from function_script.redaction.finder import Finder
from function_script.redaction.rewriting import Rewriter
from function_script.redaction.secret_values import Parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from function_script.contribution import Contribution
    from function_script.diagnostics import Diagnostic
    from function_script.errors import FatalError

MARK: Final = "[secret]"
WITHHELD: Final = (
    "the text is withheld: it cannot be searched for the request's secrets, which are too many, "
    "too large or not readable"
)
"""Replaces a text that cannot be searched within the bounds below."""

MAX_TEXT_LENGTH: Final = 64 * 1024
"""In characters; a longer text is cut. No log line and no result shows more."""

MAX_TEXTS_LENGTH: Final = 2 * MAX_TEXT_LENGTH
"""Of an error's problems together; the texts of further ones are withheld."""

# Measured: each costs less than half a second, on one of the slower CPUs of a cloud.
_VALUES_BUDGET: Final = 32 << 20
_TEXTS_BUDGET: Final = 2 << 20


class _Masks:
    """Replaces every secret by MARK."""

    is_masked = True

    def choose(self, secret: bytes) -> bytes:  # noqa: ARG002 # the protocol
        return MARK.encode()


def redact_error(error: FatalError, data: bytes) -> FatalError:
    """The error without the secrets of the request in ``data``.

    Excerpts stay, for they are of the program's own text.
    """
    problems = error.diagnostics
    count = _count_to_search(problems)
    texts = [text for problem in problems[:count] for text in _texts_of(problem)]
    redacted = _redact_for(texts, data)
    if redacted is texts:
        return error
    if redacted is None:
        return error.with_diagnostics(*(_withhold(problem) for problem in problems))
    rest = iter(redacted)
    return error.with_diagnostics(
        *(_with_texts(problem, rest) for problem in problems[:count]),
        *(_withhold(problem) for problem in problems[count:]),
    )


def redact_warnings(read: Contribution, request: wire.Request) -> Contribution:
    """The contribution without secrets of ``request`` in warnings that are not the program's own.

    What a program itself says is its author's choice.
    """
    places = [index for index, result in enumerate(read.results) if result.reason in lint.QUOTING]
    if not places:
        return read
    redacted = _redact([read.results[index].message for index in places], request)
    results = list(read.results)
    for number, index in enumerate(places):
        text = WITHHELD if redacted is None else redacted[number]
        results[index] = results[index]._replace(message=text)
    return replace(read, results=tuple(results))


def redact_text(text: str, data: bytes) -> str:
    """A text of a program's, or of native code, without the secrets of the request in ``data``."""
    redacted = _redact_for([text], data)
    return WITHHELD if redacted is None else redacted[0]


def _redact_for(texts: Sequence[str], data: bytes) -> Sequence[str] | None:
    try:
        request = wire.index_request(data)
    except wire.WireError:
        # No program has seen anything of it.
        return texts
    return _redact(texts, request)


def _redact(texts: Sequence[str], request: wire.Request) -> Sequence[str] | None:
    """The texts without secrets; None when they are to be withheld."""
    parts = Parts()
    budget = Budget(_VALUES_BUDGET)
    try:
        for value in secret_values.find_in_request(request, budget):
            secret_values.split(value, parts, budget)
        finder = Finder(parts.texts)
        if not finder:
            return texts
        rewriter = Rewriter(finder, _Masks(), Budget(_TEXTS_BUDGET), is_cut=True)
        return rewriter.rewrite([_cut(text) for text in texts])
    except (TooMuchWorkError, MemoryError, wire.WireError):
        return None


def _count_to_search(problems: Sequence[Diagnostic]) -> int:
    """The number of problems whose texts have up to MAX_TEXTS_LENGTH together; at least one."""
    length = 0
    for index, problem in enumerate(problems):
        length += sum(map(len, _texts_of(problem)))
        if length > MAX_TEXTS_LENGTH:
            return max(index, 1)
    return len(problems)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT_LENGTH else text[: MAX_TEXT_LENGTH - 1] + "…"


def _texts_of(problem: Diagnostic) -> Iterator[str]:
    yield problem.message
    if problem.hint is not None:
        yield problem.hint
    for note in problem.notes:
        yield note if isinstance(note, str) else note.text


def _with_texts(problem: Diagnostic, texts: Iterator[str]) -> Diagnostic:
    """The problem with texts in the order of ``_texts_of``."""
    message = next(texts)
    return replace(
        problem,
        message=message,
        hint=None if problem.hint is None else next(texts),
        notes=tuple(
            next(texts) if isinstance(note, str) else note._replace(text=next(texts))
            for note in problem.notes
        ),
        # A path with a secret in it is in the message, too.
        field=problem.field if message == problem.message else "",
    )


def _withhold(problem: Diagnostic) -> Diagnostic:
    return replace(problem, message=WITHHELD, hint=None, notes=(), field="")
