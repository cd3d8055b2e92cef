"""Corrections of actions that are written as in another language, verified by Go's grammar.

`correct` is the only door. It proposes an action only if the parser accepts it in its template.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from function_script.engines.gotemplate.corrections import statements
from function_script.engines.gotemplate.corrections.tokens import RawAction, Unreadable, find_action
from function_script.engines.gotemplate.errors import LimitExceededError
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.syntax import nodes, parser
from function_script.engines.gotemplate.syntax.parser import Grammar, ParseFailure

_CLOSES: Final = re.compile(r"\W+(?:else|end)\b")
# A hint is read at a glance, and an event has room for a few.
_MAX_CHARACTERS: Final = 120
# Nobody writes a longer action in one line.
_MAX_ACTION: Final = 2_000


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
    if action is None or len(action.text) > _MAX_ACTION:
        return None
    try:
        proposal = statements.rewrite(action, statements.Scope(source[: action.start], grammar))
    except (Unreadable, RecursionError):
        return None
    text = proposal.text if proposal.is_whole else action.wrap(proposal.text)
    if text == action.text or len(text) > _MAX_CHARACTERS or "\n" in text:
        return None
    correction = Correction(text, action.start, action.end, proposal.aside)
    is_sound = _parses(correction, source, action, grammar) and _has_right_counts(text, grammar)
    return correction if is_sound else None


def find_unclosed(source: str, position: int, delims: tuple[str, str]) -> int | None:
    """Return the start of the action at a position if another one begins before its end."""
    left, right = delims
    start = source.rfind(left, 0, position + 1)
    if start < 0:
        return None
    rest = source[start + len(left) :]
    end = rest.find(right)
    following = rest.find(left)
    is_open = 0 <= following < end and "\n" in rest[:following] and '"' not in rest[:following]
    return start if is_open else None


def _has_right_counts(text: str, grammar: Grammar) -> bool:
    """Report whether every call has as many arguments as its function takes."""
    left, right = grammar.delims
    variables = sorted(set(re.findall(r"\$\w+", text)))
    declared = "".join(f"{left} {name} := 1 {right}" for name in variables)
    ends = [f"{left} end {right}", ""]
    for before, after in ((declared, each) for each in ends):
        opening = f"{left} if 1 {right}" if _CLOSES.match(text) else ""
        try:
            parsed = parser.parse("", f"{before}{opening}{text}{after}", grammar)
        except (ParseFailure, LimitExceededError):
            continue
        return all(
            _has_right_count(command, index, grammar.functions)
            for part in nodes.walk_nodes(list(parsed.trees.values()))
            if isinstance(part, nodes.Pipe)
            for index, command in enumerate(part.commands)
        )
    return True


def _has_right_count(command: nodes.Command, stage: int, functions: Mapping[str, Function]) -> bool:
    first = command.words[0]
    if not isinstance(first, nodes.Identifier):
        return True
    function = functions[first.name]
    count, expected = len(command.words) - 1 + (stage > 0), len(function.parameter_types)
    return count >= expected - 1 if function.variadic else count == expected


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
