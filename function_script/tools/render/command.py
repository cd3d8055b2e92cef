"""The commands ``render`` and ``render operation``: load the files, render, write YAML."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from function_script import diagnostics, documents, objects
from function_script.diagnostics import Diagnostic
from function_script.documents import Document
from function_script.sandbox import Pool
from function_script.tools import local_pool, manifests, render
from function_script.tools.render import (
    error_positions,
    functions,
    loading,
    notes,
    operation,
    output,
    steps,
    xrds,
)
from function_script.tools.render.output import OutputOptions
from function_script.tools.render.requirements import Runner
from function_script.tools.render.runtimes.model import FunctionCaller, build_runner
from function_script.tools.render.runtimes.servers import Servers
from function_script.values import Object

_TEMPLATE: Final = "operationTemplate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The flags apart from the paths. ``print`` gets what programs print.

    ``servers`` are those of functions; they stay for the next rendering. ``is_strict``: a built-in
    function must be of the version that its Function names. ``is_quiet``: only errors are printed.
    """

    output: OutputOptions
    runtimes: Mapping[str, functions.Selection] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = 60.0
    servers: Servers = field(default_factory=Servers)
    skips_xr_validation: bool = False
    is_strict: bool = False
    is_quiet: bool = False
    print: Callable[[str], None]


def render_text(paths: loading.RenderPaths, options: Options, pool: Pool) -> str:
    """Render a Composition to a YAML stream. Raises FatalError, positions in the files."""
    return documents.to_yaml_stream(render_documents(paths, options, pool))


def render_documents(paths: loading.RenderPaths, options: Options, pool: Pool) -> list[Object]:
    """Render a Composition to documents. Raises FatalError, positions in the files."""
    programs = paths.programs or local_pool.programs_beside(paths.composition)
    composition = loading.load_one(paths.composition, "a Composition")
    xr = loading.load_one(paths.xr, "an XR")

    def locate(problem: Diagnostic) -> Diagnostic:
        from function_script.tools import author_positions  # noqa: PLC0415 - slow

        return author_positions.locate(problem, xr, objects.read_path(problem.field))

    def report(problem: Diagnostic, severity: str) -> None:
        if severity == "error" or not options.is_quiet:
            options.print(f"{diagnostics.to_frame(locate(problem), severity)}\n")

    if not options.is_quiet:
        for note in notes.find_clock_reads(composition, xr.value):
            options.print(f"note: {note}")
    if revision := notes.find_other_revision(composition.value, xr.value):
        options.print(f"note: {revision}")
    inputs = load_inputs(paths, composition, xr)
    if not options.skips_xr_validation:
        inputs = replace(inputs, report=report)
    with error_positions.map_errors(composition, programs, locate_xr=locate):
        runner = _build_runner(steps.parse(inputs.composition), paths, options, pool)
        result = render.render(inputs, runner)
    if not options.output.results and not options.is_quiet:
        _print_warnings(result, options.print)
    return output.documents(result, options.output)


def _print_warnings(result: render.RenderResult, print_: Callable[[str], None]) -> None:
    """Print what our steps warn of; those of programs and of other functions are events alone."""
    warnings = [event for event in result.events if event.severity == "Warning"]
    if warnings:
        from function_script.contribution import lint  # noqa: PLC0415 - slow

        for event in warnings:
            if event.reason in lint.REASONS:
                print_(f"warning: {event.message}")


