"""The dialects of a template's documents: their annotations, meta kinds and options.

A dialect is a value. The readers of documents ask it; it reads nothing but meta documents.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from function_script.contribution.desired_resource import Annotations
from function_script.contribution.from_response import read_response
from function_script.contribution.model import Contribution
from function_script.request.reader import ObjectReader
from function_script.request.values import Object, Value
from function_script.texts.problems import ProblemList


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The annotations, meta kinds and options of documents.

    ``kinds`` has a reader for each kind of meta document. ``is_lenient``: as in
    function-go-templating, a resource is sent verbatim, with nulls, status, all metadata and
    annotations that are empty without the function's own, it replaces an earlier step's resource,
    and a mistake that only Crossplane or the API server rejects is a warning. Otherwise there are
    annotations for merging, which is the default, dependencies, readiness and Usages, and unknown
    ones are errors.
    """

    annotations: Annotations
    meta_api_version: str
    kinds: Mapping[str, Callable[[ObjectReader], Contribution]]
    is_lenient: bool


class Annotation(NamedTuple):
    """An annotation of a document, with its values and its meaning, for the manual."""

    name: str
    values: str
    meaning: str


class MetaKind(NamedTuple):
    """A kind of meta documents, with its reader.

    For the manual: its ``fields``, and the ``response_field`` of a script that says the same.
    """

    kind: str
    fields: str
    response_field: str
    read: Callable[[ObjectReader], Contribution]


def _reader(path: str, *fields: str) -> Callable[[ObjectReader], Contribution]:
    """Return the reader of a meta kind whose fields are those of a script's response at ``path``.

    The value of a single field is there itself.
    """

    def read(document: ObjectReader) -> Contribution:
        document.refuse_unknown("apiVersion", "kind", "metadata", *fields)
        values = document.value
        response: Value = {key: values[key] for key in fields if key in values}
        if len(fields) == 1:
            response = values.get(fields[0])
        for key in reversed(path.split(".")):
            response = {key: response}
        problems = ProblemList()
        contribution = read_response(cast("Object", response), problems)
        own = fields[0] if len(fields) == 1 else ""
        for each in problems:
            place = f"{own}{each.path.removeprefix(path)}".removeprefix(".")
            document.problems.add(place, each.text, hint=each.hint, note=each.note, code=each.code)
        return contribution

    return read


_read_resources: Final = _reader("desired.resources", "resources")


def _read_removal(document: ObjectReader) -> Contribution:
    """Read a list of names, which a script's response has as null entries."""
    names = document.value.get("resources")
    if names is None:
        names = []
    elif not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        document.problems.add("resources", "must be a list of names")
        names = []
    entries: Object = {str(name): None for name in names}
    value = {**document.value, "resources": entries}
    return _read_resources(ObjectReader(value, document.path, document.problems))


PREFIX: Final = "script.fn.crossplane.io"
META_API_VERSION: Final = f"meta.{PREFIX}/v1beta1"
ANNOTATIONS: Final = (
    Annotation(
        "composition-resource-name",
        "text, unique within the step",
        "the composed resource's name in desired state",
    ),
    Annotation(
        "ready",
        "`True`, `False`, `Unspecified`",
        "readiness of this resource, or of the XR on the XR's document",
    ),
    Annotation(
        "merge",
        "`Merge` (default), `Replace`",
        "how the document is combined with a resource of that name from an earlier step: `Merge` "
        "merges maps and replaces lists and scalars, `Replace` replaces the whole resource",
    ),
    Annotation(
        "ready-when",
        "a rule, such as `Exists` or `condition Available`",
        "when this resource is ready, see [readiness](readiness.md)",
    ),
    Annotation(
        "depends-on",
        "resource names, or `name:status.path`, separated by commas",
        "order of creation: this resource waits until those are ready, or have the field",
    ),
    Annotation("usages", "`True`, `False`", "whether its dependencies become Usages"),
    Annotation(
        "moved-from",
        "resource names, separated by commas",
        "names that the resource had before, see [renames](#renames)",
    ),
)
META_KINDS: Final = (
    MetaKind(
        "Conditions",
        "`conditions: [{type, status, reason, message, target}]`",
        "`conditions`",
        _reader("conditions", "conditions"),
    ),
    MetaKind(
        "ConnectionDetails",
        "`data: {key: text}`",
        "`desired.composite.connection_details`",
        _reader("desired.composite.connection_details", "data"),
    ),
    MetaKind("Context", "`data: {...}`", "`context`", _reader("context", "data")),
    MetaKind("Output", "`data: {...}`", "`output` (Operations)", _reader("output", "data")),
    MetaKind(
        "Readiness",
        "`ready: true`",
        "`desired.composite.ready`",
        _reader("desired.composite.ready", "ready"),
    ),
    MetaKind(
        "Removal",
        "`resources: [name]`",
        "`desired.resources: {name: None}`",
        _read_removal,
    ),
    MetaKind(
        "Requirements",
        "`resources: {name: {api_version, kind, match_name or match_labels, namespace}}`, "
        "`schemas: {name: {api_version, kind}}`",
        "`requirements`",
        _reader("requirements", "resources", "schemas"),
    ),
    MetaKind("Response", "`ttl: 60s`", "`meta.ttl`", _reader("meta.ttl", "ttl")),
    MetaKind(
        "Results",
        "`results: [{severity, message, reason, target}]`",
        "`results`",
        _reader("results", "results"),
    ),
)
SCRIPT: Final = Dialect(
    annotations=Annotations(PREFIX, owns_prefix=True),
    meta_api_version=META_API_VERSION,
    is_lenient=False,
    kinds={row.kind: row.read for row in META_KINDS},
)
