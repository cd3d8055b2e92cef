"""The commands ``render`` and ``render operation``: load the files, render, write YAML."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, TypeAlias

from function_script import documents
from function_script.documents import Document
from function_script.engines.registry import LANGUAGES
from function_script.request import objects
from function_script.request.values import Object
from function_script.sandbox.pool import Pool
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.tools import author_positions, local_pool, manifests, step_inputs
from function_script.tools.render import (
    blame,
    functions,
    loading,
    operation,
    output,
    renderer,
    steps,
)
from function_script.tools.render.output import OutputOptions
from function_script.tools.render.positions import Origin, Positions
from function_script.tools.render.renderer import Renderer, Rendering

_CREATION: Final = ("metadata", "creationTimestamp")
_Paths: TypeAlias = loading.RenderPaths | loading.OperationPaths


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The flags apart from the paths; ``rendering`` are those of the renderer.

    ``skips_validation``: what the pipeline writes is not compared with the schemas at hand.
    ``report`` gets problems that end nothing, with their severity.
    """

    rendering: renderer.Options
    output: OutputOptions
    report: Callable[[Diagnostic, str], None]
    skips_xr_validation: bool = False
    skips_validation: bool = False


def render_composition(paths: loading.RenderPaths, options: Options, pool: Pool) -> blame.Blame:
    """Render a Composition to documents, of which it can be asked which line wrote what.

    The pool is needed for that, too. Raises FatalError, positions in the files.
    """
    origin = _open(paths)
    composition = origin.document
    xr = loading.load_one(paths.xr, "an XR", paths.project)
    is_quiet = options.rendering.is_quiet
    other_revisions = find_other_revision(composition.value, xr.value)
    for note in (*find_clock_reads(composition, xr.value), *other_revisions):
        options.rendering.note(note)
    notes: list[str] = []
    inputs = loading.load_inputs(paths, composition, xr, notes)
    if not options.skips_xr_validation:
        inputs = replace(inputs, report=(lambda *_: None) if is_quiet else options.report)
    origin = replace(origin, locate_xr=lambda problem: author_positions.locate(problem, xr))
    _, index = _load_functions(paths, origin, options)
    rendering = Renderer(pool, index.find_runtimes, options.rendering).render(inputs, origin)
    for note in find_deletions(inputs.observed, rendering):
        options.rendering.note(note)
    if not (is_quiet or options.skips_validation):
        for note in notes:
            options.rendering.note(note)
        from function_script.tools.render import validation  # noqa: PLC0415 - slow
        from function_script.tools.validate.catalog import Catalog  # noqa: PLC0415 - slow

        for problem, severity in validation.validate(rendering, Catalog(inputs.definitions)):
            options.report(problem, "note" if severity == "note" else "warning")
    _print_warnings(rendering.positions, options, origin)
    printed = output.documents(rendering.result, options.output)
    return blame.Blame(rendering=rendering, documents=printed, xr=xr)


def _print_warnings(positions: Positions, options: Options, origin: Origin) -> None:
    """Print what our steps warn of, unless the output has it or the author wants nothing."""
    if options.output.results or options.rendering.is_quiet:
        return
    for step, problems in positions.find_warnings():
        for problem in origin.locate(step, problems):
            notes = (*problem.notes, f'in pipeline step "{step.name}"')
            options.report(replace(problem, notes=notes), "warning")


def render_operation(paths: loading.OperationPaths, options: Options, pool: Pool) -> str:
    """Run an Operation and return a YAML stream. Raises FatalError, positions in the files."""
    origin = _open(paths)
    manifest = operation.to_operation(origin.document.value)
    inputs = loading.load_shared(paths, operation.OperationInputs(operation=manifest))
    if paths.watched is not None:
        watched = loading.load_one(paths.watched, "the watched resource", paths.project).value
        operation.require(manifest, watched)
        inputs = replace(inputs, required=[*inputs.required, watched])
    _, index = _load_functions(paths, origin, options)
    renderer_ = Renderer(pool, index.find_runtimes, options.rendering)
    result, positions = renderer_.render_operation(inputs, origin)
    _print_warnings(positions, options, origin)
    has_context = bool(paths.context or paths.context_values)
    return documents.to_yaml_stream(
        output.operation_documents(result, options.output, has_context=has_context)
    )


