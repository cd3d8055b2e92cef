"""Choose how each step's function runs: by the command line, by annotations, or by itself.

This is done before the pipeline runs, so that a function that cannot run is an error at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from function_script import __version__
from function_script.documents import Document
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts import spelling
from function_script.texts.diagnostics import Code, Diagnostic
from function_script.texts.errors import InputError
from function_script.texts.problems import suggest
from function_script.tools import author_positions, manifests
from function_script.tools.project import Project
from function_script.tools.render import loading
from function_script.tools.render.builtin import repository_name
from function_script.tools.render.runtimes.address import TARGET, Remote
from function_script.tools.render.runtimes.container import Container
from function_script.tools.render.runtimes.local import OURS, Builtin, Local, Skip
from function_script.tools.render.runtimes.model import (
    FunctionReference,
    Options,
    Runtime,
)
from function_script.tools.render.runtimes.process import Process
from function_script.tools.render.steps import Step

_TYPES: Final = {("pkg.crossplane.io/v1", "Function"), ("pkg.crossplane.io/v1beta1", "Function")}
_FUNCTION: Final = ("pkg.crossplane.io", "Function")
_RUNTIME: Final = "render.crossplane.io/runtime"
_ANNOTATIONS: Final = (
    _RUNTIME,
    TARGET,
    *(f"{_RUNTIME}-docker-{each}" for each in ("cleanup", "env", "image", "name", "network")),
    *(f"{_RUNTIME}-docker-{each}" for each in ("publish-address", "pull-policy", "target")),
)
# In the order of choice where nothing selects one.
_RUNTIMES: Final[tuple[type[Runtime], ...]] = (Remote, Local, Builtin, Process, Container, Skip)
_CONFINED: Final[tuple[type[Runtime], ...]] = (Local, Builtin)
_WORDS: Final = tuple(dict.fromkeys(kind.word for kind in _RUNTIMES))


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionIndex:
    """The Functions by manifest, and the options of the command, which say how they run.

    ``manifests`` is None without a file. ``is_confined``: only our steps and built-in functions
    run, and the others are left out. ``runs_elsewhere``: the function of such a step runs elsewhere
    than here, where it could run.
    """

    manifests: Sequence[Object] | None
    options: Options
    is_confined: bool = False
    runs_elsewhere: Callable[[Step], bool] | None = None

    def find_runtimes(self, pipeline: Sequence[Step]) -> Sequence[Runtime]:
        """Return the runtime of every step. Raises InputError with all that have none."""
        if self.is_confined:
            return [_confine(_describe(step, self)) for step in pipeline]
        choices, problems = choose(pipeline, self)
        if problems:
            raise InputError(*problems)
        return [each.runtime for each in choices]

    def is_itself(self, step: Step) -> bool:
        """Report whether a step calls this function in the version here, by no other way."""
        function = _describe(step, self)
        selection = _select_by_flag(function, self) or _select_by_annotation(function)
        is_same = function.repository == OURS and not function.find_other_version(__version__)
        return selection is None and is_same


class Choice(NamedTuple):
    """A function's runtime, and the reason for it.

    ``kind`` is the way that was chosen where nothing selects one.
    """

    function: FunctionReference
    runtime: Runtime
    reason: str
    kind: type[Runtime] | None = None

    def explain(self) -> str:
        """Return one line for the author, with the other ways that are possible."""
        name = self.function.name
        line = f"{self.function.step.name}: {name} {self.runtime.describe()}: {self.reason}"
        flags = self.list_other_ways()
        return f"{line}; {flags} is possible, too" if flags else line

    def list_other_ways(self) -> str:
        """Return the flags that select another way; none where this one is selected."""
        if self.kind is None:
            return ""
        suitable = [kind for kind in _RUNTIMES if kind.judge(self.function).is_suitable]
        words = dict.fromkeys(kind.word for kind in suitable)
        others = [word for word in words if word != self.kind.word]
        return " or ".join(f"--function {self.function.name}={word}" for word in others)


def choose(pipeline: Iterable[Step], index: FunctionIndex) -> tuple[list[Choice], list[Diagnostic]]:
    """Return the choices for the steps whose function can run, and the problems of the others."""
    choices: list[Choice] = []
    problems: list[Diagnostic] = []
    for step in pipeline:
        try:
            choices.append(_choose(step, index))
        except InputError as error:
            problems += error.diagnostics
    return choices, problems


def parse_runtime(text: str) -> tuple[str, str]:
    """Parse ``NAME=WORD`` or ``NAME=HOST:PORT``. Raises ValueError."""
    name, equals, value = text.rpartition("=")
    words = ", ".join(_WORDS)
    if not (name and equals and value):
        raise ValueError(f'"{text}" is not of the form NAME=RUNTIME, with one of {words}')
    if value not in _WORDS and ":" not in value:
        near = spelling.nearest(value, _WORDS)
        raise ValueError(
            f'"{value}" is none of {words}' + (f', did you mean "{near}"?' if near else "")
        )
    return name, value


def _not_elsewhere(function: FunctionReference, choice: Choice | None) -> Diagnostic:
    """Return the problem of a function that runs here alone, or is left out."""
    name = function.name
    if choice is None:
        verdicts = (kind.judge(function) for kind in _RUNTIMES)
        reasons = [each.reason for each in verdicts if each.reason and not each.is_suitable]
    else:
        reasons = [f"{choice.runtime.describe()}: {choice.reason}"]
    return Diagnostic(
        message=f'cannot compare step "{function.step.name}": nothing says how function "{name}" '
        "runs beside this one",
        notes=tuple(reasons),
        hint=f"name its package in functions.yaml, or use --function {name}=HOST:PORT",
        code=Code("no-runtime", name),
    )


def _confine(function: FunctionReference) -> Runtime:
    kinds = (kind for kind in _CONFINED if kind.judge(function).is_suitable)
    return next(kinds, Skip).build(function)


def _choose(step: Step, index: FunctionIndex) -> Choice:
    """Return the choice for a step. Raises InputError for one that cannot run."""
    is_elsewhere = index.runs_elsewhere is not None and index.runs_elsewhere(step)
    function = replace(_describe(step, index), is_elsewhere=is_elsewhere)
    try:
        choice = (
            _select_by_flag(function, index)
            or _select_by_annotation(function)
            or _select_by_itself(function)
        )
    except InputError as error:
        (problem,) = error.diagnostics
        message = f'cannot run step "{step.name}" with {step.function}: {problem.message}'
        raise InputError(replace(problem, message=message, field=step.name_field)) from error
    if is_elsewhere and (choice is None or isinstance(choice.runtime, (Local, Skip))):
        raise InputError(_not_elsewhere(function, choice))
    if (choice is None or choice.kind is not None) and (
        problems := [*find_misspelt([step], index)]
    ):
        raise InputError(*problems)
    if choice is None:
        raise InputError(_no_choice(function, index))
    runtime = choice.runtime
    other = runtime.other_version if isinstance(runtime, Builtin) else ""
    if other and index.options.is_strict:
        hint = "without --strict-versions the built-in function runs"
        if flags := choice.list_other_ways():
            hint = f"{flags} runs {other}; {hint}"
        message = f'cannot run step "{step.name}": {runtime.note()}'
        raise InputError.of(message, hint=hint, field=step.name_field)
    return choice


def _describe(step: Step, index: FunctionIndex) -> FunctionReference:
    """Return what the Functions and the command line say of a step's function."""
    manifest = _find_manifest(step, index.manifests or ())
    if manifest is None:
        # Newer versions of Crossplane take a package in place of a name.
        package = step.function if "/" in step.function else ""
        return FunctionReference(step=step, options=index.options, package=package)
    return FunctionReference(
        step=step,
        options=index.options,
        package=manifests.text_at(manifest, "spec", "package"),
        own=manifests.texts_at(manifest, "metadata", "annotations"),
    )


