"""A pytest plugin that collects case files; for those who ask for it, and nobody else.

Enabled by ``-p function_script.testing.plugin``, or by ``pytest_plugins`` in a conftest.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from function_script import testing
from function_script.errors import FatalError
from function_script.tools import console
from function_script.tools.cases import discovery, parser, reports, runner
from function_script.tools.cases.loader import FileCache
from function_script.tools.render.runners import FunctionCaller

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_files = pytest.StashKey[FileCache]()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseModule | None:
    """Files with the name of a case."""
    if not discovery.is_case(file_path):
        return None
    module: CaseModule = CaseModule.from_parent(parent, path=file_path)
    return module


class CaseModule(pytest.File):
    """The file of a case."""

    def collect(self) -> Iterator[CaseItem]:
        """The one case in it."""
        yield CaseItem.from_parent(self, name="case")


class CaseItem(pytest.Item):
    """One case, run as `function-script test --ci` runs it: no file is written."""

    def runtest(self) -> None:
        """Fails with what the command prints below the case's line."""
        problem = self._problem()
        if problem:
            pytest.fail(problem, pytrace=False)

    def _problem(self) -> str | None:
        files = self.config.stash.setdefault(_files, FileCache())
        try:
            case = parser.parse(discovery.CaseFile(path=self.path), files)
        except FatalError as error:
            return console.to_text(error.diagnostics)
        caller = FunctionCaller(pool=testing.pool(case.setup.program.root), print=print)
        verdict = runner.run(case, self.path, caller, runner.RunOptions(may_create_snapshots=False))
        return None if reports.is_success([verdict]) else reports.to_text(verdict)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The case's file stands for it in reports."""
        return self.path, None, discovery.CaseFile(path=self.path).name