def explain(
    paths: _Paths, options: Options
) -> tuple[Sequence[functions.Choice], Sequence[Diagnostic]]:
    """Return how the functions of a pipeline would run, and the problems of the others.

    Raises FatalError.
    """
    origin = _open(paths)
    choices, problems = functions.choose(*_load_functions(paths, origin, options))
    return choices, [*map(origin.locate_field, problems)]


def _open(paths: _Paths) -> Origin:
    """Load the document of a pipeline. Raises FatalError."""
    at: tuple[str, ...] = ()
    if isinstance(paths, loading.OperationPaths):
        file, what, at = paths.operation, "an Operation", operation.TEMPLATE
    else:
        file, what = paths.composition, "a Composition"
    document = loading.load_one(file, what, paths.project)
    programs = paths.programs or local_pool.programs_beside(file)
    has_template = bool(manifests.object_at(document.value, *at))
    return Origin(document=document, programs=programs, at=at if has_template else ())


def _load_functions(
    paths: _Paths, origin: Origin, options: Options
) -> tuple[Sequence[steps.Step], functions.FunctionIndex]:
    """Return the steps, and the functions that run them. Raises FatalError."""
    at = tuple(map(str, origin.at))
    value = manifests.object_at(origin.document.value, *at)
    with origin.map_errors():
        if isinstance(paths, loading.OperationPaths):
            pipeline = steps.parse_operation(value, at=".".join(at))
        else:
            pipeline = steps.parse(value)
        for note in functions.find_unused(pipeline, options.rendering):
            options.rendering.note(note)
        report = None if options.rendering.is_quiet else options.report
        manifests_ = functions.load(paths.functions, paths.project, report)
    return pipeline, functions.FunctionIndex(manifests=manifests_, options=options.rendering)


def find_clock_reads(composition: Document, xr: Object) -> Iterator[str]:
    """Yield a note if a program reads the clock, and the XR has no creation time to show.

    The clock stands still: `now` is the time at which the XR was made.
    """
    if isinstance(objects.find_path(xr, _CREATION), str) or not any(
        name in composition.text
        for language in LANGUAGES.values()
        for name in language.clock_functions
    ):
        return
    for step_input in step_inputs.find_ours(composition):
        try:
            step = step_inputs.parse(step_input)
        except InputError:
            # The run reports it.
            continue
        for mention in step.language.lint.find_names(step.program, "clock"):
            span = author_positions.find_outer(mention.span, step_input) or mention.span
            yield (
                f"{mention.text} is 1970-01-01T00:00:00Z at {span}: it is the time at which the XR "
                "was made, and this XR has no metadata.creationTimestamp, as it has in a cluster"
            )
            return


def find_deletions(observed: Sequence[Object], rendering: Rendering) -> Iterator[str]:
    """Yield a note for each observed resource that is desired no longer.

    None where no step ran, or one was left out, which may desire it.
    """
    if rendering.skipped or not rendering.calls:
        return
    for manifest in observed:
        name = manifests.annotation(manifest, manifests.RESOURCE_NAME)
        if name not in rendering.result.resources:
            subject = manifests.describe(manifest)
            yield f'Crossplane would delete {subject}: no step desires the resource "{name}"'


def find_other_revision(composition: Object, xr: Object) -> Iterator[str]:
    """Yield a note if a cluster would not use this Composition for the XR."""
    for label, difference in islice(steps.find_unselected(composition, xr), 1):
        yield (
            f"{manifests.describe(xr)} selects revisions with {label}, "
            f"the Composition {difference}: in a cluster, another revision composes it"
        )
