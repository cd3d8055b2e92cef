"""Every field of a response, and how a program of each language sets it."""

from dataclasses import dataclass
from functools import partial

from function_script.request.values import Value

XR = "{apiVersion: example.org/v1, kind: XThing, "
ANNOTATIONS = "script.fn.crossplane.io/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Set:
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
        field=f"requirements.{group}.*.{field}",
        starlark=f'{{"requirements": {{"{group}": {{"w": {_starlark(selector)}}}}}}}',
        document=_meta("Requirements", f"{group}: {{w: {_yaml(selector)}}}"),
        path=f"requirements.{group}.w.{field}",
        value=value,
    )


def _listed(group: str, item: dict[str, str], field: str, expected: Value) -> Set:
    """A field of a result or condition, in one that has all of them."""
    return Set(
        field=f"{group}.{field}",
        starlark=f'{{"{group}": [{_starlark(item)}]}}',
        document=_meta(group.capitalize(), f"{group}: [{_yaml(item)}]"),
        path=f"{group}[0].{field}",
        value=expected,
    )


_resources = partial(_required, "resources")
_schemas = partial(_required, "schemas")
_TEXTS = {"reason": "Because", "message": "hello", "target": "CompositeAndClaim"}
_result = partial(_listed, "results", {"severity": "Warning", **_TEXTS})
_condition = partial(_listed, "conditions", {"type": "Ok", "status": "False", **_TEXTS})
SETS: list[Set] = [
    Set(
        field="meta.ttl",
        starlark='{"meta": {"ttl": "5m"}}',
        document=_meta("Response", "ttl: 5m"),
        path="meta.ttl",
        value="300s",
    ),
    Set(
        field="desired.composite.resource",
        starlark='{"desired": {"composite": {"resource": {"status": {"a": 1}}}}}',
        document=f"{XR}status: {{a: 1}}}}",
        path="desired.composite.resource.status.a",
        value=1,
    ),
    Set(
        field="desired.composite.connection_details",
        starlark='{"desired": {"composite": {"connection_details": {"key": "s3cr3t"}}}}',
        document=_meta("ConnectionDetails", "data: {key: s3cr3t}"),
        path="desired.composite.connection_details.key",
        value="czNjcjN0",
    ),
    Set(
        field="desired.composite.ready",
        starlark='{"desired": {"composite": {"ready": True}}}',
        document=_meta("Readiness", "ready: true"),
        path="desired.composite.ready",
        value="READY_TRUE",
    ),
    Set(
        field="desired.resources.*.resource",
        starlark='{"desired": {"resources": {"a": {"resource": {"apiVersion": "v1", '
        '"kind": "Thing"}}}}}',
        document=_composed(),
        path="desired.resources.a.resource.kind",
        value="Thing",
    ),
    Set(
        field="desired.resources.*.ready",
        starlark='{"desired": {"resources": {"a": {"resource": {"apiVersion": "v1", '
        '"kind": "Thing"}, "ready": False}}}}',
        document=_composed(f', {ANNOTATIONS}ready: "False"'),
        path="desired.resources.a.ready",
        value="READY_FALSE",
    ),
    _result("severity", "SEVERITY_WARNING"),
    _result("message", "hello"),
    _result("reason", "Because"),
    _result("target", "TARGET_COMPOSITE_AND_CLAIM"),
    Set(
        field="context",
        starlark='{"context": {"word": "hi"}}',
        document=_meta("Context", "data: {word: hi}"),
        path="context.word",
        value="hi",
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
        field="output",
        starlark='{"output": {"done": True}}',
        document=_meta("Output", "data: {done: true}"),
        path="output.done",
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
