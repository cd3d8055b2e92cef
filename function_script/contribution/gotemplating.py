"""The dialect of function-go-templating: its annotations, meta kinds and context copy.

Documents that it accepts are accepted, with the same results; a mistake that it ignores silently is
a warning. docs/reference/gotemplate-compatibility.md lists every intended difference.
"""

import base64
from collections.abc import Mapping, Sequence

from function_script import wire
from function_script.contribution import dialects, lint
from function_script.contribution.desired_resource import Annotations
from function_script.contribution.from_response import READY, STATUS, TARGET
from function_script.contribution.model import Composite, Contribution
from function_script.contribution.sanitize import BASE64
from function_script.request.lazy import plain
from function_script.request.objects import EXTRA_RESOURCES, find_path
from function_script.request.program import Scope
from function_script.request.quantities import parse_duration
from function_script.request.reader import ObjectReader, child
from function_script.request.values import Object, Readable, Value
from function_script.step import conditions
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.problems import ProblemList

PREFIX = "gotemplating.fn.crossplane.io"
_ENCODED = "write the value through b64enc"


def extra_context(scope: Scope, input_warnings: Sequence[Diagnostic]) -> Contribution:
    """Return the part that does not come from documents: fetched resources and the XR's TTL.

    Fetched resources are copied into the context, and the desired XR is always sent, for the
    templates of later steps. ``input_warnings`` become results.
    """
    copies = _copies(scope.request["extra_resources"], scope.request["required_resources"])
    ttl = find_path(scope.xr, ("metadata", "annotations", f"{PREFIX}/ttl"))
    warnings = list(input_warnings)
    seconds = None
    if isinstance(ttl, str):
        try:
            seconds = parse_duration(ttl, is_signed=True)
        except ValueError as error:
            message = f'the XR\'s annotation "{PREFIX}/ttl" counts as 0: {error}'
            warnings.append(Diagnostic(message=message))
            seconds = 0.0
    return Contribution(
        composite=Composite(is_verbatim=True),
        context_entries={EXTRA_RESOURCES: copies} if copies else {},
        ttl_seconds=seconds,
        results=lint.warn(warnings),
    )


def _copies(*groups: Readable) -> Object:
    """Return ``{name: {items: [{resource}]}}`` of the groups; a later one wins."""
    copies: Object = {}
    for group in groups:
        entries = plain(group)
        if isinstance(entries, dict):
            for name, entry in entries.items():
                items = entry.get("items") if isinstance(entry, dict) else None
                copies[name] = {}
                if isinstance(items, list) and items:
                    copies[name] = {
                        "items": [_copy(item) for item in items if isinstance(item, dict)]
                    }
    return copies


def _copy(item: Object) -> Object:
    """Copy a fetched resource as Go's encoding/json writes the message: enums are numbers."""
    copy: Object = {"resource": item["resource"]}
    details = item.get("connection_details")
    if isinstance(details, dict) and details:
        copy["connection_details"] = {key: _to_base64(value) for key, value in details.items()}
    if item.get("ready"):
        copy["ready"] = READY[str(item["ready"])]
    return copy


def _to_base64(value: Value) -> Value:
    """Encode bytes of the scope: text, or ``{"base64": ...}`` where they are not UTF-8."""
    if isinstance(value, str):
        return base64.b64encode(value.encode()).decode()
    return value["base64"] if isinstance(value, dict) else value


def _connection_details(document: ObjectReader) -> Contribution:
    """Read base64 values.

    Of an invalid value the valid beginning is taken; one that is not a string makes all empty.
    """
    lenient, other = document.noting(ProblemList()), ProblemList()
    texts = document.noting(other).texts("data") or {}
    data = document.value.get("data")
    # Nothing encodes what is missing, or no map.
    hint = _ENCODED if isinstance(data, dict) and None not in data.values() else None
    for each in other:
        lenient.problems.add(each.path, each.text, hint=hint)
    if "data" not in document.value:
        lenient.problems.add("data", "is missing")
    if lenient.problems:
        lenient.problems.add("data", "is left out as a whole")
        return Contribution(advice=lenient.problems)
    details = {}
    for key, value in texts.items():
        text = value.replace("\r", "").replace("\n", "")
        match = BASE64.match(text)
        valid = match[0] if match is not None else ""
        if valid != text:
            problem = "is no base64: only what comes before the mistake is taken"
            lenient.problems.add(child("data", key), problem, hint=_ENCODED)
        details[key] = base64.b64decode(valid)
    return Contribution(
        composite=Composite(connection_details=details),
        advice=lenient.problems,
    )


