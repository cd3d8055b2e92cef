"""Checks of texts as in the Kubernetes API server: formats, and patterns in RE2's syntax.

It ignores other formats, and those of numbers. Dashes in a format's name make no difference.
Patterns take linear time and bounded memory.
"""

import ipaddress
import re
from collections.abc import Callable
from datetime import date
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from function_script.engines import regular_expressions
from function_script.request import objects, quantities

_TIME: Final = re.compile(
    r"(?P<date>[^Tt]*)[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_HOSTNAME: Final = re.compile(
    r"(?=.{1,253}\Z)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*"
)
_SPELLED_OUT: Final = re.compile(r"(?<![0-9])[0-9]+\s*([A-Za-zµ]+)")
_UNITS: Final = {"ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"}
_LONG_UNITS: Final = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")
_BYTE: Final = r"(0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
_BASE64: Final = r"[A-Za-z0-9+/]"
_MAX_PATTERN_CHARACTERS: Final = 100_000
_MAX_PATTERN_BYTES: Final = 16 << 20
# Characters of pattern times characters of text: some seconds at worst.
_MAX_WORK: Final = 1 << 28

_Check = Callable[[str], object]


def is_known(name: str) -> bool:
    """Report whether the API server checks strings of this format."""
    return name.replace("-", "") in _CHECKS


def is_valid(text: str, name: str) -> bool:
    """Report whether ``text`` has the format ``name``, which must be a known one."""
    try:
        return bool(_CHECKS[name.replace("-", "")](text))
    except ValueError:
        return False


def _pattern(pattern: str) -> _Check:
    return re.compile(pattern).fullmatch


def _uuid(version: str = "[0-9a-f]", variant: str = "[0-9a-f]") -> _Check:
    last = f"{version}[0-9a-f]{{3}}-?{variant}[0-9a-f]{{3}}-?[0-9a-f]{{12}}"
    return _pattern(f"(?i:[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{last})")


def _is_time(text: str) -> bool:
    match = _TIME.fullmatch(text)
    return match is not None and bool(_is_date(match["date"]))


def _is_date(text: str) -> bool:
    return bool(_DATE.fullmatch(text) and date.fromisoformat(text))


def _is_duration(text: str) -> bool:
    """Accept Go's ``1m30s`` and spelled-out units: ``1 day``."""
    try:
        quantities.parse_duration(text.lstrip("+-"))
    except ValueError:
        units = [unit.lower() for unit in _SPELLED_OUT.findall(text)]
        return any(unit in _UNITS or unit.startswith(_LONG_UNITS) for unit in units)
    return True


def _is_cidr(text: str) -> bool:
    _, slash, bits = text.partition("/")
    return bool(slash and bits.isdigit() and ipaddress.ip_interface(text))


def _is_ipv6(text: str) -> bool:
    return "%" not in text and bool(ipaddress.IPv6Address(text))


def _is_uri(text: str) -> bool:
    """Accept an absolute URI or an absolute path."""
    return text.startswith("/") or bool(urlsplit(text).scheme)


_CHECKS: Final[dict[str, _Check]] = {
    "bsonobjectid": _pattern("[0-9A-Fa-f]{24}"),
    "byte": _pattern(f"({_BASE64}{{4}})*({_BASE64}{{2}}==|{_BASE64}{{3}}=|{_BASE64}{{4}})"),
    "cidr": _is_cidr,
    "date": _is_date,
    "datetime": _is_time,
    "duration": _is_duration,
    "email": _pattern(r"[^@<>]*<[^@\s<>]+@[^@\s<>]+>|[^@\s<>]+@[^@\s<>]+"),
    "hexcolor": _pattern("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": _HOSTNAME.fullmatch,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": _is_ipv6,
    "k8slongname": objects.is_subdomain,
    "k8sshortname": objects.is_label,
    "mac": _pattern("([0-9a-fA-F]{2}[:-]){5}([0-9a-fA-F]{2}[:-]){0,2}[0-9a-fA-F]{2}"),
    "rgbcolor": _pattern(rf"rgb\(\s*{_BYTE}\s*,\s*{_BYTE}\s*,\s*{_BYTE}\s*\)"),
    "ssn": _pattern("[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}"),
    "uri": _is_uri,
    "uuid": _uuid(),
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4", "[89ab]"),
    "uuid5": _uuid("5", "[89ab]"),
}


class NotEvaluatedError(Exception):
    """The pattern was not evaluated; the text is the reason."""


def is_match(pattern: str, text: str) -> bool:
    """Report whether a pattern matches anywhere in a text.

    Raises ValueError for what RE2 calls invalid, NotEvaluatedError for what exceeds the bounds.
    """
    if len(pattern) > _MAX_PATTERN_CHARACTERS or len(pattern) * len(text) > _MAX_WORK:
        raise NotEvaluatedError("it is too expensive for its length and that of the text")
    return _compile_within(pattern).search(text) is not None


@lru_cache(maxsize=512)
def _compile_within(pattern: str) -> regular_expressions.Pattern:
    try:
        return regular_expressions.compile_within(pattern, _MAX_PATTERN_BYTES)
    except regular_expressions.TooLargeError as error:
        raise NotEvaluatedError("it needs too much memory") from error
