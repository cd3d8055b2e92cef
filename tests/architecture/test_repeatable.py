"""Every usual run of the suite tries the same things; ``make search`` tries others."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from support.paths import ROOT

TESTS = ROOT / "tests"
# `random.Random(seed)` is the only source of varied data.
RANDOM_SOURCES = (
    *("os.urandom", "random.", "uuid.uuid1", "uuid.uuid4"),
    *("secrets.choice", "secrets.rand", "secrets.token"),
)


def random_calls(source: str) -> list[str]:
    """Return the calls of a module whose results differ from run to run."""
    names = {
        ast.unparse(call): ast.unparse(call.func)
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call)
        # A module's function.
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
    }
    return [
        text
        for text, name in names.items()
        if (
            name.startswith(RANDOM_SOURCES)
            and (not text.startswith("random.Random(") or text == "random.Random()")
        )
        or (name == "gzip.compress" and "mtime=" not in text)
    ]


def test_usual_run_draws_the_same_examples() -> None:
    """Two runs of one property test see equal examples, and no database adds old ones."""
    runs: list[list[int]] = [[], []]

    def run(examples: list[int]) -> None:
        @given(st.integers())
        @example(7)
        def draw(number: int) -> None:
            examples.append(number)

        draw()

    for examples in runs:
        run(examples)
    assert hypothesis_settings.default is not None
    assert hypothesis_settings.default.database is None
    assert runs[0] == runs[1]
    assert len(set(runs[0])) > 10


def test_search_draws_other_examples_and_more() -> None:
    """The variable that ``make search`` sets selects the other profile."""
    program = (
        "from support import example_counts as counts; from hypothesis import settings;"
        "counts.load_profile();"
        "print(settings().derandomize, settings().max_examples, counts.examples(30).max_examples)"
    )
    environment = {**os.environ, "SEARCH_EXAMPLES": "20", "PYTHONPATH": str(TESTS)}
    command = [sys.executable, "-c", program]
    result = subprocess.run(
        command, cwd=TESTS, env=environment, capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["False", "500", "600"]


def test_tests_draw_with_a_seed() -> None:
    """Noise, orders and names come from generators with a fixed seed."""
    sources = {path: path.read_text() for path in TESTS.rglob("*.py") if path != Path(__file__)}
    calls = {
        str(path.relative_to(TESTS)): random_calls(source)
        for path, source in sources.items()
        if any(name in source for name in (*RANDOM_SOURCES, "gzip.compress"))
    }
    assert {path: found for path, found in calls.items() if found} == {}


@pytest.mark.parametrize(
    "source",
    ["os.urandom(4)", "random.choice(x)", "random.Random()", "uuid.uuid4()", "gzip.compress(b'')"],
)
def test_call_without_a_seed_is_found(source: str) -> None:
    """By the name that modules call it."""
    assert random_calls(source) == [source]
