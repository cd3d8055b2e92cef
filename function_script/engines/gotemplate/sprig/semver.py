"""sprig's ``semver`` and ``semverCompare``: semantic versions and constraints on them.

The rules are those of Go's package Masterminds/semver 3.4. Versions are read leniently: ``v1.2``
is 1.2.0. Constraints are such as ``^1.2 || >3``; a version with a pre-release satisfies only
constraints that name one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Self

from function_script.engines.gotemplate.errors import CallError, Code
from function_script.engines.gotemplate.function import FunctionTable
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.values import MAX_UINT64, Int, Struct, whole
from function_script.engines.regular_expressions import compiled

FUNCTIONS: Final = FunctionTable()

IDENTIFIERS: Final = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION: Final = re.compile(
    r"v?(?P<major>[0-9]+)(?:\.(?P<minor>[0-9]+))?(?:\.(?P<patch>[0-9]+))?"
    rf"(?:-(?P<pre>{IDENTIFIERS}))?(?:\+(?P<metadata>{IDENTIFIERS}))?"
)
_MAX_DIGITS: Final = len(str(MAX_UINT64))


class Version(Struct):
    """A pointer to a version, which is never changed."""

    __slots__ = ("metadata", "numbers", "original", "pre")
    go_type = "semver.Version"
    pointer = True

    def __init__(
        self, numbers: tuple[int, int, int], pre: str = "", metadata: str = "", original: str = ""
    ) -> None:
        super().__init__({})
        self.numbers = numbers
        self.pre = pre
        self.metadata = metadata
        self.original = original

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return a version from its text; raises CallError."""
        match = _VERSION.fullmatch(text)
        if match is None:
            raise CallError("invalid semantic version", Code.BAD_VERSION)
        major, minor, patch = (_number(match[part] or "0") for part in ("major", "minor", "patch"))
        pre = match["pre"] or ""
        _check_pre(pre)
        return cls((major, minor, patch), pre, match["metadata"] or "", text)

    def text(self) -> str:
        """Return ``1.2.3-rc.1+build``."""
        pre = f"-{self.pre}" if self.pre else ""
        metadata = f"+{self.metadata}" if self.metadata else ""
        return ".".join(map(str, self.numbers)) + pre + metadata

    json = yaml = text

    def precedence(self) -> tuple[tuple[int, ...], tuple[object, ...]]:
        """Return the sort key of a version: a release comes after its pre-releases."""
        return self.numbers, precedence(self.pre) if self.pre else (1,)

    def compare(self, other: Version) -> Int:
        """Return -1, 0 or 1 for a lower, an equal or a higher version than another one."""
        mine, others = self.precedence(), other.precedence()
        return Int((mine > others) - (mine < others))

    def release(self, major: int, minor: int = 0, patch: int = 0) -> Version:
        """Return a release with other numbers, and with the ``v`` of this version."""
        release = Version((major, minor, patch))
        release.original = self.original[: self.original.startswith("v")] + release.text()
        return release


def precedence(pre: str) -> tuple[object, ...]:
    """Return the sort key of a pre-release: part by part, numbers before words."""
    keys: list[tuple[int, int, str]] = []
    for part in pre.split("."):
        if part.isdecimal() and len(part) <= _MAX_DIGITS and int(part) <= MAX_UINT64:
            keys.append((0, int(part), ""))
        else:
            keys.append((1 if part else -1, 0, part))
    return 0, keys


def _number(digits: str) -> int:
    significant = digits.lstrip("0") or "0"
    if len(significant) > _MAX_DIGITS or int(significant) > MAX_UINT64:
        raise CallError(f"{digits} is too large for a version")
    return int(significant)


def _check_pre(pre: str) -> None:
    for part in pre.split("."):
        if part.isdecimal() and len(part) > 1 and part.startswith("0"):
            raise CallError("version segment starts with 0")


# Constraints

_OPERATOR: Final = r"(?:=>|=<|=|!=|>=|<=|<|~>|>|~|\^)?"
_PART: Final = r"[0-9|xX*]+"
# A version, any part of which may be a wildcard; the rest after the numbers is the tail.
_WILD: Final = rf"v?{_PART}(?:\.{_PART})?(?:\.{_PART})?(?:-{IDENTIFIERS})?(?:\+{IDENTIFIERS})?"
_ONE: Final = rf"{_OPERATOR}\s*{_WILD}"
_ALL: Final = rf"^\s*{_ONE}\s*(?:(?:\s+|,\s*){_ONE}\s*)*$"
_EACH: Final = rf"({_OPERATOR})\s*({_WILD})"
_RANGE: Final = rf"\s*({_WILD})\s+-\s+({_WILD})\s*"
_PARTS: Final = rf"^v?({_PART})(?:\.({_PART}))?(?:\.({_PART}))?(-{IDENTIFIERS})?"
_WILDCARDS: Final = frozenset("xX*")
_MAX_PARTS: Final = 3
# A constraint with all of its numbers is compared as a whole, and so is one with none.
_WHOLE: Final = (0, _MAX_PARTS)
_STEPS_PER_CHARACTER: Final = 10


