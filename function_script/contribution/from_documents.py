"""A template's documents to a Contribution.

A document is a composed resource (it has the resource-name annotation), the XR (it has the XR's
type, and its status is taken), or a meta document, which has fields of a script's response.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias, cast

from function_script import wire
from function_script.contribution import desired_resource, lint, model, sanitize
from function_script.contribution.desired_resource import DesiredResource
from function_script.contribution.dialects import Dialect
from function_script.contribution.from_response import READY
from function_script.documents import Document
from function_script.engines import leftovers
from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.reader import ObjectReader, format_path
from function_script.request.values import Object
from function_script.texts import spelling
from function_script.texts.diagnostics import Code, Diagnostic, Note
from function_script.texts.errors import DocumentError
from function_script.texts.problems import Problem, ProblemList, list_choices, suggest
from function_script.texts.source import Span

_RESOURCE_NAME: Final = "resource name"
_ANNOTATIONS: Final = "metadata.annotations"
_MAX_WARNINGS: Final = 3
_UNIQUE_NAMES = "each has a name of its own: in a loop, make it of the item"
_MERGE: Final = {"Merge": False, "Replace": True}
# API groups of meta documents, whichever function reads them.
_META_GROUP = re.compile(r"meta\.\w+\.fn\.crossplane\.io/")
# Kinds of meta documents of function-go-templating, and of what authors call them.
_OTHER_META_KINDS = {
    "ClaimConditions": "Conditions",
    "CompositeConnectionDetails": "ConnectionDetails",
    "Event": "Results",
    "Events": "Results",
    "ExtraResources": "Requirements",
    "RequiredResources": "Requirements",
}


class _ComposedDocument:
    """A composed resource, read from one document; it is shared between requests.

    Most documents are composed resources, so it is much smaller than a Contribution.
    """

    def __init__(self, name: str, entry: DesiredResource, advice: ProblemList) -> None:
        self.name = name
        self.entry = entry
        self.advice = advice


# The prefix of annotations, and the XR's type: for another XR, its document is a mistake.
_Key: TypeAlias = tuple[str, tuple[str, str]]


def read_documents(
    documents: Sequence[Document], xr: Object, dialect: Dialect
) -> model.Contribution:
    """Read all documents; raise one DocumentError with the problems of all, and their positions."""
    collector = _Collector(dialect)
    key = dialect.annotations.prefix, objects.api_version_and_kind(xr)
    for document in documents:
        problems = ProblemList()
        part = document.derived.get(key) or _read(document, xr, dialect, problems, key)
        if isinstance(part, _ComposedDocument):
            collector.add_composed(part, document, problems)
        elif isinstance(part, model.Contribution):
            collector.add(part, document, problems)
        collector.add_problems(problems, document)
    return collector.to_contribution()


class _Collector:
    """Collects the parts of a contribution, and the problems of all documents."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._errors: list[Diagnostic] = []
        # Functions, since each position may cost another run of the template.
        self._warnings: list[Callable[[], Diagnostic]] = []
        self._composed: dict[str, DesiredResource] = {}
        # Of the composed resources.
        self._documents: dict[str, Document] = {}
        self._parts: list[model.Contribution] = []
        self._policy_spans: dict[str, Callable[[], Span | None]] = {}
        self._firsts: dict[tuple[str, str], Document] = {}

    def add_composed(
        self, part: _ComposedDocument, document: Document, problems: ProblemList
    ) -> None:
        """Add a document that is a composed resource."""
        name, entry, keys = part.name, part.entry, self._dialect.annotations
        path = "metadata", "annotations", keys.name
        self._add_name(_RESOURCE_NAME, name, document, problems, path)
        self._composed[name] = entry
        self._documents[name] = document
        if part.advice:
            warnings = lint.name_warnings(name, part.advice, document.span)
            self._parts.append(model.Contribution(results=warnings))
        if entry.policy is not None:
            key = keys.depends_on if entry.policy.depends_on else keys.moved_from
            self._policy_spans[name] = partial(document.span, ("metadata", "annotations", key))

    def add(self, part: model.Contribution, document: Document, problems: ProblemList) -> None:
        """Add any other document."""
        for name in part.composed:
            self._add_name(_RESOURCE_NAME, name, document, problems)
        for name in part.resources:
            self._add_name("requirement", name, document, problems)
        self._composed.update(part.composed)
        self._warnings += (partial(_diagnose, problem, document) for problem in part.advice)
        self._parts.append(part)

    def add_problems(self, problems: ProblemList, document: Document) -> None:
        """Add the warnings of a document, and the problems of its content."""
        for warning in document.warnings:
            self._warnings.append(partial(document.to_diagnostic, warning))
        if problems:
            self._errors += [_diagnose(problem, document) for problem in problems]

    def to_contribution(self) -> model.Contribution:
        """Merge all parts; raise DocumentError for the problems."""
        if self._errors:
            # The turns of a loop have one place.
            raise DocumentError(*dict.fromkeys(self._errors))
        if self._warnings:
            diagnostics = [to_diagnostic() for to_diagnostic in self._warnings[:_MAX_WARNINGS]]
            more = len(self._warnings) - _MAX_WARNINGS
            if more > 0:
                message = f"{more} more warning{'s' * (more > 1)} like these"
                diagnostics.append(Diagnostic(message=message))
            warnings = lint.warn(diagnostics)
            self._parts.append(model.Contribution(results=warnings))
        if warnings := lint.kind_warnings(self._composed, self._locate):
            self._parts.append(model.Contribution(results=warnings))
        return merge_parts(self._parts, composed=self._composed, policy_spans=self._policy_spans)

    def _locate(self, name: str, path: Path) -> Span | None:
        return self._documents[name].span(path)

    def _add_name(
        self, what: str, name: str, document: Document, problems: ProblemList, path: Path = ()
    ) -> None:
        """Add a name that stands at a path of a document.

        A second use in one step is a problem, or a warning in a lenient dialect.
        """
        first = self._firsts.setdefault((what, name), document)
        if first is document:
            return
        code = Code("duplicate-name", name) if what == _RESOURCE_NAME else None
        if self._dialect.is_lenient and code is not None:
            message = f'resource name "{name}" is used before, and the last one counts'
            self._warnings.append(
                lambda: Diagnostic(
                    message=message, span=document.span(path), hint=_UNIQUE_NAMES, code=code
                )
            )
            return
        span = first.span(path)
        problem = f'{what} "{name}" is used twice'
        note = None
        if span is None:
            problem = f"{problem}; first at line {first.line} of the rendered text"
        elif span != document.span(path):
            # In a loop, both are at one place.
            note = Note("first at", span, is_cause=True)
        problems.add(format_path(path), problem, hint=_UNIQUE_NAMES, note=note, code=code)


