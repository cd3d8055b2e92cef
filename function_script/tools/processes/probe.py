"""Find out whether this system allows the namespaces that confine functions."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from typing import Final

# Of its own, because a process cannot leave a namespace.
_UNSHARE: Final = """\
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
raise SystemExit(ctypes.get_errno() if libc.unshare(0x7E020000) else 0)
"""
_SECONDS: Final = 10.0


@cache
def find_refusal() -> str:
    """Return why functions cannot be confined, or "" if they can."""
    try:
        process = subprocess.run(  # noqa: S603 - our own interpreter and program
            [sys.executable, "-I", "-S", "-c", _UNSHARE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "it does not start another interpreter"
    if process.returncode == 0:
        return ""
    return f"it allows no namespaces (unshare: {os.strerror(abs(process.returncode)).lower()})"
