"""Validation of resources and steps' inputs against their schemas, like the official command.

The result is a report; the reporters format it. An input of a step is a resource of its own there.
An input of ours is compared with its CRD, then parsed as when it runs, and its program is compiled:
this finds mistakes that a schema cannot express.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from function_script import inputs
from function_script.documents import Document
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts import diagnostics
from function_script.texts.errors import FatalError, InputError
from function_script.texts.source import Span
from function_script.tools import (
    author_positions,
    input_schema,
    manifests,
    sources,
    step_inputs,
    structural_schema,
)
from function_script.tools.project import STDIN, Project
from function_script.tools.validate import builtin, catalog, openapi, report, rules, wording
from function_script.tools.validate.catalog import Catalog, find_unknown
from function_script.tools.validate.evaluator import EVALUATOR
from function_script.tools.validate.packages import PackageSchemas
from function_script.tools.validate.report import Report


def validate(
    extensions: Sequence[str],
    resources: Sequence[str],
    *,
    packages: PackageSchemas | None = None,
    crossplane_image: str = catalog.CROSSPLANE,
    allowed: Sequence[Path] = (),
) -> Report:
    """Validate ``resources`` against the schemas in ``extensions`` and our own.

    Both are files, directories or "-"; several may be joined with commas. Schemas of packages
    that ``extensions`` name, and of ``crossplane_image``, are those of ``packages``, by default
    what the cache of the official command has. ``allowed`` are files and directories
    that links in directories may lead to. A resource that cannot be read counts
    as invalid. Raises InputError or DocumentError for extensions that cannot be read, and for
    files that do not exist.
    """
    schema_sources, resource_sources = sources.split(extensions), sources.split(resources)
    if STDIN in schema_sources and STDIN in resource_sources:
        raise InputError.of("cannot read both extensions and resources from stdin")
    named = [Path(source) for source in (*schema_sources, *resource_sources)]
    project = Project(named=named, allowed=allowed)
    catalog, notes = load_catalog(
        schema_sources, packages or PackageSchemas(), crossplane_image, project
    )
    documents = list(sources.load_each(resource_sources, project))
    if not documents:
        notes.append(f"there is no resource in {_quote_names(resource_sources)}")
    return check_documents(documents, catalog, notes)


def load_catalog(
    extensions: Sequence[str], packages: PackageSchemas, crossplane_image: str, project: Project
) -> tuple[Catalog, list[str]]:
    """Load the schemas in ``extensions``, in the cache and our own; also return notes on gaps."""
    loaded = sources.load(extensions, project)
    catalog.check_definitions(loaded)
    cached = packages.load(loaded, crossplane_image)
    notes = packages.notes
    if extensions and not any(map(catalog.defines_schemas, loaded)):
        notes.append(f"there is no XRD, CRD or package in {_quote_names(extensions)}")
    return Catalog(item.value for item in [*catalog.bundled(), *cached, *loaded]), notes


def check_documents(
    documents: Sequence[Document | FatalError],
    catalog: Catalog,
    notes: Sequence[str] = (),
    find_writer: Callable[[int, str], tuple[str, Span | None]] | None = None,
) -> Report:
    """Validate documents; an error in their place is reported as an unreadable document.

    ``notes`` come first in the report's notes. ``find_writer`` returns the writer and the
    span of the value at a path of a document, by its index: see `report.Problem`.
    """
    results: list[report.Result] = []
    stored = step_inputs.StoredInputs([each for each in documents if isinstance(each, Document)])
    EVALUATOR.begin_report()
    for index, document in enumerate(documents):
        if isinstance(document, FatalError):
            results.append(_unreadable(document))
            continue
        *inputs_, own = _check_document(document, catalog, stored)
        if find_writer is not None:
            writers = ((each, *find_writer(index, each.path)) for each in own.problems)
            problems = (replace(each, writer=writer, span=span) for each, writer, span in writers)
            own = replace(own, problems=tuple(problems))
        results += [*inputs_, own]
    return Report(results=tuple(results), notes=tuple(notes))


def _unreadable(error: FatalError) -> report.Result:
    span = error.diagnostics[0].span
    message = diagnostics.to_line(error.diagnostics)
    problem = report.Problem(type="unreadable", message=message, span=span)
    name = "" if span is None else f"{span.name}:{span.line}"
    return report.Result(api_version="", kind="", name=name, status="invalid", problems=(problem,))


def _quote_names(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _check_document(
    document: Document, catalog: Catalog, stored: step_inputs.StoredInputs
) -> Iterator[report.Result]:
    """Yield the results of the inputs of a resource's steps, then its own."""
    if not objects.api_version_and_kind(document.value)[1]:
        span = document.span()
        position = "" if span is None else f"{span.name}:{span.line}"
        name = _name(document.value) or position
        yield _result(document.value, name, [wording.missing("kind")])
        return
    for step in step_inputs.find(document):
        result = _check_input(stored.complete(step), catalog, stored)
        yield _with_spans(result, document, step.path)
    result = _check_resource(document.value, catalog)
    # They say more than other problems of the same fields.
    misplaced = {
        each.path: _to_problem(each.path, each.text, each.hint)
        for each in step_inputs.find_misplaced_fields(document)
    }
    if misplaced:
        others = [problem for problem in result.problems if problem.field not in misplaced]
        problems = (*others, *misplaced.values())
        result = replace(result, status="invalid", problems=problems)
    yield _with_spans(result, document)


