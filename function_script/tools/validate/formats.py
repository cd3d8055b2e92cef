"""The formats of strings and numbers that the Kubernetes API server checks; it ignores others."""

from __future__ import annotations

import base64
import ipaddress
import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Final

from function_script import quantities

if TYPE_CHECKING:
    from collections.abc import Callable

_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_UUID: Final = re.compile(r"(?i)[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}")
_HOSTNAME: Final = re.compile(
    r"(?=.{1,253}\Z)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*"
)
_INTEGERS: Final = {"int32": 31, "int64": 63}


def is_valid(value: object, name: str) -> bool:
    """Whether ``value`` has the format ``name``; true where the format says nothing about it."""
    if isinstance(value, str):
        check = _TEXTS.get(name)
        return check is None or _passes(check, value)
    if isinstance(value, int) and name in _INTEGERS:
        bound = 1 << _INTEGERS[name]
        return -bound <= value < bound
    return True


def _passes(check: Callable[[str], object], text: str) -> bool:
    try:
        return bool(check(text))
    except ValueError:
        return False


def _is_time(text: str) -> bool:
    return bool(_TIME.fullmatch(text) and datetime.fromisoformat(text[:19].upper()))


def _is_base64(text: str) -> bool:
    base64.b64decode(text, validate=True)
    return True


def _is_duration(text: str) -> bool:
    quantities.parse_duration(text.removeprefix("-"))
    return True


_TEXTS: Final[dict[str, Callable[[str], object]]] = {
    "byte": _is_base64,
    "cidr": ipaddress.ip_interface,
    "date": date.fromisoformat,
    "date-time": _is_time,
    "duration": _is_duration,
    "hostname": _HOSTNAME.fullmatch,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "uuid": _UUID.fullmatch,
}
