"""Check resources and steps' inputs against their schemas, as the official validate command does.

Called by the command line. Gives a report and prints nothing; the reporters make text of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from function_script import diagnostics, objects
from function_script.errors import FatalError, InputError
from function_script.tools import manifests, sources, step_inputs, structural_schema
from function_script.tools.validate import (
    builtin,
    definitions,
    openapi,
    packages,
    rules,
    steps,
    wording,
)
from function_script.tools.validate.catalog import Catalog
from function_script.tools.validate.evaluator import Evaluator
from function_script.tools.validate.findings import (
    Problem,
    Report,
    Result,
    SkippedRule,
    Status,
)
from function_script.tools.validate.reporters import render_json, render_text, render_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from function_script.documents import Document
    from function_script.values import Object

__all__ = ["Problem", "Report", "Result", "Unevaluated"]
__all__ += ["check_documents", "load_catalog"]
__all__ += ["render_json", "render_text", "render_yaml", "validate"]

_NO_SCHEMA: Final = "it is a kind of Kubernetes, whose schema is not known here"
CACHE: Final = Path("~/.crossplane/cache")


def validate(
    extensions: Sequence[str],
    resources: Sequence[str],
    *,
    cache_directory: Path = CACHE,
    crossplane_image: str = packages.CROSSPLANE,
) -> Report:
    """Validate ``resources`` against the schemas in ``extensions`` and our own.

    Both are files, directories or "-", which may also be joined with commas. Schemas of packages
    that ``extensions`` name, and of ``crossplane_image``, are taken from ``cache_directory``,
    where the official command keeps them; nothing is downloaded. A resource that cannot be read is
    an invalid one. Raises InputError or DocumentError for extensions that cannot be read, and for
    files that are not there.
    """
    schema_sources, resource_sources = sources.split(extensions), sources.split(resources)
    if sources.STDIN in schema_sources and sources.STDIN in resource_sources:
        raise InputError.of("cannot read both extensions and resources from stdin")
    catalog, notes = load_catalog(schema_sources, cache_directory, crossplane_image)
    documents = list(sources.load_each(resource_sources))
    if not documents:
        notes.append(f"there is no resource in {_listed(resource_sources)}")
    return check_documents(documents, catalog, notes)


def load_catalog(
    extensions: Sequence[str], cache_directory: Path, crossplane_image: str
) -> tuple[Catalog, list[str]]:
    """The schemas in ``extensions``, in the cache and our own; notes on what is missing."""
    found = sources.load(extensions)
    definitions.check(found)
    cached, notes = packages.load(found, cache_directory, crossplane_image)
    if extensions and not any(map(definitions.defines_schemas, found)):
        notes.append(f"there is no XRD, CRD or package in {_listed(extensions)}")
    return Catalog(item.value for item in [*packages.bundled(), *cached, *found]), notes


def check_documents(
    documents: Sequence[Document | FatalError], catalog: Catalog, notes: Sequence[str] = ()
) -> Report:
    """The report on ``documents``, of which some could not be read; ``notes`` come first."""
    with Evaluator() as evaluator:
        results = [
            result
            for document in documents
            for result in (
                _unreadable(document)
                if isinstance(document, FatalError)
                else _check_document(document, catalog, evaluator)
            )
        ]
    return Report(results=tuple(results), notes=(*notes, *_limits(results)))


def _unreadable(error: FatalError) -> Iterator[Result]:
    span = error.diagnostics[0].span
    message = diagnostics.to_line(error.diagnostics)
    problem = Problem(type="unreadable", message=message)
    name = "" if span is None else f"{span.name}:{span.line}"
    yield Result(api_version="", kind="", name=name, status="invalid", problems=(problem,))


def _limits(results: Iterable[Result]) -> Iterator[str]:
    """How to have the kinds checked that are only looked at from outside."""
    found = {
        f"{result.api_version} {result.kind}"
        for result in results
        if any(field.type == "schema" for field in result.unevaluated)
    }
    if found:
        yield (
            "of Kubernetes' own kinds, only metadata and the names of top-level fields are "
            f"checked: {', '.join(sorted(found))}"
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _check_document(document: Document, catalog: Catalog, evaluator: Evaluator) -> Iterator[Result]:
    """The results of one resource: before its own those of its steps' inputs."""
    if not objects.api_version_and_kind(document.value)[1]:
        span = document.span()
        place = "" if span is None else f"{span.name}:{span.line}"
        yield _result(document.value, _name(document.value) or place, [wording.missing("kind")])
        return
    for found in step_inputs.find(document):
        yield _check_input(found, catalog, evaluator)
    yield _check_resource(document.value, catalog, evaluator)