def render_operation(paths: loading.OperationPaths, options: Options, pool: Pool) -> str:
    """Run an Operation and return a YAML stream. Raises FatalError, positions in the files."""
    programs = paths.programs or local_pool.programs_beside(paths.operation)
    document = loading.load_one(paths.operation, "an Operation")
    manifest = operation.to_operation(document.value)
    shared_inputs = loading.load_shared(paths)
    if paths.watched is not None:
        watched = loading.load_one(paths.watched, "the watched resource").value
        operation.require(manifest, watched)
        shared_inputs["required"] = [*shared_inputs["required"], watched]
    inputs = operation.OperationInputs(operation=manifest, **shared_inputs)
    template = manifests.object_at(document.value, "spec", _TEMPLATE)
    prefix = ("spec", _TEMPLATE) if template else ()

    def find_input(step: steps.Step) -> objects.Path:
        return (*prefix, *error_positions.composition_input_path(step))

    with error_positions.map_errors(document, programs, find_input):
        if template:
            # Problems are at the fields of the template, so it is parsed first.
            steps.parse_operation(template, at=f"spec.{_TEMPLATE}")
        runner = _build_runner(steps.parse_operation(inputs.operation), paths, options, pool)
        result = operation.render(inputs, runner)
    has_context = bool(paths.context or paths.context_values)
    return documents.to_yaml_stream(
        output.operation_documents(result, options.output, has_context=has_context)
    )


def explain_composition(paths: loading.RenderPaths, options: Options) -> functions.Explanation:
    """Explain how the functions of a Composition would run. Raises FatalError."""
    composition = loading.load_one(paths.composition, "a Composition")
    programs = paths.programs or local_pool.programs_beside(paths.composition)
    with error_positions.map_errors(composition, programs):
        return functions.explain(steps.parse(composition.value), _load_index(paths, options))


def explain_operation(paths: loading.OperationPaths, options: Options) -> functions.Explanation:
    """Explain how the functions of an Operation, or of its template, would run."""
    document = loading.load_one(paths.operation, "an Operation")
    template = manifests.object_at(document.value, "spec", _TEMPLATE)
    pipeline = steps.parse_operation(template or document.value)
    return functions.explain(pipeline, _load_index(paths, options))


def _build_runner(
    pipeline: Sequence[steps.Step], paths: loading.PipelinePaths, options: Options, pool: Pool
) -> Runner:
    for note in functions.find_unused(pipeline, options.runtimes):
        options.print(f"note: {note}")
    runtimes = functions.find_runtimes(pipeline, _load_index(paths, options))
    caller = FunctionCaller(
        pool=pool, print=options.print, servers=options.servers, is_quiet=options.is_quiet
    )
    return build_runner(runtimes, caller, options.timeout_seconds)


def _load_index(paths: loading.PipelinePaths, options: Options) -> functions.FunctionIndex:
    file = None if paths.functions is None else loading.load_values([paths.functions])
    functions.check_kinds(file or [])
    return functions.FunctionIndex(
        manifests=file,
        runtimes=options.runtimes,
        annotations=options.annotations,
        is_strict=options.is_strict,
    )


def load_inputs(
    paths: loading.RenderPaths, composition: Document, xr: Document
) -> render.RenderInputs:
    """Load the inputs of a rendering from their files. Raises FatalError."""
    observed = [] if paths.observed is None else loading.load_all(paths.observed)
    shared_inputs = loading.load_shared(paths)
    xrd = None
    if paths.xrd is not None:
        from function_script.tools.validate import catalog  # noqa: PLC0415 - slow to import

        document = loading.load_one(paths.xrd, "an XRD")
        # Crossplane must be able to make a CRD of it.
        catalog.check_definitions([document])
        xrd = document.value
    composite = xrds.resolve_claim(xr.value, xrd)
    observed = [document for document in observed if not _is_output(document.value, composite)]
    spans = {index: document.span() for index, document in enumerate(observed)}
    return render.RenderInputs(
        xr=composite,
        composition=composition.value,
        observed=[document.value for document in observed],
        xrd=xrd,
        spans={index: span for index, span in spans.items() if span is not None},
        **shared_inputs,
    )


def _is_output(manifest: Object, xr: Object) -> bool:
    """Report whether an observed object is the XR or other output of ``render``, fed back."""
    api_version, kind = objects.api_version_and_kind(manifest)
    if api_version.startswith("render.crossplane.io/"):
        return True
    return (api_version, kind, manifests.name(manifest), manifests.namespace(manifest)) == (
        *objects.api_version_and_kind(xr),
        manifests.name(xr),
        manifests.namespace(xr),
    )
