"""sprig's ``semver`` and ``semverCompare``: semantic versions and constraints on them.

The rules are those of Go's package Masterminds/semver 3.4. Versions are read leniently: ``v1.2``
is 1.2.0. Constraints are such as ``^1.2 || >3``; a version with a pre-release satisfies only
constraints that name one.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple, Self

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Allocator, Function, FunctionTable, Injects
from function_script.engines.gotemplate.values import MAX_UINT64, Int, Struct, Uint64, whole
from function_script.engines.library.regex import compiled
from function_script.engines.tables import Table

FUNCTIONS: Final = FunctionTable()

IDENTIFIERS: Final = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION: Final = re.compile(
    r"v?(?P<major>[0-9]+)(?:\.(?P<minor>[0-9]+))?(?:\.(?P<patch>[0-9]+))?"
    rf"(?:-(?P<pre>{IDENTIFIERS}))?(?:\+(?P<metadata>{IDENTIFIERS}))?"
)
_MAX_DIGITS: Final = len(str(MAX_UINT64))
_LATER: Final = (1,)


class Version(Struct):
    """A pointer to a version, which is never changed."""

    __slots__ = ("metadata", "numbers", "original", "pre")
    go_type = "semver.Version"
    pointer = True

    def __init__(
        self, numbers: tuple[int, int, int], pre: str = "", metadata: str = "", original: str = ""
    ) -> None:
        super().__init__(
            {"numbers": list(numbers), "pre": pre, "metadata": metadata, "original": original}
        )
        self.numbers = numbers
        self.pre = pre
        self.metadata = metadata
        self.original = original

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return a version from its text; raises CallError."""
        match = _VERSION.fullmatch(text)
        if match is None:
            raise CallError("invalid semantic version")
        major, minor, patch = (_number(match[part] or "0") for part in ("major", "minor", "patch"))
        pre = match["pre"] or ""
        _check_pre(pre)
        return cls((major, minor, patch), pre, match["metadata"] or "", text)

    def text(self) -> str:
        """Return ``1.2.3-rc.1+build``."""
        pre = f"-{self.pre}" if self.pre else ""
        metadata = f"+{self.metadata}" if self.metadata else ""
        return ".".join(map(str, self.numbers)) + pre + metadata

    def json(self) -> object:
        """Return the text."""
        return self.text()

    def yaml(self) -> object:
        """Return the text."""
        return self.text()

    def precedence(self) -> tuple[tuple[int, ...], tuple[object, ...]]:
        """Return the sort key of a version: a release comes after its pre-releases."""
        return self.numbers, precedence(self.pre) if self.pre else _LATER

    def method(self, name: str) -> Function | None:
        """Return one of Go's methods of the pointer."""
        if name == "Original":
            return Function(name=name, parameters="", call=lambda: self.original)
        if name in _GETTERS:
            return Function(name=name, parameters="", call=partial(_GETTERS[name], self))
        if name in _COMPARISONS:
            parameters = f"*{self.go_type}"
            return Function(
                name=name, parameters=parameters, call=partial(_COMPARISONS[name], self)
            )
        if name in _SETTERS:
            return Function(name=name, parameters="string", call=partial(_SETTERS[name], self))
        return None


class ChangedVersion(Version):
    """A version made from another: Go returns a value instead of a pointer, with fewer methods."""

    __slots__ = ()
    pointer = False

    def method(self, name: str) -> Function | None:
        """Return one of Go's methods of the value."""
        return super().method(name) if name in _GETTERS or name in _SETTERS else None


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
        cause = f'strconv.ParseUint: parsing "{digits}": value out of range'
        raise CallError(f"error parsing version segment: {cause}")
    return int(significant)


def _check_pre(pre: str) -> None:
    for part in pre.split("."):
        if part.isdecimal() and len(part) > 1 and part.startswith("0"):
            raise CallError("version segment starts with 0")


# Methods


def _compare_versions(left: Version, right: Version) -> Int:
    mine, other = left.precedence(), right.precedence()
    return Int((mine > other) - (mine < other))


_GETTERS: Final = Table[str, Callable[[Version], object]](
    {
        "Major": lambda version: Uint64(version.numbers[0]),
        "Minor": lambda version: Uint64(version.numbers[1]),
        "Patch": lambda version: Uint64(version.numbers[2]),
        "Prerelease": lambda version: version.pre,
        "Metadata": lambda version: version.metadata,
        "String": Version.text,
        "IncMajor": lambda version: _next(version.numbers[0] + 1, 0, 0),
        "IncMinor": lambda version: _next(version.numbers[0], version.numbers[1] + 1, 0),
    }
)
_COMPARISONS: Final[dict[str, Callable[[Version, Version], object]]] = {
    "Compare": _compare_versions,
    "Equal": lambda left, right: _compare_versions(left, right) == 0,
    "LessThan": lambda left, right: _compare_versions(left, right) < 0,
    "LessThanEqual": lambda left, right: _compare_versions(left, right) <= 0,
    "GreaterThan": lambda left, right: _compare_versions(left, right) > 0,
    "GreaterThanEqual": lambda left, right: _compare_versions(left, right) >= 0,
}
_SETTERS: Final = Table[str, Callable[[Version, str], object]]()


