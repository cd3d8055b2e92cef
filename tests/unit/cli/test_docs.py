"""``docs``: the library in the terminal."""

from __future__ import annotations

import pytest

from function_script.cli import execute
from function_script.engines.library import FUNCTIONS, Function


def test_lists_every_function(capsys: pytest.CaptureFixture[str]) -> None:
    """Each name stands at the beginning of a line, with what it does."""
    assert execute(["docs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for function in FUNCTIONS:
        assert any(
            line.split()[:1] == [function.name] and function.summary.replace("``", "") in line
            for line in lines
        )


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_tells_all_of_one(function: Function, capsys: pytest.CaptureFixture[str]) -> None:
    """Signature, parameters and example of every function are printed."""
    assert execute(["docs", function.name]) == 0
    text = capsys.readouterr().out
    assert text.startswith(function.signature)
    assert function.example in text
    for parameter in function.parameters:
        assert f"  {parameter.name}: {parameter.type}," in text


def test_unknown_names_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """With the nearest one there is."""
    assert execute(["docs", "to_yml"]) == 1
    assert 'did you mean "to_yaml"?' in capsys.readouterr().err
