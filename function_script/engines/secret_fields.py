"""Fields that hold secrets, by their names, and random texts of a program that go into them.

A random text of a program is no secret without a salt: the XR's UID and the program give it.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from function_script.request.program import Program
from function_script.texts.source import Source, Span, span_at

_SECRET: Final = re.compile(
    r"(?:pass|pwd|secret|tokens?|credentials?|"
    r"pass_?(?:word|wd|phrase|code)s?|"
    r"(?:api|app|access|account|admin|auth|client|encryption|master|private|secret|session|shared|"
    r"signing|storage|webhook)_?keys?)$",
    re.IGNORECASE,
)
# Members of a Secret that everybody may know.
_PUBLIC: Final = re.compile(
    r"(?:name|user|login|host|endpoint|address|port|url|uri|region|zone|bucket|database|db|type|id|"
    r"version)$",
    re.IGNORECASE,
)
_WORD_BREAK: Final = re.compile(r"[-.\s]+")

# The text before a call: a quoted argument such as that of `set`, or a key or a name with the
# operator that sets it.
_ARGUMENT: Final = re.compile(r"""["'](?P<key>[A-Za-z_][\w.-]*)["'],?\s+\(*\s*$""")
_KEY: Final = re.compile(
    r"""(?P<key>[A-Za-z_][\w.-]*)(?:["']\s*:|["']?\]?\s*(?::=|=(?!=)|:(?=\s)))"""
)
_MAX_BEFORE: Final = 500
_COMMENTS: Final = ("#", "{#", "{{/*", "{{- /*")
_DOCUMENT: Final = "---"
_KIND_SECRET: Final = re.compile(r"^\s*kind:\s*[\"']?Secret[\"']?\s*$", re.MULTILINE)
_DATA: Final = re.compile(r"^\s*(?:data|stringData):\s*$")
_TEMPLATE_ACTION: Final = re.compile(r"^\s*\{[{%#]")


def is_secret(name: str) -> bool:
    """Report whether a field is called like a secret: ``password``, ``apiKey``, ``auth-token``."""
    return bool(_SECRET.search(_WORD_BREAK.sub("_", name)))


def is_public(name: str) -> bool:
    """Report whether a member of a Secret is called like something that is none."""
    return bool(_PUBLIC.search(name)) and not is_secret(name)


class RandomSecret(NamedTuple):
    """A call that makes a random text for the field ``name``, and where it is.

    ``has_no_salt``: its function uses none.
    """

    name: str
    source: Source
    span: Span
    has_no_salt: bool


def find_random(program: Program, call: re.Pattern[str]) -> Iterator[RandomSecret]:
    """Find calls, which ``call`` matches, whose text goes into a secret for all to see.

    Its group ``public``, if it has one, matches calls of functions that use no salt.
    The line says so: by a key or a variable that is called like a secret, or as a member of the
    data of a Secret.
    """
    for source in program.sources():
        offset = 0
        lines = source.text.split("\n")
        for number, line in enumerate(lines):
            for match in call.finditer(line):
                # A line of generated text may be long, and the patterns search all of it.
                before = line[: match.start()][-_MAX_BEFORE:]
                keys = [_ARGUMENT.search(before), *_KEY.finditer(before)]
                # An argument right in front of the call is nearer than any key.
                key = keys[0] or keys[-1]
                if key is None or line.lstrip().startswith(_COMMENTS):
                    continue
                name = key["key"]
                in_secret = _is_in_secret(lines, number) and not is_public(name)
                if is_secret(name) or in_secret:
                    span = span_at(source, offset + match.start(), len(match[0]))
                    has_no_salt = bool(match.groupdict().get("public"))
                    yield RandomSecret(name, source, span, has_no_salt)
            offset += len(line) + 1


def _is_in_secret(lines: list[str], number: int) -> bool:
    """Report whether a line of a template is a member of the data of a Secret."""
    first = next((n for n in range(number, -1, -1) if lines[n].startswith(_DOCUMENT)), 0)
    end = next((n for n in range(number, len(lines)) if lines[n].startswith(_DOCUMENT)), None)
    if not _KIND_SECRET.search("\n".join(lines[first:end])):
        return False
    indentation = _indentation(lines[number])
    for line in reversed(lines[first:number]):
        if line.strip() and not _TEMPLATE_ACTION.match(line) and _indentation(line) < indentation:
            return bool(_DATA.match(line))
    return False


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
