"""The project of the tests of plans."""

from pathlib import Path

import pytest
from support.plans import COMPOSITION


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the Composition before the change in ``old`` and after it in ``new``."""
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "composition.yaml").write_text(COMPOSITION)
    monkeypatch.chdir(tmp_path)
    return tmp_path