def _check_input(found: step_inputs.StepInput, catalog: Catalog, evaluator: Evaluator) -> Result:
    """An input is called by its step's name: most have none of their own."""
    name = _name(found.value) or found.step
    if not step_inputs.is_ours(found.value):
        return _check_resource(found.value, catalog, evaluator, name)
    schema = catalog.find(*objects.api_version_and_kind(found.value)) or {}
    value = _with_defaults(found.value, schema)
    # Nothing in a cluster looks at inputs, and a null is absent to the function.
    structural_schema.drop_nulls(value, schema)
    problems, unevaluated = _schema_problems(value, schema)
    told = {problem.field for problem in problems}
    # The parser enforces the schema's rules too, so they need no evaluation.
    problems += [problem for problem in steps.problems(found) if problem.field not in told]
    return _result(found.value, name, problems, unevaluated)


def _check_resource(
    manifest: Object, catalog: Catalog, evaluator: Evaluator, name: str = ""
) -> Result:
    name = name or _name(manifest)
    schema = catalog.find(*objects.api_version_and_kind(manifest))
    if schema is None:
        unchecked = [
            SkippedRule(field=field, rule="", reason=_NO_SCHEMA, type="schema")
            for field in builtin.find_unchecked(manifest)
        ]
        return _result(manifest, name, builtin.problems(manifest), unchecked)
    value = _with_defaults(manifest, schema)
    problems, patterns = _schema_problems(value, schema)
    broken, unevaluated = rules.check(value, schema, evaluator)
    return _result(manifest, name, [*problems, *broken], [*patterns, *unevaluated])


def _with_defaults(manifest: Object, schema: Object) -> Object:
    value: Object = {key: objects.deep_copy(part) for key, part in manifest.items()}
    structural_schema.add_defaults(value, schema)
    return value


def _schema_problems(value: Object, schema: Object) -> tuple[list[Problem], list[SkippedRule]]:
    problems, unevaluated = openapi.check(value, schema)
    for path, name in sorted(structural_schema.unknown_fields(value, schema)):
        text = f'{path}: Invalid value: "{name}": unknown field: "{name}"'
        problems.append(Problem(type="unknownField", field=path, message=text, value=name))
    return problems, unevaluated


def _result(
    manifest: Object,
    name: str,
    problems: list[Problem] | None,
    unevaluated: Sequence[SkippedRule] = (),
) -> Result:
    """The result for a resource; ``problems`` None means that there is no schema."""
    api_version, kind = objects.api_version_and_kind(manifest)
    found: Status = "notEvaluated" if unevaluated else "valid"
    found = "invalid" if problems else found
    return Result(
        api_version=api_version,
        kind=kind,
        name=name,
        namespace=manifests.namespace(manifest),
        status="missingSchema" if problems is None else found,
        problems=tuple(problems or ()),
        unevaluated=tuple(unevaluated),
    )


def _name(manifest: Object) -> str:
    """The object's name; as for the official command, else its resource name."""
    return manifests.name(manifest) or manifests.text_at(
        manifest, "metadata", "annotations", manifests.RESOURCE_NAME
    )
