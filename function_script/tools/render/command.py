"""The commands ``render`` and ``render operation``: load the files, render, write YAML."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from function_script import documents
from function_script.documents import Document
from function_script.engines.registry import LANGUAGES
from function_script.request import objects
from function_script.request.values import Object
from function_script.sandbox.pool import Pool
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.tools import author_positions, local_pool, manifests, render, step_inputs
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

_TEMPLATE: Final = ("spec", "operationTemplate")
_CREATION: Final = ("metadata", "creationTimestamp")


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
    origin = _open(paths.composition, "a Composition", paths)
    composition = origin.document
    xr = loading.load_one(paths.xr, "an XR", paths.project)
    is_quiet = options.rendering.is_quiet
    if not is_quiet:
        for note in find_clock_reads(composition, xr.value):
            options.rendering.print(f"note: {note}")
    if revision := find_other_revision(composition.value, xr.value):
        options.rendering.print(f"note: {revision}")
    notes: list[str] = []
    inputs = loading.load_inputs(paths, composition, xr, notes)
    if not options.skips_xr_validation:
        inputs = replace(inputs, report=(lambda *_: None) if is_quiet else options.report)
    origin = replace(origin, locate_xr=lambda problem: author_positions.locate(problem, xr))
    with origin.map_errors():
        index = _load_functions(steps.parse(inputs.composition), paths, options)
    rendering = Renderer(pool, index, options.rendering).render(inputs, origin)
    if not is_quiet:
        _print_problems(rendering, inputs, options, notes, origin)
    printed = output.documents(rendering.result, options.output)
    return blame.Blame(rendering=rendering, documents=printed, xr=xr)


def _print_problems(
    rendering: Rendering,
    inputs: render.RenderInputs,
    options: Options,
    sentences: Iterable[str],
    origin: Origin,
) -> None:
    """Print what the schemas at hand do not allow in the result, and what our steps warn of.

    ``sentences`` are about schemas that are not at hand.
    """
    if not options.skips_validation:
        for note in sentences:
            options.rendering.print(f"note: {note}")
        from function_script.tools.render import validation  # noqa: PLC0415 - slow
        from function_script.tools.validate.catalog import Catalog  # noqa: PLC0415 - slow

        for problem, severity in validation.validate(rendering, Catalog(inputs.definitions)):
            options.report(problem, "note" if severity == "note" else "warning")
    _print_warnings(rendering.positions, options, origin)


def _print_warnings(positions: Positions, options: Options, origin: Origin) -> None:
    """Print what our steps warn of, unless the output has it."""
    if options.output.results:
        return
    for step, problems in positions.find_warnings():
        for problem in origin.locate(step, problems):
            notes = (*problem.notes, f'in pipeline step "{step.name}"')
            options.report(replace(problem, notes=notes), "warning")


def render_operation(paths: loading.OperationPaths, options: Options, pool: Pool) -> str:
    """Run an Operation and return a YAML stream. Raises FatalError, positions in the files."""
    origin = _open_operation(paths)
    manifest = operation.to_operation(origin.document.value)
    inputs = loading.load_shared(paths, operation.OperationInputs(operation=manifest))
    if paths.watched is not None:
        watched = loading.load_one(paths.watched, "the watched resource", paths.project).value
        operation.require(manifest, watched)
        inputs = replace(inputs, required=[*inputs.required, watched])
    with origin.map_errors():
        index = _load_functions(_parse_operation(origin), paths, options)
    renderer_ = Renderer(pool, index, options.rendering)
    result, positions = renderer_.render_operation(inputs, origin)
    if not options.rendering.is_quiet:
        _print_warnings(positions, options, origin)
    has_context = bool(paths.context or paths.context_values)
    return documents.to_yaml_stream(
        output.operation_documents(result, options.output, has_context=has_context)
    )


_Choices: TypeAlias = tuple[Sequence[functions.Choice], Sequence[Diagnostic]]


def explain_composition(paths: loading.RenderPaths, options: Options) -> _Choices:
    """Return how the functions of a Composition would run, and the problems of the others.

    Raises FatalError.
    """
    origin = _open(paths.composition, "a Composition", paths)
    with origin.map_errors():
        return _explain(steps.parse(origin.document.value), origin, _load_index(paths, options))


def explain_operation(paths: loading.OperationPaths, options: Options) -> _Choices:
    """`explain_composition` for an Operation, or its template."""
    origin = _open_operation(paths)
    with origin.map_errors():
        return _explain(_parse_operation(origin), origin, _load_index(paths, options))


def _explain(
    pipeline: Sequence[steps.Step], origin: Origin, index: functions.FunctionIndex
) -> _Choices:
    choices, problems = functions.choose(pipeline, index)
    return choices, [*map(origin.locate_field, problems)]


def _open(file: Path, what: str, paths: loading.PipelinePaths) -> Origin:
    """Load the document of a pipeline. Raises FatalError."""
    programs = paths.programs or local_pool.programs_beside(file)
    return Origin(document=loading.load_one(file, what, paths.project), programs=programs)


def _open_operation(paths: loading.OperationPaths) -> Origin:
    """Load an Operation, or its template. Raises FatalError."""
    origin = _open(paths.operation, "an Operation", paths)
    template = manifests.object_at(origin.document.value, *_TEMPLATE)
    return replace(origin, at=_TEMPLATE if template else ())


def _parse_operation(origin: Origin) -> Sequence[steps.Step]:
    value = manifests.object_at(origin.document.value, *_TEMPLATE) or origin.document.value
    return steps.parse_operation(value, at=".".join(map(str, origin.at)))


def _load_functions(
    pipeline: Sequence[steps.Step], paths: loading.PipelinePaths, options: Options
) -> functions.FunctionIndex:
    for note in functions.find_unused(pipeline, options.rendering.runtimes):
        options.rendering.print(f"note: {note}")
    return _load_index(paths, options)


def _load_index(paths: loading.PipelinePaths, options: Options) -> functions.FunctionIndex:
    report = None if options.rendering.is_quiet else options.report
    manifests_ = functions.load(paths.functions, paths.project, report)
    return functions.FunctionIndex(manifests=manifests_, options=options.rendering)


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


def find_other_revision(composition: Object, xr: Object) -> str | None:
    """Return the note for an XR for which a cluster would not use this Composition."""
    for label, difference in steps.find_unselected(composition, xr):
        return (
            f"{manifests.describe(xr)} selects revisions with {label}, "
            f"the Composition {difference}: in a cluster, another revision composes it"
        )
    return None
