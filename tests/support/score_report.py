"""Tables that tests leave for the end of the run, also when they ran in another process (xdist).

A test module adds its lines through the fixture ``scoreboard``; conftest.py registers the plugin.
"""

from typing import Protocol

import pytest
from _pytest.terminal import TerminalReporter

_KEY = "scoreboard"


class Node(Protocol):
    """A worker of xdist; one that crashed has left nothing."""

    workeroutput: dict[str, object]


class Scoreboard:
    """The tables of this process, and in the main one those of its workers."""

    def __init__(self) -> None:
        self.tables: dict[str, list[str]] = {}

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A worker hands its tables over."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_KEY] = self.tables

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Node) -> None:
        """The main process takes those of a worker that ends."""
        scores = getattr(node, "workeroutput", {}).get(_KEY)
        if isinstance(scores, dict):
            self.tables |= scores

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """All of them, below the run's own summary."""
        for title, lines in sorted(self.tables.items()):
            terminalreporter.section(title)
            for line in lines:
                terminalreporter.write_line(line)
