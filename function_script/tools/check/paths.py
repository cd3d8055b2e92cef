"""Field paths that cannot exist in a request: the rules compare them with a program's reads.

The request's own fields are listed here; those of the XR and of composed resources come from their
schemas. A schema that allows any field has no unknown ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from function_script.engines import habits, missing_values
from function_script.engines.lint import CONDITION, CONDITION_SCHEMA, format_access
from function_script.inputs.step import Step
from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.values import Object
from function_script.texts import field_names, spelling
from function_script.texts.problems import list_choices, suggest
from function_script.tools import structural_schema, xrds
from function_script.tools.validate import builtin

# A schema that allows any value.
_ANYTHING: Final[Object] = {}
_OPEN: Final = (structural_schema.PRESERVE, structural_schema.EMBEDDED)
_PARTS: Final = ("context", "credentials", "input", "meta", "params")
# The keys of the context that functions share.
_CONTEXT_KEYS: Final = (objects.ENVIRONMENT, objects.EXTRA_RESOURCES)
_LISTS: Final = ("extra_resources", "required_resources")
XR: Final = ("observed", "composite", "resource")
"""The path of the XR."""
# An XR has no other fields than those of all objects and these, whatever its XRD says.
_ANY_XR: Final[Object] = {
    "type": "object",
    "properties": {key: {structural_schema.PRESERVE: True} for key in ("spec", "status")},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The schema of a request, and the owners of fields by the paths of resources.

    ``prefix`` is what begins a path in the author's language; None for a script.
    """

    schema: Object
    kinds: Mapping[Path, str]
    prefix: str | None = ""

    def owner(self, path: Path) -> str:
        """Return the owner of the field at the end of a path."""
        kinds = (kind for prefix, kind in self.kinds.items() if path[: len(prefix)] == prefix)
        return next(kinds, "the request")

    def find_first_unknown(self, above: Path, below: Path) -> tuple[str, str] | None:
        """`find_unknown` for the first part of a path in an object that does not exist."""
        path = (*above, *below)
        ends = range(len(above) + 1, len(path) + 1)
        unknown = (self.find_unknown(path[:end], first=len(above)) for end in ends)
        return next(filter(None, unknown), None)

    def find_unknown(self, path: Path, first: int = 0) -> tuple[str, str] | None:
        """Return a message and a hint when the last part of ``path`` certainly does not exist.

        The message has the path from its part ``first`` on.
        """
        schema, key = self._find(path[:-1]), path[-1]
        if path[-3:-1] == ("status", "conditions") and isinstance(key, str):
            return "conditions are a list", "look for the item with this type"
        near = None if path[:-1] != ("context",) else spelling.nearest(str(key), _CONTEXT_KEYS)
        if near is not None and key != near:
            text = f"{format_access(path)} is no key of Crossplane's functions"
            return text, f'write "{near}"'
        if schema is not None and schema.get("type") == "array" and isinstance(key, str):
            method = habits.find("jinja", key, "list") if self.prefix == "" else None
            return f"{format_access(path[:-1])} is a list", method or _describe_item(key)
        names = [part for part in path if isinstance(part, str)]
        if key == "resource" and names[-2:-1] == [key] and names[-3:-2] != ["resources"]:
            return 'an object has no field "resource": it is the resource itself', "leave it out"
        if schema is None or not isinstance(key, str) or not _lacks(schema, key):
            return None
        fields = [name for name in structural_schema.properties(schema) if name != CONDITION]
        hint = self._hint(path[:-1], key, tuple(fields))
        text = format_access(path[first:])
        return f"{text} does not exist: {self.owner(path)} has no such field", hint

    def type_of(self, path: Path) -> str | None:
        """Return the type of the field at a path, in JSON Schema; None if it is unclear."""
        schema = self._find(path)
        if schema is None or schema.get(structural_schema.INT_OR_STRING):
            return None
        kind = schema.get("type")
        return kind if isinstance(kind, str) and kind in structural_schema.TYPES else None

    def words_of(self, path: Path) -> tuple[str, ...]:
        """Return the texts that the field at a path may have; none if it may have others."""
        is_condition = path[-3:-2] == ("conditions",)
        words = (self._find((CONDITION, path[-1]) if is_condition else path) or {}).get("enum")
        texts = [word for word in words if isinstance(word, str)] if isinstance(words, list) else []
        return tuple(texts) if texts == words else ()

    def _find(self, path: Path) -> Object | None:
        schema: Object | None = self.schema
        for part in path:
            schema = None if schema is None else _below(schema, part)
        return schema

    def _hint(self, holder: Path, key: str, names: tuple[str, ...]) -> str:
        part = holder[-1] if holder[:-1] == XR and XR in self.kinds else ""
        advice = xrds.advise_field(str(part), key)
        roots = structural_schema.properties(self.schema)
        if not holder or field_names.is_of_helm(key):
            # In a template whose dot is no request, $ may be anything, too.
            prefix = self.prefix if not holder else ""
            advice = field_names.advise_root(key, prefix, has_params="params" in roots)
        elif key in roots:
            advice = f"{key} is a field of the request, and this is {format_access(holder)}"
        if advice is not None:
            return advice
        listed = list_choices(names, field_names.listed(names))
        elsewhere = structural_schema.find_elsewhere(self.schema, (*holder, key))
        if elsewhere is None and missing_values.is_below_resource(key, names):
            elsewhere = f'did you mean "resource.{key}"?'
        return suggest(key, names, elsewhere) or listed


