"""Validation of what a pipeline wrote against the schemas at hand.

These are the XRD's for the XR's status, those of CRDs and XRDs, and those of Kubernetes' own kinds.
Rules in CEL are left out: `render --validate` evaluates them.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.problems import suggest
from function_script.tools import structural_schema
from function_script.tools.render.renderer import Rendering
from function_script.tools.validate import builtin, openapi, wording
from function_script.tools.validate.catalog import Catalog
from function_script.tools.validate.report import Problem

_STATUS: Final = "status"
_MAX_NAMES: Final = 12


def validate(rendering: Rendering, definitions: Iterable[Object]) -> Iterator[Diagnostic]:
    """Yield what is wrong in composed resources and in the XR's status, at the author's lines.

    ``definitions`` are XRDs, of which one defines the XR, and CRDs. A kind without a schema has no
    problems.
    """
    catalog = Catalog(definitions)
    composition = rendering.result.composition
    for name, resource in composition.resources.items():
        for problem in find_problems(resource, catalog):
            yield _locate(problem, rendering, name)
    # Other fields of the XR are not the pipeline's.
    parts = ("apiVersion", "kind", _STATUS)
    status: Object = {key: part for key, part in composition.xr.items() if key in parts}
    for problem in find_problems(status, catalog):
        if problem.field == _STATUS or problem.field.startswith((f"{_STATUS}.", f"{_STATUS}[")):
            yield _locate(problem, rendering, None)


def find_uncompared(rendering: Rendering, definitions: Iterable[Object]) -> str:
    """Return the kinds of composed resources without a schema at hand, in words; empty for none."""
    catalog = Catalog(definitions)
    types = map(objects.api_version_and_kind, rendering.result.composition.resources.values())
    missing = (
        f"{kind} of {api_version}"
        for api_version, kind in sorted({*types})
        if _find_schema(catalog, api_version, kind) is None
    )
    return ", ".join(missing)


def find_problems(manifest: Object, catalog: Catalog) -> Iterator[Diagnostic]:
    """Yield the problems of an object, each with the path of its field; none without a schema."""
    api_version, kind = objects.api_version_and_kind(manifest)
    schema = _find_schema(catalog, api_version, kind)
    if schema is None:
        return
    value: Object = {key: objects.deep_copy(part) for key, part in manifest.items()}
    structural_schema.add_defaults(value, schema)
    structural_schema.drop_nulls(value, schema)
    for problem in openapi.problems(value, schema):
        yield Diagnostic(message=_message(problem), field=problem.path)
    is_builtin = schema is builtin.find_schema(api_version, kind)
    find_unknown = builtin.unknown_fields if is_builtin else structural_schema.unknown_fields
    for path, name in sorted(find_unknown(value, schema)):
        other = builtin.find_other_version(api_version, kind, objects.read_path(path))
        hint = f"{kind} of {other} has it" if other else _suggest(path, name, schema)
        yield Diagnostic(message=f'unknown field "{path}"', field=path, hint=hint)


def _find_schema(catalog: Catalog, api_version: str, kind: str) -> Object | None:
    """Return the schema of an extension, else that of a kind of Kubernetes."""
    schema = catalog.find(api_version, kind)
    return builtin.find_schema(api_version, kind) if schema is None else schema


def _message(problem: Problem) -> str:
    return problem.message.removeprefix(f"{wording.NO_FIELD}: ")


def _suggest(path: str, name: str, schema: Object) -> str | None:
    *parent, _ = objects.read_path(path) or (name,)
    names = tuple(structural_schema.properties(structural_schema.find(schema, parent) or {}))
    listed = f"there are {', '.join(names[:_MAX_NAMES])}"
    return suggest(name, names, listed if 0 < len(names) <= _MAX_NAMES else None)


def _locate(problem: Diagnostic, rendering: Rendering, resource: str | None) -> Diagnostic:
    """Return the problem at the line that wrote the value, with the name of the object."""
    composition = rendering.result.composition
    manifest = composition.xr if resource is None else composition.resources[resource]
    whose = "XR" if resource is None else f'resource "{resource}"'
    api_version, kind = objects.api_version_and_kind(manifest)
    position = rendering.positions.nearest(resource, objects.read_path(problem.field))
    step = "" if position is None else f', written by step "{position.step}"'
    release = (
        ""
        if builtin.find_schema(api_version, kind) is None
        else f" of Kubernetes {builtin.version()}"
    )
    span = None if position is None else position.span
    if position is not None and span is None:
        span = rendering.positions.find_step(position.step)
    return Diagnostic(
        message=f"invalid {whose}: {problem.message}",
        span=span,
        excerpt=None if span is None else rendering.positions.excerpt(span),
        hint=problem.hint,
        notes=(f"{kind} of {api_version}{release}{step}",),
    )
