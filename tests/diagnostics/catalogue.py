"""The catalogue of mistakes: text files with a mistake, what is said of it, and what mends it.

A file is one mistake. Its first line describes it. Sections begin with ``=== name``:

- a part of a Composition, in a section with the name of a file of ``frames``: that file, within the
  frame around it, is the Composition, with the part in place of its line ``PART``;
- files of the directory that is rendered: ``composition.yaml`` where no frame fits, and ``xr.yaml``
  (otherwise ``xr.yaml`` beside this module), ``observed.yaml``, ``functions.yaml``, ``xrd.yaml``;
- ``arguments``: the files XR and Composition in the order in which they are given, if it matters;
- the outcome, which `make goldens` writes: a section for each text, named by the outputs that show
  it. ``render`` is the command, ``cluster`` the message of the results, ``error[RULE]`` and
  ``warning[RULE]`` are findings of the command `check`.

The text of a part or of a file is a diff: lines with ``-`` are the mistake, and lines with ``+``
correct it as the hint says. ``‸`` stands before each character at which an output points.

A mistake that fails before its step runs is not shown in the cluster. One that stops nothing is not
shown by ``render``: its message is the event's. One that only a run shows is not found by `check`.
"""

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from function_script import documents
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.sandbox.outcome import RETRIED, Reply
from function_script.sandbox.pool import Pool
from function_script.step.telemetry import Answered
from function_script.texts import diagnostics
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError
from function_script.texts.source import Source
from function_script.tools.check import checker
from function_script.tools.check.report import Finding
from function_script.tools.project import Project
from function_script.tools.render import command, loading, renderer
from function_script.tools.render.messages import fatal_messages
from function_script.tools.render.output import OutputOptions

HERE = Path(__file__).parent
COMPOSITION = "composition.yaml"
XR = "xr.yaml"
MARK = "‸"
ARGUMENTS = "arguments"
OUTPUTS = ("render", "cluster", "error", "warning")
_SECTION = re.compile(r"^=== (.+)\n", re.MULTILINE)
_PART = re.compile(r"^( *)PART\n", re.MULTILINE)
_UNSIGNED = re.compile(r"^[^-+ \n]", re.MULTILINE)
_PLACE = re.compile(
    r"(?:(?<=; )|(?<=\": )|^)(?:(script|inline(?:\.template)?)|modules\[([^\]]+)\]):(\d+):(\d+): "
)
_TIMEOUT_SECONDS = 10


def _insert(part: str, frame: str) -> str:
    return _PART.sub(lambda line: textwrap.indent(part, line[1]), frame)


def _read_frame(name: str) -> str:
    """Return a frame in the one around it: `gotemplate-bucket` is in `gotemplate`, in `input`."""
    frame = (HERE / "frames" / f"{name}.yaml").read_text()
    if name == "pipeline":
        return frame
    outer = "pipeline" if name == "input" else name.rpartition("-")[0] or "input"
    return _insert(frame, _read_frame(outer))