def _with_spans(result: report.Result, document: Document, at: objects.Path = ()) -> report.Result:
    """Return the result of the object at a path of a document with the positions of problems."""
    if not result.problems:
        return result
    paths = ((*at, *objects.read_path(problem.path)) for problem in result.problems)
    spans = document.span_each(paths)
    problems = (
        replace(problem, span=span) for problem, span in zip(result.problems, spans, strict=True)
    )
    return replace(result, problems=tuple(problems))


def _check_input(
    step: step_inputs.StepInput, catalog: Catalog, stored: step_inputs.StoredInputs
) -> report.Result:
    # Most inputs have no name, so the step's name identifies them.
    name = _name(step.value) or step.step
    is_ours = inputs.is_meant_for_us(step.value)
    key = objects.api_version_and_kind(step.value)
    own = step_inputs.find_schema(step.value, step.function)
    schema = catalog.find(*key)
    if schema is None and is_ours:
        # As when it runs, an input of function-go-templating may have any apiVersion and kind.
        schema = catalog.find(*(inputs.find_kind(step.value) or key)) or {}
    elif schema is None:
        schema = own
    if schema is None or not (is_ours or schema == own):
        return _check_resource(step.value, catalog, name)
    # The API server does not validate inputs, and to the function a null field is absent.
    value = structural_schema.complete(step.value, schema)
    problems, unevaluated = openapi.check(value, schema)
    problems += map(wording.to_official, find_unknown(value, schema))
    fields = {problem.field for problem in problems}
    # The parser enforces the schema's rules too, so they need no evaluation.
    others: Iterable[report.Problem] = (
        report.Problem(type="schema", field=each.path, message=str(each), path=each.path)
        for each in input_schema.find_metadata_problems(value)
    )
    if is_ours:
        others = _find_parser_problems(step, stored.find)
    problems += [each for each in others if each.field not in fields]
    return _result(step.value, name, problems, unevaluated)


def _check_resource(manifest: Object, catalog: Catalog, name: str = "") -> report.Result:
    name = name or _name(manifest)
    comparison = catalog.compare(manifest, drops_nulls=False)
    if comparison is None:
        return _result(manifest, name, None)
    value, schema, problems, patterns = comparison
    # A step of ours refuses these itself.
    if not catalog.is_extension(objects.api_version_and_kind(manifest)):
        paths = {problem.path for problem in problems}
        texts = builtin.find_text_problems(value)
        problems += [each for each in texts if each.path not in paths]
    violations, skipped = rules.check(value, schema)
    reported = [*map(wording.to_official, problems), *violations]
    return _result(manifest, name, reported, [*patterns, *skipped])


def _result(
    manifest: Object,
    name: str,
    problems: list[report.Problem] | None,
    unevaluated: Sequence[report.SkippedRule] = (),
) -> report.Result:
    """Build the result of a resource; ``problems`` None means that there is no schema."""
    api_version, kind = objects.api_version_and_kind(manifest)
    status: report.Status = "notEvaluated" if unevaluated else "valid"
    if problems is None:
        status = "missingSchema"
    elif any(problem.severity == "error" for problem in problems):
        status = "invalid"
    return report.Result(
        api_version=api_version,
        kind=kind,
        name=name,
        namespace=manifests.namespace(manifest),
        status=status,
        problems=tuple(problems or ()),
        unevaluated=tuple(unevaluated),
    )


def _name(manifest: Object) -> str:
    """Return the object's name, else its resource name, as the official command does."""
    return manifests.name(manifest) or manifests.text_at(
        manifest, "metadata", "annotations", manifests.RESOURCE_NAME
    )


def _to_problem(field: str, text: str, hint: str | None) -> report.Problem:
    line = diagnostics.to_line((diagnostics.Diagnostic(message=text, hint=hint),))
    return report.Problem(type="schema", field=field, message=f"{field}: {line}")


def _find_parser_problems(
    step: step_inputs.StepInput, find_input: inputs.FindInput
) -> Iterator[report.Problem]:
    """Yield the problems that would stop the step before its program runs.

    ``find_input`` finds the object that an input refers to, whose fields are then the step's.
    """
    try:
        step_inputs.check_program(step_inputs.parse(step, find_input=find_input))
    except InputError as error:
        for diagnostic in error.diagnostics:
            text = diagnostic.message.removeprefix(f"{diagnostic.field}: ")
            field = diagnostic.field.removeprefix("input").removeprefix(".")
            yield _to_problem(field, text, diagnostic.hint)
    except FatalError as error:
        for diagnostic in error.diagnostics:
            span = diagnostic.span
            outer = None if span is None else author_positions.find_outer(span, step)
            line = diagnostics.to_line((replace(diagnostic, span=outer or span),))
            field = "" if span is None else span.name
            yield report.Problem(type="program", field=field, message=line)
