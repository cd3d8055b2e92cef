from __future__ import annotations

from support.paths import ROOT

from function_script import documents
from function_script.reference_pages import inputs_page
from function_script.source import Source

PAGE = ROOT / "docs" / "reference" / "inputs.md"
# The order in which people meet them.
ORDER = ("starlarkscripts", "jinjatemplates", "gotemplates")


def test_inputs_page_is_fresh(*, update_goldens: bool) -> None:
    crds = []
    for plural in ORDER:
        path = ROOT / "input_crds" / f"script.fn.crossplane.io_{plural}.yaml"
        source = Source(name=path.name, text=path.read_text())
        crds += [document.value for document in documents.read_source(source)]
    page = inputs_page.reference(crds)
    if update_goldens:
        PAGE.write_text(page)
    assert page == PAGE.read_text()