def _find_manifest(step: Step, functions: Sequence[Object]) -> Object | None:
    """Return the Function; of two with one name the last counts, as when they are applied."""
    for manifest in reversed(functions):
        package = manifests.text_at(manifest, "spec", "package")
        if step.function in {manifests.name(manifest), package}:
            return manifest
    return None


def _select_by_flag(function: FunctionReference, index: FunctionIndex) -> Choice | None:
    # A revision is the narrower choice of the two.
    for name in (function.step.revision, function.name):
        selection = index.options.runtimes.get(name) if name else None
        if selection is not None:
            reason = f"--function {name}={selection}"
            function = replace(function, is_explicit=True)
            return Choice(function, _build(function, selection), reason)
    return None


def _build(function: FunctionReference, selection: str) -> Runtime:
    # The word of that one is the form of an address, and nothing that people type.
    kinds = [kind for kind in _RUNTIMES if kind.word == selection != Remote.word]
    if not kinds:
        return Remote.at(selection, function)
    suitable = (kind for kind in kinds if kind.judge(function).is_suitable)
    return next(suitable, kinds[0]).build(function)


def _select_by_annotation(function: FunctionReference) -> Choice | None:
    value = function.annotations.get(_RUNTIME)
    target = function.annotations.get(TARGET, "")
    if value in {None, "", Remote.annotation} and target in _WORDS:
        # As for the engine of the official command, which passes the target on.
        return Choice(function, _build(function, target), f"{TARGET}: {target}")
    if not value:
        return None
    values = tuple(kind.annotation for kind in _RUNTIMES if kind.annotation)
    value = function.choose(_RUNTIME, values)
    kind = next(kind for kind in _RUNTIMES if kind.annotation == value)
    if kind.is_default and not kind.judge(function).is_suitable:
        return None
    return Choice(function, kind.build(function), f"its Function has {_RUNTIME}: {value}")


