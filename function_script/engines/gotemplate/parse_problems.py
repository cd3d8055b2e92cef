"""The problems of a program that does not parse: each mistake, its position and a hint.

The parser stops at the first mistake. With a correction that is certain it gets to the next one, so
that an author sees several at once.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from function_script.engines import foreign_syntax, habits
from function_script.engines.gotemplate import registry
from function_script.engines.gotemplate.corrections import (
    REQUEST,
    Correction,
    correct,
    find_open_blocks,
    find_unclosed,
    find_variables,
)
from function_script.engines.gotemplate.errors import Code, ParseError
from function_script.engines.gotemplate.positions import find_span
from function_script.engines.gotemplate.programs import ProgramFailure, Settings
from function_script.engines.gotemplate.syntax.lexer import KEYWORDS
from function_script.engines.gotemplate.syntax.parser import Grammar
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.problems import suggest

_MAX_ERRORS: Final = 20
# Characters that may be parsed again to find the next mistakes: some tens of milliseconds.
_MAX_PARSED: Final = 100_000
_WORD: Final = re.compile(r"[$.]?\w+|\S")
_OUTSIDE_BLOCKS: Final = frozenset({Code.ELSE_MISPLACED, Code.END_MISPLACED})


def list_problems(failure: ProgramFailure, settings: Settings) -> tuple[Diagnostic, ...]:
    """Return all problems of a program that does not parse."""
    problems = []
    for bad in failure.sources:
        source = bad.source
        for mistake in find_mistakes(source.text, bad.errors, settings.grammar()):
            word = _WORD.match(source.text, mistake.position)
            width = len(word[0]) if word is not None else 1
            location = find_span(source, mistake.position, width)
            cause = mistake.error.text
            function = mistake.error.subject
            is_unknown = mistake.error.code is Code.FUNCTION_UNKNOWN
            if is_unknown and registry.unavailable_reason(function):
                cause = f'function "{function}" is not available'
            message = f"cannot parse {location.span.name}: {cause}"
            if mistake.correction is None:
                hint = _syntax_hint(mistake.error, source.text, mistake.position, settings)
            else:
                hint = mistake.correction.hint
            problems.append(location.to_diagnostic(message, hint))
    return tuple(problems)


# Mistakes


class Mistake(NamedTuple):
    """An error, its position in the source as its author wrote it, and its correction."""

    error: ParseError
    position: int
    correction: Correction | None


def find_mistakes(source: str, errors: Sequence[ParseError], grammar: Grammar) -> list[Mistake]:
    """Return the mistakes of a source with these errors, in the order of the text."""
    mistakes: list[Mistake] = []
    text = _CorrectedText(source)
    room = _MAX_PARSED
    while errors and len(mistakes) < _MAX_ERRORS:
        # Each parse reports those unknown names again that have no correction.
        positions = {mistake.position for mistake in mistakes}
        correction = None
        for error in errors:
            position = (error.position or 0) if error.cause is None else error.cause
            if text.to_source(position) in positions or text.is_corrected(position):
                continue
            unclosed = find_unclosed(text.text, position, grammar.delims)
            if unclosed is not None:
                # The parser reads what follows as one action: nothing that it says is certain.
                problem = ParseError("unclosed action", unclosed, code=Code.ACTION_RUNS_ON)
                mistakes.append(Mistake(problem, text.to_source(unclosed), None))
                return sorted(mistakes, key=lambda mistake: mistake.position)
            if room > 0 and error.cause is None:
                room -= len(text.text)
                correction = correct(text.text, position, grammar)
            mistakes.append(Mistake(error, text.to_source(position), correction))
            if correction is not None:
                text.apply(correction)
                break
        if correction is None:
            break
        # The parser stopped at the mistake: with its correction it gets to the next one.
        errors = correction.failures
    mistakes.sort(key=lambda mistake: mistake.position)
    return [*_without_followers(mistakes, source, grammar.delims[0])][:_MAX_ERRORS]


def _without_followers(mistakes: Sequence[Mistake], source: str, left: str) -> Iterator[Mistake]:
    """Yield mistakes without those that only follow from one that has no correction."""
    foreign: set[int] = set()
    is_sound = True
    is_in_define = False
    for mistake in mistakes:
        error = mistake.error
        # A define without an end has all that follows in it, where no variable is known.
        is_in_define |= error.code is Code.BLOCK_UNCLOSED and error.subject == "define"
        if is_in_define and error.code is Code.VARIABLE_UNDEFINED:
            continue
        action = source.rfind(left, 0, mistake.position + 1)
        # The action that is not understood may be what begins the block.
        is_follower = not is_sound and error.code in _OUTSIDE_BLOCKS
        if action in foreign or is_follower:
            continue
        if mistake.correction is None:
            is_sound = False
            if error.code is Code.FUNCTION_UNKNOWN:
                # Words behind one of another language, or of a text without quotes, mean nothing.
                foreign.add(action)
        yield mistake


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


# Hints, by the codes of the parser's errors

_COMMENT: Final = "a comment is an action of its own: {{/* TEXT */}}"
_MAY_BE_MISSING: Final = (
    "a value that may be missing: use default or dig, or test it with if or with"
)
_MAX_KEYWORD: Final = 5
_SIGN: Final = "eq A B compares, $NAME := VALUE sets a variable, and $_ := set MAP KEY VALUE a key"
# An unexpected token, a pair of characters or any, and what the parser was reading, if it matters.
_UNEXPECTED: Final = {
    ("range", "range"): "range goes over a list, a map, or N numbers: until N",
    ("if", "operand"): "if is a block of its own: {{ if CONDITION }} … {{ end }}",
    ("map", ""): "a map is written as dict KEY VALUE KEY VALUE",
    (",", "range"): "a range has one or two variables: range $index, $item := LIST",
    (",", ""): "arguments have blanks between them, no commas",
    ("{", ""): "a value in an action has no braces of its own",
    ("/", "command"): _COMMENT,
    ("# ", ""): _COMMENT,
    ("==", ""): _SIGN,
    ("= ", ""): _SIGN,
    ("??", ""): _MAY_BE_MISSING,
    ("}", ""): "an action ends with two braces: }}",
    ("", "else"): "another condition is written as else if",
}
_BLOCK: Final = r"{}-?\s*(?:range|with|define|block|if)\b"
# A map of another language.
_MAP: Final = re.compile(r"\{\s*(?:\}|\*\*|\.\.\.|[\"']?[\w-]+[\"']?\s*[:=])")
# The begin of a block with one brace.
_ONE_BRACE: Final = re.compile(r"(?<!\{)\{-?\s*(?:range|with|define|block|if)\s[^{}]*\}\}")
_OF_OTHER_TEMPLATE: Final = (
    "a named template has no variables of others: it reads what it is given, as the dot"
)


def _syntax_hint(error: ParseError, source: str, position: int, settings: Settings) -> str | None:
    """Return the hint for a parser's error at a position."""
    name = error.subject
    if (hint := _text_hint(error, source[:position])) is not None:
        return hint
    # The cases that need the text around; all others are a sentence for each code.
    match error.code:
        case Code.FUNCTION_UNKNOWN:
            return _function_hint(name, source, position, settings)
        case Code.BAD_CHARACTER if name == "-" and re.search(r"\$\w*$", source[:position]):
            return "the name of a variable has letters, digits and _ only"
        case Code.BAD_CHARACTER:
            return _MAY_BE_MISSING if name == "?" else None
        case Code.TOKEN_UNEXPECTED:
            name = "map" if _MAP.match(source, position) else name
            pair = source[position : position + 2]
            keys = ((name, error.context), (name, ""), (pair, ""), ("", error.context))
            return next(filter(None, map(_UNEXPECTED.get, keys)), None)
        case Code.BLOCK_UNCLOSED:
            inner = re.search(_BLOCK.format(re.escape(settings.delims[0])), source[position:])
            return f"this {name}{', or a block in it,' * bool(inner)} has no end"
        case Code.VARIABLE_UNDEFINED:
            return _variable_hint(name, source, position, settings.delims[0])
        case _:
            return None if error.code is None else error.code.hint


