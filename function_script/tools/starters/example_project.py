"""A project from an example of an XR: its XRD, and a case with the result of the program."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from function_script import documents
from function_script.documents import Document
from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.texts import field_names
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.tools import (
    author_positions,
    sources,
    structural_schema,
    xr_validation,
    xrds,
)
from function_script.tools.starters import api as apis

_HINT: Final = "--from takes an example of an XR, an object of your own API"
# Larger numbers pass through Crossplane as doubles.
_MAX_INTEGER: Final = 2**53
_FIELD_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_XRD_HEAD: Final = """\
# The API, with the types of the fields in xr.yaml. One example does not show which fields are
# optional, so all are required: change that here. Then add defaults and descriptions.
# XRs of the scope Namespaced need a namespace. Those without one have the scope Cluster.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An example of an XR: its file or - for stdin, its text, its API and its name."""

    path: str
    text: str
    xr: Object
    api: apis.Api
    name: str


def load(path: str) -> Example:
    """Load the XR in a file; raises FatalError if it is none."""
    source = sources.load_argument(path)
    document = sources.read_one(source, f'cannot begin with "{path}"', expected="one XR")
    xr = document.value
    api = _read_api(document)
    for field in xr:
        if field not in field_names.ROOTS:
            raise _error(document, (field,), "an XR has the fields spec and status alone")
    for field in ("metadata", "spec", "status"):
        if not isinstance(xr.get(field, {}), dict):
            raise _error(document, (field,), f"{field} must be an object")
    if "spec" not in xr:
        raise _error(document, (), "spec is required")
    name = objects.find_path(xr, "metadata.name")
    if not (isinstance(name, str) and name):
        raise _error(document, ("metadata",), "metadata.name is required")
    if not isinstance(objects.find_path(xr, "metadata.namespace"), str | None):
        raise _error(document, ("metadata", "namespace"), "metadata.namespace must be a string")
    example = Example(path=path, text=source.text, xr=xr, api=api, name=name)
    errors = xr_validation.validate(xr, _xrd(example)).errors
    if errors:
        raise InputError(*(author_positions.locate(problem, document) for problem in errors))
    return example


def _read_api(document: Document) -> apis.Api:
    """Return the API of an object; raises InputError if it cannot be the API of XRs."""
    api_version, kind = objects.api_version_and_kind(document.value)
    group, _, version = api_version.rpartition("/")
    if not (api_version and kind):
        raise _error(document, (), "an XR has apiVersion and kind")
    owner = apis.find_owner(group) if group else "Kubernetes"
    if owner:
        raise _error(document, ("kind",), f"{kind} of {api_version} is a kind of {owner} itself")
    api = apis.Api(kind=kind, group=group, version=version)
    problems = [
        author_positions.locate(problem, document, ("kind" if name == "kind" else "apiVersion",))
        for name, problem in apis.find_problems(api).items()
    ]
    if problems:
        raise InputError(*problems)
    return api


def files(example: Example) -> dict[str, str]:
    """Return the texts that follow from the example, by their path in the project."""
    case: Object = {
        "description": "The ConfigMap has the name of the example.",
        "expect": {
            "resources": {"config": {"kind": "ConfigMap", "data": {"name": example.name}}},
            "ready": {"config": False},
        },
    }
    return {
        "xr.yaml": example.text,
        "xrd.yaml": _XRD_HEAD + documents.to_yaml(_xrd(example)),
        "tests/first-reconcile.case.yaml": documents.to_yaml(case),
    }


def _xrd(example: Example) -> Object:
    api, xr = example.api, example.xr
    scope = _scope(xr)
    own = xrds.crossplane_fields(scope)
    properties: Object = {}
    for part in ("spec", "status"):
        value = xr.get(part)
        fields: Object = {
            name: field
            for name, field in (value.items() if isinstance(value, dict) else ())
            if name not in own[part]
        }
        if fields:
            properties[part] = _infer_fields([fields], is_required=part == "spec")
        elif part == "spec":
            properties[part] = {"type": "object"}
    schema: Object = {"type": "object", "properties": properties}
    if objects.find_path(properties, "spec.required"):
        schema["required"] = ["spec"]
    return {
        "apiVersion": "apiextensions.crossplane.io/v2",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": f"{api.plural}.{api.group}"},
        "spec": {
            "scope": scope,
            "group": api.group,
            "names": {"kind": api.kind, "plural": api.plural},
            "versions": [
                {
                    "name": api.version,
                    "served": True,
                    "referenceable": True,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def _scope(xr: Object) -> str:
    """Return LegacyCluster for an XR without a namespace that has fields of Crossplane 1."""
    spec = xr.get("spec")
    legacy = {*xrds.crossplane_fields(xrds.LEGACY)["spec"]}
    has_legacy = isinstance(spec, dict) and not legacy.isdisjoint(spec)
    is_namespaced = objects.find_path(xr, "metadata.namespace") is not None
    return xrds.LEGACY if has_legacy and not is_namespaced else xrds.NAMESPACED


def _error(document: Document, at: objects.Path, reason: str) -> InputError:
    problem = Diagnostic(message=f"cannot begin with this object: {reason}", hint=_HINT)
    return InputError(author_positions.locate(problem, document, at))


def _infer_schema(examples: Sequence[Value], *, is_required: bool = True) -> Object:
    """Return a schema by which all examples are valid.

    Fields that all objects have are required, unless ``is_required`` is False. An object with keys
    that are no names of fields, such as labels, is a map. The schema leaves open the values that
    differ in type, and those that are absent: null, empty lists and empty objects.
    """
    values = [value for value in examples if value is not None]
    schema = _infer_by_type(values, is_required=is_required)
    if len(values) < len(examples):
        schema["nullable"] = True
    return schema


def _infer_fields(examples: Sequence[Object], *, is_required: bool = True) -> Object:
    """Return the schema of objects whose keys are names of fields."""
    names = [*dict.fromkeys(name for each in examples for name in each)]
    schema: Object = {
        "type": "object",
        "properties": {
            name: _infer_schema(
                [each[name] for each in examples if name in each], is_required=is_required
            )
            for name in names
        },
    }
    required: list[Value] = [
        name for name in names if all(each.get(name) is not None for each in examples)
    ]
    if is_required and required:
        schema["required"] = required
    return schema


def _infer_by_type(values: Sequence[Value], *, is_required: bool) -> Object:
    types = {_type_of(value) for value in values}
    if types == {"integer", "number"}:
        types = {"number"}
    if types == {"integer", "string"}:
        return {structural_schema.INT_OR_STRING: True}
    if len(types) != 1:
        return {structural_schema.PRESERVE: True}
    (type_,) = types
    if type_ == "array":
        items = [item for value in values if isinstance(value, list) for item in value]
        return {"type": "array", "items": _infer_schema(items, is_required=is_required)}
    if type_ != "object":
        return {"type": type_}
    examples = [value for value in values if isinstance(value, dict)]
    names = {name for each in examples for name in each}
    if not names:
        return {"type": "object", structural_schema.PRESERVE: True}
    if all(map(_FIELD_NAME.fullmatch, names)):
        return _infer_fields(examples, is_required=is_required)
    inner = [value for each in examples for value in each.values()]
    return {
        "type": "object",
        "additionalProperties": _infer_schema(inner, is_required=is_required),
    }


def _type_of(value: Value) -> str:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer" if abs(value) < _MAX_INTEGER else "number"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
