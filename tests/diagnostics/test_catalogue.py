"""Every mistake of the catalogue has its place, its hint, and a correction that renders.

Write the outcomes anew with `make goldens`, and read the difference as the author who made
the mistake would.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from diagnostics import catalogue
from diagnostics.catalogue import Mistake, RecordingPool
from support import generated
from support.notes import without_note
from support.paths import ROOT

from function_script import cli
from function_script.tools import console, local_pool

MISTAKES = catalogue.load()
# A hint, or a message that says itself what is wanted.
SAYS_WHAT_TO_DO = (
    "hint: ",
    ": write ",
    "it needs ",
    "(check ",
    "must be ",
    "must not be ",
    "is required",
    "can be set",
)
# A plain pool counts time on the clock, and says so.
OF_CPU_TIME = {"starlark/time-is-up"}
SUGGESTION = re.compile(r'did you mean "([^"]+)"')
# Mistakes that are corrected to the same files have one test.
CORRECTIONS = {tuple(mistake.corrected_files.items()): mistake for mistake in MISTAKES}


def rows(mistakes: Iterable[Mistake]) -> list[object]:
    """Return each mistake as the case of a test."""
    return [
        pytest.param(
            mistake, id=mistake.id, marks=[pytest.mark.linux] if mistake.id in OF_CPU_TIME else []
        )
        for mistake in mistakes
    ]


@pytest.fixture(scope="module")
def pool() -> Iterator[RecordingPool]:
    """The sandbox that `render` has, one for all."""
    with RecordingPool(local_pool.OPTIONS) as pool:
        yield pool


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory that is the current one, so that positions have short names."""
    monkeypatch.chdir(tmp_path)
    return type(tmp_path)()


@pytest.mark.parametrize("mistake", rows(MISTAKES))
def test_outcome_and_place_are_those_of_the_file(
    mistake: Mistake, here: Path, pool: RecordingPool, *, update_goldens: bool
) -> None:
    """The frame in the terminal, the message in the cluster and the findings of `check`."""
    catalogue.lay_out(mistake.files, here)
    outcome = catalogue.run(here, pool)
    if update_goldens:
        catalogue.write(mistake, outcome)
    assert outcome.sections
    assert outcome.sections == catalogue.read(mistake.path).outcome, "run `make goldens`"
    # Every output points at a place that the file marks, and none is marked in vain.
    spans = [problem.span for problem in outcome.problems if problem.span is not None]
    assert len(spans) == len(outcome.problems)
    spans += [span for each in outcome.findings if (span := each.diagnostic.span) is not None]
    places = catalogue.places(mistake)
    texts = catalogue.pointed_at(mistake, outcome.message)
    assert {place.text for place in places}.issuperset(texts)
    points = {(span.name, span.line, span.column) for span in spans}
    points |= {place.point for place in places if place.text in texts}
    assert points
    assert points == {place.point for place in places}


@pytest.mark.parametrize("mistake", rows(CORRECTIONS.values()))
def test_correction_renders(mistake: Mistake, here: Path, pool: RecordingPool) -> None:
    """After the correction there is no error, no warning, and no finding of `check`."""
    catalogue.lay_out(mistake.corrected_files, here)
    outcome = catalogue.run(here, pool)
    assert outcome.sections == {}


def test_suggestions_are_in_the_corrections() -> None:
    """A name that a hint suggests is the one that the author meant."""
    absent = [
        (mistake.id, name)
        for mistake in MISTAKES
        for name in SUGGESTION.findall("".join(mistake.outcome.values()))
        if not re.search(rf"^\+.*{re.escape(name)}", mistake.head, re.MULTILINE)
    ]
    assert absent == []


def _shown_first(mistake: Mistake) -> list[str]:
    """Return what `render` says; without that, what the other outputs say."""
    texts = [text for outputs, text in mistake.outcome.items() if outputs.startswith("render")]
    return texts or [*mistake.outcome.values()]


def test_texts_say_what_to_do() -> None:
    """Every problem has a hint, or says itself what is wanted."""
    silent = [
        (mistake.id, text)
        for mistake in MISTAKES
        for text in _shown_first(mistake)
        # A message of an event ends with its hint.
        if not text.endswith(")\n") and not any(words in text for words in SAYS_WHAT_TO_DO)
    ]
    assert silent == []


@pytest.mark.parametrize("name", ["input/two-mistakes", "jinja/misspelt-field", "starlark/no-main"])
def test_render_command_prints_frames(
    name: str, here: Path, capsys: pytest.CaptureFixture[str], *, update_goldens: bool
) -> None:
    """`function-script render` in the mistake's directory prints the frames, and exits with 1."""
    (mistake,) = (each for each in MISTAKES if each.id == name)
    catalogue.lay_out(mistake.files, here)
    assert cli.execute(["render", str(here)]) == 1
    frames = catalogue.HERE / "printed" / f"{mistake.path.stem}.txt"
    generated.check(frames, without_note(capsys.readouterr().err), update=update_goldens)


def test_page_of_errors_shows_a_mistake(here: Path, pool: RecordingPool) -> None:
    """Both renderings at the top of the page are those of the catalogue."""
    (mistake,) = (each for each in MISTAKES if each.id == "starlark/error-in-module")
    catalogue.lay_out(mistake.files, here)
    outcome = catalogue.run(here, pool)
    page = (ROOT / "docs" / "reference" / "errors.md").read_text()
    (problem,) = outcome.problems
    assert f"```\n{console.to_frame(problem)}\n```\n" in page
    assert f"```\n{outcome.message}\n```\n" in page
