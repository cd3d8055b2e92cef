"""What the documentation and editors say about scripts is what scripts find."""

import ast
import re

import pytest
from generate import parts, starlark_page
from support import generated, programs
from support.paths import ROOT

from function_script.engines.starlark import engine as starlark
from function_script.engines.starlark import predeclared
from function_script.request.limits import Limits
from function_script.request.values import Object
from function_script.texts.errors import ProgramError

PAGE = ROOT / "docs" / "reference" / "starlark.md"
STUBS = ROOT / "function_script" / "engines" / "starlark" / "prelude.pyi"
EMPTY = ("meta", "context", "required_resources", "extra_resources", "credentials")
XR: Object = {"metadata": {"name": "x"}, "spec": {"count": 2}}
SCOPE = programs.scope(
    {"region": "eu"},
    observed={"composite": {"resource": XR}, "resources": {}},
    desired={"composite": {"resource": {}}, "resources": {}},
    **{name: {} for name in EMPTY},
)
SCRIPTS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
EXAMPLES = re.findall(r"^  `(.+)`$", starlark_page.prelude(), re.MULTILINE)


def _run(script: str) -> None:
    starlark.evaluate(programs.script(script), SCOPE, Limits())


def test_page_is_fresh(update_goldens: bool) -> None:
    """The section of docs/reference/starlark.md about the prelude says what the prelude says."""
    page = parts.fill(PAGE, starlark_page.prelude())
    generated.check(PAGE, page, update=update_goldens)


def test_stubs_are_fresh(update_goldens: bool) -> None:
    generated.check(STUBS, starlark_page.stubs(), update=update_goldens)


def test_stubs_have_every_name_once() -> None:
    names = [each.name for each in ast.parse(STUBS.read_text()).body if hasattr(each, "name")]
    assert sorted(names) == sorted([*predeclared.NAMES, "Response"])


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_of_the_prelude_runs(example: str) -> None:
    _run(f'def main(req):\n    return {{"output": {{"x": {example}}}}}\n')


@pytest.mark.parametrize("script", SCRIPTS, ids=range(len(SCRIPTS)))
def test_script_of_the_page_runs(script: str) -> None:
    _run(script)


def test_builtins_of_the_page_are_there() -> None:
    page = PAGE.read_text()
    there = re.search(r"^\| builtins \| `([a-z_ ]+)`", page, re.MULTILINE)
    assert there is not None
    names = there[1].split()
    assert len(names) > 30
    _run(f"x = [{', '.join(names)}]\ndef main(req):\n    return {{}}\n")
    for name in ("set", "math", "time", "bytes", "open"):
        with pytest.raises(ProgramError, match="not defined"):
            _run(f"{name}\n")
