"""The images on disk: complete or not there."""

import threading
from pathlib import Path

import pytest

from function_script.texts.errors import InputError
from function_script.tools.processes import cache
from function_script.tools.processes.cache import ROOT_FILES, ImageCache
from function_script.tools.processes.options import default_root

DIGEST = "sha256:" + "a" * 64


def fill(directory: Path) -> None:
    (directory / "function").write_text("x")


def test_image_is_found_by_its_digest_and_its_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = ImageCache(tmp_path)
    image = images.add(DIGEST, {"os": "linux"}, fill)
    images.add_reference("registry/a:v1", DIGEST)
    assert images.image(DIGEST) == images.find("registry/a:v1") == image
    assert (image.directory / ROOT_FILES / "function").read_text() == "x"
    assert images.find("registry/a:v2") is None
    monkeypatch.setattr(cache, "this_platform", lambda: "linux/another")
    assert images.find("registry/a:v1") is None


def test_image_whose_files_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    def fail(directory: Path) -> None:
        fill(directory)
        raise ValueError("a broken layer")

    images = ImageCache(tmp_path)
    with pytest.raises(ValueError, match="a broken layer"):
        images.add(DIGEST, {}, fail)
    assert images.image(DIGEST) is None
    assert [path.name for path in (tmp_path / "images").iterdir()] == [f"sha256-{'a' * 64}.lock"]


def test_part_of_a_command_that_was_killed_is_replaced(tmp_path: Path) -> None:
    partial = tmp_path / "images" / f"sha256-{'a' * 64}.partial" / ROOT_FILES
    partial.mkdir(parents=True)
    (partial / "half").write_text("x")
    images = ImageCache(tmp_path)
    assert images.image(DIGEST) is None
    image = images.add(DIGEST, {}, fill)
    assert [path.name for path in (image.directory / ROOT_FILES).iterdir()] == ["function"]
    assert not partial.exists()


def test_image_is_unpacked_once_by_two_commands(tmp_path: Path) -> None:
    entered, release, calls = threading.Event(), threading.Event(), []

    def unpack(directory: Path) -> None:
        calls.append(directory)
        entered.set()
        assert release.wait(10)
        fill(directory)

    # Each with an object of its own, as two commands.
    threads = [
        threading.Thread(target=lambda: ImageCache(tmp_path).add(DIGEST, {}, unpack))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    assert entered.wait(10)
    assert ImageCache(tmp_path).image(DIGEST) is None
    release.set()
    for thread in threads:
        thread.join(10)
    assert len(calls) == 1
    assert ImageCache(tmp_path).image(DIGEST) is not None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"digest": 1}', '{"digest": "../../etc"}', '{"digest": "sha256:.."}'],
)
def test_reference_file_that_is_broken_is_no_answer(tmp_path: Path, text: str) -> None:
    images = ImageCache(tmp_path)
    images.add(DIGEST, {}, fill)
    images.add_reference("registry/a:v1", DIGEST)
    (path,) = (tmp_path / "references").iterdir()
    path.write_text(text)
    assert images.find("registry/a:v1") is None


def test_cache_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r'cannot write into the cache ".*": not a directory'):
        ImageCache(tmp_path / "file").add(DIGEST, {}, fill)


def test_directory_of_the_cache_is_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert default_root() == tmp_path / ".cache" / "function-script"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert default_root() == tmp_path / "elsewhere" / "function-script"
    # The specification of these variables ignores relative paths.
    monkeypatch.setenv("XDG_CACHE_HOME", "elsewhere")
    assert default_root() == tmp_path / ".cache" / "function-script"