def _diagnose(problem: Problem, document: Document) -> Diagnostic:
    kind = document.value.get("kind")
    subject = kind if isinstance(kind, str) else "document"
    span = document.span(objects.read_path(problem.path))
    return problem.to_diagnostic(f"{subject}: ", span)


def _read(
    document: Document,
    xr: Object,
    dialect: Dialect,
    problems: ProblemList,
    key: _Key,
) -> _ComposedDocument | model.Contribution:
    reader = ObjectReader(document.value, "", problems)
    api_version = reader.text("apiVersion", required=True) or ""
    kind = reader.text("kind", required=True) or ""
    metadata = reader.object("metadata")
    annotations = (metadata.texts("annotations") if metadata is not None else None) or {}
    if api_version == dialect.meta_api_version:
        return _read_meta(reader, kind, dialect)
    if dialect.annotations.name in annotations:
        composed = _read_composed(reader, annotations, dialect, document.text)
        if not problems:
            document.remember(key, composed)
        return composed
    if (api_version, kind) == key[1] and kind:
        part = _read_composite(reader, annotations, dialect)
        if not problems and not part.reads_xr:
            document.remember(key, part)
        if part.reads_xr and (
            warnings := lint.ignored_field_warnings(document.value, xr, document.span)
        ):
            return replace(part, results=warnings)
        return part
    if not problems:
        _reject_nameless(reader, xr, annotations, dialect)
    return model.Contribution()


