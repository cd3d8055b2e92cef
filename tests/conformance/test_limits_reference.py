"""The limits as the documentation tells them: the defaults of the flags."""

import re

import pytest
from support.paths import ROOT

from function_script.cli.serve import serve
from function_script.request.limits import LIMITS, MIB, Limits

DOCS = ROOT / "docs"
FLAG = re.compile(r"`(--[a-z-]+)`")
DEFAULTS = Limits()
SHOWN = {
    "--time-limit": f"{DEFAULTS.timeout_seconds:g} s",
    "--memory-limit": f"{DEFAULTS.memory_bytes // MIB} MiB",
    "--documents-limit": f"{DEFAULTS.documents:,}",
    "--depth-limit": f"{DEFAULTS.depth}",
    "--nodes-limit": f"{DEFAULTS.nodes:,}",
    "--steps-limit": f"{DEFAULTS.steps:,}",
    "--source-limit": f"{DEFAULTS.source_bytes // 1024} KiB",
    "--output-limit": f"{DEFAULTS.output_bytes // 1024} KiB",
}
# The page of the sandbox has the limits of all languages.
PAGES = {
    "starlark": set(),
    "jinja": {"--depth-limit", "--steps-limit"},
    "gotemplate-compatibility": {"--steps-limit", "--time-limit"},
}


@pytest.mark.parametrize("name", PAGES)
def test_languages_page_tells_the_defaults(name: str) -> None:
    """Every row that names a flag and has a figure has the flag's own."""
    page = (DOCS / "reference" / f"{name}.md").read_text()
    assert "../explanation/sandbox.md#what-bounds-a-run" in page
    told = set()
    for row in re.findall(r"^\|.*\|$", page.partition("\n## Limits\n")[2], re.MULTILINE):
        told.update(FLAG.findall(row))
        if re.search(r"\d", row):
            assert [flag for flag in FLAG.findall(row) if SHOWN[flag] not in row] == [], row
    assert told == PAGES[name]


def test_page_of_the_sandbox_tells_the_defaults() -> None:
    """Each flag as one would write it."""
    page = (DOCS / "explanation" / "sandbox.md").read_text()
    defaults = {option.opts[0]: option.default for option in serve.params}
    for limit in LIMITS.values():
        assert f"`{limit.flag} {defaults[limit.flag]}" in page