def _text_hint(error: ParseError, before: str) -> str | None:
    """Return the hint for what a text before it, such as a tag of Jinja, would have opened."""
    names = {Code.VARIABLE_UNDEFINED, Code.FUNCTION_UNKNOWN}
    if error.code not in {*_OUTSIDE_BLOCKS, *names}:
        return None
    if error.code in _OUTSIDE_BLOCKS and (text := _ONE_BRACE.search(before)):
        return f"an action begins with two braces: {text[0]} is a text here"
    word = re.escape(error.subject.lstrip("$")) if error.code in names else ""
    for tag in re.findall(r"\{%-? *(?:for|if|set)\b[^%]*%\}", before):
        if re.search(rf"\b{word}\b", tag):
            return f"{tag} is a text here: {foreign_syntax.JINJA_TAG.hint}"
    return None


def _variable_hint(name: str, source: str, position: int, left: str) -> str | None:
    """Return the hint for a variable that is not declared where it is read."""
    if name[1:] in REQUEST:
        return f"write $.{name[1:]}"
    declared = find_variables(source)
    if name not in declared:
        others = f"there are {', '.join(sorted(declared))}; another one is declared first: "
        advice = f"{others if declared else 'declare it first: '}{{{{ {name} := ... }}}}"
        return suggest(name, tuple(declared), advice)
    if "define" not in find_open_blocks(source[:position], left):
        return "its block has ended" if name in find_variables(source[:position]) else None
    # Of a define without an end nobody knows what is in it.
    return None if "define" in find_open_blocks(source, left) else _OF_OTHER_TEMPLATE


