"""Every behaviour of GoTemplate that an author can see, as a file to read."""

import pytest
from scripts import goldens

from function_script.engines.gotemplate import engine as gotemplate


@pytest.mark.parametrize(
    "golden", goldens.load("gotemplate", "inline"), ids=lambda golden: golden.id
)
def test_template_gives_what_its_file_says(golden: goldens.Golden, *, update_goldens: bool) -> None:
    goldens.check(golden, gotemplate, update=update_goldens)
