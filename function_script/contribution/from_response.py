"""An object in the shape of a RunFunctionResponse to a Contribution.

Field names are the protocol's. Enums are accepted in its spelling (``READY_TRUE``) and in a short
one (``True``). Every problem is reported with the path of its field; nothing is guessed.
"""

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Final

import orjson

from function_script import wire
from function_script.contribution import desired_resource, lint, model
from function_script.contribution.desired_resource import Deferred, DesiredResource
from function_script.contribution.sanitize import without_server_fields
from function_script.request.cache import ByteLruCache
from function_script.request.program import Withheld
from function_script.request.quantities import parse_duration
from function_script.request.reader import ObjectReader, child
from function_script.request.values import Object, Value, text_hint
from function_script.step import conditions
from function_script.texts.problems import ProblemList
from function_script.wire import enums

_WORD_END: Final = re.compile("(?<=[a-z])(?=[A-Z])")


def _numbers(prefix: str, *names: str) -> dict[str, int]:
    """Return the numbers of an enumeration by short names, and by those of the protocol."""
    long = {name: f"{prefix}_{_WORD_END.sub('_', name).upper()}" for name in names}
    numbers: dict[str, int] = {name: getattr(enums, long[name]) for name in names}
    return numbers | {long[name]: numbers[name] for name in names}


READY: Final = _numbers("READY", "True", "False", "Unspecified")
SEVERITY: Final = _numbers("SEVERITY", "Fatal", "Warning", "Normal")
STATUS: Final = _numbers("STATUS_CONDITION", "Unknown", "True", "False")
TARGET: Final = _numbers("TARGET", "Composite", "CompositeAndClaim")
# Composed resources by their JSON text. An object takes about eight times the memory of it.
_CACHE_BYTES = 12 << 20
_BYTES_PER_CHARACTER: Final = 8


class _ComposedText:
    """Composed resources, read from one text, and the leftovers in it; shared between requests."""

    def __init__(
        self, composed: dict[str, DesiredResource], leftovers: list[lint.PlacedLeftover]
    ) -> None:
        self.composed: Final = composed
        self.leftovers: Final = leftovers


_cache: Final[ByteLruCache[str, _ComposedText]] = ByteLruCache(_CACHE_BYTES, is_of_requests=True)
_ENTRY_FIELDS: Final = (
    "resource",
    "ready",
    "connection_details",
    "depends_on",
    "ready_when",
    "usages",
    "moved_from",
)
_MISPLACED: Final = {
    "ttl": 'put it below "meta": {"ttl": ...}',
    "composite": 'put it below "desired": {"composite": ...}',
    "resources": 'put it below "desired": {"resources": ...}',
}
_NO_FIELD: Final = 'composed resources go below "desired", "resources"'
_RESPONSE_FIELDS: Final = (
    "meta",
    "desired",
    "results",
    "context",
    "requirements",
    "conditions",
    "output",
)


def read_response(
    value: Object,
    problems: ProblemList,
    resources: Sequence[str] = (),
    leftovers: list[lint.PlacedLeftover] | None = None,
) -> model.Contribution:
    """Read a response; add what is invalid to ``problems``.

    ``resources`` are more members of ``desired.resources``, as JSON: see `program.ScriptResult`.
    The leftovers in them are added to ``leftovers``.
    """
    response = ObjectReader(value, "", problems)
    for key in sorted(_MISPLACED.keys() & value.keys()):
        problems.add(key, "unknown field", hint=_MISPLACED[key])
    response.refuse_unknown(*_RESPONSE_FIELDS, *_MISPLACED, hint=_NO_FIELD)
    desired = response.object("desired")
    selectors, schemas = _requirements(response)
    return model.Contribution(
        composed={} if desired is None else _read_composed(desired, resources, leftovers),
        composite=model.NOTHING if desired is None else _composite(desired),
        context=_object(response, "context") or {},
        results=tuple(_result(item) for item in response.objects("results")),
        conditions=tuple(_condition(item) for item in response.objects("conditions")),
        resources=selectors,
        schemas=schemas,
        ttl_seconds=_ttl(response),
        output=_object(response, "output"),
    )


def _object(fields: ObjectReader, key: str) -> Object | None:
    reader = fields.object(key)
    return None if reader is None else reader.value


def _read_composed(
    desired: ObjectReader, texts: Sequence[str], leftovers: list[lint.PlacedLeftover] | None
) -> dict[str, DesiredResource]:
    desired.refuse_unknown("composite", "resources")
    resources = desired.object("resources")
    if resources is None:
        return {}
    composed = _entries(resources)
    for text in texts:
        part = _cache.get(text)
        if part is None:
            member = ObjectReader(orjson.loads(f"{{{text}}}"), resources.path, ProblemList())
            part = _ComposedText(_entries(member), lint.find_leftovers(text, member.value))
            if member.problems:
                resources.problems.extend(member.problems)
            else:
                _cache.put(text, part, len(text) * _BYTES_PER_CHARACTER)
        composed.update(part.composed)
        if leftovers is not None and part.leftovers:
            leftovers += part.leftovers
    return composed


def _entries(resources: ObjectReader) -> dict[str, DesiredResource]:
    composed = {}
    for name in resources.value:
        if not name:
            resources.problems.add(resources.path, "a resource name must not be empty")
        entry = resources.object(name)
        composed[name] = DesiredResource(resource=None) if entry is None else _entry(entry, name)
    return composed


