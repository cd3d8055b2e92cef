"""The page of Crossplane's versions agrees with the package, and names tests that exist."""

import re

from support.paths import ROOT

from function_script import documents
from function_script.request import objects
from function_script.texts.source import Source

PAGE = (ROOT / "docs" / "reference" / "crossplane-versions.md").read_text()


def constraint() -> str:
    """Which versions of Crossplane install the package."""
    text = (ROOT / "package" / "crossplane.yaml").read_text()
    (document,) = documents.read_source(Source(name="crossplane.yaml", text=text))
    return str(objects.find_path(document.value, "spec.crossplane.version"))


def test_page_states_the_packages_constraint() -> None:
    """The first version, in the page, the README and the package's own table."""
    assert constraint() == ">=v1.17.0-0"
    assert "Crossplane **1.17 and later**" in PAGE
    assert f"is `{constraint()}`" in PAGE
    assert f'`spec.crossplane.version: "{constraint()}"`' in (
        (ROOT / "package" / "README.md").read_text()
    )
    assert "Crossplane [1.17 or later](docs/reference/crossplane-versions.md)" in (
        (ROOT / "README.md").read_text()
    )


def test_rows_are_in_the_order_of_versions_and_have_sources() -> None:
    """Each row of the first table says since when, and where Crossplane has it."""
    rows = re.findall(r"^\| (\d)\.(\d+) \| .+ \| .+ \| `[\w./-]+` \|$", PAGE, re.MULTILINE)
    versions = [(int(major), int(minor)) for major, minor in rows]
    assert len(versions) == len(re.findall(r"^\| \d", PAGE, re.MULTILINE)) >= 10
    assert versions == sorted(versions)
