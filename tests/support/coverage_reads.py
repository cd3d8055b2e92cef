"""Every field of a request, and how a program of each language reads it."""

from dataclasses import dataclass

from support import builders

from function_script.request.values import Object, Value

TEXT, BASE64 = "s3cr3t", "czNjcjN0"
THING: Object = {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "t"}}
DETAILS: Object = {"key": BASE64}
FULL: Object = {"resource": THING, "connection_details": DETAILS, "ready": "READY_TRUE"}
STATE: Object = {
    "composite": {**FULL, "resource": builders.XR},
    "resources": {"a": FULL},
}
# All there is in a request, in the protocol's JSON, where bytes are base64.
REQUEST: dict[str, Value] = {
    "meta": {"tag": "a-tag", "capabilities": ["CAPABILITY_CAPABILITIES"]},
    "observed": STATE,
    "desired": STATE,
    "context": {"word": "hello"},
    "extra_resources": {"e": {"items": [FULL]}},
    "required_resources": {"r": {"items": [FULL]}},
    "credentials": {"c": {"credential_data": {"data": {"key": BASE64}}}},
    "required_schemas": {"s": {"openapi_v3": {"type": "object"}}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A field, an expression for it in each language, and its value.

    ``encoded``: the field is bytes, which are base64 in Go templates.
    """

    field: str
    starlark: str
    jinja: str
    go: str
    value: Value
    encoded: bool = False


def _resource(field: str, starlark: str, jinja: str, go: str, resource: Object) -> list[Read]:
    """The three fields of a Resource, at an expression of each language."""
    return [
        Read(
            field=f"{field}.resource",
            starlark=f'{starlark}["resource"]',
            jinja=f"{jinja}.resource",
            go=f"{go}.resource",
            value=resource,
        ),
        Read(
            field=f"{field}.connection_details",
            starlark=f'{starlark}["connection_details"]["key"]',
            jinja=f"{jinja}.connection_details.key",
            go=f"{go}.connectionDetails.key",
            value=TEXT,
            encoded=True,
        ),
        Read(
            field=f"{field}.ready",
            starlark=f'{starlark}["ready"]',
            jinja=f"{jinja}.ready",
            go=f"{go}.ready",
            value="READY_TRUE",
        ),
    ]


def _state(name: str) -> list[Read]:
    composite = _resource(
        f"{name}.composite",
        f'req["{name}"]["composite"]',
        f"{name}.composite",
        f".{name}.composite",
        builders.XR,
    )
    composed = _resource(
        f"{name}.resources.*",
        f'req["{name}"]["resources"]["a"]',
        f"{name}.resources.a",
        f".{name}.resources.a",
        THING,
    )
    return [*composite, *composed]


def _fetched(field: str, name: str, go: str) -> list[Read]:
    return _resource(
        f"{field}.*.items",
        f'req["{field}"]["{name}"]["items"][0]',
        f'{field}.{name}["items"][0]',
        f"(index .{go}.{name}.items 0)",
        THING,
    )


READS: list[Read] = [
    Read(
        field="meta.tag",
        starlark='req["meta"]["tag"]',
        jinja="meta.tag",
        go=".meta.tag",
        value="a-tag",
    ),
    Read(
        field="meta.capabilities",
        starlark='has_capability(req, "CAPABILITIES")',
        jinja='has_capability("CAPABILITIES")',
        go='hasCapability "CAPABILITIES"',
        value=True,
    ),
    *_state("observed"),
    *_state("desired"),
    Read(
        field="input",
        starlark='req["input"]["params"]["word"]',
        jinja="input.params.word",
        go=".input.params.word",
        value="hi",
    ),
    Read(
        field="context",
        starlark='req["context"]["word"]',
        jinja="context.word",
        go=".context.word",
        value="hello",
    ),
    *_fetched("extra_resources", "e", "extraResources"),
    Read(
        field="credentials.*.credential_data.data",
        starlark='get_credentials(req, "c")["key"]',
        jinja='get_credential_data("c").key',
        go=".credentials.c.credentialData.data.key",
        value=TEXT,
        encoded=True,
    ),
    *_fetched("required_resources", "r", "requiredResources"),
    Read(
        field="required_schemas.*.openapi_v3",
        starlark='req["required_schemas"]["s"]["openapi_v3"]["type"]',
        jinja="required_schemas.s.openapi_v3.type",
        go=".requiredSchemas.s.openapiV3.type",
        value="object",
    ),
]
