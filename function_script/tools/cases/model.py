"""The files of cases, and a case after it has been parsed: its setup, steps and expectations.

A case is ``case.yaml`` in a folder of its own, or ``NAME.case.yaml``.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from function_script.documents import Document
from function_script.proto.v1.run_function_pb2 import RunFunctionRequest
from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.texts import field_names
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.texts.source import Span
from function_script.tools import author_positions
from function_script.tools.project import Project, walk
from function_script.tools.render import RenderInputs
from function_script.tools.render.positions import Origin

FOLDER_FILE: Final = "case.yaml"
SUFFIX: Final = ".case.yaml"
_INPUTS: Final = {
    *("composition.yaml", "xr.yaml", "xrd.yaml", "definition.yaml", "functions.yaml"),
    *("observed.yaml", "required.yaml", "credentials.yaml", "context.yaml"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """An object at ``at`` in ``document``: the case's own, or that of a file that it names."""

    value: Object
    document: Document
    at: objects.Path = ()

    @property
    def span(self) -> Span | None:
        """The position of a whole document; None for a part of the case, whose step has one."""
        return None if self.at else self.document.span()

    def depth(self, path: objects.Path) -> int:
        """Return how many parts of ``path`` exist here."""
        depths = range(len(path), 0, -1)
        return next((n for n in depths if objects.find_path(self.value, path[:n]) is not None), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The ``inputs`` that all steps of a case share; ``functions`` is None without a file.

    ``origin`` is where the Composition is from. ``xr_parts`` are the XR and its patch, in the order
    in which they are merged. A case with a ``request`` has nothing else but its input in the
    Composition; ``redacted`` counts the secrets that were removed from it.
    """

    origin: Origin
    inputs: RenderInputs
    functions: Sequence[Object] | None = None
    xr_parts: Sequence[Located] = ()
    skips_xr_validation: bool = False
    skips_validation: bool = False
    request: RunFunctionRequest | None = None
    redacted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """The expected outcome of a step; ``at`` is its path in the case.

    ``partial`` has what the outcome's parts of the same names must contain; ``error`` has texts
    that the failure must contain; ``snapshot`` is the file with the exact documents. ``checks`` are
    paths in the outcome with their conditions: pairs such as ``("equals", 3)``.
    """

    at: objects.Path = ()
    snapshot: Path | None = None
    error: Sequence[str] = ()
    absent: Sequence[str] = ()
    partial: Object = field(default_factory=dict)
    ready: bool | None = None
    conditions: Sequence[Object] = ()
    events: Sequence[Object] = ()
    checks: Sequence[tuple[str, Sequence[tuple[str, Value]]]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One reconcile.

    ``observed`` and ``required`` are None if they are as before. ``patch`` is merged into the XR;
    ``ready`` and ``changed`` are changes of composed resources by name since the last step.
    ``expect`` is None if the step only leads to the next one.
    """

    at: objects.Path = ()
    name: str = ""
    patch: Located | None = None
    observed: Sequence[Located] | None = None
    required: Sequence[Object] | None = None
    ready: Sequence[str] = ()
    changed: Mapping[str, Object] = field(default_factory=dict)
    expect: Expectation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case in the file ``path``.

    It may read and write ``project``. ``is_input`` reports whether a case reads a file.
    """

    path: Path
    document: Document
    setup: Setup
    steps: Sequence[Step]
    project: Project
    is_input: Callable[[Path], bool]


def locate_xr(problem: Diagnostic, parts: Sequence[Located]) -> Diagnostic:
    """Return a problem of the XR with the position of its field.

    Of the ``parts`` that have most of the field's path, the last one set it.
    """
    path = objects.read_path(problem.field)
    part = max(reversed(parts), key=lambda part: part.depth(path))
    return author_positions.locate(problem, part.document, (*part.at, *path))


def name_of(file: Path) -> str:
    """Return the name of a case as people type it: its folder, or the file without its suffix."""
    if file.name == FOLDER_FILE:
        return file.parent.as_posix()
    return file.as_posix().removesuffix(SUFFIX)


def find_snapshot(file: Path, number: int | None = None) -> Path:
    """Return the file of expected documents; ``number`` counts steps of a sequence from 1."""
    ending = "expected.yaml" if number is None else f"expected-{number}.yaml"
    if file.name == FOLDER_FILE:
        return file.with_name(ending)
    return file.with_name(f"{file.name.removesuffix(SUFFIX)}.{ending}")


def is_case(path: Path) -> bool:
    """Report whether a file's name is that of a case."""
    return path.name == FOLDER_FILE or path.name.endswith(SUFFIX)


def is_case_input(path: Path) -> bool:
    """Report whether a file's name is that of a case, or of what cases read without naming it."""
    # Some file systems take names in capitals for the same.
    lower = Path(path.name.lower())
    return is_case(lower) or lower.name in _INPUTS


def find_cases(paths: Iterable[Path], pattern: re.Pattern[str] | None = None) -> list[Path]:
    """Return the cases at and below ``paths`` whose name matches, each once, in order of names.

    Raises InputError for a path that is not a case, and if there is no case at all.
    """
    paths = list(paths)
    cases = sorted({path for start in paths for path in _list_files(start)})
    if not cases:
        names = ", ".join(f'"{path}"' for path in paths)
        raise InputError.of(
            f"cannot find a case in {names}",
            hint=f"a case is a folder with {FOLDER_FILE}, or a file NAME{SUFFIX}",
        )
    matches = [case for case in cases if pattern is None or pattern.search(name_of(case))]
    if not matches and pattern is not None:
        raise InputError.of(
            f'cannot find a case whose name matches "{pattern.pattern}" among {len(cases)}',
            hint=f"the cases are {field_names.listed(map(name_of, cases))}",
        )
    return matches


def _list_files(start: Path) -> Iterator[Path]:
    if start.is_dir():
        yield from filter(is_case, walk(start, is_strict=True))
    elif not start.exists():
        raise InputError.of(f'cannot read "{start}": no such file or directory')
    elif is_case(start):
        yield start
    else:
        hint = f"it must be named {FOLDER_FILE} or NAME{SUFFIX}"
        raise InputError.of(f'cannot use "{start}" as a case', hint=hint)
