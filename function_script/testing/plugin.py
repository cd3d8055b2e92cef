"""A pytest plugin that collects case files.

It is not an entry point: enable it by ``-p function_script.testing.plugin``, or by
``pytest_plugins`` in a conftest.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from function_script import testing
from function_script.texts.errors import FatalError
from function_script.tools import console
from function_script.tools.cases import model, parser, runner, verdicts
from function_script.tools.cases.loader import FileCache
from function_script.tools.project import Project
from function_script.tools.render import renderer

_SEED_FILE: Final = "function_script_seed_file"
_files = pytest.StashKey[FileCache]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of the ini file that names the file with the salt."""
    parser.addini(_SEED_FILE, "file with the salt of random values, as --seed-file", type="paths")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseModule | None:
    """Collect the files with the name of a case."""
    if not model.is_case(file_path):
        return None
    module: CaseModule = CaseModule.from_parent(parent, path=file_path)
    return module


class CaseModule(pytest.File):
    """The file of a case."""

    def collect(self) -> Iterator[CaseItem]:
        """Yield the case of the file."""
        yield CaseItem.from_parent(self, name="case")


class CaseItem(pytest.Item):
    """One case, run as by `function-script test --ci`: no file is written."""

    def runtest(self) -> None:
        """Run the case; a failure has the text that the command prints below the case's line."""
        project = Project([self.config.rootpath])
        files = self.config.stash.setdefault(_files, FileCache(project))
        try:
            case = parser.parse(self.path, files)
            pool = testing.pool(*self.config.getini(_SEED_FILE)[:1])
        except FatalError as error:
            text = "\n\n".join(map(console.to_frame, error.diagnostics))
            raise pytest.fail.Exception(text, pytrace=False) from None
        options = runner.RunOptions(rendering=renderer.Options(servers=testing.SERVERS))
        verdict = runner.run(case, pool, options)
        if not verdicts.is_success([verdict]):
            pytest.fail(verdicts.to_text(verdict), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the case's file and name for reports."""
        return self.path, None, model.name_of(self.path)
