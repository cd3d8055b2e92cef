"""Regular expressions in RE2's syntax: linear time, no back references, no look-around.

The functions take the text first, so that they pipe.
"""

import re
from collections.abc import Iterator
from typing import Final

from function_script.engines.library.bounds import check_count, check_length
from function_script.engines.library.function import Group
from function_script.engines.regular_expressions import Match, Pattern, compiled
from function_script.request.values import Value

GROUP: Final = Group(
    name="regular expressions",
    summary="Regular expressions in the syntax of RE2: linear time, no back references, no "
    "look-around. The text comes first, so that it can be piped.",
)


_ESCAPES = {ord(each): f"\\{each}" for each in r"\.+*?()|[]{}^$"}
_REFERENCE = re.compile(r"\$(?:(?P<escape>\$)|(?P<number>\d{1,2})|\{(?P<group>\w{1,64})\})")


@GROUP.filter(example='regex_match("eu-west-1", "^eu-")', result=True)
def regex_match(text: str, pattern: str) -> bool:
    """Whether the pattern matches anywhere in the text; ^ and $ anchor it."""
    return compiled(pattern).search(text) is not None


@GROUP.filter(example='regex_find("eu-west-1", "[0-9]+")', result="1")
def regex_find(text: str, pattern: str) -> str | None:
    """The first match, or null."""
    match = compiled(pattern).search(text)
    return None if match is None else match.group()


@GROUP.filter(example='regex_find_all("10.0.0.1", "[0-9]+")', result=["10", "0", "0", "1"])
def regex_find_all(text: str, pattern: str) -> list[str]:
    """All matches that do not overlap, from left to right."""
    return [match.group() or "" for match in _matches(text, pattern)]


@GROUP.filter(example='regex_groups("eu-west-1", "^(.*)-(.*)$")', result=["eu-west", "1"])
def regex_groups(text: str, pattern: str) -> list[Value] | None:
    """The groups of the first match, null for one that took no part; null without a match."""
    match = compiled(pattern).search(text)
    return None if match is None else list(match.groups())


@GROUP.filter(example='regex_replace("a.b.c", "([a-z])[.]", "$1/")', result="a/b/c")
def regex_replace(text: str, pattern: str, replacement: str) -> str:
    """Replace every match; $1, ${1} and ${name} are groups, $$ is a dollar sign."""
    parts: list[str] = []
    length = end = 0
    for match in _matches(text, pattern):
        parts += (text[end : match.start()], _expanded(replacement, match, compiled(pattern)))
        length += len(parts[-1]) + len(parts[-2])
        check_length(length)
        end = match.end()
    return "".join([*parts, text[end:]])


@GROUP.filter(example='regex_split("a, b;c", "[,;] *")', result=["a", "b", "c"])
def regex_split(text: str, pattern: str) -> list[str]:
    """The texts between the matches."""
    parts: list[str] = []
    end = 0
    for match in _matches(text, pattern):
        parts.append(text[end : match.start()])
        end = match.end()
    return [*parts, text[end:]]


@GROUP.filter(example='regex_escape("a.b")', result="a\\.b")
def regex_escape(text: str) -> str:
    """A pattern that matches exactly this text."""
    return text.translate(_ESCAPES)


def _matches(text: str, pattern: str) -> Iterator[Match]:
    for number, match in enumerate(compiled(pattern).finditer(text)):
        check_count(number)
        yield match


def _expanded(replacement: str, match: Match, pattern: Pattern) -> str:
    def group(reference: re.Match[str]) -> str:
        if reference["escape"]:
            return "$"
        name = reference["number"] or reference["group"]
        if name.isdigit() and int(name) <= pattern.groups:
            return match.group(int(name)) or ""
        if name in pattern.groupindex:
            return match.group(name) or ""
        raise ValueError(f"replacement: the pattern has no group {name!r}")

    return _REFERENCE.sub(group, replacement) if "$" in replacement else replacement
