"""Which clock is read where: one that is set by hand or by NTP decides nothing."""

import ast
import re

import pytest
from support.paths import ROOT

PACKAGE = ROOT / "function_script"
# Functions that tell the time of day, by the names that modules call them.
WALL_CLOCKS = {
    *("time.time", "time.time_ns", "time.localtime", "time.ctime", "time.CLOCK_REALTIME")
} | {
    f"{name}.{method}"
    for name in ("datetime", "date", "dt.datetime", "datetime.datetime")
    for method in ("now", "utcnow", "today")
}
IMPORT = re.compile(r"^\s*(?:import|from) (?:time|datetime)\b", re.MULTILINE)
ATTRIBUTES = {name.rpartition(".")[2] for name in WALL_CLOCKS}
# Who says when something was: nothing that waits, limits or forgets.
STAMPING = {
    "server/certificates.py": "a warning that a certificate is not valid on this day",
    "server/log.py": "each line's time",
    "server/tracing.py": "where spans begin and end",
    "testing/__init__.py": "the age of a file, which the file system stamps",
    "tools/render/engine.py": "the scheduled time of a rendered CronOperation",
}


def wall_clocks(source: str) -> set[str]:
    """What a module reads the time of day with."""
    tree = ast.parse(source)
    functions = {
        f"time.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "time"
        for alias in node.names
    }
    read = {
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES
    }
    return (read | functions) & WALL_CLOCKS


def test_time_of_day_is_read_for_stamps_only() -> None:
    """Limits, deadlines, pace, patience and TTLs do not know it."""
    sources = {path: path.read_text() for path in PACKAGE.rglob("*.py")}
    readers = {
        str(path.relative_to(PACKAGE))
        for path, source in sources.items()
        if IMPORT.search(source) and wall_clocks(source)
    }
    assert readers == STAMPING.keys()


@pytest.mark.parametrize(
    "source",
    ["import time\ntime.time()", "from time import time", "dt.datetime.now(UTC)", "date.today"],
)
def test_clock_reading_in_any_spelling_is_found(source: str) -> None:
    """By import, by call, and without one."""
    assert wall_clocks(source)
