"""Saving from the page: the files that it opened, in the version that it has seen."""

from pathlib import Path

import pytest

from function_script.texts.errors import InputError
from function_script.tools.playground import folders
from function_script.tools.project import Project


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A folder that can be opened, below a root with other files."""
    folder = tmp_path / "root" / "app"
    folder.mkdir(parents=True)
    for name in (folders.COMPOSITION, folders.XR):
        (folder / name).write_text(f"# {name}\n")
    (folder / "README.md").write_text("text\n")
    (tmp_path / "outside.yaml").write_text("a: 1\n")
    return folder


def open_folder(directory: Path) -> tuple[folders.Folder, dict[str, folders.File]]:
    """Return the folder as the page gets it."""
    folder = folders.find(directory.parent, Project([directory.parent]))["app"]
    return folder, folder.load()[0]


def test_file_is_written_and_its_new_digest_returned(directory: Path) -> None:
    folder, files = open_folder(directory)
    digest, _ = folder.save("xr.yaml", "a: 1\n", files["xr.yaml"].digest)
    assert (directory / "xr.yaml").read_text() == "a: 1\n"
    assert folder.load()[0]["xr.yaml"].digest == digest == folder.compute_digests()["xr.yaml"]


def test_version_on_disk_that_differs_is_a_conflict(directory: Path) -> None:
    folder, files = open_folder(directory)
    (directory / "xr.yaml").write_text("b: 2\n")
    saved, current = folder.save("xr.yaml", "a: 1\n", files["xr.yaml"].digest)
    assert saved is None
    assert current.text == (directory / "xr.yaml").read_text() == "b: 2\n"


def test_new_file_is_not_written_over_another(directory: Path) -> None:
    folder, _ = open_folder(directory)
    (directory / "required.yaml").write_text("b: 2\n")
    assert folder.save("required.yaml", "a: 1\n", None)[0] is None
    assert (directory / "required.yaml").read_text() == "b: 2\n"


@pytest.mark.parametrize(
    "name",
    [
        *("README.md", "../../outside.yaml", "/etc/passwd", "", ".", "programs/new.star"),
        *("xr.yaml/..", "a\0b", "context/../xr.yaml", "../app/xr.yaml", ".git/config"),
    ],
)
def test_other_files_are_refused(directory: Path, name: str) -> None:
    folder, _ = open_folder(directory)
    files = {path: path.read_bytes() for path in directory.parents[1].rglob("*") if path.is_file()}
    for digest in (None, folders.to_digest(b"text\n"), folders.to_digest(b"a: 1\n")):
        with pytest.raises(InputError, match="has not opened it"):
            folder.save(name, "stolen", digest)
    assert {path: path.read_bytes() for path in files} == files


def test_link_out_of_the_root_is_refused(directory: Path) -> None:
    outside = directory.parents[1] / "outside.yaml"
    (directory / "xr.yaml").unlink()
    (directory / "xr.yaml").symlink_to(outside)
    folder, files = open_folder(directory)
    assert "xr.yaml" not in files
    folder.opened_names.add("xr.yaml")
    with pytest.raises(InputError, match="which is outside of"):
        folder.save("xr.yaml", "stolen", folders.to_digest(b"a: 1\n"))
    assert outside.read_text() == "a: 1\n"


def test_link_inside_the_root_is_not_written_through(directory: Path) -> None:
    shared = directory.parent / "shared.yaml"
    shared.write_text("a: 1\n")
    (directory / "xr.yaml").unlink()
    (directory / "xr.yaml").symlink_to(shared)
    folder, files = open_folder(directory)
    with pytest.raises(InputError, match="it is a link"):
        folder.save("xr.yaml", "b: 2\n", files["xr.yaml"].digest)
    assert (directory / "xr.yaml").is_symlink()
    assert shared.read_text() == "a: 1\n"


def test_starter_is_refused(tmp_path: Path) -> None:
    folder = folders.find(tmp_path, Project([tmp_path]))["starter: jinja"]
    with pytest.raises(InputError, match="a starter is no folder on disk"):
        folder.save("xr.yaml", "", folder.load()[0]["xr.yaml"].digest)


def test_failure_leaves_the_file_and_nothing_else(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, files = open_folder(directory)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(InputError, match="no space left"):
        folder.save("xr.yaml", "a: 1\n", files["xr.yaml"].digest)
    assert sorted(path.name for path in directory.iterdir()) == [
        *("README.md", "composition.yaml", "xr.yaml"),
    ]
    assert (directory / "xr.yaml").read_text() == "# xr.yaml\n"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"\xff\n", "it is not UTF-8 text", id="bytes"),
        pytest.param(b"a\r\nb\n", "its line ends are mixed", id="mixed"),
        pytest.param(b"a\rb\r", "its line ends are mixed", id="carriage-returns"),
        pytest.param(b"a" * ((1 << 20) + 1), "it is larger than 1 MiB", id="large"),
    ],
)
def test_file_that_could_not_be_written_back_is_not_opened(
    directory: Path, data: bytes, reason: str
) -> None:
    (directory / "observed.yaml").write_bytes(data)
    folder, files = open_folder(directory)
    assert "observed.yaml" not in files
    assert folder.load()[1] == {"observed.yaml": reason}
    with pytest.raises(InputError, match="cannot save"):
        folder.save("observed.yaml", "", folders.to_digest(data))
    assert (directory / "observed.yaml").read_bytes() == data
