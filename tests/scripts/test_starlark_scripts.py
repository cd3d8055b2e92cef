"""Every behaviour of StarlarkScript that an author can see, as a file to read."""

import pytest
from scripts import goldens

from function_script.engines.starlark import engine as starlark


@pytest.mark.parametrize("golden", goldens.load("starlark", "script"), ids=lambda golden: golden.id)
def test_script_gives_what_its_file_says(golden: goldens.Golden, *, update_goldens: bool) -> None:
    goldens.check(golden, starlark, update=update_goldens)