def _function_hint(name: str, source: str, position: int, settings: Settings) -> str | None:
    """Return the hint for an unknown function; it may be a misspelt keyword such as ``end``."""
    before, after = source[:position], source[position + len(name) :]
    is_text = re.match(r"\s*(?:\)|\||-?\}\})", after) is not None and _is_argument(before)
    has_fields = re.match(r"\.[A-Za-z]", after) is not None
    names = {**registry.FUNCTIONS, **settings.grammar().functions}
    # The word of a key or of a variable that is called like a function.
    is_word = name in {"env", "expandenv"} and (is_text or has_fields)
    hint = (
        (None if is_word else registry.unavailable_reason(name))
        or habits.find("gotemplate", name, "name", "call", "function")
        or (None if is_text or has_fields else suggest(name, (*names, *sorted(KEYWORDS))))
    )
    if hint is not None:
        return hint
    if is_text:
        return f'write "{name}" for a text, .{name} for a field, ${name} for a variable'
    # The first word of an action, behind which a text may lack its quote. A short one that has no
    # fields may be a keyword that is misspelt.
    is_whole = (
        re.search(r"\{\{-?\s*$", before) is not None
        and re.match(r"[\w.]*\s*-?(?:\}\}|\|)", after) is not None
        and (has_fields or len(name) > _MAX_KEYWORD)
    )
    return "a field begins with a dot, and a variable with $" if is_whole else None


def _is_argument(before: str) -> bool:
    """Report whether an action goes on behind a text with an argument of a known function."""
    action = re.sub(r"\"[^\"]*\"", '""', before[before.rfind("{{") + 2 :])
    names = re.findall(r"(?<![\w.$])[A-Za-z]\w*", action)
    is_known = all(name in registry.FUNCTIONS or name in KEYWORDS for name in names)
    return is_known and re.search(r"(?<![\w.$])[a-z]\w*\s[^|(){}]*$", action) is not None
