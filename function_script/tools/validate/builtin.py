"""Kubernetes' own kinds: their schemas, and what no schema says of them.

The schemas are those of one release, see `VERSION`: all fields with their types, and which are
required. A table adds the values of fields that the API server's code alone knows.
"""

import json
import lzma
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, TypedDict

from function_script.engines.tables import read_rows
from function_script.request.reader import ObjectReader
from function_script.request.values import Object
from function_script.texts.problems import ProblemList, suggest
from function_script.tools import structural_schema
from function_script.tools.validate.report import Problem

_FILE: Final = "kubernetes.json.xz"
_INT32: Final = 1 << 31
# A keyword of ours, which a kind without it does not have for certain.
_CLUSTER_SCOPED: Final = "x-cluster-scoped"
# The names that `docs/generate/kubernetes_schemas.py` writes.
_SCALARS: Final[dict[str, Object]] = {
    "any": {structural_schema.PRESERVE: True},
    "object": {"type": "object", structural_schema.PRESERVE: True},
    "text": {"type": "string"},
    "flag": {"type": "boolean"},
    "int32": {"type": "integer", "minimum": -_INT32, "maximum": _INT32 - 1},
    "int64": {"type": "integer"},
    "number": {"type": "number"},
    "time": {"type": "string", "format": "date-time", structural_schema.TEXT: True},
    "int-or-text": {structural_schema.INT_OR_STRING: True},
    "quantity": {structural_schema.QUANTITY: True},
}
# Groups of providers: kinds with a namespace are in others, such as `s3.aws.m.upbound.io`.
_OF_PROVIDERS: Final = re.compile(
    r"((?:\w+\.)?(?:aws|azure|azuread|gcp)(?=\.upbound)|(?:helm|kubernetes)(?=\.crossplane))"
    r"\.(\w+)\.io/"
)


class _Type(TypedDict):
    """The fields of a type by their names, and those that are required."""

    fields: dict[str, str]
    required: list[str]


class _Release(NamedTuple):
    """The kinds of a release by apiVersion, each with the number of its schema."""

    version: str
    kinds: dict[str, dict[str, str]]
    schemas: list[Object]


def version() -> str:
    """Return the release of Kubernetes whose kinds are known."""
    return _load().version


def find_schema(api_version: str, kind: str) -> Object | None:
    """Return the schema of a kind of Kubernetes, or None. It may contain itself."""
    release = _load()
    number = release.kinds.get(api_version, {}).get(kind)
    return None if number is None else release.schemas[int(number)]


def metadata_schema() -> Object:
    """Return the schema of the metadata of any object."""
    return structural_schema.find(find_schema("v1", "Namespace") or {}, ("metadata",)) or {}


def _read_domain(api_version: str) -> list[str]:
    """Return what is behind the first label of a group, its last two labels at most."""
    return api_version.split(".")[1:][-2:]


def find_misspelt_kind(api_version: str, kind: str) -> Iterator[Problem]:
    """Yield the problem of a kind, or an apiVersion, that is one of Kubernetes but for a typo."""
    kinds = _load().kinds
    own_kinds = kinds.get(api_version, {})
    hint, path = None if kind in own_kinds else suggest(kind, own_kinds), "kind"
    if hint is None and api_version not in kinds:
        # The same kind of another domain is a custom one, such as that of networking.x-k8s.io.
        domain = _read_domain(api_version)
        near = suggest(
            api_version,
            tuple(x for x in kinds if kind in kinds[x] and _read_domain(x) == domain),
        )
        hint, path = near, "apiVersion"
    if hint is not None:
        message = f"{path}: Kubernetes {version()} has no {kind} in {api_version}"
        yield Problem(type="schema", field=path, message=message, path=path, hint=hint)


def is_cluster_scoped(api_version: str, kind: str) -> bool:
    """Report whether a kind of Kubernetes, or of a known provider, certainly has no namespace."""
    is_own = (find_schema(api_version, kind) or {}).get(_CLUSTER_SCOPED) is True
    return is_own or find_namespaced_group(api_version) is not None


def find_namespaced_group(api_version: str) -> str | None:
    """Return the group of a provider's kinds with a namespace, for one of those without."""
    match = _OF_PROVIDERS.match(api_version)
    return None if match is None else f"{match[1]}.m.{match[2]}.io"


def find_other_version(api_version: str, kind: str, path: Sequence[str | int]) -> str | None:
    """Return another apiVersion of the same group whose kind has the field at ``path``, or None."""
    group = api_version.rpartition("/")[0]
    for other in _load().kinds:
        if other != api_version and other.rpartition("/")[0] == group:
            schema = find_schema(other, kind)
            if schema is not None and structural_schema.find(schema, path) is not None:
                return other
    return None


def find_text_problems(value: Object) -> Iterator[Problem]:
    """Yield the problems of values that must be base64."""
    from function_script.contribution import sanitize  # noqa: PLC0415 - slow to import

    problems = ProblemList()
    sanitize.check_texts(ObjectReader(value, "", problems), problems)
    for each in problems:
        yield Problem(type="schema", field=each.path, message=str(each), path=each.path)


@cache
def _load() -> _Release:
    data = json.loads(lzma.decompress(Path(__file__).with_name(_FILE).read_bytes()))
    types: list[_Type] = data["types"]
    # Types are recursive: the schemas are there before their fields.
    schemas: list[Object] = [{} for _ in types]
    for schema, type_ in zip(schemas, types, strict=True):
        fields: Object = {name: _schema(below, schemas) for name, below in type_["fields"].items()}
        schema |= {"type": "object", "required": [*type_["required"]], "properties": fields}
    release = _Release(data["version"], data["kinds"], schemas)
    for api_version, kind, path, keywords in read_rows("kubernetes_values", Path(__file__).parent):
        # The types of a release are shared: the rows of a Pod count for all templates of pods.
        *above, name = path.split(".")
        holder = schemas[int(release.kinds[api_version][kind])]
        for part in above:
            field = structural_schema.properties(holder)[part]
            holder = structural_schema.items(field) or field
        siblings = structural_schema.properties(holder)
        # A row without a path is about the kind.
        changed: Object = {**(siblings[name] if name else holder), **json.loads(keywords)}
        properties: Object = {**siblings, name: changed}
        holder |= {"properties": properties} if name else changed
    return release


def _schema(name: str, schemas: Sequence[Object]) -> Object:
    """Return the schema with a name: a number, a scalar's, or ``[]`` or ``{}`` before another."""
    if name.startswith("[]"):
        return {"type": "array", "items": _element(name[2:], schemas)}
    if name.startswith("{}"):
        return {"type": "object", "additionalProperties": _element(name[2:], schemas)}
    return _SCALARS.get(name) or schemas[int(name)]


def _element(name: str, schemas: Sequence[Object]) -> Object:
    """Return the schema of an item or a value of a map: decoding makes "" or 0 of a null."""
    scalar = _SCALARS.get(name)
    return _schema(name, schemas) if scalar is None else scalar | {"nullable": True}
