"""The reference page of errors lists the whole catalogue, one line for each mistake.

`make goldens` writes the table anew.
"""

import re
from itertools import groupby

from diagnostics import catalogue
from diagnostics.catalogue import Mistake
from support import generated
from support.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "errors.md"
TITLES = {
    "gotemplate": "Go templates",
    "input": "Inputs and Compositions",
    "jinja": "Jinja",
    "starlark": "Starlark",
}
_PLACE = re.compile(r'^(?:Pipeline step "\w+": )?(?:[\w\[\].]+:\d+:\d+: )?')
_FINDING = re.compile(r"^(?:error|warning)\[[\w-]+\]: \S+:\d+:\d+: ")
_MAX_CHARACTERS = 150


def _table() -> str:
    sections = []
    for language, mistakes in groupby(catalogue.load(), lambda mistake: mistake.path.parent.name):
        rows = [f"| {mistake.about} | {_message(mistake)} |" for mistake in mistakes]
        head = [f"### {TITLES[language]}", "", "| mistake | message |", "|---|---|"]
        sections.append("\n".join([*head, *rows]))
    return "\n\n".join(sections) + "\n"


def _message(mistake: Mistake) -> str:
    # The first section that there is: what only `check` finds has no other.
    line = next(iter(mistake.outcome.values())).strip().partition("\n")[0]
    message = _FINDING.sub("", line.removeprefix("error: "))
    message = _PLACE.sub("", message).partition(" (")[0]
    short = message if len(message) <= _MAX_CHARACTERS else f"{message[:_MAX_CHARACTERS]}…"
    ticks = "``" if "`" in short else "`"
    return f"{ticks}{short}{ticks}".replace("|", "\\|")


def test_page_lists_the_catalogue(*, update_goldens: bool) -> None:
    """A row for each mistake, with the first line that its author sees."""
    head, heading, _ = PAGE.read_text().partition("### ")
    generated.check(PAGE, head + _table(), update=update_goldens)
    assert heading or update_goldens


def test_page_shows_a_mistake_as_it_is_told() -> None:
    """Both renderings at the top of the page are those of the catalogue."""
    mistake = catalogue.read(catalogue.HERE / "cases" / "starlark" / "error-in-module.txt")
    page = PAGE.read_text()
    assert all(f"```\n{text}```\n" in page for text in mistake.outcome.values())


def test_mistakes_are_enough() -> None:
    """At least as many as were asked for, in each language some."""
    mistakes = catalogue.load()
    assert len(mistakes) >= 75
    assert {mistake.path.parent.name for mistake in mistakes} == set(TITLES)
    assert len({mistake.about for mistake in mistakes}) > len(mistakes) // 2
