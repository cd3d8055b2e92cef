"""The locked versions: one of each project, with hashes, the same wherever they are repeated."""

import re
import tomllib
from pathlib import Path

import pytest
from support.paths import ROOT

FILES = sorted((ROOT / "requirements").glob("*.txt"))
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
PIN = re.compile(r"([a-z0-9-]+)==(\S+)( ; [^\\]+)? \\")


def pins(file: Path) -> dict[str, str]:
    """Read which version of each project a file locks; other lines may only be hashes."""
    versions: dict[str, str] = {}
    for line in file.read_text().splitlines():
        pin = PIN.fullmatch(line)
        if pin:
            assert pin[1] not in versions
            versions[pin[1]] = pin[2]
        else:
            # Neither an index nor a link: those belong to the machine that installs.
            assert HASH.fullmatch(line) or line.lstrip().startswith("#"), line
    return versions


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_version_has_hashes(file: Path) -> None:
    """So that pip takes them with --require-hashes."""
    assert pins(file)
    for entry in re.split(r"\n(?=[a-z])", file.read_text()):
        assert "--hash=sha256:" in entry, entry


def test_project_has_one_version() -> None:
    """What is tested is what the image has, and what builds it."""
    versions: dict[str, set[str]] = {}
    for file in FILES:
        for name, version in pins(file).items():
            versions.setdefault(name, set()).add(version)
    assert {name: seen for name, seen in versions.items() if len(seen) > 1} == {}


def test_build_pins_the_mypy_that_is_tested() -> None:
    """The next mypyc may refuse the sources, or compile them to something else."""
    version = pins(ROOT / "requirements/build.txt")["mypy"]
    assert f'"mypy=={version}"' in (ROOT / "setup.py").read_text()
    assert f"mypy=={version}" in (ROOT / "requirements/build.in").read_text().splitlines()
    assert pins(ROOT / "requirements/dev.txt")["mypy"] == version


def read_extra(name: str) -> set[str]:
    """Read the projects of an extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return {
        re.split(r"[<>=]", line)[0] for line in project["project"]["optional-dependencies"][name]
    }


def test_image_has_what_is_tested_and_no_exporter() -> None:
    """All of the runtime but the build tool of .venv, and the project of crypto."""
    image = set(pins(ROOT / "requirements/image.txt"))
    assert set(pins(ROOT / "requirements/runtime.txt")) - image == {"setuptools"}
    assert read_extra("crypto") <= image
    assert not [name for name in image if name.startswith("opentelemetry")]


def test_otel_image_has_an_exporter_beside_all_of_the_other() -> None:
    """So a change of image changes nothing but traces."""
    image = set(pins(ROOT / "requirements/image-otel.txt"))
    assert set(pins(ROOT / "requirements/image.txt")) | read_extra("otel") <= image
