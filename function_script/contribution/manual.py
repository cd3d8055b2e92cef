"""The annotations and meta kinds of our own dialect, for the manual and the reference page."""

from typing import Final, NamedTuple

from function_script.contribution.dialects import SCRIPT


class Annotation(NamedTuple):
    """An annotation of a document, with its values and its meaning."""

    name: str
    values: str
    meaning: str


class MetaKind(NamedTuple):
    """A kind of meta documents, with its fields, and the field of a script's response."""

    kind: str
    fields: str
    response_field: str


PREFIX: Final = SCRIPT.annotations.prefix
META_API_VERSION: Final = SCRIPT.meta_api_version
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
        "resources that must be ready, or fields that must exist, before this resource is created",
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
    ),
    MetaKind("ConnectionDetails", "`data: {key: text}`", "`desired.composite.connection_details`"),
    MetaKind("Context", "`data: {...}`", "`context`"),
    MetaKind("Output", "`data: {...}`", "`output` (Operations)"),
    MetaKind("Readiness", "`ready: true`", "`desired.composite.ready`"),
    MetaKind("Removal", "`resources: [name]`", "`desired.resources: {name: None}`"),
    MetaKind(
        "Requirements",
        "`resources: {name: {api_version, kind, match_name or match_labels, namespace}}`, "
        "`schemas: {name: {api_version, kind}}`",
        "`requirements`",
    ),
    MetaKind("Response", "`ttl: 60s`", "`meta.ttl`"),
    MetaKind("Results", "`results: [{severity, message, reason, target}]`", "`results`"),
)