def _is_almost_meta(document: Object, dialect: Dialect) -> bool:
    """Report whether a document has another group of meta documents, or the group of inputs."""
    api_version, kind = objects.api_version_and_kind(document)
    is_own = api_version.startswith(f"{dialect.annotations.prefix}/")
    return bool(_META_GROUP.match(api_version)) or (is_own and kind in dialect.kinds)


def _reject_nameless(
    document: ObjectReader, xr: Object, annotations: dict[str, str], dialect: Dialect
) -> None:
    """Add the problem that a document has no resource name, with the likely reason as a hint."""
    resource_name = dialect.annotations.name
    problem = f"metadata.annotations lacks {resource_name}"
    nameless = "this names no composed resource"
    hint = "it names the composed resource; give each one a name of its own"
    code: Code | None = None
    path = ""
    if leftover := leftovers.of_value(str(document.value.get("kind"))):
        path, problem, hint = "kind", leftover.message, leftover.hint
    elif document.value.get("kind") == xr.get("kind"):
        problem = f"has the XR's kind but not its apiVersion {xr.get('apiVersion')}"
        hint = "write that apiVersion to set the XR's status"
    elif (
        document.value.get("apiVersion") == xr.get("apiVersion")
        and "status" in document.value
        and "spec" not in document.value
    ):
        problem = f"has the XR's apiVersion but not its kind {xr.get('kind')}"
        hint = "write that kind to set the XR's status"
    elif document.value.get("kind") == "List":
        problem, hint = "a List cannot be composed", "write its items as documents of their own"
    elif _is_almost_meta(document.value, dialect):
        problem = f"this is not a meta document of {dialect.meta_api_version}"
        hint, code = f"write apiVersion: {dialect.meta_api_version}", Code("nameless", "apiVersion")
    else:
        code = Code("nameless")
        keys = {key.rpartition("/")[2]: key for key in annotations}
        if "annotations" in document.value:
            path, problem, code = "annotations", nameless, Code("nameless", "annotations")
            hint = "annotations are a field of metadata: indent them below it"
        elif misplaced := _find_misplaced(document.value, resource_name):
            path, hint = misplaced
            problem, code = nameless, Code("nameless", resource_name)
        elif near := spelling.nearest(resource_name.rpartition("/")[2], tuple(keys)) or next(
            (key for key in keys if key.startswith("composition-resource")),
            next((key for key in keys if key.endswith("resource-name")), None),
        ):
            # The annotation that is meant is the place, and not the whole document.
            reader = ObjectReader(cast("Object", annotations), _ANNOTATIONS, document.problems)
            path, problem = reader.at(keys[near]), nameless
            hint, code = f"write {resource_name}", Code("nameless", keys[near])
    document.problems.add(path, problem, hint=hint, code=code)


def _find_misplaced(document: Object, key: str) -> tuple[str, str] | None:
    """Return where the annotation of a name is that is not in the annotations, and a hint."""
    metadata = document.get("metadata")
    fields = metadata if isinstance(metadata, dict) else ()
    if (joined := f"annotations:{key}") in fields:
        return f'metadata["{joined}"]', "begin a line behind `annotations:`"
    inner = (f"metadata.{each}" for each in fields)
    for holder in ("metadata", *inner, *(f"{each}.annotations" for each in document)):
        if objects.find_path(document, [*holder.split("."), key]) is not None:
            hint = "it is an annotation: write it below `annotations` of the metadata"
            return f'{holder}["{key}"]', hint
    return None


