"""The mistakes of a source that does not parse: each at its place, with its correction.

A correction is applied before the parser looks for the next mistake, so that what only follows
from the first is no mistake of its own.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from function_script.engines.gotemplate import hints
from function_script.engines.gotemplate.corrections import (
    Correction,
    correct,
    find_unclosed,
)
from function_script.engines.gotemplate.errors import Code, LimitExceededError, ParseError
from function_script.engines.gotemplate.syntax import parser
from function_script.engines.gotemplate.syntax.parser import Grammar, ParseFailure

_MAX_ERRORS: Final = 20
# Characters that may be parsed again to find the next mistakes: some tens of milliseconds.
_MAX_PARSED: Final = 200_000
_OUTSIDE_BLOCKS: Final = frozenset({Code.ELSE_MISPLACED, Code.END_MISPLACED})


class Mistake(NamedTuple):
    """An error, its position in the source as its author wrote it, and its correction."""

    error: ParseError
    position: int
    correction: Correction | None


def find(source: str, errors: Sequence[ParseError], grammar: Grammar) -> list[Mistake]:
    """Return the mistakes of a source with these errors, in the order of the text."""
    mistakes: list[Mistake] = []
    text = _CorrectedText(source)
    room = _MAX_PARSED
    while errors and len(mistakes) < _MAX_ERRORS:
        positions = {mistake.position for mistake in mistakes}
        correction = None
        for error in errors:
            position = _position(error)
            if text.to_source(position) in positions or text.is_corrected(position):
                continue
            unclosed = find_unclosed(text.text, position, grammar.delims)
            if unclosed is not None:
                # The parser reads what follows as one action: nothing that it says is certain.
                problem = ParseError("unclosed action", unclosed, code=Code.ACTION_RUNS_ON)
                mistakes.append(Mistake(problem, text.to_source(unclosed), None))
                return sorted(mistakes, key=lambda mistake: mistake.position)
            if room > 0 and error.cause is None:
                # The correction is parsed, and then the text with it.
                room -= 2 * len(text.text)
                correction = correct(text.text, position, grammar)
            mistakes.append(Mistake(error, text.to_source(position), correction))
            if correction is not None:
                text.apply(correction)
                break
        if correction is None:
            break
        errors = _parse(text.text, grammar)
    mistakes.sort(key=lambda mistake: mistake.position)
    return [*_without_followers(mistakes, source, grammar.delims[0])][:_MAX_ERRORS]


def _without_followers(mistakes: Sequence[Mistake], source: str, left: str) -> Iterator[Mistake]:
    """Yield mistakes without those that only follow from one that has no correction."""
    foreign: set[int] = set()
    is_sound = True
    for mistake in mistakes:
        action = source.rfind(left, 0, mistake.position + 1)
        # The action that is not understood may be what begins the block.
        is_follower = not is_sound and mistake.error.code in _OUTSIDE_BLOCKS
        if action in foreign or is_follower:
            continue
        if mistake.correction is None:
            is_sound = False
            if hints.is_foreign(mistake.error):
                # Text behind a keyword of another language means nothing here.
                foreign.add(action)
        yield mistake


def _position(error: ParseError) -> int:
    return (error.position or 0) if error.cause is None else error.cause


def _parse(text: str, grammar: Grammar) -> Sequence[ParseError]:
    try:
        parser.parse("", text, grammar)
    except ParseFailure as failure:
        return failure.errors
    except LimitExceededError:
        return ()
    return ()


class _CorrectedText:
    """A source with some actions corrected."""

    def __init__(self, source: str) -> None:
        self.text = source
        # The corrections: where each begins, how long it is, and by how much it is longer.
        self._edits: list[tuple[int, int, int]] = []

    def apply(self, correction: Correction) -> None:
        """Correct one more action."""
        self.text = correction.apply(self.text)
        start, length = correction.start, len(correction.text)
        growth = length - (correction.end - start)
        later = [
            (each + growth if each > start else each, size, more)
            for each, size, more in self._edits
        ]
        self._edits = [*later, (start, length, growth)]

    def is_corrected(self, position: int) -> bool:
        """Report whether a position of the text is in a correction."""
        return any(start <= position < start + length for start, length, _ in self._edits)

    def to_source(self, position: int) -> int:
        """Return the position in the source."""
        return position - sum(growth for start, _, growth in self._edits if start < position)
