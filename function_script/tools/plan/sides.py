"""The Compositions of one side of a plan, and their renderings for the XRs of a dump."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from function_script.request import objects
from function_script.request.values import Object
from function_script.sandbox.pool import Pool
from function_script.texts.errors import InputError
from function_script.tools import local_pool, manifests, xrds
from function_script.tools.author_positions import file_of
from function_script.tools.check import searching
from function_script.tools.plan.dump import Dump, UnknownError
from function_script.tools.project import Project
from function_script.tools.render import RenderInputs, functions, renderer
from function_script.tools.render.functions import FunctionIndex
from function_script.tools.render.positions import Origin
from function_script.tools.render.renderer import Answers, Renderer, Rendering
from function_script.tools.render.requirements import Store

_MAX_STAGES: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A Composition; ``origin`` is None for one of the dump, which is in no file."""

    value: Object
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Files:
    """What is below a path: Compositions by name, XRDs by group and kind.

    ``skipped`` are files that were left out, with the reasons.
    """

    compositions: dict[str, Source] = field(default_factory=dict)
    xrds: dict[tuple[str, str], Object] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)


class Renderings:
    """Loads the sides, and renders the XRs of a dump with their sandboxes and functions."""

    def __init__(self, dump: Dump, project: Project, options: renderer.Options, pool: Pool) -> None:
        self._dump = dump
        self._project = project
        self._options = options
        self._pool = pool
        self._indexes: dict[Path | None, FunctionIndex] = {}

    def load(self, directory: Path) -> Files:
        """Load the Compositions and XRDs below a path. Raises FatalError.

        A dump that is there, too, is none of them.
        """
        files = Files()
        dump = self._dump.path
        is_inside = dump is not None and not directory.resolve().is_relative_to(dump.resolve())
        for file in searching.find([str(directory)], self._project, ()):
            if dump and is_inside and Path(file.name).resolve().is_relative_to(dump.resolve()):
                continue
            if file.error is not None:
                raise file.error
            if file.skipped:
                files.skipped[file.name] = file.skipped
            for document in file.documents:
                if xrds.is_xrd(document.value):
                    files.xrds[manifests.defined_type(document.value)] = document.value
                if objects.api_version_and_kind(document.value) == manifests.COMPOSITION:
                    name = manifests.name(document.value)
                    if name in files.compositions:
                        raise InputError.of(
                            f'cannot plan: two Compositions are called "{name}"',
                            span=document.span(),
                        )
                    programs = local_pool.programs_beside(Path(file.name))
                    origin = Origin(document=document, programs=programs)
                    files.compositions[name] = Source(value=document.value, origin=origin)
        return files

    def render(
        self, source: Source, inputs: RenderInputs, functions_: Source, answers: Answers
    ) -> Rendering:
        """Render one reconcile; the Functions are those of ``functions_``.

        Raises UnknownError if it cannot be rendered, or has read what the dump does not say.
        """
        self._dump.check_credentials(source.value)
        programs = None if source.origin is None else source.origin.programs
        pool = local_pool.bind_programs(self._pool, programs, self._project)
        render = Renderer(pool, self._find_functions(functions_), self._options, answers)
        rendering = render.reconcile(inputs, source.origin)
        if source.origin is None:
            name = manifests.name(source.value)
            rendering.positions.owner = f'Composition "{name}" of the dump'
        if rendering.skipped:
            raise UnknownError(f'step "{rendering.skipped[0]}" was left out')
        if self._dump.check(inputs, rendering.result.requirements):
            for secrets in self._dump.probes:
                observed = [secrets.get(manifests.key_of(each), each) for each in inputs.observed]
                cluster = Store(secrets.values(), self._dump)
                other = render.reconcile(replace(inputs, observed=observed, cluster=cluster))
                if answer(other) != answer(rendering):
                    raise UnknownError("a step reads data of a Secret, which the dump has masked")
        return rendering

    def settle(
        self,
        source: Source,
        inputs: RenderInputs,
        first: Rendering,
        functions_: Source,
        answers: Answers,
    ) -> Rendering:
        """Render again with all ready that is composed, until nothing changes; return the last.

        Raises UnknownError as `render` does, and if there is no end.
        """
        rendering = first
        for _ in range(_MAX_STAGES):
            following = inputs.follow(rendering.result)
            if rendering.result.failure or following == inputs:
                return rendering
            inputs = following
            rendering = self.render(source, inputs, functions_, answers)
        raise UnknownError(f"it does not settle within {_MAX_STAGES} reconciles")

    def _find_functions(self, source: Source) -> FunctionIndex:
        """Load the Functions beside a Composition, else those of the dump. Raises FatalError."""
        directory = None if source.origin is None else file_of(source.origin.document).parent
        if directory not in self._indexes:
            values = functions.find_beside(directory, self._dump.definitions, self._project)
            self._indexes[directory] = FunctionIndex(manifests=values, options=self._options)
        return self._indexes[directory]


def answer(rendering: Rendering) -> tuple[Mapping[str, Object], Object, str]:
    """Return what Crossplane acts on."""
    result = rendering.result
    failure = "" if result.failure is None else result.failure.diagnostics[0].message
    return result.resources, result.xr, failure
