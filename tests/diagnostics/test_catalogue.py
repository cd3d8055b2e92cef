"""Every mistake of the catalogue is told at its place, in both renderings, and can be mended.

Write the outcomes anew with `--update-goldens`, and read the difference as the author who made
the mistake would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from diagnostics import catalogue
from diagnostics.catalogue import COMPOSITION, MARK, Mistake
from support.notes import without_note

from function_script import cli
from function_script.limits import Limits
from function_script.sandbox import Pool, PoolOptions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MISTAKES = catalogue.load()
# A hint, or a message that says itself what is wanted.
SAYS_WHAT_TO_DO = (
    "= hint: ",
    ": write ",
    "(check ",
    "must be ",
    "must not be ",
    "is required",
    "can be set",
)
# A plain pool counts time on the clock, and says so.
OF_CPU_TIME = {"starlark/time-is-up"}
each_mistake = pytest.mark.parametrize(
    "mistake",
    [
        pytest.param(
            mistake, id=mistake.id, marks=[pytest.mark.linux] if mistake.id in OF_CPU_TIME else []
        )
        for mistake in MISTAKES
    ],
)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """The sandbox that `render` has, one for all."""
    with Pool(PoolOptions(limits=Limits(), workers=1, min_idle=0)) as found:
        yield found


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory that is the current one, so that positions have short names."""
    monkeypatch.chdir(tmp_path)
    return type(tmp_path)()


@each_mistake
def test_mistake_is_told(mistake: Mistake, here: Path, pool: Pool, *, update_goldens: bool) -> None:
    """The frame in the terminal and the line in the cluster are those in the file."""
    catalogue.lay_out(mistake, here, mistake.parts[COMPOSITION])
    outcome = catalogue.run(here, pool)
    if update_goldens:
        catalogue.write(mistake, outcome)
    assert outcome.told
    assert outcome.told == catalogue.read(mistake.path).told


@each_mistake
def test_place_is_right(mistake: Mistake, here: Path, pool: Pool) -> None:
    """File, line and column are those of the place that the file names beside the outcome."""
    catalogue.lay_out(mistake, here, mistake.parts[COMPOSITION])
    outcome = catalogue.run(here, pool)
    spans = [problem.span for problem in outcome.problems if problem.span is not None]
    assert len(spans) == len(outcome.problems)
    if spans:
        assert {span.name for span in spans} == {COMPOSITION}
        assert [(span.line, span.column) for span in spans] == catalogue.places(mistake)
    places = [place.rpartition(MARK)[2] for place in mistake.parts["place"].splitlines()]
    pointed = catalogue.pointed_at(mistake, outcome.line)
    assert all(text.startswith(place) for text, place in zip(pointed, places, strict=False))
    assert pointed or spans


@each_mistake
def test_hint_mends_it(mistake: Mistake, here: Path, pool: Pool) -> None:
    """With the fix, the Composition renders without an error and without a warning."""
    catalogue.lay_out(mistake, here, catalogue.fixed(mistake))
    outcome = catalogue.run(here, pool)
    assert outcome.told == {}


@each_mistake
def test_text_says_what_to_do(mistake: Mistake) -> None:
    """Every problem has a hint, or says itself what is wanted."""
    texts = catalogue.read(mistake.path).told
    for frame in texts.get("render", texts.get("cluster", "")).split("\n\nerror"):
        assert any(words in frame for words in SAYS_WHAT_TO_DO), frame


@pytest.mark.parametrize("name", ["input/two-mistakes", "jinja/misspelt-field", "starlark/no-main"])
def test_the_command_prints_the_same(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`function-script render` in the mistake's directory prints the frames, and exits with 1."""
    (mistake,) = (each for each in MISTAKES if each.id == name)
    catalogue.lay_out(mistake, here, mistake.parts[COMPOSITION])
    assert cli.execute(["render", str(here)]) == 1
    assert without_note(capsys.readouterr().err) == mistake.told["render"]