def _select_by_itself(function: FunctionReference) -> Choice | None:
    """Return the first way that suits. Later ones are not judged, which may take time."""
    for kind in _RUNTIMES:
        suitability = kind.judge(function)
        if suitability.is_suitable:
            reason = suitability.reason
            if value := function.annotations.get(_RUNTIME):
                default = next(kind for kind in _RUNTIMES if kind.annotation == value)
                cause = default.judge(function).reason
                reason = f"{reason}; its Function has {_RUNTIME}: {value}, but {cause}"
            return Choice(function, kind.build(function), reason, kind)
    return None


def find_misspelt(steps: Iterable[Step], index: FunctionIndex) -> Iterator[Diagnostic]:
    """Yield the problem of each step whose Function has another name.

    Its input may be ours and would run here, but Crossplane compares names letter by letter.
    """
    packages = {
        repository_name(manifests.text_at(manifest, "spec", "package")): manifests.name(manifest)
        for manifest in index.manifests or ()
    }
    names = [*map(manifests.name, index.manifests or ())]
    for step in steps:
        function = _describe(step, index)
        near = packages.get(function.repository) or spelling.nearest(
            function.name, packages.values()
        )
        if near is not None and _find_manifest(step, index.manifests or ()) is None:
            # Of two Functions with one name, one has a name of another.
            is_clear = names.count(near) == 1
            hint = (
                f'there is a Function "{near}": both names must be the same' if is_clear else None
            )
            yield Diagnostic(
                message=f'cannot run step "{step.name}": no Function is named "{function.name}"',
                field=step.name_field,
                hint=hint,
            )


