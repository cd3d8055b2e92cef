"""Every example renders to its expected.yaml, or fails with its expected-error.txt.

Write them anew with `make goldens`, and review the difference as behaviour.
"""

import shutil
from pathlib import Path

import pytest
import yaml
from support.notes import without_note
from support.paths import ROOT

from function_script.cli import execute

EXAMPLES = sorted(
    path.parent
    for name in ("composition.yaml", "operation.yaml")
    for path in ROOT.glob(f"examples/*/{name}")
)


def command_for(example: Path) -> str:
    """How people render it."""
    is_operation = (example / "operation.yaml").exists()
    return f"render{' operation' if is_operation else ''} examples/{example.name}"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example(
    example: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    update_goldens: bool,
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("NO_COLOR", "1")
    code = execute(command_for(example).split())
    printed = capfd.readouterr()
    failed = code != 0
    expected = example / ("expected-error.txt" if failed else "expected.yaml")
    text = without_note(printed.err) if failed else printed.out
    if update_goldens:
        expected.write_text(text)
    assert expected.is_file(), text
    assert text == expected.read_text(), "run `make goldens` and review it"
    assert code in {0, 1}
    assert (printed.out == "") == failed


OBSERVING = [path for path in EXAMPLES if (path / "observed.yaml").exists()]


@pytest.mark.parametrize("example", OBSERVING, ids=lambda path: path.name)
def test_example_runs_before_anything_exists(example: Path, tmp_path: Path) -> None:
    copied = tmp_path / example.name
    shutil.copytree(example, copied, ignore=shutil.ignore_patterns("observed.yaml"))
    assert execute(["render", str(copied)]) == 0


NAME = "crossplane.io/composition-resource-name"
COMPOSING = [
    path for path in EXAMPLES if (path / "expected.yaml").exists() and path not in OBSERVING
]


def composed(path: Path) -> dict[str, dict[str, object]]:
    """The composed resources of a rendering, by name."""
    values = [value for value in yaml.safe_load_all(path.read_text()) if value]
    named = [value for value in values if NAME in value["metadata"].get("annotations", {})]
    return {value["metadata"]["annotations"][NAME]: value for value in named}


@pytest.mark.parametrize(
    "example",
    [path for path in COMPOSING if (path / "composition.yaml").exists()],
    ids=lambda path: path.name,
)
def test_example_keeps_its_resources_in_a_later_reconcile(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied = tmp_path / example.name
    shutil.copytree(example, copied)
    first = composed(example / "expected.yaml")
    (copied / "observed.yaml").write_text(yaml.safe_dump_all(first.values()))
    assert execute(["render", str(copied)]) == 0
    later = tmp_path / "later.yaml"
    later.write_text(capsys.readouterr().out)
    assert first.keys() <= composed(later).keys()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example_is_complete(example: Path) -> None:
    """An example is explained, and expects either a result or an error."""
    expected = [
        name for name in ("expected.yaml", "expected-error.txt") if (example / name).exists()
    ]
    assert len(expected) == 1
    readme = (example / "README.md").read_text()
    assert readme.startswith("# ")
    assert f"function-script {command_for(example)}" in readme


def test_examples_are_enough() -> None:
    """At least ten, or the folder was not found."""
    assert len(EXAMPLES) >= 10
