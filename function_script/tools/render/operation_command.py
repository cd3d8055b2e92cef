"""The command ``render operation``: load, find out where functions run, run, and write YAML.

Called by the command line with parsed flags.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from function_script import documents, objects
from function_script.errors import InputError
from function_script.tools import local_pool, manifests
from function_script.tools.render import (
    error_positions,
    functions,
    loading,
    operation,
    output,
    runners,
    steps,
    templates,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from function_script.documents import Document
    from function_script.sandbox import Pool
    from function_script.tools.render.command import Options
    from function_script.tools.render.operation import OperationInputs
    from function_script.tools.render.output import OutputOptions
    from function_script.tools.render.steps import Step
    from function_script.values import Object, Value

_TEMPLATE: Final = "operationTemplate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Where everything is. ``context`` maps a key to a file, ``context_values`` to YAML."""

    operation: Path
    functions: Path | None = None
    required: Sequence[Path] = ()
    watched: Path | None = None
    schemas: Path | None = None
    credentials: Path | None = None
    context: Sequence[tuple[str, Path]] = ()
    context_values: Sequence[tuple[str, str]] = ()
    programs: Path | None = None


def in_directory(directory: Path) -> Paths:
    """The paths of an example: operation.yaml, watched.yaml, and what else there is."""
    beside = loading.in_directory(directory)
    watched = directory / "watched.yaml"
    return Paths(
        operation=directory / "operation.yaml",
        functions=beside.functions,
        required=beside.required,
        watched=watched if watched.exists() else None,
        schemas=beside.schemas,
        credentials=beside.credentials,
        context=beside.context,
    )


def render_text(paths: Paths, options: Options, pool: Pool) -> str:
    """The rendered documents as a YAML stream. Raises FatalError, positions in the files."""
    programs = paths.programs or local_pool.programs_beside(paths.operation)
    document = loading.load_one(paths.operation, "an Operation")
    given = _load(paths, document.value)
    caller = runners.FunctionCaller(pool=pool, print=options.print)
    with error_positions.map_errors(document, programs, _finder(document)):
        todo = _parse(document.value, given.operation)
        functions.check_names(todo, options.runtimes)
        found = None if paths.functions is None else loading.load_values([paths.functions])
        functions.check_kinds(found or [])
        known = functions.FunctionIndex(
            manifests=found, runtimes=options.runtimes, annotations=options.annotations
        )
        runtimes = functions.find_runtimes(todo, known)
        runner = runners.build(runtimes, caller, options.timeout_seconds)
        result = operation.render(given, runner)
    has_context = bool(paths.context or paths.context_values)
    shown = _with_context_steps(result, options.wanted, seeds=has_context)
    return documents.to_yaml_stream(output.operation_documents(shown, options.wanted))


def _load(paths: Paths, manifest: Object) -> OperationInputs:
    made = templates.to_operation(manifest)
    required = loading.load_objects(paths.required)
    if paths.watched is not None:
        watched = loading.load_one(paths.watched, "the watched resource").value
        templates.require(made, watched)
        required.append(watched)
    return operation.OperationInputs(
        operation=made,
        required=required,
        credentials=loading.load_values([paths.credentials] if paths.credentials else []),
        schemas=[] if paths.schemas is None else loading.load_schemas(paths.schemas),
        context=loading.load_context(paths.context, paths.context_values),
    )


def _parse(manifest: Object, made: Object) -> list[Step]:
    """The steps; problems are at the fields of ``manifest``, from which it was ``made``."""
    template = manifests.object_at(manifest, "spec", _TEMPLATE)
    if template:
        steps.parse_operation(template, at=f"spec.{_TEMPLATE}")
    return steps.parse_operation(made)


def _finder(document: Document) -> error_positions.InputPath:
    """Where a step's input stands in the file."""
    is_template = bool(manifests.object_at(document.value, "spec", _TEMPLATE))
    prefix = ("spec", _TEMPLATE) if is_template else ()

    def find(step: Step) -> objects.Path:
        return (*prefix, "spec", "pipeline", step.index, "input")

    return find


def _with_context_steps(
    result: operation.OperationResult, wanted: OutputOptions, *, seeds: bool
) -> operation.OperationResult:
    """The official command hands over context by steps of its own, and shows them."""
    if result.operation is None:
        raise InputError.of("cannot show an Operation that was not run")
    shown: Object = {key: objects.deep_copy(value) for key, value in result.operation.items()}
    pipeline: list[Value] = [*manifests.objects_at(shown, "spec", "pipeline")]
    if seeds:
        pipeline.insert(0, _context_step("inject", "Seed"))
    if wanted.context:
        pipeline.append(_context_step("extract", "Capture"))
    manifests.make_object(shown, "spec")["pipeline"] = pipeline
    return replace(result, operation=shown)


def _context_step(verb: str, mode: str) -> Object:
    return {
        "step": f"crossplane-render-{verb}-context",
        "functionRef": {"name": "crossplane-render-context"},
        "input": {"mode": mode},
    }
