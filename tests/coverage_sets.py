"""Every field of a response, and how a program of each language sets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from function_script.values import Value

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


def _requirement(fields: str) -> str:
    return _meta("Requirements", f"resources: {{w: {{{fields}}}}}")


def _required(field: str, starlark: str, document: str, value: Value) -> Set:
    """A field of a required resource's selector; ``api_version`` and ``kind`` come along."""
    return Set(
        field=f"requirements.resources.*.{field}",
        starlark='{"requirements": {"resources": {"w": {"api_version": "v1", "kind": "K", '
        f"{starlark}}}}}}}}}",
        document=_requirement(f"api_version: v1, kind: K, {document}"),
        path=f"requirements.resources.w.{field}",
        value=value,
    )


def _result(field: str, value: str, expected: Value) -> Set:
    given = {"severity": "Warning", "message": "m", field: value}
    starlark = ", ".join(f'"{key}": "{item}"' for key, item in given.items())
    document = ", ".join(f"{key}: {item}" for key, item in given.items())
    return Set(
        field=f"results.{field}",
        starlark=f'{{"results": [{{{starlark}}}]}}',
        document=_meta("Results", f"results: [{{{document}}}]"),
        path=f"results[0].{field}",
        value=expected,
    )


def _condition(field: str, value: str, expected: Value) -> Set:
    given = {"type": "Ok", "status": "True", "reason": "R", field: value}
    starlark = ", ".join(f'"{key}": "{item}"' for key, item in given.items())
    document = ", ".join(f'{key}: "{item}"' for key, item in given.items())
    return Set(
        field=f"conditions.{field}",
        starlark=f'{{"conditions": [{{{starlark}}}]}}',
        document=_meta("Conditions", f"conditions: [{{{document}}}]"),
        path=f"conditions[0].{field}",
        value=expected,
    )


_SCHEMA = Set(
    field="requirements.schemas.*.api_version",
    starlark='{"requirements": {"schemas": {"w": {"api_version": "v1", "kind": "K"}}}}',
    document=_meta("Requirements", "schemas: {w: {api_version: v1, kind: K}}"),
    path="requirements.schemas.w.api_version",
    value="v1",
)
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
    _result("severity", "Warning", "SEVERITY_WARNING"),
    _result("message", "hello", "hello"),
    _result("reason", "Because", "Because"),
    _result("target", "CompositeAndClaim", "TARGET_COMPOSITE_AND_CLAIM"),
    Set(
        field="context",
        starlark='{"context": {"word": "hi"}}',
        document=_meta("Context", "data: {word: hi}"),
        path="context.word",
        value="hi",
    ),
    _required("api_version", '"match_name": "m"', "match_name: m", "v1"),
    _required("kind", '"match_name": "m"', "match_name: m", "K"),
    _required("match_name", '"match_name": "m"', "match_name: m", "m"),
    _required(
        "match_labels.labels", '"match_labels": {"a": "b"}', "match_labels: {a: b}", {"a": "b"}
    ),
    _required(
        "namespace",
        '"match_name": "m", "namespace": "here"',
        "match_name: m, namespace: here",
        "here",
    ),
    _SCHEMA,
    Set(
        field="requirements.schemas.*.kind",
        starlark=_SCHEMA.starlark,
        document=_SCHEMA.document,
        path="requirements.schemas.w.kind",
        value="K",
    ),
    _condition("type", "DatabaseReady", "DatabaseReady"),
    _condition("status", "False", "STATUS_CONDITION_FALSE"),
    _condition("reason", "Because", "Because"),
    _condition("message", "hello", "hello"),
    _condition("target", "CompositeAndClaim", "TARGET_COMPOSITE_AND_CLAIM"),
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
    "desired.resources.*.connection_details": "kept from earlier steps; Crossplane takes no notice "
    "of them",
    "requirements.extra_resources": "the older name of requirements.resources: set beside it for "
    "callers that do not say that they know the newer",
}