def _no_choice(function: FunctionReference, index: FunctionIndex) -> Diagnostic:
    """Return the problem of a function that no runtime suits, with every way out.

    Notes say what the files and the command line lack, with names that are close.
    """
    name = function.name
    notes = []
    if index.manifests is None:
        notes.append("no functions.yaml was read")
    elif _find_manifest(function.step, index.manifests) is None:
        notes.append(f'no Function is named "{name}"')
    if near := spelling.nearest(name, tuple(index.options.runtimes)):
        notes.append(f'--function names "{near}"')
    notes += [reason for kind in _RUNTIMES if (reason := kind.judge(function).reason)]
    hints = [
        f"--function {name}={kind.word} {kind.meaning}"
        for kind in _RUNTIMES
        if kind.suits_by_flag(function)
    ]
    if not function.package:
        hints.insert(0, f'functions.yaml needs a Function "{name}" with spec.package')
    return Diagnostic(
        message=f'cannot run step "{function.step.name}": nothing says how function "{name}" runs',
        field=function.step.name_field,
        notes=tuple(notes),
        hint="; ".join(hints),
        code=Code("no-runtime", name),
    )


def find_unused(steps: Iterable[Step], options: Options) -> Iterator[str]:
    """Yield a note for each --function of a name that no step calls, and a misspelt annotation."""
    names = [name for step in steps for name in (step.function, step.revision) if name]
    called_names = tuple(dict.fromkeys(names))
    for key in options.annotations:
        near = spelling.nearest(key, _ANNOTATIONS)
        if key not in _ANNOTATIONS and near:
            yield f'--function-annotations: there is no annotation "{key}": did you mean "{near}"?'
    for name in options.runtimes:
        if name not in called_names:
            hint = suggest(name, called_names, f"steps call {', '.join(called_names)}")
            yield f'no step calls function "{name}" of --function: {hint}'


def load(
    path: Path | None,
    project: Project,
    report: Callable[[Diagnostic, str], None] | None = None,
    *,
    skips_others: bool = False,
) -> list[Object] | None:
    """Load the Functions of a file; None without one. Raises FatalError.

    ``report`` gets a warning for each misspelt annotation. ``skips_others``: an object of another
    kind, unless that is a misspelt one, is left out, and no error.
    """
    if path is None:
        return None
    functions = loading.load_all(path, project)
    if skips_others:
        # Providers and the like: the file is for a cluster, too.
        functions = [
            each
            for each in functions
            if spelling.nearest(manifests.text_at(each.value, "kind"), (_FUNCTION[1],))
        ]
    for document in functions:
        try:
            check_kinds([document.value])
        except InputError as error:
            located = author_positions.locate(error.diagnostics[0], document, ("kind",))
            raise InputError(located) from error
        if report is not None:
            for problem in find_misspelt_keys(document):
                report(problem, "warning")
    return [document.value for document in functions]


def find_misspelt_keys(document: Document) -> Iterator[Diagnostic]:
    """Yield a problem for each annotation of a Function that is misspelt, and for its package."""
    for *at, names, noun in (
        ("metadata", "annotations", _ANNOTATIONS, "annotation"),
        ("spec", ("package",), "field"),
    ):
        for key in manifests.object_at(document.value, *at):
            near = spelling.nearest(key, names)
            if key not in names and near:
                message = f'there is no {noun} "{key}"'
                problem = Diagnostic(message=message, hint=f'did you mean "{near}"?')
                yield author_positions.locate(problem, document, (*at, key))


def select(objects_: Iterable[Object]) -> list[Object] | None:
    """Return the Functions among the objects of a cluster; None if there are none."""
    return [
        each
        for each in objects_
        if (manifests.group(manifests.text_at(each, "apiVersion")), each.get("kind")) == _FUNCTION
    ] or None


def find_beside(
    directory: Path | None, cluster: Iterable[Object], project: Project
) -> list[Object] | None:
    """Return the Functions of the file beside a Composition, else those of a cluster's objects.

    Both may hold other objects. Raises FatalError.
    """
    path = None if directory is None else loading.find_functions(directory)
    return select(cluster) if path is None else load(path, project, skips_others=True)


def check_kinds(functions: list[Object]) -> list[Object]:
    """Return the objects, or raise InputError unless every one is a Function."""
    for manifest in functions:
        if objects.api_version_and_kind(manifest) not in _TYPES:
            raise InputError.of(
                f"cannot use {manifests.describe(manifest)} as a function",
                hint="functions.yaml holds objects of kind Function, pkg.crossplane.io/v1",
            )
    return functions
