"""What a hostile program is, and what may become of it.

Of a script, ``must`` holds the outcomes that are right; more than one where it depends on the
machine which limit comes first. ``ok`` is a result, ``program``, ``document`` and ``limit`` are
clean errors of the engine, ``killed`` is the end of the process (time, memory, crash) and nothing
but the process.
"""

from typing import NamedTuple

OK = frozenset({"ok"})
PROGRAM = frozenset({"program"})
DOCUMENT = frozenset({"document"})
LIMIT = frozenset({"limit"})
# Stopped by the engine where the interpreter asks, and with its process where it does not.
TIME = frozenset({"limit", "killed"})
KILLED = frozenset({"killed"})


class Hostile(NamedTuple):
    """One script. ``says`` is in the error's line, ``at`` its line and column."""

    id: str
    script: str
    must: frozenset[str]
    says: str = ""
    at: tuple[int, int | None] | None = None
    request: str = "{}"


class Attack(NamedTuple):
    """A template. ``expected`` is a part of the error's message, or with ``text`` the output."""

    id: str
    expected: str
    template: str
    text: bool = False


def main_of(*lines: str) -> str:
    """Return a script whose ``main`` has these lines."""
    return "def main(req):\n" + "".join(f"    {line}\n" for line in lines)
