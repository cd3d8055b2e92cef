"""Durations as Go writes them and sizes as Kubernetes writes them, as plain numbers."""

from __future__ import annotations

import re

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([kMGT]i?|Ki)?")
_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY_UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def parse_duration(text: str) -> float:
    """Seconds in a Go duration such as ``1m30s``; ValueError says how to write one."""
    parts = list(_PART.finditer(text))
    whole = "".join(part.group() for part in parts)
    if text == "0":
        return 0.0
    if not parts or whole != text:
        raise ValueError(f'cannot parse duration "{text}": write a number and a unit, as in "90s"')
    return sum(float(part[1]) * _SECONDS[part[2]] for part in parts)


def parse_size(text: str) -> int:
    """Bytes in a Kubernetes quantity such as ``256Mi``; ValueError says how to write one."""
    found = _SIZE.fullmatch(text)
    if found is None or found[2] == "ki":
        raise ValueError(f'cannot parse size "{text}": write a number and a unit, as in "256Mi"')
    unit = found[2] or ""
    return int(float(found[1]) * (_BINARY_UNITS.get(unit) or _UNITS[unit]))
