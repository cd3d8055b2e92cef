"""What the documents say about building the image fits the Dockerfile, which Docker alone reads."""

import itertools
import re
import shlex

import pytest
from support.paths import ROOT

from function_script.texts import release

DOCKERFILE = (ROOT / "package" / "Dockerfile").read_text()
PAGES = ("README.md", "package/README.md")
# Arguments that BuildKit knows itself.
PREDEFINED = {"SOURCE_DATE_EPOCH"}
BUILD = re.compile(r"^docker (?:buildx )?build (?P<arguments>(?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
COMMANDS = [
    (page, match["arguments"].replace("\\\n", " "))
    for page in PAGES
    for match in BUILD.finditer((ROOT / page).read_text())
]


def declared() -> dict[str, str]:
    """Read the arguments of the Dockerfile with their defaults."""
    lines = re.findall(r"^ARG (\w+)=(.*)$", DOCKERFILE, re.MULTILINE)
    return {name: default.replace("${PYTHON}", "3.13") for name, default in lines}


@pytest.mark.parametrize(("page", "arguments"), COMMANDS)
def test_shown_build_is_one_of_this_dockerfile(page: str, arguments: str) -> None:
    """Its file is this one, its arguments are declared, its stage exists, its context is here."""
    words = shlex.split(arguments)
    values = dict(itertools.pairwise(words))
    assert values["-f"] == "package/Dockerfile", page
    names = {
        word.split("=")[0] for flag, word in itertools.pairwise(words) if flag == "--build-arg"
    }
    assert names <= declared().keys() | PREDEFINED
    if "--target" in values:
        assert f" AS {values['--target']}\n" in DOCKERFILE
    assert words[-1] == "."


def test_page_shows_a_build() -> None:
    """Else the test above would look at nothing."""
    assert {page for page, _ in COMMANDS} == set(PAGES)


def test_page_has_all_arguments_with_their_defaults() -> None:
    text = (ROOT / "package" / "README.md").read_text()
    rows = re.findall(r"^\| (`[A-Z_`, ]+`) \| ([^|]+) \|", text, re.MULTILINE)
    names = {name for cell, _ in rows for name in re.findall(r"[A-Z_]+", cell)}
    assert names == declared().keys()
    for cell, default in rows:
        if default.startswith("`"):
            assert declared()[cell.strip("`")] == default.strip("`")


def test_labels_have_the_names_of_the_release() -> None:
    """Unless a build gives others."""
    assert declared()["VERSION"] == release.VERSION
    assert declared()["SOURCE"] == release.SOURCE


def test_bases_are_arguments() -> None:
    """So that a release can name its digest; and the last stage runs no command."""
    bases = re.findall(r"^FROM (\S+)(?: AS (\S+))?", DOCKERFILE, re.MULTILINE)
    stages = {name for _, name in bases}
    outside = {base for base, _ in bases if base not in stages}
    assert outside == {"${BUILD_BASE}", "${RUNTIME_BASE}", "scratch"}
    last = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
    assert not re.search(r"^RUN", last, re.MULTILINE)
