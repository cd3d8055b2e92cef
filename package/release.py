"""Make what a release publishes, in dist/, up to the pushes; `make release` calls it.

Parts can be made alone: the workflow makes them on several machines. A part is made of the commit
and of no other file. The same commit gives the same bytes on the same machine.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "dist"
BUILD = ROOT / "build" / "release"
UNRELEASED = "## Unreleased\n"
CHECKSUMS = "SHA256SUMS"
NOTES = "NOTES.md"


@dataclass(frozen=True, kw_only=True)
class Release:
    """A commit to release: its files without others, its version and its time in seconds."""

    source: Path
    version: str
    revision: str
    epoch: int

    def run(self, *command: str | Path, **variables: str) -> None:
        """Run a command in the files of the commit; its failure ends this, too."""
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(self.epoch), **variables}
        subprocess.run(command, check=True, cwd=self.source, env=environment)  # noqa: S603


def main() -> None:
    """Make the parts that the command line names, by default all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tag", help="the tag that is released; it must be of this version")
    parser.add_argument(
        "parts", nargs="*", choices=[[], *PARTS], metavar="PART", help=", ".join(PARTS)
    )
    flags = parser.parse_args()
    release = check_out(flags.tag)
    TARGET.mkdir(exist_ok=True)
    for name in flags.parts or PARTS:
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()
        PARTS[name](release)


def check_out(tag: str | None) -> Release:
    """Copy the files of the commit, with the changelog's heading, to a directory of their own."""
    if git("status", "--porcelain"):
        sys.exit("cannot release: the checkout has changes that are not committed")
    source = BUILD / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    archive = BUILD / "source.tar"
    git("archive", "--output", str(archive), "HEAD")
    with tarfile.open(archive) as files:
        files.extractall(source, filter="tar")
    version = runpy.run_path(str(source / "function_script/texts/release.py"))["VERSION"]
    if tag not in {None, f"v{version}"}:
        sys.exit(f'cannot release "{tag}": function_script/texts/release.py has version {version}')
    epoch = int(git("log", "-1", "--format=%ct"))
    changelog = source / "CHANGELOG.md"
    heading = f"## {version} ({datetime.fromtimestamp(epoch, UTC):%Y-%m-%d})\n"
    changelog.write_text(changelog.read_text().replace(UNRELEASED, heading))
    return Release(source=source, version=version, revision=git("rev-parse", "HEAD"), epoch=epoch)


def git(*arguments: str) -> str:
    """Ask git about this checkout."""
    command = ["git", *arguments]
    return subprocess.run(  # noqa: S603 - the arguments are those above
        command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def write_notes(release: Release) -> None:
    """Write the changelog's section of the version, and the changelog with its heading."""
    text = (release.source / "CHANGELOG.md").read_text()
    pattern = rf"^## {re.escape(release.version)} .*\n((?s:.*?))(?=^## |\Z)"
    section = re.search(pattern, text, re.MULTILINE)
    if section is None:
        sys.exit(f"cannot write notes: CHANGELOG.md has no section {release.version}")
    (TARGET / NOTES).write_text(section[1].strip() + "\n")
    shutil.copy(release.source / "CHANGELOG.md", TARGET)


def build_sdist(release: Release) -> None:
    """Build the sdist; every file in it has the time of the commit."""
    command = (sys.executable, "-m", "build", "--sdist", "--no-isolation")
    release.run(*command, "--outdir", BUILD / "sdist")
    name = f"function_script-{release.version}.tar.gz"
    with (
        tarfile.open(BUILD / "sdist" / name) as files,
        (TARGET / name).open("wb") as file,
        gzip.GzipFile("", "wb", mtime=release.epoch, fileobj=file) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as copy,
    ):
        for member in sorted(files.getmembers(), key=lambda member: member.name):
            member.mtime = release.epoch
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.pax_headers = {}
            copy.addfile(member, files.extractfile(member) if member.isreg() else None)


def build_plain_wheel(release: Release) -> None:
    """Build the wheel of plain Python, for every system."""
    build_wheel(release, compiled="0")


def build_compiled_wheel(release: Release) -> None:
    """Build the compiled wheel for the Python that runs this."""
    build_wheel(release, compiled="1")


def build_wheel(release: Release, *, compiled: str) -> None:
    """Build a wheel with what is locked; nothing is fetched."""
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    command = (sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", TARGET, ".")
    release.run(*command, FUNCTION_SCRIPT_COMPILE=compiled)


def build_image(release: Release) -> None:
    """Build the image for this machine without Docker, and its bill of materials."""
    command = (sys.executable, "-m", "image.release", TARGET, release.revision, str(release.epoch))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    subprocess.run(command, check=True, cwd=ROOT, env=environment)  # noqa: S603


def build_packages(release: Release) -> None:
    """Build the package of each variant of the image that is there, with all its platforms."""
    for suffix in ("", "-otel"):
        images = sorted(TARGET.glob(f"function-script-runtime{suffix}-linux-*.tar"))
        flags = [word for image in images for word in ("--runtime-image", str(image))]
        if flags:
            output = TARGET / f"function-script{suffix}.xpkg"
            command = (sys.executable, "-m", "function_script.cli", "package", "build", "--quiet")
            release.run(*command, *flags, "--output", output)


def write_checksums(_: Release) -> None:
    """Write the SHA-256 of every file, in the form that `sha256sum --check` reads."""
    names = sorted(path.name for path in TARGET.iterdir() if path.name != CHECKSUMS)
    digests = [hashlib.sha256((TARGET / name).read_bytes()).hexdigest() for name in names]
    lines = [f"{digest}  {name}\n" for digest, name in zip(digests, names, strict=True)]
    (TARGET / CHECKSUMS).write_text("".join(lines))


PARTS: dict[str, Callable[[Release], None]] = {
    "notes": write_notes,
    "sdist": build_sdist,
    "plain-wheel": build_plain_wheel,
    "compiled-wheel": build_compiled_wheel,
    "image": build_image,
    "packages": build_packages,
    "checksums": write_checksums,
}

if __name__ == "__main__":
    main()
