"""Every field of a response, and how a program of each language sets it."""

from functools import partial
from typing import NamedTuple

from function_script.request.values import Value

XR = "{apiVersion: example.org/v1, kind: XThing, "
ANNOTATIONS = "script.fn.crossplane.io/"


class Set(NamedTuple):
    """A field, what a script returns and what document a template renders to set it.

    ``value`` stands at ``path`` of the response in the protocol's JSON.
    """

    field: str
    starlark: str
    document: str
    path: str
    value: Value


def _meta(kind: str, fields: str) -> str:
    return f"{{apiVersion: meta.script.fn.crossplane.io/v1beta1, kind: {kind}, {fields}}}"


def _composed(more: str = "", body: str = "") -> str:
    annotations = f"{ANNOTATIONS}composition-resource-name: a{more}"
    return f"{{apiVersion: v1, kind: Thing, metadata: {{annotations: {{{annotations}}}}}{body}}}"


def _starlark(value: object) -> str:
    """A value as a script writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}": {_starlark(item)}' for key, item in value.items()) + "}"
    return f'"{value}"'


def _yaml(value: object) -> str:
    """A value as a document writes it; text is plain unless it would be read as something else."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_yaml(item)}" for key, item in value.items()) + "}"
    return f'"{value}"' if value in {"True", "False"} else str(value)


def _required(group: str, field: str, value: Value, **more: object) -> Set:
    """A field of what a requirement named ``w`` asks for."""
    selector = {"api_version": "v1", "kind": "K", **more}
    return Set(
        f"requirements.{group}.*.{field}",
        f'{{"requirements": {{"{group}": {{"w": {_starlark(selector)}}}}}}}',
        _meta("Requirements", f"{group}: {{w: {_yaml(selector)}}}"),
        f"requirements.{group}.w.{field}",
        value,
    )


def _listed(group: str, item: dict[str, str], field: str, expected: Value) -> Set:
    """A field of a result or condition, in one that has all of them."""
    return Set(
        f"{group}.{field}",
        f'{{"{group}": [{_starlark(item)}]}}',
        _meta(group.capitalize(), f"{group}: [{_yaml(item)}]"),
        f"{group}[0].{field}",
        expected,
    )


_resources = partial(_required, "resources")
_schemas = partial(_required, "schemas")
_TEXTS = {"reason": "Because", "message": "hello", "target": "CompositeAndClaim"}
_result = partial(_listed, "results", {"severity": "Warning", **_TEXTS})
_condition = partial(_listed, "conditions", {"type": "Ok", "status": "False", **_TEXTS})
SETS: list[Set] = [
    Set("meta.ttl", '{"meta": {"ttl": "5m"}}', _meta("Response", "ttl: 5m"), "meta.ttl", "300s"),
    Set(
        "desired.composite.resource",
        '{"desired": {"composite": {"resource": {"status": {"a": 1}}}}}',
        f"{XR}status: {{a: 1}}}}",
        "desired.composite.resource.status.a",
        1,
    ),
    Set(
        "desired.composite.connection_details",
        '{"desired": {"composite": {"connection_details": {"key": "s3cr3t"}}}}',
        _meta("ConnectionDetails", "data: {key: s3cr3t}"),
        "desired.composite.connection_details.key",
        "czNjcjN0",
    ),
    Set(
        "desired.composite.ready",
        '{"desired": {"composite": {"ready": True}}}',
        _meta("Readiness", "ready: true"),
        "desired.composite.ready",
        "READY_TRUE",
    ),
    Set(
        "desired.resources.*.resource",
        '{"desired": {"resources": {"a": {"resource": {"apiVersion": "v1", "kind": "Thing"}}}}}',
        _composed(),
        "desired.resources.a.resource.kind",
        "Thing",
    ),
    Set(
        "desired.resources.*.ready",
        '{"desired": {"resources": {"a": {"resource": {"apiVersion": "v1", '
        '"kind": "Thing"}, "ready": False}}}}',
        _composed(f', {ANNOTATIONS}ready: "False"'),
        "desired.resources.a.ready",
        "READY_FALSE",
    ),
    _result("severity", "SEVERITY_WARNING"),
    _result("message", "hello"),
    _result("reason", "Because"),
    _result("target", "TARGET_COMPOSITE_AND_CLAIM"),
    Set(
        "context",
        '{"context": {"word": "hi"}}',
        _meta("Context", "data: {word: hi}"),
        "context.word",
        "hi",
    ),
    _resources("api_version", "v1", match_name="m"),
    _resources("kind", "K", match_name="m"),
    _resources("match_name", "m", match_name="m"),
    _resources("match_labels.labels", {"a": "b"}, match_labels={"a": "b"}),
    _resources("namespace", "here", match_name="m", namespace="here"),
    _schemas("api_version", "v1"),
    _schemas("kind", "K"),
    _condition("type", "Ok"),
    _condition("status", "STATUS_CONDITION_FALSE"),
    _condition("reason", "Because"),
    _condition("message", "hello"),
    _condition("target", "TARGET_COMPOSITE_AND_CLAIM"),
    Set(
        "output",
        '{"output": {"done": True}}',
        _meta("Output", "data: {done: true}"),
        "output.done",
        value=True,
    ),
]
# Nobody needs to set these.
NOT_SET: dict[str, str] = {
    "meta.tag": "copied from the request, as the specification asks",
    "desired.resources.*.connection_details": "kept from earlier steps; Crossplane ignores them",
    "requirements.extra_resources": "the older name of requirements.resources, set for "
    "callers that do not advertise the newer one",
}
