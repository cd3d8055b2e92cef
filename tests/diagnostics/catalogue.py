"""The catalogue of mistakes: text files with a Composition, what is told of it, and what mends it.

A file is one mistake; its first lines say which. Sections begin with ``=== name``:
``composition.yaml``, and ``observed.yaml`` if there is any; ``place``, a line for each problem,
with the text at which it points (``‸`` marks the very character, if it is not the first);
``fix``, lines that replace others; and what comes out: ``render``, as the terminal shows it, and
``cluster``, the result's message, which what is wrong beside the steps does not reach. Mistakes
that stop nothing have no ``render``, for only the event tells them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from function_script import diagnostics
from function_script.errors import FatalError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.sandbox import Answered
from function_script.tools import console, render
from function_script.tools.render import error_positions, loading, steps
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.requirements import StepResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.diagnostics import Diagnostic
    from function_script.sandbox import Pool
    from function_script.tools.render.requirements import Runner
    from function_script.tools.render.steps import Step

HERE = Path(__file__).parent
COMPOSITION = "composition.yaml"
MARK = "‸"
_SECTION = re.compile(r"^=== (\S+)\n", re.MULTILINE)
_PLACE = re.compile(r"(?:^|; |\": )(?:(script|inline)|modules\[([^\]]+)\]):(\d+):(\d+): ")
_TIMEOUT_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One file: ``head`` is its text up to what comes out."""

    path: Path
    about: str
    head: str
    parts: Mapping[str, str]

    @property
    def id(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def told(self) -> dict[str, str]:
        """What the file says comes out."""
        return {name: self.parts[name] for name in ("render", "cluster") if name in self.parts}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came out: the problems as rendering tells them, and the line a cluster shows."""

    problems: tuple[Diagnostic, ...] = ()
    line: str = ""

    @property
    def told(self) -> dict[str, str]:
        """The sections of a file."""
        framed = console.to_text(self.problems)
        sections = {"render": framed, "cluster": self.line}
        return {name: f"{text}\n" for name, text in sections.items() if text}


def load() -> list[Mistake]:
    """Every mistake, by language and name."""
    return [read(path) for path in sorted((HERE / "cases").glob("*/*.txt"))]


def read(path: Path) -> Mistake:
    """One file of the catalogue."""
    text = path.read_text()
    sections = list(_SECTION.finditer(text))
    ends = [mark.start() for mark in sections[1:]] + [len(text)]
    parts = {mark[1]: text[mark.end() : end] for mark, end in zip(sections, ends, strict=True)}
    end = next(mark.start() for mark in sections if mark[1] in {"render", "cluster"})
    return Mistake(
        path=path, about=text[: sections[0].start()].strip(), head=text[:end], parts=parts
    )


def write(mistake: Mistake, outcome: Outcome) -> None:
    """Write what came out to the mistake's file."""
    sections = (f"=== {name}\n{text}" for name, text in outcome.told.items())
    mistake.path.write_text(mistake.head + "".join(sections))


def places(mistake: Mistake) -> list[tuple[int, int]]:
    """Line and column of each place that the file names; each must be there exactly once."""
    text = mistake.parts[COMPOSITION]
    lines = []
    for place in mistake.parts["place"].splitlines():
        line = place.replace(MARK, "")
        assert text.count(line) == 1, f"{line!r} is there {text.count(line)} times"
        before = text[: text.index(line) + max(0, place.find(MARK))]
        lines.append((before.count("\n") + 1, len(before) - before.rfind("\n")))
    return lines


def pointed_at(mistake: Mistake, line: str) -> list[str]:
    """The text at each place that the line for the cluster names, up to the end of its line."""
    places = []
    for name, module, number, column in _PLACE.findall(line):
        step_input = yaml.safe_load(mistake.parts[COMPOSITION])["spec"]["pipeline"][0]["input"]
        text = step_input["modules"][module] if module else step_input[name]
        places.append(text.split("\n")[int(number) - 1][int(column) - 1 :])
    return places


def fixed(mistake: Mistake) -> str:
    """The Composition after the fix: each run of "-" lines becomes the "+" lines below it."""
    text = mistake.parts[COMPOSITION]
    for old, new in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", mistake.parts["fix"], re.MULTILINE):
        before, after = _unmarked(old), _unmarked(new)
        count = text.count(f"\n{before}")
        assert count == 1, f"{before!r} is there {count} times"
        text = text.replace(f"\n{before}", f"\n{after}")
    return text


def _unmarked(lines: str) -> str:
    return "".join(line[1:] for line in lines.splitlines(keepends=True))


def lay_out(mistake: Mistake, directory: Path, composition: str) -> None:
    """Write the files that `render` takes."""
    (directory / "xr.yaml").write_text((HERE / "xr.yaml").read_text())
    (directory / COMPOSITION).write_text(composition)
    if "observed.yaml" in mistake.parts:
        (directory / "observed.yaml").write_text(mistake.parts["observed.yaml"])


def run(directory: Path, pool: Pool) -> Outcome:
    """Render what stands in a directory, as the command does it, in this pool."""
    lines: list[str] = []

    def runner(step: Step, request: fnv1.RunFunctionRequest) -> StepResponse:
        reply = pool.run(request.SerializeToString(), _TIMEOUT_SECONDS)
        if not isinstance(reply, Answered):
            lines.append(diagnostics.to_line(reply.error.diagnostics))
            raise PipelineError(step, *reply.error.diagnostics)
        response = fnv1.RunFunctionResponse.FromString(reply.response)
        fatal = [each for each in response.results if each.severity == fnv1.SEVERITY_FATAL]
        lines.extend(each.message for each in fatal)
        return StepResponse(response=response, diagnostics=reply.diagnostics)

    try:
        result = _render(loading.find_render_paths(directory), runner)
    except FatalError as error:
        return Outcome(problems=error.diagnostics, line=lines[-1] if lines else "")
    warned = [event.message for event in result.events if event.severity == "Warning"]
    return Outcome(line="; ".join(warned))


def _render(paths: loading.RenderPaths, runner: Runner) -> render.RenderResult:
    composition = loading.load_one(paths.composition, "a Composition")
    inputs = render.RenderInputs(
        xr=loading.load_one(paths.xr, "an XR").value,
        composition=composition.value,
        observed=loading.load_values([paths.observed] if paths.observed else []),
    )
    with error_positions.map_errors(composition, paths.programs):
        steps.parse(inputs.composition)
        return render.render(inputs, runner)