FRAMES = {path.stem: _read_frame(path.stem) for path in (HERE / "frames").glob("*.yaml")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One file: ``head`` is its text up to the outcome; ``diffs`` and ``outcome`` its sections."""

    path: Path
    head: str
    diffs: Mapping[str, str]
    outcome: Mapping[str, str]

    @property
    def id(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def files(self) -> dict[str, str]:
        """The files to render by name, the Composition first."""
        return {name: text.replace(MARK, "") for name, text in self.marked_files.items()}

    @property
    def marked_files(self) -> dict[str, str]:
        """The files to render, with their marks."""
        return self._compose("+")

    @property
    def corrected_files(self) -> dict[str, str]:
        """The files after the correction."""
        return {name: text.replace(MARK, "") for name, text in self._compose("-").items()}

    def _compose(self, absent: str) -> dict[str, str]:
        """Return the files without the lines that begin with a sign."""
        files = {XR: (HERE / XR).read_text()}
        for name, diff in self.diffs.items():
            lines = [line for line in diff.splitlines() if not line.startswith(absent)]
            text = "".join(f"{line[1:]}\n" for line in lines)
            if name in FRAMES:
                files[COMPOSITION] = _insert(text, FRAMES[name])
            else:
                # A file without a text is that of this directory.
                files[name] = text or (HERE / name).read_text()
        return {COMPOSITION: files.pop(COMPOSITION), **files}


class Place(NamedTuple):
    """A place in a file, and the text of its line from there on."""

    file: str
    line: int
    column: int
    text: str

    @property
    def point(self) -> tuple[str, int, int]:
        """The place as a span has it."""
        return self.file, self.line, self.column


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The problems of a rendering, the message of its results, and the findings of `check`."""

    problems: tuple[Diagnostic, ...] = ()
    message: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def sections(self) -> dict[str, str]:
        """The sections of a file: each text by the outputs that show it."""
        outputs: dict[Diagnostic, list[str]] = {}
        for problem in self.problems:
            outputs.setdefault(_without_place(problem), []).append("render")
        for finding in self.findings:
            problem = _without_place(finding.diagnostic)
            same = (each for each in outputs if each == replace(problem, notes=each.notes))
            output = f"{finding.severity}[{finding.rule}]"
            outputs.setdefault(next(same, problem), []).append(output)
        text = _PLACE.sub("", self.message)
        failures = [each for each in outputs if "render" in outputs[each]] or [*outputs]
        lines = [diagnostics.to_line((each,)) for each in failures]
        if text and sorted(text.split("; ")) == sorted("; ".join(lines).split("; ")):
            for each in failures:
                outputs[each].append("cluster")
        elif text:
            outputs[Diagnostic(message=text)] = ["cluster"]
        sections: dict[str, str] = {}
        for problem, names in outputs.items():
            section = ", ".join(sorted(set(names), key=_order))
            sections[section] = sections.get(section, "") + _text(problem)
        return sections


def _without_place(problem: Diagnostic) -> Diagnostic:
    return Diagnostic(message=problem.message, hint=problem.hint, notes=problem.notes)


def _order(output: str) -> int:
    return OUTPUTS.index(output.partition("[")[0])


def _text(problem: Diagnostic) -> str:
    lines = [problem.message, *map(str, problem.notes)]
    if problem.hint is not None:
        lines.append(f"hint: {problem.hint}")
    return "".join(f"{line}\n" for line in lines)


class RecordingPool(Pool):
    """A sandbox that keeps the message of a step that fails, as a cluster shows it."""

    failure = ""

    def run(self, data: bytes, timeout_seconds: float | None = None) -> Reply:
        """Evaluate a request, in the time that one mistake of the catalogue has."""
        reply = super().run(data, min(timeout_seconds or _TIMEOUT_SECONDS, _TIMEOUT_SECONDS))
        if timeout_seconds is None:
            # A question about a run that is over, such as that for positions.
            return reply
        if isinstance(reply, Answered):
            messages = fatal_messages(fnv1.RunFunctionResponse.FromString(reply.response))
            self.failure = "; ".join(messages)
        else:
            # No outcome of a mistake: the machine was busy.
            assert reply.cause not in RETRIED, reply.error
            self.failure = diagnostics.to_line(reply.error.diagnostics)
        return reply


@cache
def load() -> list[Mistake]:
    """Every mistake, by language and name."""
    return [read(path) for path in sorted((HERE / "cases").glob("*/*.txt"))]


def read(path: Path) -> Mistake:
    """Read one file of the catalogue."""
    text = path.read_text()
    sections = list(_SECTION.finditer(text))
    ends = [mark.start() for mark in sections[1:]] + [len(text)]
    parts = {mark[1]: text[mark.end() : end] for mark, end in zip(sections, ends, strict=True)}
    outcome = {name: part for name, part in parts.items() if name.startswith(OUTPUTS)}
    diffs = {name: part for name, part in parts.items() if name not in outcome}
    assert not _UNSIGNED.search("".join(diffs.values())), f"{path.name} has a line without a sign"
    return Mistake(
        path=path,
        head=text[: next((mark.start() for mark in sections if mark[1] in outcome), len(text))],
        diffs=diffs,
        outcome=outcome,
    )


def write(mistake: Mistake, outcome: Outcome) -> None:
    """Write the outcome to the mistake's file."""
    sections = (f"=== {name}\n{text}" for name, text in outcome.sections.items())
    mistake.path.write_text(mistake.head + "".join(sections))


def places(mistake: Mistake) -> list[Place]:
    """Return each place that the file marks."""
    return [
        Place(name, number, len(before) + 1, line.replace(MARK, "")[len(before) :])
        for name, text in mistake.marked_files.items()
        for number, line in enumerate(text.split("\n"), start=1)
        for mark in re.finditer(MARK, line)
        for before in [line[: mark.start()].replace(MARK, "")]
    ]


def pointed_at(mistake: Mistake, message: str) -> list[str]:
    """Return the text at each place that a cluster's message names, up to the end of its line."""
    places = []
    source = Source(name=COMPOSITION, text=mistake.files[COMPOSITION])
    for name, module, number, column in _PLACE.findall(message):
        if f" {name}: >\n" in source.text:
            # The lines of a folded text are no lines of the file.
            continue
        (composition,) = documents.read_source(source)
        step_input = objects.find_path(composition.value, "spec.pipeline[0].input")
        text = step_input["modules"][module] if module else objects.find_path(step_input, name)
        places.append(text.split("\n")[int(number) - 1][int(column) - 1 :])
    return places


def lay_out(files: Mapping[str, str], directory: Path) -> None:
    """Write the files that `render` takes."""
    for name, text in files.items():
        (directory / name).write_text(text)


def run(directory: Path, pool: RecordingPool) -> Outcome:
    """Render and check a directory as the commands do it."""
    pool.failure = ""
    options = command.Options(
        rendering=renderer.Options(), output=OutputOptions(results=True), report=lambda *_: None
    )
    problems: tuple[Diagnostic, ...] = ()
    message = ""
    try:
        paths = _find_paths(directory)
        documents = command.render_composition(paths, options, pool).documents
    except FatalError as error:
        problems, message = error.diagnostics, pool.failure
    else:
        message = "; ".join(
            str(document["message"])
            for document in documents
            if document["kind"] == "Result" and document["severity"] == "Warning"
        )
    return Outcome(problems=problems, message=message, findings=_check(directory))


def _find_paths(directory: Path) -> loading.RenderPaths:
    paths = loading.find_render_paths(directory, Project([directory]))
    arguments = directory / ARGUMENTS
    if not arguments.exists():
        return paths
    xr, composition = (directory / name for name in arguments.read_text().split())
    return replace(paths, xr=xr, composition=composition)


def _check(directory: Path) -> tuple[Finding, ...]:
    try:
        return checker.check([str(directory / COMPOSITION)]).findings
    except FatalError as error:
        return tuple(
            Finding(rule="argument", severity="error", step="", diagnostic=problem)
            for problem in error.diagnostics
        )
