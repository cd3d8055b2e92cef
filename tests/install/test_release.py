"""Parts of `make release` that take no minutes: of a commit, and twice the same bytes."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from install.machine import check_out, run

from function_script.texts import release

PARTS = ("notes", "sdist", "plain-wheel", "packages", "checksums")
WHEEL = f"function_script-{release.VERSION}-py3-none-any.whl"
SDIST = f"function_script-{release.VERSION}.tar.gz"

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean clone, with a commit of its own."""
    directory = check_out(tmp_path_factory.mktemp("release") / "checkout")
    who = (
        "-c",
        "user.name=test",
        "-c",
        "user.email=test@example.org",
        "-c",
        "commit.gpgsign=false",
    )
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "release")):
        run(["git", *command], directory)
    return directory


def make(checkout: Path, *arguments: str, code: int = 0) -> str:
    """Run the program of the checkout."""
    return run([sys.executable, "package/release.py", *arguments], checkout, code=code)


def digests(directory: Path) -> dict[str, str]:
    """Compute the digests of a directory's files."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.iterdir())
    }


def test_two_releases_of_a_commit_are_the_same_bytes(checkout: Path) -> None:
    """And the checksums are those of the files, which a changed byte does not have."""
    make(checkout, *PARTS)
    first = digests(checkout / "dist")
    run(["rm", "-rf", "dist", "build"], checkout)
    make(checkout, *PARTS)
    assert digests(checkout / "dist") == first
    assert set(first) == {"CHANGELOG.md", "NOTES.md", "SHA256SUMS", WHEEL, SDIST}
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    run([*check], checkout / "dist")
    data = bytearray((checkout / "dist" / WHEEL).read_bytes())
    data[len(data) // 2] ^= 1
    (checkout / "dist" / WHEEL).write_bytes(data)
    assert f"{WHEEL}: FAILED" in run([*check], checkout / "dist", code=1)


def test_unreleased_becomes_the_version(checkout: Path) -> None:
    """In the changelog of the sdist, and in the one for the commit after the tag."""
    make(checkout, "notes")
    heading = f"## {release.VERSION} (20"
    assert heading in (checkout / "dist" / "CHANGELOG.md").read_text()
    notes = (checkout / "dist" / "NOTES.md").read_text()
    assert notes.strip()
    assert "\n## " not in notes
    assert "## Unreleased" in (checkout / "CHANGELOG.md").read_text()


def test_tag_of_another_version_is_refused(checkout: Path) -> None:
    """And the one of this version is not."""
    error = make(checkout, "--tag", "v9.9.9", "notes", code=1)
    assert (
        f'cannot release "v9.9.9": function_script/texts/release.py has version {release.VERSION}'
        in error
    )
    make(checkout, "--tag", f"v{release.VERSION}", "notes")


def test_changed_checkout_is_refused(checkout: Path) -> None:
    """What is released is a commit."""
    file = checkout / "new.txt"
    file.write_text("")
    assert "changes that are not committed" in make(checkout, "notes", code=1)
    file.unlink()


def test_file_that_git_ignores_is_in_no_part(checkout: Path) -> None:
    """Neither of an earlier build nor of an editor."""
    stray = checkout / "function_script" / "stray.so"
    stray.write_text("")
    make(checkout, "plain-wheel")
    listing = subprocess.run(
        [sys.executable, "-m", "zipfile", "--list", checkout / "dist" / WHEEL],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "stray" not in listing
    assert "licenses/NOTICE" in listing
    stray.unlink()
