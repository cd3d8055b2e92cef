"""Schemas of composite resources and claims, as Crossplane derives them from an XRD.

An author writes the schema of spec and status; Crossplane adds its own fields to both. Any
version of Crossplane may run a program, so these are the fields of all versions.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from function_script.inputs import beneath
from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError
from function_script.tools import manifests, sources, structural_schema
from function_script.tools.project import Project

_FILES: Final = ("definition.yaml", "definition.yml", "xrd.yaml", "xrd.yml")
# Of a folder without these, such as that of vpc-xrd.yaml and vpc-composition.yaml.
_NAME: Final = re.compile(r"(?:xrd|definition).*\.ya?ml$", re.IGNORECASE)
LEGACY: Final = "LegacyCluster"
NAMESPACED: Final = "Namespaced"
# The API server defaults the scope, differently by the version of the XRD.
_DEFAULT_SCOPE: Final = {
    "apiextensions.crossplane.io/v1": LEGACY,
    "apiextensions.crossplane.io/v2": NAMESPACED,
}
KIND: Final = "CompositeResourceDefinition"
VERSIONS: Final = tuple(_DEFAULT_SCOPE)
"""The apiVersions of XRDs."""
# Names of XRs and claims become label values, which have this limit.
_MAX_NAME: Final = 63
# The keywords of an author's spec and status that Crossplane keeps, besides their fields.
_KEYWORDS: Final = ("description", "oneOf", "x-kubernetes-validations")

# Fields of spec that only some older versions of Crossplane have.
_FORMER: Final = ("environmentConfigRefs", "publishConnectionDetailsTo")
_TEXT: Final[Object] = {"type": "string"}
_TIME: Final[Object] = {"type": "string", "format": "date-time"}


def to_schemas(xrd: Object) -> Iterator[tuple[str, str, Object]]:
    """Yield the apiVersion, kind and schema of every version of the XR and of its claim, if any."""
    kind = manifests.text_at(xrd, "spec", "names", "kind")
    claim = manifests.text_at(xrd, "spec", "claimNames", "kind")
    scope = scope_of(xrd)
    group = manifests.text_at(xrd, "spec", "group")
    for version in manifests.objects_at(xrd, "spec", "versions"):
        api_version = f"{group}/{manifests.text_at(version, 'name')}"
        authored = manifests.object_at(version, "schema", "openAPIV3Schema")
        policy = manifests.text_at(xrd, "spec", "defaultCompositionUpdatePolicy")
        yield api_version, kind, _schema(authored, _xr_spec(scope, policy), _status(scope))
        if claim:
            policy = manifests.text_at(xrd, "spec", "defaultCompositeDeletePolicy")
            fields: Object = {
                **_selection(),
                "compositeDeletePolicy": _choice("Background", "Foreground", default=policy),
                "resourceRef": _texts("apiVersion", "kind", "name"),
                "writeConnectionSecretToRef": _texts("name"),
            }
            yield api_version, claim, _schema(authored, fields, _status(LEGACY))


def find_schema(xrd: Object, api_version: str, kind: str) -> Object | None:
    """Return the schema of an XR or a claim; None if the XRD has no such kind or version."""
    for each_version, each_kind, schema in to_schemas(xrd):
        if (each_version, each_kind) == (api_version, kind):
            return schema
    return None


def find_files(directory: Path, kind: str = "") -> list[Path]:
    """Return the files of a Composition's directory that may hold the XRD of a kind, or any XRD.

    Without a file of a usual name, they are those with ``xrd`` or ``definition`` in their names.
    """
    usual = [path for name in _FILES if (path := directory / name).is_file()]
    if usual:
        return usual
    files: list[Path] = []
    # A glob takes three times as long, for each case of a folder with hundreds of cases.
    with suppress(OSError):
        files = sorted(path for path in directory.iterdir() if _NAME.search(path.name))
    return [path for path in files if path.is_file() and _mentions(path, kind)]


def _mentions(path: Path, kind: str) -> bool:
    """Search in the text, which spares reading the YAML of many definitions many times."""
    with suppress(OSError), path.open("rb") as file:
        return f"kind: {kind}".encode() in beneath.read_bounded(file)
    # Its reader reports that.
    return True


def find_file(directory: Path, xr: Object, project: Project) -> Path | None:
    """Return the file of a Composition's directory that defines an XR or a claim.

    None if there is no such file, or several. Raises InputError for a file that ``project`` has
    not.
    """
    api_version, kind = objects.api_version_and_kind(xr)
    files = []
    for path in find_files(directory, kind):
        project.resolve(path)
        with suppress(FatalError):
            documents = sources.load([str(path)], project)
            definition = documents[0].value if len(documents) == 1 else {}
            if is_xrd(definition) and find_schema(definition, api_version, kind) is not None:
                files.append(path)
    return files[0] if len(files) == 1 else None


def scope_of(xrd: Object) -> str:
    """Return the scope of an XRD's XRs: ``Namespaced``, ``Cluster`` or ``LegacyCluster``."""
    stated = manifests.text_at(xrd, "spec", "scope")
    return stated or _DEFAULT_SCOPE.get(manifests.text_at(xrd, "apiVersion"), LEGACY)


