"""The installed wheel has all data files of the tools."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.paths import ROOT

COPIED = ("function_script", "input_crds", "pyproject.toml", "setup.py", "README.md", "LICENSE")
INPUT = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: things}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: Thing}
  pipeline:
    - step: compose
      functionRef: {name: function-script}
      input: {apiVersion: script.fn.crossplane.io/v1beta1, kind: JinjaTemplate, inlin: "a: 1"}
"""


def copy_sources(target: Path) -> None:
    """Copy the project without build results, so that nothing stale gets into the wheel."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.so")
            shutil.copytree(source, target / name, symlinks=True, ignore=ignored)
        elif source.exists():
            shutil.copy(source, target / name)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the wheel's content."""
    work = tmp_path_factory.mktemp("wheel")
    copy_sources(work)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    subprocess.run(
        [*command, "--no-build-isolation", "--wheel-dir", work / "dist", "."],
        cwd=work,
        check=True,
    )
    (wheel,) = (work / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(work / "site")
    return work / "site"


def run(installed: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the wheel first on its path, outside of the checkout."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_wheel_is_what_runs(installed: Path, tmp_path: Path) -> None:
    """Otherwise the tests below would prove nothing."""
    process = run(installed, tmp_path, "-c", "import function_script as f; print(f.__file__)")
    assert Path(process.stdout.strip()).is_relative_to(installed)


def test_validate_knows_our_kinds(installed: Path, tmp_path: Path) -> None:
    """The wheel has the CRDs of the inputs."""
    (tmp_path / "composition.yaml").write_text(INPUT)
    arguments = ("-m", "function_script", "validate", "composition.yaml", "composition.yaml")
    process = run(installed, tmp_path, *arguments)
    assert process.returncode == 1
    assert 'unknown field: "inlin"' in process.stdout
    assert "could not find" not in process.stdout


def test_wheel_leaves_no_file_out(installed: Path) -> None:
    """Every file of the package except caches is in the wheel."""
    names = {".py", ".pyi", ".star", ".yaml", ".typed"}
    expected = {
        path.relative_to(ROOT)
        for path in (ROOT / "function_script").rglob("*")
        if path.suffix in names or path.name == "py.typed"
    }
    paths = {path.relative_to(installed) for path in installed.rglob("*")}
    assert sorted(map(str, expected - paths)) == []


def test_version_says_that_it_is_plain(installed: Path, tmp_path: Path) -> None:
    """Nothing compiles unless it is asked for."""
    process = run(installed, tmp_path, "-m", "function_script", "version")
    assert process.stdout.endswith(", plain Python)\n")


def test_licence_comes_with_it(installed: Path) -> None:
    """It is where tools look for it."""
    (licence,) = installed.glob("*.dist-info/licenses/LICENSE")
    assert licence.read_bytes() == (ROOT / "LICENSE").read_bytes()