def _entry(entry: ObjectReader, name: str) -> DesiredResource:
    is_bare = "kind" in entry.value and "resource" not in entry.value
    hint = 'wrap the object: {"resource": {...}}' if is_bare else None
    # Connection details are in an observed entry that is returned; Crossplane ignores them.
    entry.refuse_unknown(*_ENTRY_FIELDS, hint=hint)
    ready = entry.choice("ready", READY)
    body = entry.object("resource", required=not is_bare)
    if body is not None:
        body.text("apiVersion", required=True)
        body.text("kind", required=True)
    resource = {} if body is None else without_server_fields(body)
    policy = desired_resource.from_entry(entry, name)
    return DesiredResource(resource=resource, ready=ready, policy=policy)


def read_deferred(withheld: Withheld, problems: ProblemList) -> Deferred:
    """Read what a resource that waits for a value states of its order and readiness."""
    name = withheld.name
    entry = ObjectReader(withheld.entry, child("desired.resources", name), problems)
    ready, policy = entry.choice("ready", READY), desired_resource.from_entry(entry, name)
    return Deferred(name, name, withheld.missing, withheld.span, ready, policy)


def _composite(desired: ObjectReader) -> model.Composite:
    composite = desired.object("composite")
    if composite is None:
        return model.NOTHING
    composite.refuse_unknown("resource", "ready", "connection_details")
    resource = composite.object("resource")
    status = None if resource is None else resource.object("status")
    details = composite.object("connection_details")
    return model.Composite(
        status=None if status is None else status.value,
        ready=composite.choice("ready", READY),
        connection_details={} if details is None else _decode_details(details),
    )


def _decode_details(details: ObjectReader) -> dict[str, bytes]:
    """Decode connection details: text, or ``{"base64": text}`` for other bytes."""
    data = {}
    for key, item in details.value.items():
        value = _to_bytes(item)
        if value is None:
            message = 'must be text, or {"base64": "..."} with valid base64'
            hint = None if isinstance(item, str) else text_hint(item)
            details.problems.add(details.at(key), message, hint=hint)
        else:
            data[key] = value
    return data


def _to_bytes(item: Value) -> bytes | None:
    if isinstance(item, str):
        return item.encode()
    encoded = item.get("base64") if isinstance(item, dict) and len(item) == 1 else None
    if not isinstance(encoded, str):
        return None
    try:
        return base64.b64decode(encoded, validate=True)
    except binascii.Error:
        return None


def _result(item: ObjectReader) -> wire.Result:
    item.refuse_unknown("severity", "message", "reason", "target")
    return wire.Result(
        item.choice("severity", SEVERITY, required=True) or 0,
        item.text("message", required=True) or "",
        _reason(item, required=False),
        item.choice("target", TARGET),
    )


def _condition(item: ObjectReader) -> wire.Condition:
    item.refuse_unknown("type", "status", "reason", "message", "target")
    kind = item.text("type", required=True) or ""
    conditions.check_type(item, "type", kind)
    return wire.Condition(
        kind,
        item.choice("status", STATUS, required=True) or 0,
        _reason(item, required=True) or "",
        item.text("message"),
        item.choice("target", TARGET),
    )


def _reason(item: ObjectReader, *, required: bool) -> str | None:
    reason = item.text("reason", required=required)
    if reason and not conditions.PASCAL_CASE.fullmatch(reason):
        item.problems.add(item.at("reason"), f'"{reason}" must be PascalCase, such as "NotFound"')
    return reason


def _requirements(
    response: ObjectReader,
) -> tuple[dict[str, wire.Selector], dict[str, tuple[str, str]]]:
    requirements = response.object("requirements")
    if requirements is None:
        return {}, {}
    requirements.refuse_unknown("resources", "schemas")
    resources = requirements.object("resources")
    schemas = requirements.object("schemas")
    return (
        {} if resources is None else {name: _selector(item) for name, item in resources.members()},
        {} if schemas is None else {name: _schema(item) for name, item in schemas.members()},
    )


def _selector(item: ObjectReader) -> wire.Selector:
    item.refuse_unknown("api_version", "kind", "match_name", "match_labels", "namespace")
    name = item.text("match_name")
    labels = item.texts("match_labels")
    # A matcher with a typing error is an unknown field, which says more.
    if (name is None) == (labels is None) and not item.problems:
        item.problems.add(
            item.path,
            "needs exactly one of match_name and match_labels",
            hint="`match_labels: {}` asks for every object of the kind",
        )
    return wire.Selector(
        item.text("api_version", required=True) or "",
        item.text("kind", required=True) or "",
        name,
        labels,
        item.text("namespace"),
    )


def _schema(item: ObjectReader) -> tuple[str, str]:
    item.refuse_unknown("api_version", "kind")
    return item.text("api_version", required=True) or "", item.text("kind", required=True) or ""


def _ttl(response: ObjectReader) -> float | None:
    meta = response.object("meta")
    if meta is None:
        return None
    # A script may return the request's meta: its tag and capabilities are accepted and ignored.
    meta.refuse_unknown("ttl", "tag", "capabilities")
    return meta.parsed("ttl", parse_duration)
