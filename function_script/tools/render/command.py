"""The command ``render``: load, find out where functions run, render, and write YAML.

Called by the command line with parsed flags.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from function_script import documents, objects
from function_script.tools import manifests, render
from function_script.tools.render import (
    RenderInputs,
    error_positions,
    functions,
    loading,
    output,
    runners,
    steps,
)
from function_script.tools.render.functions import FunctionIndex, Runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from function_script.documents import Document
    from function_script.sandbox import Pool
    from function_script.tools.render.loading import Paths
    from function_script.tools.render.output import OutputOptions
    from function_script.values import Object


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the flags say beside the paths. ``print`` gets what programs print."""

    wanted: OutputOptions
    runtimes: Mapping[str, Runtime] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = 60.0
    print: Callable[[str], None]


def render_text(paths: Paths, options: Options, pool: Pool) -> str:
    """The rendered documents as a YAML stream. Raises FatalError, positions in the files."""
    return documents.to_yaml_stream(render_documents(paths, options, pool))


def render_documents(paths: Paths, options: Options, pool: Pool) -> list[Object]:
    """The rendered documents. Raises FatalError, positions in the files."""
    paths = loading.with_programs(paths)
    composition = loading.load_one(paths.composition, "a Composition")
    given = _load(paths, composition)
    caller = runners.FunctionCaller(pool=pool, print=options.print)
    with error_positions.map_errors(composition, paths.programs):
        parsed = steps.parse(given.composition)
        functions.check_names(parsed, options.runtimes)
        runtimes = functions.find_runtimes(parsed, _known(paths, options))
        runner = runners.build(runtimes, caller, options.timeout_seconds)
        result = render.render(given, runner)
    return output.documents(result, options.wanted)


def _load(paths: Paths, composition: Document) -> RenderInputs:
    xr = loading.load_one(paths.xr, "an XR").value
    observed = [] if paths.observed is None else loading.load_all(paths.observed)
    observed = [document for document in observed if not _is_output(document.value, xr)]
    spans = {index: document.span() for index, document in enumerate(observed)}
    return RenderInputs(
        xr=xr,
        composition=composition.value,
        observed=[document.value for document in observed],
        required=loading.load_objects(paths.required),
        credentials=loading.load_values([paths.credentials] if paths.credentials else []),
        schemas=[] if paths.schemas is None else loading.load_schemas(paths.schemas),
        xrd=None if paths.xrd is None else _load_xrd(paths.xrd),
        context=loading.load_context(paths.context, paths.context_values),
        spans={index: span for index, span in spans.items() if span is not None},
    )


def _load_xrd(path: Path) -> Object:
    """An XRD of which Crossplane can make a CRD. Raises InputError."""
    from function_script.tools.validate import definitions  # noqa: PLC0415 - slow to import

    document = loading.load_one(path, "an XRD")
    definitions.check([document])
    return document.value


def _is_output(manifest: Object, xr: Object) -> bool:
    """Whether ``render`` printed it beside the composed resources, which it may be fed again."""
    api_version, kind = objects.api_version_and_kind(manifest)
    if api_version.startswith("render.crossplane.io/"):
        return True
    return (api_version, kind, manifests.name(manifest), manifests.namespace(manifest)) == (
        *objects.api_version_and_kind(xr),
        manifests.name(xr),
        manifests.namespace(xr),
    )


def _known(paths: Paths, options: Options) -> FunctionIndex:
    found = None if paths.functions is None else loading.load_values([paths.functions])
    functions.check_kinds(found or [])
    return FunctionIndex(
        manifests=found, runtimes=options.runtimes, annotations=options.annotations
    )
