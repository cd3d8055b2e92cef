"""Every behaviour of JinjaTemplate that an author can see, as a file to read."""

import pytest
from scripts import goldens

from function_script.engines.jinja import engine as jinja


@pytest.mark.parametrize("golden", goldens.load("jinja", "inline"), ids=lambda golden: golden.id)
def test_template_gives_what_its_file_says(golden: goldens.Golden, *, update_goldens: bool) -> None:
    goldens.check(golden, jinja, update=update_goldens)