def _next(major: int, minor: int, patch: int) -> Version:
    return ChangedVersion((major & MAX_UINT64, minor & MAX_UINT64, patch & MAX_UINT64))


@_GETTERS.add("IncPatch")
def _next_patch(version: Version) -> Version:
    major, minor, patch = version.numbers
    return _next(major, minor, patch if version.pre else patch + 1)


@_SETTERS.add("SetPrerelease")
def _with_pre(version: Version, pre: str) -> Version:
    if pre and re.fullmatch(IDENTIFIERS, pre) is None:
        raise CallError("invalid prerelease string")
    _check_pre(pre)
    return ChangedVersion(version.numbers, pre, version.metadata)


@_SETTERS.add("SetMetadata")
def _with_metadata(version: Version, metadata: str) -> Version:
    if metadata and re.fullmatch(IDENTIFIERS, metadata) is None:
        raise CallError("invalid metadata string")
    return ChangedVersion(version.numbers, version.pre, metadata)


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
_STEPS_PER_CHARACTER: Final = 10


class _Constraint(NamedTuple):
    """An operator and a version of which only the first ``parts`` numbers count."""

    operator: str
    version: Version
    parts: int


def check_version(constraints: str, text: str) -> bool:
    """Report whether a version satisfies constraints; raises CallError if Go fails."""
    # A range, 1.2 - 1.4, is >= 1.2, <= 1.4.
    parts: list[str] = []
    end = 0
    for match in compiled(_RANGE).finditer(constraints):
        parts += (constraints[end : match.start()], f">= {match.group(1)}, <= {match.group(2)} ")
        end = match.end()
    groups: list[list[_Constraint]] = []
    for group in "".join([*parts, constraints[end:]]).split("||"):
        if compiled(_ALL).search(group) is None:
            raise CallError(f"improper constraint: {group}")
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

_CHECKS: Final = Table[str, Callable[[Version, _Constraint], bool]]()


@_CHECKS.add("!=")
def _differs(version: Version, constraint: _Constraint) -> bool:
    if constraint.parts == _MAX_PARTS:
        return _compare_versions(version, constraint.version) != 0
    count = max(constraint.parts, 1)
    if version.numbers[:count] != constraint.version.numbers[:count]:
        return True
    if constraint.parts == 0:
        return _compare_versions(version, constraint.version) != 0
    if constraint.parts == 1:
        return False
    return precedence(version.pre) != precedence(constraint.version.pre)


@_CHECKS.add(">")
def _is_greater(version: Version, constraint: _Constraint) -> bool:
    major, minor, _ = version.numbers
    if constraint.parts == _MAX_PARTS or major != constraint.version.numbers[0]:
        return _compare_versions(version, constraint.version) > 0
    if constraint.parts == 0:
        return _compare_versions(version, constraint.version) > 0
    return constraint.parts > 1 and minor > constraint.version.numbers[1]


@_CHECKS.add("<")
def _is_less(version: Version, constraint: _Constraint) -> bool:
    return _compare_versions(version, constraint.version) < 0


@_CHECKS.add(">=", "=>")
def _is_at_least(version: Version, constraint: _Constraint) -> bool:
    return _compare_versions(version, constraint.version) >= 0


@_CHECKS.add("<=", "=<")
def _is_at_most(version: Version, constraint: _Constraint) -> bool:
    if constraint.parts == _MAX_PARTS:
        return _compare_versions(version, constraint.version) <= 0
    count = 1 if constraint.parts == 1 else len(("major", "minor"))
    return version.numbers[:count] <= constraint.version.numbers[:count]


@_CHECKS.add("", "=")
def _equals(version: Version, constraint: _Constraint) -> bool:
    if constraint.parts < _MAX_PARTS:
        return _is_near(version, constraint)
    return _compare_versions(version, constraint.version) == 0


@_CHECKS.add("~", "~>")
def _is_near(version: Version, constraint: _Constraint) -> bool:
    """Check ``~``: the last number may be larger; of three numbers, the patch."""
    if _compare_versions(version, constraint.version) < 0:
        return False
    numbers = constraint.version.numbers
    if not any(numbers) and constraint.parts in {0, _MAX_PARTS}:
        return True
    count = 1 if constraint.parts == 1 else len(("major", "minor"))
    return version.numbers[:count] == numbers[:count]


@_CHECKS.add("^")
def _is_compatible(version: Version, constraint: _Constraint) -> bool:
    """Check ``^``: versions up to the next change of the first number that is not 0."""
    if _compare_versions(version, constraint.version) < 0:
        return False
    major, minor, _ = numbers = constraint.version.numbers
    if major > 0 or constraint.parts == 1:
        count = 1
    elif minor > 0 or constraint.parts == len(("major", "minor")):
        count = 2
    else:
        count = 3
    return version.numbers[:count] == numbers[:count]


FUNCTIONS.add("semver", parameters="string", summary="The parts of a version, such as .Major.")(
    Version.parse
)


@FUNCTIONS.add(
    "semverCompare", parameters="string string", injects=Injects.ALLOCATOR, returns="bool"
)
def semver_compare(allocator: Allocator, constraints: str, text: str) -> bool:
    """True if the version meets a constraint: semverCompare ">=1.2" $version."""
    allocator.spend(len(constraints) * _STEPS_PER_CHARACTER)
    return check_version(whole(constraints), text)
