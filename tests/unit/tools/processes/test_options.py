"""The choices of a command about packages."""

from pathlib import Path

import pytest

from function_script.tools.processes.options import default_root


def test_directory_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert default_root() == tmp_path / ".cache" / "function-script"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert default_root() == tmp_path / "elsewhere" / "function-script"
    # The specification of these variables ignores relative paths.
    monkeypatch.setenv("XDG_CACHE_HOME", "elsewhere")
    assert default_root() == tmp_path / ".cache" / "function-script"
