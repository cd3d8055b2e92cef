"""What the documents show is what happens: commands are run, links lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest
from support.notes import without_note
from support.paths import ROOT

from function_script import cli

PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "SECURITY")),
    *sorted(ROOT.glob("docs/**/*.md")),
]
WITH_LINKS = [
    *PAGES,
    *(
        path
        for folder in ("benchmarks", "examples", "package")
        for path in ROOT.glob(f"{folder}/**/*.md")
    ),
]
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+?)(?:#([^)]*))?\)")
# Done from beginning to end by tests/test_walk.py.
WALKED = {ROOT, ROOT / "docs" / "tutorial", ROOT / "docs" / "how-to"}


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _sessions() -> list[tuple[str, str, str]]:
    """Each shown command with the page it is on and the output shown for it."""
    pages = []
    for page in PAGES:
        if page.parent in WALKED:
            continue
        for block in BLOCK.findall(page.read_text()):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                if command.startswith("function-script ") and "[OPTIONS]" not in command:
                    pages.append((_name(page), command, output.strip("\n")))
    return pages


@pytest.mark.parametrize(("page", "command", "expected"), _sessions())
def test_shown_commands_do_what_is_shown(
    page: str,
    command: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A command in a document prints what stands below it; ``...`` stands for anything."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("NO_COLOR", "1")
    cli.execute(shlex.split(command)[1:])
    result = capsys.readouterr()
    pattern = re.escape(expected).replace(re.escape("..."), ".*")
    printed = (result.out + without_note(result.err)).strip("\n")
    assert re.fullmatch(pattern, printed, re.DOTALL), f"{page} shows otherwise:\n{printed}"


@pytest.mark.parametrize("page", WITH_LINKS, ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    """A relative link names a file that exists, and a heading of it where it names one."""
    for target, anchor in LINK.findall(page.read_text()):
        if "://" not in target:
            path = page.parent / target
            assert path.exists(), f"{_name(page)} links to {target}"
            if anchor:
                assert anchor in _anchors(path), f"{_name(page)} links to {target}#{anchor}"


def _anchors(page: Path) -> set[str]:
    """What links to headings of a page may say, as GitHub makes it of their texts."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings}


def test_index_has_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target).resolve() for target, _ in LINK.findall(index.read_text())}
    pages = {page.parent if page.parent.name == "decisions" else page for page in PAGES[3:]}
    assert {page for page in linked if page.is_relative_to(index.parent)} == pages - {index}


def test_index_of_examples_has_each_of_them() -> None:
    index = ROOT / "examples" / "README.md"
    linked = {target for target, _ in LINK.findall(index.read_text())}
    assert {path.name for path in index.parent.iterdir() if path.is_dir()} <= linked


def test_readme_begins_with_the_two_commands() -> None:
    """`make demo` and `make test` are the first commands a reader sees."""
    commands = re.findall(r"^\$ (.*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert commands[:2] == ["make demo", "make test"]


PATH = re.compile(r"`((?:function_script|tests|docs|input_crds)/[\w./]*)`")
ANSWER = re.compile(r"`(\w+)(?:\.\w+)?`[^`|;]* in `(function_script/[\w./]+\.py)`")
CONTRIBUTING = sorted((ROOT / "docs" / "contributing").glob("*.md"))


@pytest.mark.parametrize("page", CONTRIBUTING, ids=_name)
def test_paths_of_a_contributing_page_exist(page: Path) -> None:
    missing = [
        path
        for path in PATH.findall(page.read_text())
        if not {"NAME", "TOPIC", "test_NAME"} & {*re.split(r"[/.]", path)}
        and not (ROOT / path).exists()
    ]
    assert missing == []


def test_answers_of_the_architecture_page_are_where_it_says() -> None:
    answers = ANSWER.findall((ROOT / "docs" / "contributing" / "architecture.md").read_text())
    assert len(answers) > 3
    for name, path in answers:
        assert re.search(rf"\b{name}\b", (ROOT / path).read_text()), f"{name} is not in {path}"


@pytest.mark.parametrize("page", ["life-of-a-request", "life-of-a-mistake"])
def test_functions_on_the_way_are_where_the_page_says(page: str) -> None:
    row = re.compile(r"^\| `([\w.]+)` \| `(function_script/[\w./]+\.py)` \|", re.MULTILINE)
    stations = row.findall((ROOT / "docs" / "contributing" / f"{page}.md").read_text())
    assert len(stations) > 10
    method = r"\b(.|\n(?!class ))*?^    (async )?def "
    for name, path in stations:
        function = rf"^(class|(async )?def) {name.replace('.', method)}\b"
        assert re.search(function, (ROOT / path).read_text(), re.MULTILINE), f"{path} lacks {name}"
