"""Corrections of actions that are written as in another language, verified by Go's grammar.

`correct` proposes an action only if the parser accepts it in its template.
"""

import re
from itertools import chain
from typing import Final, NamedTuple

from function_script.engines.gotemplate import errors
from function_script.engines.gotemplate.corrections import statements
from function_script.engines.gotemplate.corrections.tokens import RawAction, Unreadable, find_action
from function_script.engines.gotemplate.syntax import nodes, parser

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


def correct(source: str, position: int, grammar: parser.Grammar) -> Correction | None:
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


def _has_right_counts(text: str, grammar: parser.Grammar) -> bool:
    """Report whether every call has as many arguments as its function takes."""
    left, right = grammar.delims
    variables = sorted(set(re.findall(r"\$\w+", text)))
    declared = "".join(f"{left} {name} := 1 {right}" for name in variables)
    opening = f"{left} if 1 {right}" if _CLOSES.match(text) else ""
    for end in (f"{left} end {right}", ""):
        try:
            parsed = parser.parse("", f"{declared}{opening}{text}{end}", grammar)
        except (parser.ParseFailure, errors.LimitExceededError):
            continue
        for part in nodes.walk_nodes([*chain.from_iterable(parsed.trees.values())]):
            for stage, command in enumerate(part.commands if isinstance(part, nodes.Pipe) else ()):
                first = command.words[0]
                if not isinstance(first, nodes.Identifier):
                    continue
                function = grammar.functions[first.name]
                types = function.parameter_types
                count = len(command.words) - 1 + (stage > 0)
                if count < len(types) - function.variadic:
                    return False
                if count > len(types) and not function.variadic:
                    return False
        return True
    return True


def _parses(
    correction: Correction, source: str, action: RawAction, grammar: parser.Grammar
) -> bool:
    """Report whether no error is left in the action."""
    end = action.start + len(correction.text)
    try:
        parser.parse("", correction.apply(source), grammar)
    except errors.LimitExceededError:
        return False
    except parser.ParseFailure as failure:
        # A block without an end is another mistake.
        positions = [error.position or 0 for error in failure.errors if error.cause is None]
        return not any(action.start <= position < end for position in positions)
    return True
