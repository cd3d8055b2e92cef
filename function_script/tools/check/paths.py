"""Field paths that a program reads and that cannot exist: compared with what a request holds.

Called by the rules. The request's own fields are written here; those of the XR and of composed
resources come from their schemas. Where a schema allows anything, nothing is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from function_script.problems import suggest
from function_script.reader import child
from function_script.tools import structural_schema
from function_script.tools.check import machinery

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.objects import Path
    from function_script.values import Object

_INT_OR_STRING: Final = "x-kubernetes-int-or-string"
_MAX_SHOWN: Final = 6
# Whatever is below may be read.
_ANYTHING: Final[Object] = {}
_METADATA: Final = (
    *("annotations", "creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp"),
    *("finalizers", "generateName", "generation", "labels", "managedFields", "name", "namespace"),
    *("ownerReferences", "resourceVersion", "selfLink", "uid"),
)
_PARTS: Final = ("context", "credentials", "input", "meta", "params")
# As protobuf JSON has them, which Go templates get.
_CAMEL: Final = {
    "connection_details": "connectionDetails",
    "extra_resources": "extraResources",
    "required_resources": "requiredResources",
    "required_schemas": "requiredSchemas",
}
_MAPS: Final = ("extra_resources", "required_resources", "required_schemas")
_XR: Final = ("observed", "composite", "resource")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What may be read of a request: a schema, and the kinds at the paths of resources."""

    schema: Object
    kinds: Mapping[Path, str]

    def owner(self, path: Path) -> str:
        """Whose field the last part of a path would be."""
        kinds = (kind for place, kind in self.kinds.items() if path[: len(place)] == place)
        return next(kinds, "the request")

    def find_unknown(self, path: Path) -> tuple[str, str] | None:
        """A message and a hint when the last part of ``path`` certainly does not exist."""
        schema: Object | None = self.schema
        for part in path[:-1]:
            schema = None if schema is None else _below(schema, part)
        key = path[-1]
        if schema is None or not isinstance(key, str) or not _lacks(schema, key):
            return None
        hint = self._hint(path[:-1], key, tuple(structural_schema.properties(schema)))
        return f"{_text(path)} does not exist: {self.owner(path)} has no such field", hint

    def _hint(self, holder: Path, key: str, known: tuple[str, ...]) -> str:
        part = holder[-1] if holder[:-1] == _XR and _XR in self.kinds else ""
        advice = machinery.advise(str(part), key)
        if advice is not None:
            return advice
        if hint := suggest(key, known):
            return hint
        # The author's own fields first.
        names = sorted(known, key=lambda name: (machinery.is_own(str(part), name), name))
        return f"there are {', '.join(names[:_MAX_SHOWN])}{', …' * (len(names) > _MAX_SHOWN)}"


def of_request(language: str, xr: Object | None, composed: Mapping[str, Object]) -> Request:
    """What a program of a language may read; ``xr`` None: nothing is known of the XR.

    ``composed`` has the schemas of observed resources by their names.
    """

    def name(field: str) -> str:
        return _CAMEL.get(field, field) if language == "gotemplate" else field

    def resource(schema: Object | None) -> Object:
        fields: Object = {"resource": _object(schema), name("connection_details"): {}, "ready": {}}
        return {"properties": fields}

    others: Object = {"additionalProperties": resource(None)}
    named: Object = {key: resource(schema) for key, schema in composed.items()}
    observed: Object = {
        "composite": resource(xr),
        "resources": {"properties": named, **others},
    }
    desired: Object = {"composite": resource(None), "resources": others}
    fields: Object = {
        "observed": {"properties": observed},
        "desired": {"properties": desired},
        **dict.fromkeys(_PARTS, _ANYTHING),
        **{name(field): _ANYTHING for field in _MAPS},
    }
    kinds: dict[Path, str] = {_XR: "the XR's schema"} if xr is not None else {}
    kinds |= {
        ("observed", "resources", key, "resource"): f'the kind of "{key}"' for key in composed
    }
    return Request(schema={"properties": fields}, kinds=kinds)


def _object(schema: Object | None) -> Object:
    """The schema of a whole Kubernetes object, with the metadata that every one has."""
    if not schema:
        return _ANYTHING
    fields: Object = {
        **structural_schema.properties(schema),
        "apiVersion": _ANYTHING,
        "kind": _ANYTHING,
        "metadata": {"properties": dict.fromkeys(_METADATA, _ANYTHING)},
    }
    return {**schema, "properties": fields}


def _below(schema: Object, part: str | int) -> Object | None:
    """The schema of a field or an item; None where nothing is known of it."""
    if (
        schema.get(structural_schema.PRESERVE) is True
        or schema.get(structural_schema.EMBEDDED) is True
    ):
        return None
    if isinstance(part, int):
        return structural_schema.items(schema) or structural_schema.additional(schema)
    return structural_schema.properties(schema).get(part) or structural_schema.additional(schema)


def _lacks(schema: Object, key: str) -> bool:
    """Whether an object of this schema cannot have a field: all its fields are listed."""
    known = structural_schema.properties(schema)
    is_open = (
        schema.get(structural_schema.PRESERVE) is True
        or schema.get(structural_schema.EMBEDDED) is True
        or schema.get(_INT_OR_STRING) is True
        or schema.get("additionalProperties") not in (None, False)
        or schema.get("type", "object") != "object"
    )
    return bool(known) and not is_open and key not in known


def _text(path: Path) -> str:
    text = ""
    for part in path:
        text = f"{text}[]" if isinstance(part, int) else child(text, part)
    return text
