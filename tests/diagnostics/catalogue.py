"""The catalogue of mistakes: text files with a mistake, what is said of it, and what mends it.

A file is one mistake. Its first line describes it. Sections begin with ``=== name``:

- a program, in a section with the name of a file of ``frames``: that file is the Composition, with
  the program in place of its line ``PROGRAM``;
- files of the directory that is rendered: ``composition.yaml`` where no frame fits, and ``xr.yaml``
  (otherwise ``xr.yaml`` beside this module), ``observed.yaml``, ``functions.yaml``, ``xrd.yaml``;
- ``arguments``: the files XR and Composition in the order in which they are given, if it matters;
- ``place``: a line for each problem, with the text at which it points (``‸`` marks the very
  character, if it is not the first). The text is in the Composition, or else in another file;
- ``fix``: the text as corrected by following the hint. Lines with ``-`` are replaced by the lines
  with ``+`` below them, in the program or in the file that has them;
- the outcome, which `make goldens` writes: a section for each text, named by the outputs that show
  it. ``render`` is the command, ``cluster`` the message of the results, ``error[RULE]`` and
  ``warning[RULE]`` are findings of the command `check`.

A mistake that fails before its step runs is not shown in the cluster. One that stops nothing is not
shown by ``render``: its message is the event's. One that only a run shows is not found by `check`.
"""

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from function_script import documents
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.sandbox import Answered, Pool, Reply
from function_script.texts import diagnostics
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError
from function_script.texts.source import Source
from function_script.tools import check
from function_script.tools.check.report import Finding
from function_script.tools.render import command, loading, renderer
from function_script.tools.render.messages import fatal_messages
from function_script.tools.render.output import OutputOptions

HERE = Path(__file__).parent
COMPOSITION = "composition.yaml"
XR = "xr.yaml"
MARK = "‸"
ARGUMENTS = "arguments"
OUTPUTS = ("render", "cluster", "error", "warning")
FRAMES = {path.stem: path.read_text() for path in (HERE / "frames").glob("*.yaml")}
_SECTION = re.compile(r"^=== (.+)\n", re.MULTILINE)
_PROGRAM = re.compile(r"^( *)PROGRAM\n", re.MULTILINE)
_PLACE = re.compile(r"(?:(?<=; )|(?<=\": )|^)(?:(script|inline)|modules\[([^\]]+)\]):(\d+):(\d+): ")
_TIMEOUT_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One file: ``head`` is its text up to the outcome, ``frame`` the name of its program's."""

    path: Path
    about: str
    head: str
    frame: str | None
    parts: Mapping[str, str]

    @property
    def id(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def files(self) -> dict[str, str]:
        """The files to render by name, the Composition first."""
        return _compose(self.frame, self.parts)

    @property
    def outcome(self) -> dict[str, str]:
        """The sections of the outcome, as the file has them."""
        return {name: text for name, text in self.parts.items() if _is_outcome(name)}


def _is_outcome(section: str) -> bool:
    return section.startswith(OUTPUTS)


def _compose(frame: str | None, parts: Mapping[str, str]) -> dict[str, str]:
    """Return the files to render, of the sections that hold files and of the program."""
    files = {
        name: text for name, text in parts.items() if name.endswith(".yaml") or name == ARGUMENTS
    }
    composition = files.pop(COMPOSITION) if frame is None else _insert(parts[frame], FRAMES[frame])
    return {COMPOSITION: composition, XR: (HERE / XR).read_text(), **files}


def _insert(program: str, frame: str) -> str:
    return _PROGRAM.sub(lambda line: textwrap.indent(program, line[1]), frame)


class Place(NamedTuple):
    """A place in a file, and the text from there on."""

    file: str
    line: int
    column: int
    text: str


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
        lines = sorted(diagnostics.to_line((each,)) for each in failures)
        if text and sorted(text.split("; ")) == lines:
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
        if isinstance(reply, Answered):
            messages = fatal_messages(fnv1.RunFunctionResponse.FromString(reply.response))
            self.failure = "; ".join(messages)
        else:
            self.failure = diagnostics.to_line(reply.error.diagnostics)
        return reply


def load() -> list[Mistake]:
    """Every mistake, by language and name."""
    return [read(path) for path in sorted((HERE / "cases").glob("*/*.txt"))]


def read(path: Path) -> Mistake:
    """Read one file of the catalogue."""
    text = path.read_text()
    sections = list(_SECTION.finditer(text))
    ends = [mark.start() for mark in sections[1:]] + [len(text)]
    parts = {mark[1]: text[mark.end() : end] for mark, end in zip(sections, ends, strict=True)}
    end = next((mark.start() for mark in sections if _is_outcome(mark[1])), len(text))
    return Mistake(
        path=path,
        about=text[: sections[0].start()].strip(),
        head=text[:end],
        frame=next((name for name in parts if name in FRAMES), None),
        parts=parts,
    )


def write(mistake: Mistake, outcome: Outcome) -> None:
    """Write the outcome to the mistake's file."""
    sections = (f"=== {name}\n{text}" for name, text in outcome.sections.items())
    mistake.path.write_text(mistake.head + "".join(sections))


def places(mistake: Mistake) -> list[Place]:
    """Return each place that the file names."""
    positions = []
    for place in mistake.parts["place"].splitlines():
        line = place.replace(MARK, "")
        offset = max(0, place.find(MARK))
        name = _file_with(line, mistake.files)
        text = mistake.files[name]
        before = text[: text.index(line) + offset]
        column = len(before) - before.rfind("\n")
        positions.append(Place(name, before.count("\n") + 1, column, line[offset:]))
    return positions


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
        text = step_input["modules"][module] if module else step_input[name]
        places.append(text.split("\n")[int(number) - 1][int(column) - 1 :])
    return places


def correct(mistake: Mistake) -> dict[str, str]:
    """Return the files after the fix: each run of "-" lines becomes the "+" lines below it."""
    # The program is corrected outside of its frame, where its lines begin.
    parts = {name: f"\n{text}" for name, text in mistake.parts.items() if not _is_outcome(name)}
    fix = parts.pop("fix")
    del parts["place"]
    for old, new in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", fix, re.MULTILINE):
        before, after = _unmarked(old), _unmarked(new)
        name = _file_with(f"\n{before}", parts)
        parts[name] = parts[name].replace(f"\n{before}", f"\n{after}")
    return _compose(mistake.frame, {name: text[1:] for name, text in parts.items()})


def _file_with(text: str, files: Mapping[str, str]) -> str:
    """Return the first file that has a text; it must be there once."""
    for name, content in files.items():
        if text in content:
            assert content.count(text) == 1, f"{text!r} is in {name} {content.count(text)} times"
            return name
    raise AssertionError(f"{text!r} is in no file")


def _unmarked(lines: str) -> str:
    return "".join(line[1:] for line in lines.splitlines(keepends=True))


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
    paths = loading.find_render_paths(directory)
    arguments = directory / ARGUMENTS
    if not arguments.exists():
        return paths
    xr, composition = (directory / name for name in arguments.read_text().split())
    return replace(paths, xr=xr, composition=composition)


def _check(directory: Path) -> tuple[Finding, ...]:
    try:
        return check.check([str(directory / COMPOSITION)]).findings
    except FatalError as error:
        return tuple(
            Finding(rule="argument", severity="error", step="", diagnostic=problem)
            for problem in error.diagnostics
        )
