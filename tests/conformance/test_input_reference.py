from __future__ import annotations

from pathlib import Path

from generate import inputs_page
from support import generated

from function_script import documents
from function_script.source import Source

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "inputs.md"
# The order in which people meet them.
ORDER = ("starlarkscripts", "jinjatemplates", "gotemplates")


def test_the_page_is_fresh(*, update_goldens: bool) -> None:
    """docs/reference/inputs.md says what the CRDs say."""
    crds = []
    for plural in ORDER:
        path = ROOT / "input_crds" / f"script.fn.crossplane.io_{plural}.yaml"
        source = Source(name=path.name, text=path.read_text())
        crds += [document.value for document in documents.read_source(source)]
    page = inputs_page.reference(crds)
    generated.check(PAGE, page, update=update_goldens)
