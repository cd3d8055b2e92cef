"""sprig's regular expressions: RE2's syntax, linear time, no look-around, as in Go.

A bad pattern does not match in ``regexMatch`` and is an error everywhere else.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from function_script.engines.gotemplate import values
from function_script.engines.gotemplate.errors import CallError, Code
from function_script.engines.gotemplate.function import FunctionTable
from function_script.engines.gotemplate.run import Run
from function_script.engines.library.regex import regex_escape
from function_script.engines.regular_expressions import Match, Pattern, PatternError, compiled

FUNCTIONS: Final = FunctionTable()

# This many characters take about as long as a step.
_CHARACTERS_PER_STEP: Final = 64
_REFERENCE: Final = re.compile(r"\$(?:(?P<escape>\$)|(?P<bare>\w+)|\{(?P<braced>\w+)\})")
_GROUP_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,8}")
# An escape, or a literal text.
_ESCAPE: Final = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.", re.DOTALL)
# RE2 would cut characters into bytes; Go does not know it.
_ANY_BYTE: Final = r"\C"


def _compile(source: str) -> Pattern:
    """Return the pattern; raises CallError with the message of Go's Compile."""
    if _ANY_BYTE in _ESCAPE.findall(source):
        text = f"error parsing regexp: invalid escape sequence: `{_ANY_BYTE}`"
        raise CallError(text, Code.BAD_PATTERN)
    try:
        return compiled(values.whole(source))
    except PatternError as error:
        text = f"error parsing regexp: {error.cause}: `{error.part}`"
        raise CallError(text, Code.BAD_PATTERN) from error


def _matches(run: Run, pattern: Pattern, text: str) -> Iterator[Match]:
    """Yield all matches but empty ones right behind another."""
    end = -1
    for number, match in enumerate(pattern.finditer(text)):
        if match.start() == match.end() == end:
            continue
        end = match.end()
        run.check_list(number)
        yield match


@FUNCTIONS.add("mustRegexMatch")
@FUNCTIONS.add("regexMatch", on_failure=False)
def is_match(run: Run, pattern: str, text: str) -> bool:
    """True if the text has a match of the expression."""
    run.spend(len(text) // _CHARACTERS_PER_STEP)
    return _compile(pattern).search(values.whole(text)) is not None


FUNCTIONS.add("regexQuoteMeta", summary="The text, escaped for an expression.")(regex_escape)


@FUNCTIONS.add("regexFind", "mustRegexFind")
def find(run: Run, pattern: str, text: str) -> str:
    """The first match of the expression in the text."""
    run.check_string(len(text))
    match = _compile(pattern).search(values.whole(text))
    return (match.group() or "") if match is not None else ""


@FUNCTIONS.add("regexFindAll", "mustRegexFindAll")
def find_all(run: Run, pattern: str, text: str, count: int) -> values.Strings:
    """The first N matches; with -1 all."""
    matches = values.Strings()
    for match in _matches(run, _compile(pattern), values.whole(text)):
        if len(matches) == count:
            break
        matches.append(match.group() or "")
    return matches or values.NilStrings()


@FUNCTIONS.add("regexReplaceAll", "mustRegexReplaceAll")
def replace_all(run: Run, pattern: str, text: str, replacement: str) -> str:
    """The text with each match replaced; $1 is a group."""
    if "$" not in replacement:
        return replace_literally(run, pattern, text, replacement)
    regex = _compile(pattern)
    return _replace(run, regex, text, lambda match: _expand(replacement, match, regex))


@FUNCTIONS.add("regexReplaceAllLiteral", "mustRegexReplaceAllLiteral")
def replace_literally(run: Run, pattern: str, text: str, replacement: str) -> str:
    """The text with each match replaced as it is written."""
    return _replace(run, _compile(pattern), text, lambda _: replacement)


def _replace(run: Run, pattern: Pattern, text: str, replace: Callable[[Match], str]) -> str:
    characters = values.whole(text)
    parts: list[str] = []
    length = len(characters)
    end = 0
    for match in _matches(run, pattern, characters):
        parts += (characters[end : match.start()], replace(match))
        length += len(parts[-1])
        run.check_string(length)
        end = match.end()
    return "".join([*parts, characters[end:]])


def _expand(replacement: str, match: Match, pattern: Pattern) -> str:
    """Replace ``$1``, ``${1}`` and ``${name}`` with groups; unknown ones are empty."""

    def group(reference: re.Match[str]) -> str:
        if reference["escape"]:
            return "$"
        name = reference["bare"] or reference["braced"]
        if _GROUP_NUMBER.fullmatch(name):
            return (match.group(int(name)) or "") if int(name) <= pattern.groups else ""
        return (match.group(name) or "") if name in pattern.groupindex else ""

    return _REFERENCE.sub(group, replacement)


@FUNCTIONS.add("regexSplit", "mustRegexSplit")
def split(run: Run, pattern: str, text: str, count: int) -> values.Strings:
    """The parts of the text between matches, at most N; with -1 all."""
    regex = _compile(pattern)
    if count == 0:
        return values.NilStrings()
    if pattern and not text:
        return values.Strings([""])
    characters = values.whole(text)
    parts = values.Strings()
    start = end = 0
    for match in _matches(run, regex, characters):
        if len(parts) == count - 1:
            break
        end = match.start()
        # Go's Split drops the empty text in front of an empty match at the beginning.
        if match.end():
            parts.append(characters[start:end])
        start = match.end()
    if end != len(characters):
        parts.append(characters[start:])
    return parts
