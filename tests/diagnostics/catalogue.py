"""The catalogue of mistakes: text files with a mistake, what is said of it, and what mends it.

A file is one mistake. Its first line describes it. Sections begin with ``=== name``:

- files of the directory that is rendered: ``composition.yaml``, and ``xr.yaml`` (otherwise
  ``xr.yaml`` beside this module), ``observed.yaml``, ``functions.yaml``, ``xrd.yaml``;
- ``arguments``: the files XR and Composition in the order in which they are given, if it matters;
- ``place``: a line for each problem, with the text at which it points (``‸`` marks the very
  character, if it is not the first). The text is in the Composition, or else in another file;
- ``fix``: the text as corrected by following the hint. Lines with ``-`` are replaced by the lines
  with ``+`` below them, in the file that has them;
- the outcome, which `make goldens` writes: ``render`` is the output of the command, ``cluster``
  the message of the results, ``check`` a line for each finding of the command `check`.

A mistake that fails before its step runs has no ``cluster``. One that stops nothing has no
``render``: its message is the event's. One that only a run shows has no ``check``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import yaml

from function_script import diagnostics
from function_script.diagnostics import Diagnostic
from function_script.errors import FatalError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.sandbox import Answered, Pool, Reply
from function_script.tools import check, console
from function_script.tools.check.report import Finding
from function_script.tools.render import command, loading
from function_script.tools.render.output import OutputOptions
from function_script.tools.results import fatal_messages

HERE = Path(__file__).parent
COMPOSITION = "composition.yaml"
XR = "xr.yaml"
MARK = "‸"
ARGUMENTS = "arguments"
OUTCOME = ("render", "cluster", "check")
_SECTION = re.compile(r"^=== (\S+)\n", re.MULTILINE)
_PLACE = re.compile(r"(?:^|; |\": )(?:(script|inline)|modules\[([^\]]+)\]):(\d+):(\d+): ")
_TIMEOUT_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One file: ``head`` is its text up to the outcome."""

    path: Path
    about: str
    head: str
    parts: Mapping[str, str]

    @property
    def id(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def files(self) -> dict[str, str]:
        """The files to render by name, the Composition first."""
        files = {
            name: text
            for name, text in self.parts.items()
            if name.endswith(".yaml") or name == ARGUMENTS
        }
        return {COMPOSITION: files.pop(COMPOSITION), XR: (HERE / XR).read_text(), **files}

    @property
    def outcome(self) -> dict[str, str]:
        """The sections of the outcome, as the file has them."""
        return {name: self.parts[name] for name in OUTCOME if name in self.parts}


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
        """The sections of a file, without empty ones."""
        lines = (
            f"{finding.severity}[{finding.rule}]: {diagnostics.to_line((finding.diagnostic,))}"
            for finding in self.findings
        )
        texts = (console.to_text(self.problems), self.message, "\n".join(lines))
        return {name: f"{text}\n" for name, text in zip(OUTCOME, texts, strict=True) if text}


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
    end = next((mark.start() for mark in sections if mark[1] in OUTCOME), len(text))
    return Mistake(
        path=path, about=text[: sections[0].start()].strip(), head=text[:end], parts=parts
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
    for name, module, number, column in _PLACE.findall(message):
        if f" {name}: >\n" in mistake.parts[COMPOSITION]:
            # The lines of a folded text are no lines of the file.
            continue
        step_input = yaml.safe_load(mistake.parts[COMPOSITION])["spec"]["pipeline"][0]["input"]
        text = step_input["modules"][module] if module else step_input[name]
        places.append(text.split("\n")[int(number) - 1][int(column) - 1 :])
    return places


def correct(mistake: Mistake) -> dict[str, str]:
    """Return the files after the fix: each run of "-" lines becomes the "+" lines below it."""
    files = {name: f"\n{text}" for name, text in mistake.files.items()}
    for old, new in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", mistake.parts["fix"], re.MULTILINE):
        before, after = _unmarked(old), _unmarked(new)
        name = _file_with(f"\n{before}", files)
        files[name] = files[name].replace(f"\n{before}", f"\n{after}")
    return {name: text[1:] for name, text in files.items()}


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
    options = command.Options(output=OutputOptions(results=True), print=lambda _: None)
    problems: tuple[Diagnostic, ...] = ()
    message = ""
    try:
        paths = _find_paths(directory)
        documents = command.render_documents(paths, options, pool)
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
