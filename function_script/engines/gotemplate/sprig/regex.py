"""sprig's regular expressions: RE2's syntax, linear time, no look-around, as in Go.

A bad pattern does not match in ``regexMatch`` and is an error everywhere else.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Concatenate, Final, NamedTuple, ParamSpec, TypeAlias, TypeVar

from function_script.engines.gotemplate import printing, values
from function_script.engines.gotemplate.errors import CallError, Code
from function_script.engines.gotemplate.function import Allocator, FunctionTable, Injects
from function_script.engines.library.regex import regex_escape
from function_script.engines.regular_expressions import (
    Cause,
    Match,
    Pattern,
    PatternError,
    compiled,
)

FUNCTIONS: Final = FunctionTable()

# This many characters take about as long as a step.
_CHARACTERS_PER_STEP: Final = 64
# Go's descriptions of bad patterns.
_CAUSES: Final[Mapping[str, str]] = {
    Cause.BRACKET_MISSING: "missing closing ]",
    Cause.PARENTHESIS_MISSING: "missing closing )",
    Cause.PERL_OPERATOR: "invalid or unsupported Perl syntax",
    Cause.GROUP_NAME: "invalid named capture",
    Cause.REPETITION_OF_NOTHING: "missing argument to repetition operator",
    Cause.REPETITION_REPEATED: "invalid nested repetition operator",
    Cause.REPETITION_SIZE: "invalid repeat count",
    Cause.BACKSLASH_LAST: "trailing backslash at end of expression",
}
_CODES: Final[Mapping[str, Code]] = {
    Cause.BRACKET_MISSING: Code.PATTERN_WITHOUT_BRACKET,
    Cause.PARENTHESIS_MISSING: Code.PATTERN_WITHOUT_PARENTHESIS,
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
        text = f"error parsing regexp: invalid escape sequence: `{_ANY_BYTE}`"
        raise CallError(text, Code.BAD_PATTERN)
    try:
        return _Regex(source, compiled(values.whole(source)))
    except PatternError as error:
        cause = _CAUSES.get(error.cause, error.cause)
        text = f"error parsing regexp: {cause}: `{error.part}`"
        raise CallError(text, _CODES.get(error.cause, Code.BAD_PATTERN)) from error


def _quote(text: str) -> str:
    """Quote in backquotes if possible."""
    plain = text.replace("\t", " ").isprintable() and "`" not in text and "\ufeff" not in text
    return f"`{text}`" if plain else printing.quote(text)


def _matches(allocator: Allocator, regex: _Regex, text: str) -> Iterator[Match]:
    """Yield all matches but empty ones right behind another."""
    end = -1
    for number, match in enumerate(regex.pattern.finditer(text)):
        if match.start() == match.end() == end:
            continue
        end = match.end()
        allocator.check_list(number)
        yield match


@FUNCTIONS.add("regexMatch", parameters="string string", injects=Injects.ALLOCATOR, returns="bool")
def is_match(allocator: Allocator, pattern: str, text: str) -> bool:
    """True if the text has a match of the expression."""
    try:
        return must_match(allocator, pattern, text)
    except CallError:
        return False


@FUNCTIONS.add(
    "mustRegexMatch", parameters="string string", injects=Injects.ALLOCATOR, returns="bool"
)
def must_match(allocator: Allocator, pattern: str, text: str) -> bool:
    """Raise CallError for a bad pattern."""
    allocator.spend(len(text) // _CHARACTERS_PER_STEP)
    return _compile(pattern).pattern.search(values.whole(text)) is not None


_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
# A function of a regex; behind it are the function's own arguments.
_Call: TypeAlias = Callable[Concatenate[Allocator, _Regex, _Arguments], _Result]


FUNCTIONS.add(
    "regexQuoteMeta",
    parameters="string",
    returns="string",
    summary="The text, escaped for an expression.",
)(regex_escape)


def _add_pair(
    name: str, parameters: str, returns: str = "any"
) -> Callable[[_Call[_Arguments, _Result]], _Call[_Arguments, _Result]]:
    """Return a decorator that adds a function and its "must" variant.

    Their errors about patterns are those of Go's MustCompile and Compile.
    """

    def register(call: _Call[_Arguments, _Result]) -> _Call[_Arguments, _Result]:
        def panics(
            allocator: Allocator,
            source: str,
            *arguments: _Arguments.args,
            **named: _Arguments.kwargs,
        ) -> _Result:
            try:
                regex = _compile(source)
            except CallError as error:
                cause = f"regexp: Compile({_quote(source)}): {error.text}"
                raise CallError(cause, error.code) from error
            return call(allocator, regex, *arguments, **named)

        def fails(
            allocator: Allocator,
            source: str,
            *arguments: _Arguments.args,
            **named: _Arguments.kwargs,
        ) -> _Result:
            return call(allocator, _compile(source), *arguments, **named)

        for each, variant in ((name, panics), (f"mustR{name[1:]}", fails)):
            FUNCTIONS.add(
                each,
                parameters=parameters,
                injects=Injects.ALLOCATOR,
                returns=returns,
                summary=(call.__doc__ or "").partition("\n")[0],
            )(variant)
        return call

    return register


@_add_pair("regexFind", "string string", "string")
def find(allocator: Allocator, regex: _Regex, text: str) -> str:
    """The first match of the expression in the text."""
    allocator.check_string(len(text))
    match = regex.pattern.search(values.whole(text))
    return (match.group() or "") if match is not None else ""


@_add_pair("regexFindAll", "string string int")
def find_all(allocator: Allocator, regex: _Regex, text: str, count: int) -> values.Strings:
    """The first N matches; with -1 all."""
    matches = values.Strings()
    for match in _matches(allocator, regex, values.whole(text)):
        if len(matches) == count:
            break
        matches.append(match.group() or "")
    return matches or values.NilStrings()


@_add_pair("regexReplaceAll", "string string string", "string")
def replace_all(allocator: Allocator, regex: _Regex, text: str, replacement: str) -> str:
    """The text with each match replaced; $1 is a group."""
    if "$" not in replacement:
        return replace_literally(allocator, regex, text, replacement)
    return _replace(
        allocator, regex, text, lambda match: _expand(replacement, match, regex.pattern)
    )


@_add_pair("regexReplaceAllLiteral", "string string string", "string")
def replace_literally(allocator: Allocator, regex: _Regex, text: str, replacement: str) -> str:
    """The text with each match replaced as it is written."""
    return _replace(allocator, regex, text, lambda _: replacement)


def _replace(
    allocator: Allocator, regex: _Regex, text: str, replace: Callable[[Match], str]
) -> str:
    characters = values.whole(text)
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


@_add_pair("regexSplit", "string string int")
def split(allocator: Allocator, regex: _Regex, text: str, count: int) -> values.Strings:
    """The parts of the text between matches, at most N; with -1 all."""
    if count == 0:
        return values.NilStrings()
    if regex.source and not text:
        return values.Strings([""])
    characters = values.whole(text)
    parts = values.Strings()
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
