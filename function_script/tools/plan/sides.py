"""The files of one side of a plan, and its renderings for the XRs of a dump."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.tools import manifests, xrds
from function_script.tools.check import searching
from function_script.tools.plan.dump import Dump, UnknownError
from function_script.tools.project import Project
from function_script.tools.render import RenderInputs
from function_script.tools.render.renderer import Answers, Rendering
from function_script.tools.render.requirements import Store
from function_script.tools.render.sides import Side, Sides

_MAX_STAGES: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The objects in files: Compositions by name, XRDs by group and kind.

    ``notes`` are sentences about files that were left out.
    """

    compositions: dict[str, Side] = field(default_factory=dict)
    xrds: dict[tuple[str, str], Object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def load(directory: Path, project: Project, sides: Sides, dump: Dump) -> Files:
    """Load the Compositions and XRDs below a path. Raises FatalError.

    A dump that is there, too, is none of them.
    """
    files = Files()
    for file in searching.find([str(directory)], project, ()):
        if dump.has_file(Path(file.name)) and not dump.has_file(directory):
            continue
        if file.error is not None:
            raise file.error
        if file.skipped:
            files.notes.append(f'"{file.name}" is left out: {file.skipped}.')
        for document in file.documents:
            if xrds.is_xrd(document.value):
                files.xrds[manifests.defined_type(document.value)] = document.value
            if objects.api_version_and_kind(document.value) == manifests.COMPOSITION:
                name = manifests.name(document.value)
                if name in files.compositions:
                    raise InputError.of(
                        f'cannot plan: two Compositions are called "{name}"', span=document.span()
                    )
                files.compositions[name] = sides.of_document(document)
    return files


def render(dump: Dump, side: Side, inputs: RenderInputs, answers: Answers) -> Rendering:
    """Render one reconcile. Raises FatalError, or UnknownError for what the dump does not say."""
    dump.check_credentials(side.composition)
    rendering = side.render(inputs, answers)
    if dump.check(inputs, rendering.result.requirements):
        for secrets in dump.probes:
            observed = [secrets.get(manifests.key_of(each), each) for each in inputs.observed]
            cluster = Store(secrets.values(), dump)
            other = side.render(replace(inputs, observed=observed, cluster=cluster), answers)
            if answer(other) != answer(rendering):
                raise UnknownError("a step reads data of a Secret, which the dump has masked")
    return rendering


def settle(
    dump: Dump, side: Side, inputs: RenderInputs, answers: Answers, first: Rendering
) -> Rendering:
    """Render again with all ready that is composed, until nothing changes; return the last.

    Raises UnknownError as `render` does, if there is no end, and if one reconcile destroys what
    another one adds.
    """
    rendering = first
    live = {manifests.annotation(each, manifests.RESOURCE_NAME) for each in inputs.observed}
    gone = live - rendering.result.resources.keys()
    for _ in range(_MAX_STAGES):
        if rendering.result.failure:
            return rendering
        following = inputs.follow(rendering.result)
        if following == inputs:
            for name in sorted(gone & rendering.result.resources.keys() | gone - live):
                raise UnknownError(f'a reconcile destroys "{name}", and another one adds it')
            return rendering
        inputs = following
        former = rendering.result.resources.keys()
        rendering = render(dump, side, inputs, answers)
        gone |= former - rendering.result.resources.keys()
    raise UnknownError(f"it does not settle within {_MAX_STAGES} reconciles")


def answer(rendering: Rendering) -> tuple[Mapping[str, Object], Object, str]:
    """Return what Crossplane acts on."""
    result = rendering.result
    failure = "" if result.failure is None else result.failure.diagnostics[0].message
    return result.resources, result.xr, failure
