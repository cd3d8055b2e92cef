"""Corrections of actions that are written as in another language, verified by Go's grammar.

`correct` is the only door. It proposes an action only if the parser accepts it in its template.
"""

from typing import Final, NamedTuple

from function_script.engines.gotemplate.corrections import statements
from function_script.engines.gotemplate.corrections.tokens import RawAction, Unreadable, find_action
from function_script.engines.gotemplate.errors import LimitExceededError
from function_script.engines.gotemplate.syntax import parser
from function_script.engines.gotemplate.syntax.parser import Grammar, ParseFailure

# A hint is read at a glance, and an event has room for a few.
_MAX_CHARACTERS: Final = 120


class Correction(NamedTuple):
    """The text of an action as it must be written, and the bounds of the text that it replaces.

    ``aside`` is what else must be changed, or "".
    """

    text: str
    start: int
    end: int
    aside: str = ""

    @property
    def hint(self) -> str:
        """The hint."""
        return f"write {self.text}{self.aside}"

    def apply(self, source: str) -> str:
        """Return the source with the correction."""
        return source[: self.start] + self.text + source[self.end :]


def correct(source: str, position: int, grammar: Grammar) -> Correction | None:
    """Return the correction of the action at a position; None if there is none that is certain."""
    action = find_action(source, position, grammar.delims)
    if action is None:
        return None
    try:
        proposal = statements.rewrite(action, statements.Scope(source[: action.start], grammar))
    except (Unreadable, RecursionError):
        return None
    text = proposal.text if proposal.is_whole else action.wrap(proposal.text)
    if text == action.text or len(text) > _MAX_CHARACTERS or "\n" in text:
        return None
    correction = Correction(text, action.start, action.end, proposal.aside)
    return correction if _parses(correction, source, action, grammar) else None


def _parses(correction: Correction, source: str, action: RawAction, grammar: Grammar) -> bool:
    """Report whether no error is left in the action."""
    end = action.start + len(correction.text)
    try:
        parser.parse("", correction.apply(source), grammar)
    except LimitExceededError:
        return False
    except ParseFailure as failure:
        # A block without an end is another mistake.
        positions = [error.position or 0 for error in failure.errors if error.cause is None]
        return not any(action.start <= position < end for position in positions)
    return True