class _Constraint(NamedTuple):
    """An operator and a version of which only the first ``parts`` numbers count."""

    operator: str
    version: Version
    parts: int


def check_version(constraints: str, text: str) -> bool:
    """Report whether a version satisfies constraints; raises CallError if Go fails."""
    # A range, 1.2 - 1.4, is >= 1.2, <= 1.4.
    text_of_limits = compiled(_RANGE).sub(r">= \1, <= \2 ", constraints)
    groups: list[list[_Constraint]] = []
    for group in text_of_limits.split("||"):
        if compiled(_ALL).search(group) is None:
            raise CallError(f"improper constraint: {group}", Code.BAD_CONSTRAINT)
        matches = compiled(_EACH).finditer(group)
        groups.append([_parse(match.group(1) or "", match.group(2) or "") for match in matches])
    version = Version.parse(text)
    return any(
        all(_CHECKS[constraint.operator](version, constraint) for constraint in group)
        for group in groups
        if not version.pre or any(constraint.version.pre for constraint in group)
    )


def _parse(operator: str, text: str) -> _Constraint:
    match = compiled(_PARTS).search(text)
    numbers = match.groups() if match is not None else ()
    digits: list[str] = []
    for number in numbers[:_MAX_PARTS]:
        if number is None or number in _WILDCARDS:
            break
        digits.append(number)
    parts = len(digits)
    zeros = ["0"] * (_MAX_PARTS - parts)
    pre = numbers[_MAX_PARTS] or "" if match is not None else ""
    try:
        version = Version.parse(".".join([*digits, *zeros]) + pre)
    except CallError as error:
        raise CallError("constraint parser error") from error
    return _Constraint(operator, version, parts)


# Operators; missing numbers are zeros


def _differs(version: Version, constraint: _Constraint) -> bool:
    count = constraint.parts
    if count in _WHOLE:
        return version.compare(constraint.version) != 0
    if version.numbers[:count] != constraint.version.numbers[:count]:
        return True
    return count > 1 and precedence(version.pre) != precedence(constraint.version.pre)


def _is_greater(version: Version, constraint: _Constraint) -> bool:
    count = constraint.parts
    if count in _WHOLE:
        return version.compare(constraint.version) > 0
    return version.numbers[:count] > constraint.version.numbers[:count]


def _is_at_most(version: Version, constraint: _Constraint) -> bool:
    if constraint.parts == _MAX_PARTS:
        return version.compare(constraint.version) <= 0
    count = 1 if constraint.parts == 1 else len(("major", "minor"))
    return version.numbers[:count] <= constraint.version.numbers[:count]


def _equals(version: Version, constraint: _Constraint) -> bool:
    if constraint.parts < _MAX_PARTS:
        return _is_near(version, constraint)
    return version.compare(constraint.version) == 0


def _is_near(version: Version, constraint: _Constraint) -> bool:
    """Check ``~``: the last number may be larger; of three numbers, the patch."""
    if version.compare(constraint.version) < 0:
        return False
    numbers = constraint.version.numbers
    if not any(numbers) and constraint.parts in _WHOLE:
        return True
    count = 1 if constraint.parts == 1 else len(("major", "minor"))
    return version.numbers[:count] == numbers[:count]


def _is_compatible(version: Version, constraint: _Constraint) -> bool:
    """Check ``^``: versions up to the next change of the first number that is not 0."""
    if version.compare(constraint.version) < 0:
        return False
    major, minor, _ = numbers = constraint.version.numbers
    if major > 0 or constraint.parts == 1:
        count = 1
    elif minor > 0 or constraint.parts == len(("major", "minor")):
        count = 2
    else:
        count = 3
    return version.numbers[:count] == numbers[:count]


_CHECKS: Final[Mapping[str, Callable[[Version, _Constraint], bool]]] = {
    **dict.fromkeys(("", "="), _equals),
    "!=": _differs,
    ">": _is_greater,
    "<": lambda version, constraint: version.compare(constraint.version) < 0,
    **dict.fromkeys((">=", "=>"), lambda version, limit: version.compare(limit.version) >= 0),
    **dict.fromkeys(("<=", "=<"), _is_at_most),
    **dict.fromkeys(("~", "~>"), _is_near),
    "^": _is_compatible,
}

FUNCTIONS.add("semver", summary="The parts of a version, such as .Major.")(Version.parse)


@FUNCTIONS.add("semverCompare")
def semver_compare(run: Run, constraints: str, text: str) -> bool:
    """True if the version meets a constraint: semverCompare ">=1.2" $version."""
    run.spend(len(constraints) * _STEPS_PER_CHARACTER)
    return check_version(whole(constraints), text)
