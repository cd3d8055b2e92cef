"""README, tutorial and how-tos, done to the letter by somebody who has nothing but the page."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from support import walk
from support.paths import ROOT

from function_script import documents
from function_script.cli.serve import serve
from function_script.request import objects
from function_script.texts.source import Source

PAGES = [
    *(ROOT / name for name in ("README.md", "package/README.md", "examples/install/README.md")),
    *sorted(ROOT.glob("docs/tutorial/*.md")),
    *sorted(ROOT.glob("docs/how-to/*.md")),
]
# The commands that are not run here, and why.
EXCUSED = {
    **walk.OUTSIDE,
    r"skopeo |for suffix in .* skopeo ": "copies between two registries",
    r"pip download ": "an index",
    r"function-script playground ": "serves until it is stopped",
    r"function-script run request\.json --function xpkg\.crossplane\.io/": "fetches a package",
    r"function-script compare platform": "another function; tests of compare have a twin",
    r"function-script snapshot ": "a cluster",
    r"gh pr comment ": "a pull request",
    r"function-script plan platform": "a dump of a cluster; tests of plan have some",
    r"function-script render xr\.yaml composition\.yaml functions\.yaml$": "fetches, as above",
    r"function-script render xr\.yaml composition\S* functions\.yaml -o obs": "fetches, as above",
    r"function-script serve --insecure --address ": "serves until it is stopped",
    r"function-script render xr.* --function .*127": "tests/e2e/test_rollout.py does it",
    r"diff old\.yaml new\.yaml": "compares their output",
    r"while read .*kubectl ": "a cluster",
    r"(kustomize|kpt) ": "tests/conformance/test_krm.py has their exchanges",
    r"function-script (package push --module|vendor)": "tests/e2e/test_vendor.py does it",
    r"make (test|lint)$": "runs this test, among others",
    r"python3 -m venv ": "tests/install does it",
    r"~/function-script/bin/pip install ": "tests/install does it",
    r"eval .*(bash|zsh)_source|.*fish_source": "for the start file of one's shell",
}
# `make demo` is this command after the installation.
MEANT = {"make demo": ".venv/bin/function-script render examples/starlark-robots"}
# Kinds of blocks that hold no commands.
FOR_READING = {"text", "yaml", "json", "diff", "python", "jinja", "gotemplate"}
PROGRAMS = r"\$ |(function-script|kubectl|docker|make|pip|uv|crossplane|python3?|cd|curl|jq) "


def name(page: Path) -> str:
    """The page's path in the checkout."""
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_newcomer_gets_through(page: Path, tmp_path: Path) -> None:
    """Every command is run and prints what is shown, every file is written, every change made."""
    checkout, home = tmp_path / "checkout", tmp_path / "home"
    checkout.mkdir()
    shutil.copytree(ROOT / "examples", checkout / "examples")
    installed = Path(sys.executable).parent
    # Where `make demo` and the page's installation put the command; the page makes it found.
    for directory in (checkout / ".venv", home / "function-script"):
        directory.mkdir(parents=True)
        (directory / "bin").symlink_to(installed)
    installs = page.parent in {ROOT, ROOT / "docs" / "tutorial"}
    walker = walk.Walk(
        checkout,
        home=home,
        path=[] if installs else [installed],
        excused=EXCUSED,
        meant=MEANT,
    )
    walker.follow(page)


CONFIG = "examples/install/deploymentruntimeconfig.yaml"


def load(path: Path) -> object:
    """The one object of a manifest."""
    (document,) = documents.read_source(Source(name=path.name, text=path.read_text()))
    return document.value


def keeps(changed: object, original: object) -> bool:
    """Whether all of the original is there, in lists first and in their order."""
    if isinstance(original, dict) and isinstance(changed, dict):
        return all(key in changed and keeps(changed[key], original[key]) for key in original)
    if isinstance(original, list) and isinstance(changed, list):
        pairs = zip(changed, original, strict=False)
        return len(changed) >= len(original) and all(keeps(*pair) for pair in pairs)
    return changed == original