def _claim_conditions(document: ObjectReader) -> Contribution:
    if "conditions" not in document.value:
        document.problems.add("conditions", "is required")
    advice = ProblemList()
    parsed = tuple(_condition(item, advice) for item in document.objects("conditions"))
    return Contribution(conditions=parsed, advice=advice)


def _condition(item: ObjectReader, advice: ProblemList) -> wire.Condition:
    """Read a condition; problems that function-go-templating ignores are added to ``advice``."""
    lenient = item.noting(advice)
    lenient.refuse_unknown(
        "type", "status", "reason", "message", "target", "lastTransitionTime", "observedGeneration"
    )
    kind = item.text("type") or ""
    if not kind:
        advice.add(lenient.at("type"), "is required")
    conditions.check_type(item if kind in conditions.RESERVED_CONDITIONS else lenient, "type", kind)
    # A word that it does not know is ignored, and another type than a text is not.
    status, target = (
        None if item.text(key) is None else lenient.choice(key, choices, exact=True)
        for key, choices in (("status", STATUS), ("target", TARGET))
    )
    return wire.Condition(
        kind,
        status or STATUS["Unknown"],
        item.text("reason") or "",
        item.text("message") or None,
        target or TARGET["Composite"],
    )


def _context(document: ObjectReader) -> Contribution:
    if "data" not in document.value:
        document.problems.add("data", "is required")
    data = document.object("data")
    return Contribution(context={} if data is None else data.value)


def _extra_resources(document: ObjectReader) -> Contribution:
    if "requirements" not in document.value:
        document.problems.add("requirements", "is required")
    requirements = document.object("requirements")
    selectors: Mapping[str, wire.Selector] = {}
    advice = ProblemList()
    if requirements is not None:
        selectors = {name: _selector(item, advice) for name, item in requirements.members()}
    return Contribution(resources=selectors, advice=advice)


def _selector(item: ObjectReader, advice: ProblemList) -> wire.Selector:
    """Read a selector: a name overrides labels; neither selects every object of the kind."""
    lenient = item.noting(advice)
    lenient.refuse_unknown("apiVersion", "kind", "matchName", "matchLabels", "namespace")
    name = item.text("matchName") or None
    labels = _labels(item)
    if name is None and labels is None:
        problem = "has neither matchName nor matchLabels, and so asks for every object of the kind"
        advice.add(
            lenient.path, problem, hint="`matchLabels: {}` asks for them without this warning"
        )
    elif name is not None and labels is not None:
        advice.add(lenient.path, "has both matchName and matchLabels: the name counts")
    return wire.Selector(
        item.text("apiVersion", required=True) or "",
        item.text("kind", required=True) or "",
        name,
        (labels or {}) if name is None else None,
        item.text("namespace") or None,
    )


def _labels(item: ObjectReader) -> dict[str, str] | None:
    """Read the labels; a null value is an empty string."""
    labels = item.value.get("matchLabels")
    if isinstance(labels, dict):
        strings: Object = {key: "" if text is None else text for key, text in labels.items()}
        item = ObjectReader({**item.value, "matchLabels": strings}, item.path, item.problems)
    return item.texts("matchLabels")


GO_TEMPLATING = dialects.Dialect(
    annotations=Annotations(PREFIX, owns_prefix=False),
    meta_api_version=f"meta.{PREFIX}/v1alpha1",
    is_lenient=True,
    kinds={
        "ClaimConditions": _claim_conditions,
        "CompositeConnectionDetails": _connection_details,
        "Context": _context,
        "ExtraResources": _extra_resources,
    },
)
