"""sprig's regular expressions: RE2's syntax, linear time, no look-around, as in Go.

A bad pattern does not match in ``regexMatch`` and is an error everywhere else.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Allocator, Function, Injects
from function_script.engines.gotemplate.printing import quote
from function_script.engines.gotemplate.sprig.characters import whole
from function_script.engines.gotemplate.values import NilStrings, Strings
from function_script.engines.library.regex import Match, Pattern, compiled, regex_escape

# This many characters take about as long as a step.
_CHARACTERS_PER_STEP: Final = 64
# RE2's descriptions of bad patterns, and Go's.
_CAUSES: Final = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "unexpected )": "unexpected )",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "trailing \\": "trailing backslash at end of expression",
}
_REFERENCE: Final = re.compile(r"\$(?:(?P<escape>\$)|(?P<bare>\w+)|\{(?P<braced>\w+)\})")
_GROUP_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,8}")
# An escape, or a literal text.
_ESCAPE: Final = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.", re.DOTALL)
# RE2 would cut characters into bytes; Go does not know it.
_ANY_BYTE: Final = r"\C"


class _Regex(NamedTuple):
    """A pattern's source and the compiled pattern."""

    source: str
    pattern: Pattern


def _compile(source: str) -> _Regex:
    """Return the pattern; raises CallError with the message of Go's Compile."""
    if _ANY_BYTE in _ESCAPE.findall(source):
        raise CallError(f"error parsing regexp: invalid escape sequence: `{_ANY_BYTE}`")
    try:
        return _Regex(source, compiled(whole(source)))
    except ValueError as error:
        cause, _, part = str(error).removeprefix("pattern: ").partition(": ")
        text = f"error parsing regexp: {_CAUSES.get(cause, cause)}: `{part}`"
        raise CallError(text) from error


def _compile_or_panic(source: str) -> _Regex:
    """Return the pattern; raises CallError with the message of Go's MustCompile."""
    try:
        return _compile(source)
    except CallError as error:
        raise CallError(f"regexp: Compile({_quote(source)}): {error.text}") from error


def _quote(text: str) -> str:
    """Quote in backquotes if possible."""
    plain = text.replace("\t", " ").isprintable() and "`" not in text and "\ufeff" not in text
    return f"`{text}`" if plain else quote(text)


def _matches(allocator: Allocator, regex: _Regex, text: str) -> Iterator[Match]:
    """Yield all matches but empty ones right behind another."""
    end = -1
    for number, match in enumerate(regex.pattern.finditer(text)):
        if match.start() == match.end() == end:
            continue
        end = match.end()
        allocator.check_list(number)
        yield match


def _is_match(allocator: Allocator, pattern: str, text: str) -> bool:
    try:
        return _must_match(allocator, pattern, text)
    except CallError:
        return False


def _must_match(allocator: Allocator, pattern: str, text: str) -> bool:
    allocator.spend(len(text) // _CHARACTERS_PER_STEP)
    return _compile(pattern).pattern.search(whole(text)) is not None


def _find(allocator: Allocator, regex: _Regex, text: str) -> str:
    allocator.check_string(len(text))
    match = regex.pattern.search(whole(text))
    return (match.group() or "") if match is not None else ""


def _find_all(allocator: Allocator, regex: _Regex, text: str, count: int) -> Strings:
    matches = Strings()
    for match in _matches(allocator, regex, whole(text)):
        if len(matches) == count:
            break
        matches.append(match.group() or "")
    return matches or NilStrings()


# Replacing


def _replace_all(allocator: Allocator, regex: _Regex, text: str, replacement: str) -> str:
    if "$" not in replacement:
        return _replace_literally(allocator, regex, text, replacement)
    return _replace(
        allocator, regex, text, lambda match: _expand(replacement, match, regex.pattern)
    )


def _replace_literally(allocator: Allocator, regex: _Regex, text: str, replacement: str) -> str:
    return _replace(allocator, regex, text, lambda _: replacement)


def _replace(
    allocator: Allocator, regex: _Regex, text: str, replace: Callable[[Match], str]
) -> str:
    characters = whole(text)
    parts: list[str] = []
    length = len(characters)
    end = 0
    for match in _matches(allocator, regex, characters):
        parts += (characters[end : match.start()], replace(match))
        length += len(parts[-1])
        allocator.check_string(length)
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


# Splitting


def _split(allocator: Allocator, regex: _Regex, text: str, count: int) -> Strings:
    """Return the texts between the matches, at most ``count`` unless it is negative."""
    if count == 0:
        return NilStrings()
    if regex.source and not text:
        return Strings([""])
    characters = whole(text)
    parts = Strings()
    start = end = 0
    for match in _matches(allocator, regex, characters):
        if len(parts) == count - 1:
            break
        end = match.start()
        if match.end():
            parts.append(characters[start:end])
        start = match.end()
    if end != len(characters):
        parts.append(characters[start:])
    return parts


# Arguments: the regex, then the function's own.
_Call: TypeAlias = "Callable[..., object]"  # type: ignore[explicit-any] # one to three arguments


def _match(name: str, call: _Call) -> Function:
    return Function(
        name=name, parameters="string string", call=call, injects=Injects.ALLOCATOR, returns="bool"
    )


def _pair(name: str, parameters: str, call: _Call, returns: str = "any") -> tuple[Function, ...]:
    """Return a function and its "must" variant; their errors about patterns differ."""

    def panics(allocator: Allocator, source: str, *arguments: object) -> object:
        return call(allocator, _compile_or_panic(source), *arguments)

    def fails(allocator: Allocator, source: str, *arguments: object) -> object:
        return call(allocator, _compile(source), *arguments)

    pairs = ((name, panics), (f"mustR{name[1:]}", fails))
    return tuple(
        Function(
            name=name,
            parameters=parameters,
            call=variant,
            injects=Injects.ALLOCATOR,
            returns=returns,
        )
        for name, variant in pairs
    )


FUNCTIONS: Final = (
    _match("regexMatch", _is_match),
    _match("mustRegexMatch", _must_match),
    Function(name="regexQuoteMeta", parameters="string", call=regex_escape, returns="string"),
    *_pair("regexFind", "string string", _find, "string"),
    *_pair("regexFindAll", "string string int", _find_all),
    *_pair("regexReplaceAll", "string string string", _replace_all, "string"),
    *_pair("regexReplaceAllLiteral", "string string string", _replace_literally, "string"),
    *_pair("regexSplit", "string string int", _split),
)
