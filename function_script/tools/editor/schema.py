"""A JSON schema of Compositions and Operations whose steps have our inputs.

It is generated from the CRDs of `validate`. Rules in CEL and programs are left to `check` and
`validate`.
"""

from typing import Final

from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.tools import manifests, structural_schema
from function_script.tools.validate import catalog

_DIALECT: Final = "http://json-schema.org/draft-07/schema#"
_EXTENSION: Final = "x-kubernetes-"
_OURS: Final = "script.fn.crossplane.io/v1beta1"
_OUR_GROUP: Final = r"^script\.fn\.crossplane\.io/"
_OPERATIONS: Final = "ops.crossplane.io/v1alpha1"


def build() -> Object:
    """Return the schema of a file; objects of other kinds are not judged."""
    schemas = [each for crd in catalog.bundled() for each in catalog.to_schemas(crd.value)]
    composition = next(each for each in schemas if each[1] == "Composition")
    composition_schema = _convert(composition[2])
    step = manifests.object_at(
        composition_schema, "properties", "spec", "properties", "pipeline", "items", "properties"
    )
    step["input"] = {"$ref": "#/definitions/input"}
    pipeline = _below("pipeline", {"type": "array", "items": _below("input", step["input"])})
    operation: Object = {"properties": {"spec": pipeline}}
    template = _below("operationTemplate", {"properties": {"spec": pipeline}})
    return {
        "$schema": _DIALECT,
        "type": "object",
        "allOf": [
            _if("apiextensions.crossplane.io/v1", "Composition", composition_schema),
            _if(_OPERATIONS, "Operation", operation),
            _if(_OPERATIONS, "CronOperation", {"properties": {"spec": template}}),
            _if(_OPERATIONS, "WatchOperation", {"properties": {"spec": template}}),
        ],
        "definitions": {"input": _input([each for each in schemas if each is not composition])},
    }


def _input(schemas: list[tuple[str, str, Object]]) -> Object:
    """Return the schema of a step's input: of one of our kinds, or of another function's."""
    kinds: list[Value] = [kind for api_version, kind, _ in schemas if api_version == _OURS]
    own: Object = {"required": ["apiVersion"], **_below("apiVersion", {"pattern": _OUR_GROUP})}
    ours: Object = {"properties": {"apiVersion": {"const": _OURS}, "kind": {"enum": kinds}}}
    return {
        "type": "object",
        "required": ["apiVersion", "kind"],
        "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}},
        "allOf": [
            {"if": own, "then": ours},
            *(_if(api_version, kind, _convert(schema)) for api_version, kind, schema in schemas),
        ],
    }


def _if(api_version: str, kind: str, then: Object) -> Object:
    named: Object = {"apiVersion": {"const": api_version}, "kind": {"const": kind}}
    return {"if": {"required": ["apiVersion", "kind"], "properties": named}, "then": then}


def _below(name: str, schema: Value) -> Object:
    return {"properties": {name: schema}}


def _convert(schema: Object) -> Object:
    """Convert a schema of Kubernetes: pruned fields are refused, null counts as absent."""
    converted: Object = {
        key: objects.deep_copy(value)
        for key, value in schema.items()
        if not key.startswith(_EXTENSION) and key not in {"properties", "items", "nullable"}
    }
    if schema.get(structural_schema.INT_OR_STRING) is True:
        converted["type"] = ["integer", "string"]
    required_names = structural_schema.required(schema)
    fields = structural_schema.properties(schema)
    if fields:
        converted["properties"] = {
            name: _convert(field) if name in required_names else _optional(_convert(field))
            for name, field in fields.items()
        }
        if "additionalProperties" not in schema and not schema.get(structural_schema.PRESERVE):
            converted["additionalProperties"] = False
    for key, below in (
        ("items", structural_schema.items),
        ("additionalProperties", structural_schema.additional),
    ):
        part = below(schema)
        if part is not None:
            converted[key] = _convert(part)
    return converted


def _optional(schema: Object) -> Object:
    """Return the schema with null allowed."""
    kinds, choices, any_of = (schema.get(key) for key in ("type", "enum", "anyOf"))
    if isinstance(kinds, str):
        schema["type"] = [kinds, "null"]
    elif isinstance(kinds, list):
        schema["type"] = [*kinds, "null"]
    if isinstance(any_of, list):
        schema["anyOf"] = [*any_of, {"type": "null"}]
    if isinstance(choices, list):
        schema["enum"] = [*choices, None]
    return schema
