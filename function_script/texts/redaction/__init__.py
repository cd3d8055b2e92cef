"""Redaction: replace the secrets of a request in errors, printed texts and output of native code.

A message may quote a value, and a note a rendered line. Secrets are recognized by their values,
wherever a program has put them and in many encodings.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from function_script import wire
from function_script.contribution import Contribution, lint
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError
from function_script.texts.redaction import secret_values
from function_script.texts.redaction.finder import Budget, Finder, TooMuchWorkError
from function_script.texts.redaction.rewriting import Rewriter

REDACTED: Final = "[secret]"
WITHHELD: Final = (
    "the text is withheld: it cannot be searched for the request's secrets, which are too many, "
    "too large or not readable"
)
"""The replacement of a text that cannot be searched within the budgets below."""

MAX_TEXT_LENGTH: Final = 64 * 1024
"""The length in characters to which texts are truncated. Log lines and results show no more."""

MAX_TEXTS_LENGTH: Final = 2 * MAX_TEXT_LENGTH
"""The length of all diagnostics of an error together; the texts of further ones are withheld."""

# In bytes. Each takes less than half a second on a slow CPU of a cloud, measured.
_VALUES_BUDGET: Final = 32 << 20
_TEXTS_BUDGET: Final = 2 << 20


def redact_error(error: FatalError, data: bytes) -> FatalError:
    """Return the error without the secrets of the request in ``data``.

    Excerpts stay, because they quote the program itself.
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


def redact_warnings(contribution: Contribution, request: wire.Request) -> Contribution:
    """Return the contribution without secrets of ``request`` in the warnings of this package.

    Results of the program itself are its author's choice.
    """
    if not contribution.results:
        return contribution
    results = list(contribution.results)
    indices = [index for index, result in enumerate(results) if result.reason in lint.QUOTING]
    if not indices:
        return contribution
    redacted = _redact([results[index].message for index in indices], request)
    for number, index in enumerate(indices):
        text = WITHHELD if redacted is None else redacted[number]
        if text != results[index].message:
            results[index] = results[index]._replace(message=text, problem=None)
    return replace(contribution, results=tuple(results))


def redact_text(text: str, data: bytes) -> str:
    """Return a text of a program or of native code without the secrets of a request."""
    redacted = _redact_for([text], data)
    return WITHHELD if redacted is None else redacted[0]


def _redact_for(texts: Sequence[str], data: bytes) -> Sequence[str] | None:
    try:
        request = wire.index_request(data)
    except wire.WireError:
        # The request is invalid, so no program has read a secret.
        return texts
    return _redact(texts, request)


def _redact(texts: Sequence[str], request: wire.Request) -> Sequence[str] | None:
    """Return the texts without secrets; None if the search exceeds its budget."""
    parts = secret_values.Parts()
    budget = Budget(_VALUES_BUDGET)
    try:
        for value in secret_values.find_in_request(request, budget):
            secret_values.split(value, parts, budget)
        finder = Finder(parts.texts)
        if not finder:
            return texts
        mark, budget = REDACTED.encode(), Budget(_TEXTS_BUDGET)
        rewriter = Rewriter(finder, lambda _: mark, budget, is_masked=True)
        return rewriter.rewrite([_cut(text) for text in texts])
    # A text that was not searched to its end is withheld, whatever the reason.
    except (TooMuchWorkError, MemoryError, wire.WireError):
        return None


def _count_to_search(problems: Sequence[Diagnostic]) -> int:
    """Return the number of problems, at least one, whose texts fit into MAX_TEXTS_LENGTH."""
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
    """Return the problem with texts in the order of ``_texts_of``."""
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
        code=problem.code if message == problem.message else None,
    )


def _withhold(problem: Diagnostic) -> Diagnostic:
    return replace(problem, message=WITHHELD, hint=None, notes=(), field="", code=None)