def _schema(authored: Object, spec: Object, status: Object) -> Object:
    """Combine the author's schema with Crossplane's fields of spec and status."""
    # A narrower limit of the name's length is the only part of metadata that an XRD may define.
    name = manifests.object_at(authored, "properties", "metadata", "properties", "name")
    length = name.get("maxLength")
    most = length if isinstance(length, int) and length < _MAX_NAME else _MAX_NAME
    fields: Object = {
        "apiVersion": _TEXT,
        "kind": _TEXT,
        "metadata": _object({"name": {**_TEXT, "maxLength": most}}),
        "spec": _extend(manifests.object_at(authored, "properties", "spec"), spec),
        "status": _extend(manifests.object_at(authored, "properties", "status"), status),
    }
    rules = {key: item for key, item in authored.items() if key in _KEYWORDS and key != "oneOf"}
    return {**_object(fields, "spec"), **rules}


def _extend(authored: Object, own_fields: Object) -> Object:
    keys = (*_KEYWORDS, "required", structural_schema.PRESERVE)
    keywords = {key: item for key, item in authored.items() if key in keys}
    fields = manifests.object_at(authored, "properties")
    return {"type": "object", **keywords, "properties": {**fields, **own_fields}}


def _xr_spec(scope: str, policy: str) -> Object:
    fields = _selection()
    if policy:
        fields["compositionUpdatePolicy"] = _choice("Automatic", "Manual", default=policy)
    reference: Object = {"apiVersion": _TEXT, "kind": _TEXT, "name": _TEXT}
    if scope != NAMESPACED:
        reference["namespace"] = _TEXT
    fields["resourceRefs"] = _list(_object(reference, "apiVersion", "kind"))
    if scope != LEGACY:
        return {"crossplane": _object(fields)}
    fields["claimRef"] = _texts("apiVersion", "kind", "namespace", "name")
    fields["writeConnectionSecretToRef"] = _texts("name", "namespace")
    return fields


def _selection() -> Object:
    """Return the fields by which both XRs and claims select their Composition."""
    labels = _object({"matchLabels": {"type": "object", "additionalProperties": _TEXT}})
    selector: Object = {**labels, "required": ["matchLabels"]}
    return {
        "compositionRef": _texts("name"),
        "compositionSelector": selector,
        "compositionRevisionRef": _texts("name"),
        "compositionRevisionSelector": selector,
        "compositionUpdatePolicy": _choice("Automatic", "Manual"),
    }


def conditioned_status() -> Object:
    """Return the schema of the part of a status that every resource may have."""
    condition: Object = {
        **dict.fromkeys(("type", "status", "reason", "message"), _TEXT),
        "lastTransitionTime": _TIME,
        "observedGeneration": {"type": "integer", "format": "int64"},
    }
    required = ("lastTransitionTime", "reason", "status", "type")
    return _object({"conditions": _list(_object(condition, *required))})


def _status(scope: str) -> Object:
    """Return the fields of the status of XRs, or of claims, which are those of LegacyCluster."""
    fields = manifests.object_at(conditioned_status(), "properties")
    if scope == LEGACY:
        fields["connectionDetails"] = _object({"lastPublishedTime": _TIME})
        fields["claimConditionTypes"] = _list(_TEXT)
    return fields


def _object(fields: Object, *required: str) -> Object:
    names: list[Value] = list(required)
    schema: Object = {"type": "object", "properties": fields}
    return {**schema, "required": names} if names else schema


def _texts(*names: str) -> Object:
    """Return the schema of an object of required texts."""
    return _object(dict.fromkeys(names, _TEXT), *names)


def _list(schema: Object) -> Object:
    return {"type": "array", "items": schema}


def _choice(*words: str, default: str = "") -> Object:
    schema: Object = {"type": "string", "enum": list(words)}
    return {**schema, "default": default} if default else schema


def refuse_type(manifest: Object) -> Diagnostic:
    """Return the problem of an object that is no XRD."""
    message = f"cannot use {manifests.describe(manifest)} as XRD: it must be a {KIND} of "
    field = "apiVersion" if manifest.get("kind") == KIND else "kind"
    return Diagnostic(message=message + " or ".join(VERSIONS), field=field)


def is_xrd(manifest: Object) -> bool:
    """Report whether an object is an XRD of a known version."""
    api_version, kind = objects.api_version_and_kind(manifest)
    return kind == KIND and api_version in _DEFAULT_SCOPE


@cache
def crossplane_fields(scope: str) -> Mapping[str, tuple[str, ...]]:
    """Return the names of Crossplane's own fields of ``spec`` and ``status``, of all versions."""
    spec, status = _xr_spec(scope, ""), _status(scope)
    if scope == LEGACY:
        return {"spec": (*spec, *_FORMER), "status": (*status,)}
    return {"spec": (*spec,), "status": (*status, "crossplane")}


def is_crossplane_field(part: str, name: str) -> bool:
    """Report whether a field of ``spec`` or ``status`` is Crossplane's, in any scope."""
    return any(name in crossplane_fields(each).get(part, ()) for each in (LEGACY, NAMESPACED))


def advise_field(part: str, name: str) -> str | None:
    """Return a hint for a field of Crossplane that an XR does not have; None for other fields."""
    if part == "spec" and name in {*_selection(), "resourceRefs"}:
        return f"Crossplane v2 has it below spec.crossplane: spec.crossplane.{name}"
    if (part, name) == ("spec", "crossplane"):
        return "XRs of scope LegacyCluster have its fields directly below spec"
    if name not in ("conditions", "crossplane") and is_crossplane_field(part, name):
        return "only XRs of scope LegacyCluster have it"
    return None