def _describe_item(key: str) -> str:
    """Return how an item of a list is read, for a key that no list has."""
    if key.isdecimal():
        return f"write the number without quotes, and in a path [{key}]"
    return "an item has a number, such as 0, and no name; a loop goes over all of them"


def of_request(step: Step, xr: Object | None, composed: Mapping[str, Object]) -> Request:
    """Return the fields that a step's program may read; ``xr`` None: any of its spec.

    ``composed`` has the schemas of observed resources by name.
    """
    details = step.language.request_field("connection_details")

    def resource(schema: Object | None) -> Object:
        return {"properties": {"resource": _object(schema), details: {}, "ready": {}}}

    others: Object = {"additionalProperties": resource(None)}
    by_name: Object = {key: resource(schema) for key, schema in composed.items()}
    observed: Object = {
        "composite": resource(xr or _ANY_XR),
        "resources": {"properties": by_name, **others},
    }
    desired: Object = {"composite": resource(None), "resources": others}
    lists: Object = {
        "additionalProperties": {
            "properties": {"items": {"type": "array", "items": resource(None)}}
        }
    }
    fields: Object = {
        "observed": {"properties": observed},
        "desired": {"properties": desired},
        # Function-go-templating has no params.
        **dict.fromkeys(_PARTS if step.dialect == "script" else _PARTS[:-1], _ANYTHING),
        step.language.request_field("required_schemas"): _ANYTHING,
        **dict.fromkeys(map(step.language.request_field, _LISTS), lists),
        CONDITION: CONDITION_SCHEMA,
    }
    kinds: dict[Path, str] = {XR: "the XR's schema"} if xr is not None else {}
    kinds[CONDITION,] = "a condition"
    kinds |= {
        ("observed", "resources", key, "resource"): f'the kind of "{key}"' for key in composed
    }
    prefix = "$." if step.language.has_json_names else "" if step.language.is_template else None
    return Request(schema={"properties": fields}, kinds=kinds, prefix=prefix)


def of_xr(schema: Object | None) -> Request:
    """Return the fields of an XR alone; without its ``schema``, any of its spec and status."""
    fields = _object(schema or _ANY_XR)
    for part in reversed(XR):
        fields = {"properties": {part: fields}}
    return Request(schema=fields, kinds={XR: "the XR's schema"} if schema is not None else {})


def _object(schema: Object | None) -> Object:
    """Return the schema of a whole Kubernetes object, with the metadata of all objects."""
    if not schema:
        return _ANYTHING
    fields: Object = {
        **structural_schema.properties(schema),
        "apiVersion": _ANYTHING,
        "kind": _ANYTHING,
        "metadata": builtin.metadata_schema(),
    }
    return {**schema, "properties": fields}


def _below(schema: Object, part: str | int) -> Object | None:
    """Return the schema of a field or an item; None where the schema says nothing of it."""
    if any(schema.get(key) is True for key in _OPEN):
        return None
    # An index may be the key of a map that only a run knows.
    return structural_schema.find(schema, (part,)) or structural_schema.additional(schema)


def _lacks(schema: Object, key: str) -> bool:
    """Report whether an object of this schema cannot have a field: all fields are listed."""
    names = structural_schema.properties(schema)
    is_object = (
        schema.get("type", "object") == "object"
        and schema.get(structural_schema.EMBEDDED) is not True
        and schema.get(structural_schema.INT_OR_STRING) is not True
    )
    return bool(names) and is_object and not structural_schema.is_open(schema) and key not in names
