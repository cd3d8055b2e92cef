"""The operator's salt: read, checked, re-read, and derived from."""

import os
from pathlib import Path

import pytest
from support import builders

from function_script.request import salt
from function_script.request.salt import SaltFile
from function_script.texts.errors import InputError

REQUEST = builders.request().SerializeToString()


@pytest.fixture(autouse=True)
def _checks_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(salt, "_CHECK_SECONDS", 0.0)


def write(path: Path, text: str) -> Path:
    """Replace a file as Kubernetes does: by another one of the same name."""
    other = path.with_name("other")
    other.write_text(text)
    other.rename(path)
    return path


def test_salt_of_a_mounted_secret_is_read_again_when_kubelet_writes_it(tmp_path: Path) -> None:
    """Each file is a link into a directory, which is itself a link that kubelet replaces."""

    def mount(version: str, text: str) -> None:
        (tmp_path / version).mkdir()
        (tmp_path / version / "salt").write_text(text)
        (tmp_path / "..tmp").symlink_to(version)
        (tmp_path / "..tmp").rename(tmp_path / "..data")

    mount("..first", "a salt of enough bytes")
    (tmp_path / "salt").symlink_to("..data/salt")
    file = SaltFile(tmp_path / "salt")
    before = file.derive_seed(REQUEST)
    mount("..second", "another salt of enough bytes")
    after = file.derive_seed(REQUEST)
    assert after != before
    mount("..third", "a salt of enough bytes\n")
    assert file.derive_seed(REQUEST) == before


def test_salt_that_becomes_invalid_is_kept_with_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path / "salt", "a salt of enough bytes")
    file = SaltFile(path)
    before = file.derive_seed(REQUEST)
    write(path, "short")
    assert file.derive_seed(REQUEST) == before
    path.unlink()
    assert file.derive_seed(REQUEST) == before
    assert file.derive_seed(REQUEST) == before
    assert caplog.text.count("keeping the old salt") == 2
    assert "short" not in caplog.text


@pytest.mark.parametrize("content", ["", "fifteen bytes..", "x" * 70_000])
def test_salt_of_a_wrong_length_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(InputError, match="its length must be from 16 to 65536 bytes"):
        SaltFile(write(tmp_path / "salt", content))


def test_salt_that_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the salt"):
        SaltFile(tmp_path / "missing")
    with pytest.raises(InputError, match="cannot read the salt"):
        SaltFile(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="cannot read the salt"):
        SaltFile(tmp_path / "pipe")
