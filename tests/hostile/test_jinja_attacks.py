"""Hostile templates: each is stopped by the engine itself, quickly, with an error of the user's.

One worker process renders them all, so that each also shows that the ones before left it well.
"""

import ast
import json
import operator
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile.jinja_attacks import ATTACKS, Attack
from hostile.jinja_worker import STEPS
from support.timing import stretched

from function_script.request.limits import Limits

HERE = Path(__file__).parent
CORPUS = HERE.parents[1].parent / "shared" / "corpus" / "jinja" / "attacks.jsonl"
# Of the worker's own time, as others may be busy on the same machine.
MAX_SECONDS = 2.0
WATCHDOG_SECONDS = 30.0
# Python's compiler takes some 80 MiB for the greatest template allowed; nothing else comes near.
MAX_GROWTH_KIB = 128 << 10

# The corpus' words for an outcome: the errors that are one, and what their message says.
WANTED = {
    "security error": ("ProgramError", r"not available|is undefined"),
    "unknown filter": ("ProgramError", r"there is no filter"),
    "unknown filter, at compile time with its line": ("ProgramError", r"there is no filter"),
    "undefined error": ("ProgramError", r"is undefined"),
    "undefined error; nothing of the object is shown": ("ProgramError", r"not available"),
    "limit error": ("LimitError", r"the limit is"),
    "depth error": ("LimitError", r"nested \d+ deep"),
    "clean syntax error": ("ProgramError|LimitError", r"^(inline:1[:\d]* ?)?.*cannot compile"),
    "argument error of the filter, at its line": ("ProgramError", r"precision|no parameter"),
    "budget error (needs the `in` interception; sum takes no start)": (
        "LimitError|ProgramError",
        r"steps used|unexpected keyword",
    ),
    "`self` is not available": ("ProgramError", r'"self" is not available'),
    "error: names beginning with _ cannot be set": ("ProgramError", r"begin with _"),
}


class Worker:
    """The worker process, started on demand."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "jinja_worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.answers: dict[str, dict[str, object]] = {}
        self.first_peak_kib = self.render("{{ 1 }}")["peak_kib"]

    def render(self, template: str) -> dict[str, object]:
        """Return the outcome of the template; kill a process that takes too long.

        The corpus has some templates of ours: each is rendered once.
        """
        if template not in self.answers:
            self.answers[template] = self._render(template)
        return self.answers[template]

    def _render(self, template: str) -> dict[str, object]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(template) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], WATCHDOG_SECONDS)
        if not ready:
            self.process.kill()
            pytest.fail(f"not stopped within {WATCHDOG_SECONDS} s")
        line = self.process.stdout.readline()
        assert line, f"the worker died with {self.process.wait()}"
        answer: dict[str, object] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def workers() -> Iterator[list[Worker]]:
    """At most one living worker, shared by all tests."""
    alive: list[Worker] = []
    yield alive
    for worker in alive:
        worker.close()


def _attack(workers: list[Worker], template: str) -> dict[str, object]:
    if not workers or workers[-1].process.poll() is not None:
        workers.append(Worker())
    worker = workers[-1]
    answer = worker.render(template)
    assert answer["is_data_unchanged"]
    # What the steps end may take their share of the time.
    share = STEPS / Limits().steps if "steps used" in str(answer["message"]) else 1.0
    assert float(str(answer["seconds"])) <= stretched(MAX_SECONDS * share)
    growth = int(str(answer["peak_kib"])) - int(str(worker.first_peak_kib))
    assert growth <= MAX_GROWTH_KIB
    return answer


def _check(answer: dict[str, object], types: str, message: str) -> None:
    assert re.fullmatch(types, str(answer["type"])), answer
    assert re.search(message, str(answer["message"])), answer


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_attack_is_stopped(workers: list[Worker], attack: Attack) -> None:
    """It ends within time and memory with its error, and the worker goes on."""
    answer = _attack(workers, attack.template)
    _check(answer, attack.outcome, attack.message)


def _corpus() -> list[object]:
    if not CORPUS.exists():
        reason = "the corpus of attacks is not beside this checkout"
        return [pytest.param({}, marks=pytest.mark.skip(reason=reason), id="corpus")]
    rows = [json.loads(line) for line in CORPUS.read_text().splitlines()]
    return [pytest.param(row, id=row["vector"]) for row in rows]


@pytest.mark.parametrize("row", _corpus())
def test_attack_of_the_corpus_is_stopped(workers: list[Worker], row: dict[str, str]) -> None:
    """Every row of the shared corpus ends as the corpus states."""
    template = row.get("template") or _evaluated(ast.parse(row["python_expression"]).body[0])
    assert isinstance(template, str)
    answer = _attack(workers, template)
    _check(answer, *WANTED[row["want"]])


def _evaluated(node: ast.AST) -> str | int:
    """Evaluate sums and products of texts and numbers, from which the corpus builds templates."""
    if isinstance(node, ast.Expr):
        return _evaluated(node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, int)):
        return node.value
    assert isinstance(node, ast.BinOp)
    operate = {ast.Add: operator.add, ast.Mult: operator.mul}[type(node.op)]
    result: str | int = operate(_evaluated(node.left), _evaluated(node.right))
    return result
