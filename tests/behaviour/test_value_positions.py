"""The line that wrote a value is the line at which a change changes that value, and no other."""

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from support import builders, mutation
from support.commands import Run
from support.paths import ROOT

from function_script.cli import execute
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import Limits
from function_script.sandbox.pool import Pool
from function_script.texts.source import Source, Span
from function_script.tools import local_pool, local_worker, worker_marks

# One of so many literals is changed; 1 changes all of them, which takes a minute.
EVERY = int(os.environ.get("EVERY", "5"))
# What this function composes by itself has a step and no line.
OWN = "('usage:"


@pytest.fixture(name="pool", scope="module")
def fixture_pool() -> Iterator[Pool]:
    with local_pool.open_pool() as pool:
        yield pool


def measure(folder: Path, pool: Pool) -> mutation.Score:
    """Render a folder, and change its literals."""
    return mutation.measure(*mutation.load(folder, pool), every=EVERY)


def check(score: mutation.Score) -> None:
    """All values have a line, and the literals changed what is placed at them."""
    assert score.wrong == []
    assert [each for each in score.unplaced if OWN not in each] == []


def test_lines_of_examples_are_true(pool: Pool) -> None:
    total = mutation.Score()
    for example in mutation.EXAMPLES:
        total += measure(example, pool)
    check(total)
    assert total.leaves > 250
    assert total.literals * EVERY > 80


@pytest.mark.parametrize("language", ["starlark", "jinja", "gotemplate"])
def test_lines_of_starters_are_true(language: str, pool: Pool, tmp_path: Path) -> None:
    assert execute(["init", str(tmp_path / "app"), "--language", language, "--quiet"]) == 0
    score = measure(tmp_path / "app", pool)
    check(score)
    assert score.literals


CORPUS = ROOT.parent / "shared" / "corpus" / "gotemplate" / "real-cases.jsonl"
# One of so many templates of the corpus is rendered.
ROWS = 20 if EVERY > 1 else 1


def request_of(row: dict[str, Any], template: str) -> pb.RunFunctionRequest:
    """The request that renders a public template as function-go-templating does."""
    data = {
        key: value for key, value in row["data"].items() if key not in {"extraResources", "input"}
    }
    request = json_format.ParseDict(data, pb.RunFunctionRequest(), ignore_unknown_fields=True)
    value = builders.peer(template)
    if delims := row.get("delims"):
        value["delims"] = dict(zip(("left", "right"), delims, strict=True))
    request.input.update(value)
    return request


def leaves_of_template(row: dict[str, Any], template: str) -> dict[mutation.Leaf, Any] | None:
    """What the template writes; None where it is refused."""
    request = request_of(row, template)
    answer = local_worker.handle(request.SerializeToString(), Limits(), lambda _: None).response
    response = pb.RunFunctionResponse.FromString(answer)
    if any(result.severity == pb.SEVERITY_FATAL for result in response.results):
        return None
    before = mutation.leaves_in(request.desired)
    after = mutation.leaves_in(response.desired)
    return {leaf: value for leaf, value in after.items() if before.get(leaf) != value}


@pytest.mark.skipif(not CORPUS.is_file(), reason="the shared corpus is not here")
def test_lines_of_public_templates_are_true() -> None:
    total = mutation.Score()
    rows = [json.loads(line) for line in CORPUS.read_text().splitlines()]
    for row in [row for row in rows if row["stage"] == "ok"][::ROWS]:
        values = leaves_of_template(row, row["template"])
        if not values:
            continue
        data = request_of(row, row["template"]).SerializeToString() + worker_marks.POSITIONS
        answer = json.loads(local_worker.handle(data, Limits(), lambda _: None).response)
        spans = {
            (name, tuple(path)): Span(name=row["id"], line=span[1], column=span[2])
            for name, below in answer
            for path, span in below
        }
        # What is below an alias came with it.
        places = {
            (name, path): next(
                (
                    spans[name, path[:end]]
                    for end in range(len(path), -1, -1)
                    if (name, path[:end]) in spans
                ),
                None,
            )
            for name, path in values
        }
        source = Source(name=row["id"], text=row["template"])
        run = partial(leaves_of_template, row)
        total += mutation.score(source, values, places, run, every=EVERY)
    check(total)
    assert total.literals


EXPLAINED = [
    pytest.param("robot-0", ': step "compose-robots"\n', id="resource"),
    pytest.param(
        "xr.status.conditions[0]", "a condition, whose line is not known\n", id="condition"
    ),
]


@pytest.mark.parametrize(("target", "text"), EXPLAINED)
def test_explain_of_what_is_no_field_of_a_line(target: str, text: str, run: Run) -> None:
    assert text in run("render", ROOT / "examples/starlark-robots", "--explain", target).out
