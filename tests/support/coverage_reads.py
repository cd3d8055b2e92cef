"""Every field of a request, and how a program of each language reads it."""

from typing import NamedTuple

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


class Read(NamedTuple):
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
            f"{field}.resource",
            f'{starlark}["resource"]',
            f"{jinja}.resource",
            f"{go}.resource",
            resource,
        ),
        Read(
            f"{field}.connection_details",
            f'{starlark}["connection_details"]["key"]',
            f"{jinja}.connection_details.key",
            f"{go}.connectionDetails.key",
            TEXT,
            encoded=True,
        ),
        Read(
            f"{field}.ready", f'{starlark}["ready"]', f"{jinja}.ready", f"{go}.ready", "READY_TRUE"
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
    Read("meta.tag", 'req["meta"]["tag"]', "meta.tag", ".meta.tag", "a-tag"),
    Read(
        "meta.capabilities",
        'has_capability(req, "CAPABILITIES")',
        'has_capability("CAPABILITIES")',
        'hasCapability "CAPABILITIES"',
        value=True,
    ),
    *_state("observed"),
    *_state("desired"),
    Read(
        "input", 'req["input"]["params"]["word"]', "input.params.word", ".input.params.word", "hi"
    ),
    Read("context", 'req["context"]["word"]', "context.word", ".context.word", "hello"),
    *_fetched("extra_resources", "e", "extraResources"),
    Read(
        "credentials.*.credential_data.data",
        'get_credentials(req, "c")["key"]',
        'get_credential_data("c").key',
        ".credentials.c.credentialData.data.key",
        TEXT,
        encoded=True,
    ),
    *_fetched("required_resources", "r", "requiredResources"),
    Read(
        "required_schemas.*.openapi_v3",
        'req["required_schemas"]["s"]["openapi_v3"]["type"]',
        "required_schemas.s.openapi_v3.type",
        ".requiredSchemas.s.openapiV3.type",
        "object",
    ),
]
