"""Our own snippets of the template language, with the results of Go's engine.

language.jsonl has a template per line, rendered with data.json; stage, text and the place of an
error are Go's, the words of some errors our own.
"""

import copy
import json
from pathlib import Path

import pytest

from function_script.engines.gotemplate.plain import GoFailure, render_text

HERE = Path(__file__).parent
DATA = json.loads((HERE / "data.json").read_text())
VECTORS = [json.loads(line) for line in (HERE / "language.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["template"][:60])
def test_template_renders_or_fails_as_in_go(vector: dict[str, object]) -> None:
    delims = vector.get("delims", ["{{", "}}"])
    options = vector.get("options") or ["missingkey=default"]
    try:
        text = render_text(
            str(vector["template"]),
            copy.deepcopy(DATA),
            delims=tuple(delims),  # type: ignore[arg-type] # two strings
            missing=options[-1].partition("=")[2],  # type: ignore[index] # a list of strings
        )
        outcome = ("ok", text, None)
    except GoFailure as failure:
        outcome = (failure.stage, failure.output, failure.text)
    assert outcome == (vector["stage"], vector["output"], vector.get("error"))
