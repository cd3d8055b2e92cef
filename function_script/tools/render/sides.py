"""The sides that `plan` and `compare` look at: Compositions, each with what renders it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from function_script.documents import Document
from function_script.request.values import Object
from function_script.sandbox.pool import Pool
from function_script.texts import diagnostics
from function_script.texts.errors import InputError
from function_script.tools import local_pool, manifests
from function_script.tools.author_positions import file_of
from function_script.tools.local_pool import Sandbox
from function_script.tools.project import Project
from function_script.tools.render import RenderInputs, functions, renderer
from function_script.tools.render.functions import FunctionIndex
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.positions import Origin
from function_script.tools.render.renderer import Answers, Renderer, Rendering


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A Composition, its functions, and the sandbox with its programs.

    ``origin`` is None for a Composition of a cluster, which is in no file. ``xrd`` is that of its
    XRs; None: that of the inputs.
    """

    composition: Object
    functions: FunctionIndex
    pool: Sandbox
    origin: Origin | None = None
    xrd: Object | None = None

    def open(self, answers: Answers | None = None) -> Renderer:
        """Return what runs the steps; ``answers`` are those of `Renderer`."""
        find, options = self.functions.find_runtimes, self.functions.options
        return Renderer(self.pool, find, options, answers)

    def render(self, inputs: RenderInputs, answers: Answers | None = None) -> Rendering:
        """Render the Composition for an XR. Raises FatalError, also if a step is left out."""
        own = replace(inputs, composition=self.composition, xrd=self.xrd or inputs.xrd)
        rendering = self.open(answers).reconcile(own, self.origin)
        if rendering.skipped:
            raise InputError.of(f'step "{rendering.skipped[0]}" is left out')
        if self.origin is None:
            name = manifests.name(self.composition)
            rendering.positions.owner = f'Composition "{name}" of the dump'
        return rendering

    def describe(self, failure: PipelineError) -> str:
        """Return a FATAL result on one line, with its positions in the files."""
        origin, problems = self.origin, failure.diagnostics
        return diagnostics.to_line(origin.locate(failure.step, problems) if origin else problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSide(Side):
    """The side of a Composition in a file."""

    origin: Origin


class Sides:
    """Makes the sides of a command.

    ``cluster`` has the Functions of a Composition without a functions.yaml.
    """

    def __init__(
        self, pool: Pool, project: Project, options: renderer.Options, cluster: Iterable[Object]
    ) -> None:
        self._pool = pool
        self._project = project
        self._options = options
        self._cluster = [*cluster]
        self._indexes: dict[Path | None, FunctionIndex] = {}

    def of_document(self, document: Document, xrd: Object | None = None) -> FileSide:
        """Return the side of a Composition in a file. Raises FatalError."""
        file = file_of(document)
        programs = local_pool.programs_beside(file)
        return FileSide(
            composition=document.value,
            functions=self._find_functions(file.parent),
            pool=local_pool.bind_programs(self._pool, programs, self._project),
            origin=Origin(document=document, programs=programs),
            xrd=xrd,
        )

    def of_cluster(self, composition: Object) -> Side:
        """Return the side of a Composition in no file."""
        functions_ = self._find_functions(None)
        return Side(composition=composition, functions=functions_, pool=self._pool)

    def _find_functions(self, directory: Path | None) -> FunctionIndex:
        """Load the Functions of a directory, else those of the cluster. Raises FatalError."""
        if directory not in self._indexes:
            values = functions.find_beside(directory, self._cluster, self._project)
            self._indexes[directory] = FunctionIndex(manifests=values, options=self._options)
        return self._indexes[directory]