@pytest.mark.parametrize(
    ("page", "flag"),
    [
        ("docs/how-to/debug-a-live-composition.md", "--capture-dir"),
        ("examples/install/README.md", "--program-root"),
    ],
)
def test_changes_of_the_runtime_config_keep_the_rest(tmp_path: Path, page: str, flag: str) -> None:
    """Replicas, probes and limits stay, and the new flag is one of the server, with its volume."""
    path = tmp_path / CONFIG
    path.parent.mkdir(parents=True)
    shutil.copy(ROOT / CONFIG, path)
    walker = walk.Walk(tmp_path, home=tmp_path / "home")
    for block in walk.blocks(ROOT / page):
        if block.kind == "diff":
            walker.do(block)
    changed, original = load(path), load(ROOT / CONFIG)
    assert changed != original
    assert keeps(changed, original)
    pod = objects.find_path(changed, "spec.deploymentTemplate.spec.template.spec")
    mount = objects.find_path(pod, "containers[0].volumeMounts[0]")
    assert isinstance(mount, dict)
    (argument,) = [
        argument
        for argument in objects.find_path(pod, "containers[0].args")
        if argument.startswith(f"{flag}=")
    ]
    assert str(mount["mountPath"]).startswith(argument.partition("=")[2])
    assert objects.find_path(pod, "volumes[0].name") == mount["name"]
    assert any(flag in option.opts for option in serve.params)


def test_excuse_is_needed() -> None:
    """A pattern that excuses no command any more hides the next one."""
    texts = [
        command.text
        for page in PAGES
        for block in walk.blocks(page)
        for command in walk.commands(block)
    ]
    assert len(texts) >= 50
    unneeded = [pattern for pattern in EXCUSED if not any(re.match(pattern, t) for t in texts)]
    assert unneeded == []
    assert sorted(set(MEANT) - set(texts)) == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_are_in_blocks_of_commands(page: Path) -> None:
    """In a block of another kind they would not be run; a kind is always stated."""
    for block in walk.blocks(page):
        if block.kind not in {"console", "sh"}:
            assert block.kind in FOR_READING, block.text
        if block.kind == "text":
            assert [line for line in block.text.splitlines() if re.match(PROGRAMS, line)] == []


def test_walk_remembers_and_complains(tmp_path: Path) -> None:
    """Directories and variables hold for the next command; what fails or differs is told."""
    walker = walk.Walk(tmp_path, home=tmp_path / "home", excused={"docker ": "needs Docker"})
    walker.do(walk.Block(kind="sh", text="mkdir sub  # a comment\ncd sub\nexport \\\nWORD=hi\n"))
    walker.do(walk.Block(kind="console", text="$ pwd\n.../sub\n$ echo $WORD\nhi\n"))
    walker.do(walk.Block(kind="sh", text="docker build .\n"))
    assert walker.executed == ["mkdir sub", "cd sub", "export  WORD=hi", "pwd", "echo $WORD"]
    assert walker.excuses == {"docker "}
    walker.do(walk.Block(kind="yaml", text="# a/b.yaml\nx: 1\n"))
    walker.do(walk.Block(kind="diff", text="# a/b.yaml\n-x: 1\n+x: 2\n"))
    assert (tmp_path / "sub" / "a" / "b.yaml").read_text() == "x: 2\n"
    with pytest.raises(AssertionError, match="false failed"):
        walker.do(walk.Block(kind="sh", text="false\n"))
    with pytest.raises(AssertionError, match="echo a printed"):
        walker.do(walk.Block(kind="console", text="$ echo a\nb\n"))
    with pytest.raises(AssertionError, match="has not once"):
        walker.do(walk.Block(kind="diff", text="# a/b.yaml\n-x: 1\n+x: 2\n"))