def _read_composed(
    document: ObjectReader, annotations: dict[str, str], dialect: Dialect, text: str
) -> _ComposedDocument:
    keys = dialect.annotations
    name = annotations[keys.name]
    reader = ObjectReader(cast("Object", annotations), _ANNOTATIONS, document.problems)
    if not name:
        reader.problems.add(reader.at(keys.name), "must not be empty")
    replaces: bool | None = dialect.is_lenient
    advice = ProblemList()
    if dialect.is_lenient:
        desired_resource.reject_unknown(reader, keys, advice)
        resource = sanitize.copy_verbatim(document, advice, keys)
        policy = desired_resource.only_moves(reader, keys, name)
    else:
        desired_resource.reject_unknown(reader, keys, document.problems)
        replaces = reader.choice(keys.merge, _MERGE)
        resource = sanitize.without_server_fields(document, keys)
        policy = desired_resource.from_annotations(reader, keys, name)
    entry = DesiredResource(
        resource=resource,
        keeps_nulls=dialect.is_lenient,
        ready=reader.choice(keys.ready, READY, exact=dialect.is_lenient),
        replace=bool(replaces),
        policy=policy,
        text=text,
    )
    return _ComposedDocument(name, entry, advice)


def _read_composite(
    document: ObjectReader, annotations: dict[str, str], dialect: Dialect
) -> model.Contribution:
    reader = ObjectReader(cast("Object", annotations), _ANNOTATIONS, document.problems)
    fields = document.object("status")
    status = None if fields is None else fields.value
    if dialect.is_lenient and "status" in document.value and status is None:
        status = {}
    return model.Contribution(
        composite=model.Composite(
            status=status,
            is_verbatim=dialect.is_lenient,
            ready=reader.choice(dialect.annotations.ready, READY, exact=dialect.is_lenient),
        ),
        reads_xr=lint.reads_xr(document.value),
    )


def _read_meta(document: ObjectReader, kind: str, dialect: Dialect) -> model.Contribution:
    reader = dialect.kinds.get(kind)
    if reader is not None:
        return reader(document)
    other = _OTHER_META_KINDS.get(kind)
    hint = suggest(kind, dialect.kinds, list_choices(dialect.kinds))
    if other in dialect.kinds:
        hint = f"write kind: {other}"
    problem = f'"{kind}" is not a kind of {dialect.meta_api_version}'
    document.problems.add("kind", problem, hint=hint)
    return model.Contribution()


def merge_parts(
    parts: Sequence[model.Contribution],
    *,
    composed: dict[str, DesiredResource] | None = None,
    policy_spans: dict[str, Callable[[], Span | None]] | None = None,
) -> model.Contribution:
    """Merge the parts in order; a later one overrides an earlier one.

    ``composed`` and ``policy_spans`` become those of the result; parts are merged into the first.
    """
    composed = {} if composed is None else composed
    composite, ttl_seconds, output = model.NOTHING, None, None
    reads_xr = False
    context: Object = {}
    context_entries: dict[str, Object] = {}
    results: list[wire.Result] = []
    conditions: list[wire.Condition] = []
    resources: dict[str, wire.Selector] = {}
    schemas: dict[str, tuple[str, str]] = {}
    for part in parts:
        composed.update(part.composed)
        composite = _merge_composites(composite, part.composite)
        objects.merge(context, part.context)
        context_entries.update(part.context_entries)
        results += part.results
        conditions += part.conditions
        resources.update(part.resources)
        schemas.update(part.schemas)
        ttl_seconds = ttl_seconds if part.ttl_seconds is None else part.ttl_seconds
        output = output if part.output is None else part.output
        reads_xr = reads_xr or part.reads_xr
    return model.Contribution(
        composed=composed,
        composite=composite,
        context=context,
        context_entries=context_entries,
        results=tuple(results),
        conditions=tuple(conditions),
        resources=resources,
        schemas=schemas,
        ttl_seconds=ttl_seconds,
        output=output,
        policy_spans=policy_spans or {},
        reads_xr=reads_xr,
    )


def _merge_composites(first: model.Composite, second: model.Composite) -> model.Composite:
    if second is model.NOTHING:
        return first
    if first is model.NOTHING:
        return second
    status = second.status if first.status is None else first.status
    if first.status is not None and second.status is not None:
        # Both are shared with requests that render the same documents.
        status = {}
        objects.merge(status, first.status)
        objects.merge(status, second.status)
    return model.Composite(
        status=status,
        is_verbatim=first.is_verbatim or second.is_verbatim,
        ready=first.ready if second.ready is None else second.ready,
        connection_details={**first.connection_details, **second.connection_details},
    )
