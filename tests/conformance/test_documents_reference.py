"""The reference page of documents has all meta kinds, sources, and what Operations watch."""

from __future__ import annotations

import pytest
from support.paths import ROOT

from function_script.contribution.dialects import SCRIPT
from function_script.inputs import external_sources, program_source
from function_script.program import OWN_REQUIREMENTS

PAGE = ROOT / "docs" / "reference" / "documents.md"
NAMES = [
    *(f"| `{kind}` |" for kind in SCRIPT.kinds),
    *(
        f"| `{source}` |"
        for source in (
            program_source.INLINE,
            program_source.FILE_SYSTEM,
            *external_sources.SECTIONS,
        )
    ),
    f"`{SCRIPT.annotations.prefix}/composition-resource-name`",
    f"`{SCRIPT.meta_api_version}`",
    f"`{OWN_REQUIREMENTS}`",
]


@pytest.mark.parametrize("name", NAMES)
def test_name_is_on_the_page(name: str) -> None:
    assert name in PAGE.read_text()
