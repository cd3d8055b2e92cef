"""No false alarm: the templates of public repositories have no doubt but variables never read."""

import json
from collections.abc import Iterator
from functools import cache

import pytest
from support import builders
from support.paths import ROOT

from function_script import inputs
from function_script.engines import leftovers
from function_script.engines.gotemplate.lint import LINT
from function_script.request.program import Program
from function_script.request.values import Object
from function_script.texts.source import Source
from function_script.tools.check import paths

CORPUS = ROOT.parent / "shared" / "corpus" / "gotemplate"
# Templates of these repositories write `%!s(<nil>)`, `<nil>` and `map[…]` into their objects.
WITH_LEAVINGS = {"crossplane-contrib/function-go-templating", "stuttgart-things/crossplane"}

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not here")


def _rows() -> Iterator[Object]:
    with (CORPUS / "real-cases.jsonl").open() as lines:
        yield from map(json.loads, lines)


@cache
def _programs() -> list[Program]:
    programs = {
        str(row["template"]): Program(
            main=Source(name="inline", text=str(row["template"])),
            options={"dialect": "gotemplating", "delims": row.get("delims")},
        )
        for row in _rows()
    }
    return [*programs.values()]


def test_public_template_has_no_doubt() -> None:
    programs = _programs()
    messages = [
        problem.message
        for program in programs
        for problem in (*LINT.find_doubts(program), *LINT.find_failures(program))
    ]
    assert len(programs) > 50
    assert [message for message in messages if "never read" not in message] == []


def test_public_template_reads_no_unknown_field() -> None:
    """But one, which reads what no request has on purpose."""
    request = paths.of_request(inputs.parse_without_sources(builders.peer("a")), None, {})
    unknown = {
        read.path
        for program in _programs()
        for read in LINT.find_reads(program)
        if request.find_unknown(read.path)
    }
    assert unknown == {("observed", "whatever")}


def test_leftover_in_a_public_result_is_one() -> None:
    groups = {str(row["group"]) for row in _rows() if any(leftovers.find(str(row["output"])))}
    assert groups <= WITH_LEAVINGS
