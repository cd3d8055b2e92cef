"""sprig's ``semver`` and ``semverCompare``: versions against constraints such as ``^1.2 || >3``.

The rules are those of Go's package Masterminds/semver 3.4; a version with a pre-release satisfies
only constraints that name one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Allocator, Function, Injects
from function_script.engines.gotemplate.sprig.characters import whole
from function_script.engines.gotemplate.sprig.versions import IDENTIFIERS, Version, precedence
from function_script.engines.library.regex import compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_OPERATOR: Final = r"(?:=>|=<|=|!=|>=|<=|<|~>|>|~|\^)?"
_PART: Final = r"[0-9|xX*]+"
# A version, any part of which may be a wildcard; what follows the numbers is the tail.
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
    """An operator and a version of which only the first ``parts`` numbers are meant."""

    operator: str
    version: Version
    parts: int


def check_version(constraints: str, text: str) -> bool:
    """Whether a version satisfies constraints; raises CallError where Go fails."""
    groups = [_parse_group(group) for group in _without_ranges(constraints).split("||")]
    version = Version.parse(text)
    return any(_satisfies(version, group) for group in groups)


def _satisfies(version: Version, group: Sequence[_Constraint]) -> bool:
    """Whether a version satisfies all constraints of a group."""
    if version.pre and not any(constraint.version.pre for constraint in group):
        return False
    return all(_CHECKS[constraint.operator](version, constraint) for constraint in group)


def _without_ranges(text: str) -> str:
    """``1.2 - 1.4`` means at least the one, at most the other."""
    parts: list[str] = []
    end = 0
    for match in compiled(_RANGE).finditer(text):
        parts += (text[end : match.start()], f">= {match.group(1)}, <= {match.group(2)} ")
        end = match.end()
    return "".join([*parts, text[end:]])


def _parse_group(text: str) -> list[_Constraint]:
    """The constraints of a group, between blanks or commas."""
    if compiled(_ALL).search(text) is None:
        raise CallError(f"improper constraint: {text}")
    return [
        _parse(match.group(1) or "", match.group(2) or "")
        for match in compiled(_EACH).finditer(text)
    ]


def _parse(operator: str, text: str) -> _Constraint:
    match = compiled(_PARTS).search(text)
    numbers = match.groups() if match is not None else ()
    given: list[str] = []
    for number in numbers[:_MAX_PARTS]:
        if number is None or number in _WILDCARDS:
            break
        given.append(number)
    parts = len(given)
    zeros = ["0"] * (_MAX_PARTS - parts)
    pre = numbers[_MAX_PARTS] or "" if match is not None else ""
    try:
        version = Version.parse(".".join([*given, *zeros]) + pre)
    except CallError as error:
        raise CallError("constraint parser error") from error
    return _Constraint(operator, version, parts)


# The operators; numbers that are not given are zeros


def _compares(version: Version, constraint: _Constraint) -> int:
    mine, other = version.precedence(), constraint.version.precedence()
    return (mine > other) - (mine < other)


def _differs(version: Version, constraint: _Constraint) -> bool:
    if constraint.parts == _MAX_PARTS:
        return _compares(version, constraint) != 0
    meant = max(constraint.parts, 1)
    if version.numbers[:meant] != constraint.version.numbers[:meant]:
        return True
    if constraint.parts == 0:
        return _compares(version, constraint) != 0
    if constraint.parts == 1:
        return False
    return precedence(version.pre) != precedence(constraint.version.pre)


def _is_greater(version: Version, constraint: _Constraint) -> bool:
    major, minor, _ = version.numbers
    if constraint.parts == _MAX_PARTS or major != constraint.version.numbers[0]:
        return _compares(version, constraint) > 0
    if constraint.parts == 0:
        return _compares(version, constraint) > 0
    return constraint.parts > 1 and minor > constraint.version.numbers[1]


def _is_less(version: Version, constraint: _Constraint) -> bool:
    return _compares(version, constraint) < 0


def _is_at_least(version: Version, constraint: _Constraint) -> bool:
    return _compares(version, constraint) >= 0


def _is_at_most(version: Version, constraint: _Constraint) -> bool:
    if constraint.parts == _MAX_PARTS:
        return _compares(version, constraint) <= 0
    meant = 1 if constraint.parts == 1 else len(("major", "minor"))
    return version.numbers[:meant] <= constraint.version.numbers[:meant]


def _equals(version: Version, constraint: _Constraint) -> bool:
    if constraint.parts < _MAX_PARTS:
        return _is_near(version, constraint)
    return _compares(version, constraint) == 0


def _is_near(version: Version, constraint: _Constraint) -> bool:
    """``~``: the last number given may be larger, or patches where there are three."""
    if _compares(version, constraint) < 0:
        return False
    wanted = constraint.version.numbers
    if not any(wanted) and constraint.parts in {0, _MAX_PARTS}:
        return True
    meant = 1 if constraint.parts == 1 else len(("major", "minor"))
    return version.numbers[:meant] == wanted[:meant]


def _is_compatible(version: Version, constraint: _Constraint) -> bool:
    """``^``: up to the next change of the first number that is not 0."""
    if _compares(version, constraint) < 0:
        return False
    major, minor, _ = wanted = constraint.version.numbers
    if major > 0 or constraint.parts == 1:
        meant = 1
    elif minor > 0 or constraint.parts == len(("major", "minor")):
        meant = 2
    else:
        meant = 3
    return version.numbers[:meant] == wanted[:meant]


_CHECKS: Final[dict[str, Callable[[Version, _Constraint], bool]]] = {
    "": _equals,
    "=": _equals,
    "!=": _differs,
    ">": _is_greater,
    "<": _is_less,
    ">=": _is_at_least,
    "=>": _is_at_least,
    "<=": _is_at_most,
    "=<": _is_at_most,
    "~": _is_near,
    "~>": _is_near,
    "^": _is_compatible,
}


def _compare(budget: Allocator, constraints: str, text: str) -> bool:
    budget.spend(len(constraints) * _STEPS_PER_CHARACTER)
    return check_version(whole(constraints), text)


FUNCTIONS: Final = (
    Function(name="semver", takes="string", call=Version.parse),
    Function(
        name="semverCompare",
        takes="string string",
        call=_compare,
        needs=Injects.BUDGET,
        gives="bool",
    ),
)
