"""Find out whether this system allows the namespaces that confine functions."""

import errno
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
        return "no other interpreter starts"
    if process.returncode == 0:
        return ""
    return f"unshare: {describe_errno(abs(process.returncode))}"


def describe_errno(number: int) -> str:
    """Return the meaning of an errno of a call that makes namespaces."""
    if number == errno.ENOSPC:
        return "no more user namespaces are allowed"
    return os.strerror(number or errno.EPERM).lower()
