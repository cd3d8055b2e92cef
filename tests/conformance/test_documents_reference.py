"""The reference page of documents has all meta kinds, sources, and what Operations watch."""

import pytest
from generate import documents_page, parts
from support import generated
from support.paths import ROOT

from function_script.contribution import dialects
from function_script.contribution.dialects import SCRIPT
from function_script.inputs import external_sources, program_source
from function_script.request.program import OWN_REQUIREMENTS

PAGE = ROOT / "docs" / "reference" / "documents.md"
NAMES = [
    *(f"| `{kind}` |" for kind in SCRIPT.kinds),
    *(f"| `{source}` |" for source in (program_source.INLINE, *external_sources.SECTIONS)),
    f"`{SCRIPT.annotations.prefix}/composition-resource-name`",
    f"`{SCRIPT.meta_api_version}`",
    f"`{OWN_REQUIREMENTS}`",
]


@pytest.mark.parametrize("name", NAMES)
def test_name_is_on_the_page(name: str) -> None:
    assert name in PAGE.read_text()


def test_tables_are_fresh(*, update_goldens: bool) -> None:
    page = parts.fill(PAGE, documents_page.section())
    generated.check(PAGE, page, update=update_goldens)


def test_tables_have_every_annotation_and_meta_kind() -> None:
    annotations = [f"{dialects.PREFIX}/{each.name}" for each in dialects.ANNOTATIONS]
    assert sorted(annotations) == sorted(SCRIPT.annotations.keys)
    assert sorted(each.kind for each in dialects.META_KINDS) == sorted(SCRIPT.kinds)
