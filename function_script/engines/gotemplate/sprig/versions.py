"""Semantic versions as values of templates: ``(semver "1.2.3").Minor``.

Read leniently, as Go's package Masterminds/semver does: ``v1.2`` is 1.2.0.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final, Self

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Function
from function_script.engines.gotemplate.values import Int, Struct, Uint64

if TYPE_CHECKING:
    from collections.abc import Callable

IDENTIFIERS: Final = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION: Final = re.compile(
    r"v?(?P<major>[0-9]+)(?:\.(?P<minor>[0-9]+))?(?:\.(?P<patch>[0-9]+))?"
    rf"(?:-(?P<pre>{IDENTIFIERS}))?(?:\+(?P<metadata>{IDENTIFIERS}))?"
)
_MAX_UINT64: Final = (1 << 64) - 1
_MAX_DIGITS: Final = len(str(_MAX_UINT64))
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
        """A version from its text; raises CallError."""
        match = _VERSION.fullmatch(text)
        if match is None:
            raise CallError("invalid semantic version")
        major, minor, patch = (_number(match[part] or "0") for part in ("major", "minor", "patch"))
        pre = match["pre"] or ""
        _check_pre(pre)
        return cls((major, minor, patch), pre, match["metadata"] or "", text)

    def text(self) -> str:
        """``1.2.3-rc.1+build``."""
        pre = f"-{self.pre}" if self.pre else ""
        metadata = f"+{self.metadata}" if self.metadata else ""
        return ".".join(map(str, self.numbers)) + pre + metadata

    def json(self) -> object:
        """The text."""
        return self.text()

    def yaml(self) -> object:
        """The text."""
        return self.text()

    def precedence(self) -> tuple[tuple[int, ...], tuple[object, ...]]:
        """What versions are compared by: a release comes after its pre-releases."""
        return self.numbers, precedence(self.pre) if self.pre else _LATER

    def method(self, name: str) -> Function | None:
        """Go's methods of this type."""
        if name == "Original":
            return Function(name=name, takes="", call=lambda: self.original)
        if name in _PARTS:
            return Function(name=name, takes="", call=partial(_PARTS[name], self))
        if name in _COMPARISONS:
            takes = f"*{self.go_type}"
            return Function(name=name, takes=takes, call=partial(_COMPARISONS[name], self))
        if name in _SETTERS:
            return Function(name=name, takes="string", call=partial(_SETTERS[name], self))
        return None


class ChangedVersion(Version):
    """A version made from another: Go gives the value itself, which has fewer methods."""

    __slots__ = ()
    pointer = False

    def method(self, name: str) -> Function | None:
        """Go's methods of the value."""
        return super().method(name) if name in _PARTS or name in _SETTERS else None


def precedence(pre: str) -> tuple[object, ...]:
    """What pre-releases are compared by: part by part, numbers come before words."""
    return 0, [_part(part) for part in pre.split(".")]


def _part(part: str) -> tuple[int, int, str]:
    if part.isdecimal() and len(part) <= _MAX_DIGITS and int(part) <= _MAX_UINT64:
        return 0, int(part), ""
    return 1 if part else -1, 0, part


def _number(digits: str) -> int:
    significant = digits.lstrip("0") or "0"
    if len(significant) > _MAX_DIGITS or int(significant) > _MAX_UINT64:
        cause = f'strconv.ParseUint: parsing "{digits}": value out of range'
        raise CallError(f"error parsing version segment: {cause}")
    return int(significant)


def _check_pre(pre: str) -> None:
    for part in pre.split("."):
        if part.isdecimal() and len(part) > 1 and part.startswith("0"):
            raise CallError("version segment starts with 0")


def _next(major: int, minor: int, patch: int) -> Version:
    return ChangedVersion((major & _MAX_UINT64, minor & _MAX_UINT64, patch & _MAX_UINT64))


def _next_patch(version: Version) -> Version:
    major, minor, patch = version.numbers
    return _next(major, minor, patch if version.pre else patch + 1)


def _next_minor(version: Version) -> Version:
    return _next(version.numbers[0], version.numbers[1] + 1, 0)


def _next_major(version: Version) -> Version:
    return _next(version.numbers[0] + 1, 0, 0)


def _with_pre(version: Version, pre: str) -> Version:
    if pre and re.fullmatch(IDENTIFIERS, pre) is None:
        raise CallError("invalid prerelease string")
    _check_pre(pre)
    return ChangedVersion(version.numbers, pre, version.metadata)


def _with_metadata(version: Version, metadata: str) -> Version:
    if metadata and re.fullmatch(IDENTIFIERS, metadata) is None:
        raise CallError("invalid metadata string")
    return ChangedVersion(version.numbers, version.pre, metadata)


def _compare(left: Version, right: Version) -> Int:
    mine, other = left.precedence(), right.precedence()
    return Int((mine > other) - (mine < other))


_PARTS: Final[dict[str, Callable[[Version], object]]] = {
    "Major": lambda version: Uint64(version.numbers[0]),
    "Minor": lambda version: Uint64(version.numbers[1]),
    "Patch": lambda version: Uint64(version.numbers[2]),
    "Prerelease": lambda version: version.pre,
    "Metadata": lambda version: version.metadata,
    "String": Version.text,
    "IncMajor": _next_major,
    "IncMinor": _next_minor,
    "IncPatch": _next_patch,
}
_COMPARISONS: Final[dict[str, Callable[[Version, Version], object]]] = {
    "Compare": _compare,
    "Equal": lambda left, right: _compare(left, right) == 0,
    "LessThan": lambda left, right: _compare(left, right) < 0,
    "LessThanEqual": lambda left, right: _compare(left, right) <= 0,
    "GreaterThan": lambda left, right: _compare(left, right) > 0,
    "GreaterThanEqual": lambda left, right: _compare(left, right) >= 0,
}
_SETTERS: Final[dict[str, Callable[[Version, str], object]]] = {
    "SetPrerelease": _with_pre,
    "SetMetadata": _with_metadata,
}
