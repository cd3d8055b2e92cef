"""Functions that function-go-templating adds to Go's and sprig's: getters, YAML, conditions.

Getters access keys directly: resource names may be numbers or have brackets, credentials do not
depend on the rest of the request, both shapes of required resources are read.
"""

import base64
import binascii
from types import NoneType
from typing import Final, Self

from function_script.engines.gotemplate import values, yaml
from function_script.engines.gotemplate.data import copy_tree, find_at
from function_script.engines.gotemplate.errors import CallError, Code
from function_script.engines.gotemplate.function import Accepts, FunctionTable
from function_script.engines.gotemplate.go_time import (
    RFC3339,
    UTC,
    Time,
    TransitionTime,
    parse_date,
)
from function_script.engines.gotemplate.run import RandomNumbers, Run
from function_script.request.objects import EXTRA_RESOURCES

FUNCTIONS: Final = FunctionTable()

_NAME_ANNOTATION: Final = "gotemplating.fn.crossplane.io/composition-resource-name"
_QUOTES: Final = "'\""


def map_at(run: Run, request: object, *path: str) -> object:
    """Return a map of the request; a copy if the template may change it."""
    value = find_at(request, *path)
    if not isinstance(value, dict):
        return values.NilMap()
    return _copy_if_mutable(run, value)


def _copy_if_mutable(run: Run, value: object) -> object:
    if not run.mutates:
        return value
    # A copy of the whole map, so it costs as much as to write it.
    run.check_tree(value)
    return copy_tree(value)


@FUNCTIONS.add("randomChoice")
def random_choice(next_random: RandomNumbers, *choices: str) -> str:
    """One of the texts, the same at each reconcile of one XR."""
    if not choices:
        raise CallError(
            "runtime error: index out of range [0] with length 0", Code.INDEX_OUT_OF_RANGE
        )
    return choices[next_random(len(choices))]


@FUNCTIONS.add("toYaml", accepts=Accepts.NULL)
def to_yaml(run: Run, value: object) -> str:
    """The value as YAML."""
    run.check_tree(value)
    return yaml.to_yaml(value)


FUNCTIONS.add("fromYaml", summary="The value of a YAML text.")(yaml.from_yaml)


def name_text(name: str) -> str:
    """Return a resource name as YAML; a name that its author has quoted stays as it is."""
    if not name or (name[0] == name[-1] and name[0] in _QUOTES and len(name) > 1):
        return name
    return yaml.write_key(name)


@FUNCTIONS.add("setResourceNameAnnotation")
def name_annotation(name: str) -> str:
    """The annotation that names a composed resource, as a line of YAML."""
    return f"{_NAME_ANNOTATION}: {name_text(name)}"


@FUNCTIONS.add("getCompositeResource", allocates=False, is_lookup=True)
def composite_resource(run: Run, request: dict[str, object]) -> object:
    """The observed XR."""
    return map_at(run, request, "observed", "composite", "resource")


@FUNCTIONS.add("getComposedResource", allocates=False, is_lookup=True)
def composed_resource(run: Run, request: dict[str, object], name: str) -> object:
    """The observed composed resource of this name."""
    return map_at(run, _entry(request, name, "observed", "resources"), "resource")


@FUNCTIONS.add("getComposedConnectionDetails", allocates=False, is_lookup=True)
def connection_details(run: Run, request: dict[str, object], name: str) -> object:
    """The connection details of a composed resource, in base64."""
    return map_at(run, _entry(request, name, "observed", "resources"), "connectionDetails")


def _entry(request: object, name: str, *path: str) -> object:
    """Return the entry of a name; as in function-go-templating, the name may be in quotes."""
    entries = find_at(request, *path)
    if not isinstance(entries, dict):
        return None
    return entries[name] if name in entries else entries.get(name.strip(_QUOTES))


def _list_of(run: Run, value: object) -> object:
    if not isinstance(value, list):
        return values.NilList()
    return _copy_if_mutable(run, value)


@FUNCTIONS.add("getExtraResources", allocates=False, is_lookup=True)
def extra_resources(run: Run, request: dict[str, object], name: str) -> object:
    """The required resources of this name, a list: each object is in its `resource`."""
    group = _entry(request, name, "requiredResources")
    if not isinstance(group, dict) or not isinstance(group.get("items", ""), (list, NoneType)):
        group = _entry(request, name, "extraResources")
    return _list_of(run, find_at(group, "items"))


@FUNCTIONS.add("getExtraResourcesFromContext", allocates=False, is_lookup=True)
def resources_from_context(run: Run, request: dict[str, object], name: str) -> object:
    """The resources of this name that function-extra-resources left in the context."""
    entry = _entry(request, name, "context", EXTRA_RESOURCES)
    if isinstance(entry, list):
        # Function-extra-resources puts the resources themselves there.
        return _list_of(run, [{"resource": resource} for resource in entry])
    return _list_of(run, find_at(entry, "items"))


# Conditions, as the structs of Crossplane's and Kubernetes' Go packages


class Condition(values.Struct):
    """A condition; fields without a value are empty, as in Go."""

    __slots__ = ()
    go_type = "v2.Condition"

    @classmethod
    def empty(cls, kind: str, status: str) -> Self:
        """Return a condition with nothing but its type and its status."""
        return cls.read({"type": kind, "status": status})

    @classmethod
    def read(cls, entry: object) -> Self:
        """Return the condition of a status's entry; raises CallError where Go cannot decode it."""
        entry = {} if entry is None else entry
        if not isinstance(entry, dict):
            raise CallError("a condition is an object")
        kind, status, reason, message = (_read_text(entry.get(key)) for key in _TEXTS)
        generation = entry.get("observedGeneration")
        if generation is not None and type(generation) is not int:
            raise CallError("a generation is an integer")
        transition = entry.get("lastTransitionTime")
        time = Time.zero()
        if transition is not None:
            time = parse_date(RFC3339, _read_text(transition)).in_location(UTC)
        return cls(
            {
                "Type": kind,
                "Status": status,
                "LastTransitionTime": TransitionTime(time),
                "Reason": reason,
                "Message": message,
                "ObservedGeneration": generation or 0,
            }
        )

    def json(self) -> object:
        """Return the fields without an empty message and an observed generation of zero."""
        fields = {f"{name[0].lower()}{name[1:]}": value for name, value in self.fields.items()}
        for optional in ("message", "observedGeneration"):
            if not fields[optional]:
                del fields[optional]
        return fields


_TEXTS: Final = ("type", "status", "reason", "message")


def _read_text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise CallError("a condition's fields are text")
    return value


@FUNCTIONS.add(
    "getResourceCondition",
    parameters="string map",
    takes="type resource",
    accepts=Accepts.MISSING,
)
def resource_condition(kind: str, resource: object) -> Condition:
    """The condition of this type: (getResourceCondition "Ready" $resource).Status.

    It is the first one, and Unknown if there is none or the status is malformed. ``resource`` is an
    entry of the observed resources, or a resource itself.
    """
    for path in (("resource", "status"), ("status",)):
        status = find_at(resource, *path)
        entries = status.get("conditions") if isinstance(status, dict) else ()
        if not isinstance(entries, (list, NoneType)):
            continue
        try:
            conditions = [Condition.read(entry) for entry in entries or ()]
        except CallError:
            continue
        matches = (condition for condition in conditions if condition.fields["Type"] == kind)
        return next(matches, Condition.empty(kind, "Unknown"))
    return Condition.empty(kind, "Unknown")


@FUNCTIONS.add("getCredentialData", is_lookup=True)
def credential_data(request: dict[str, object], name: str) -> object:
    """The data of the credentials of this name."""
    data = find_at(request, "credentials", name, "credentialData", "data")
    if not isinstance(data, dict):
        return values.NilBytesMap()
    try:
        decoded = {key: base64.b64decode(value, validate=True) for key, value in data.items()}
    except (binascii.Error, TypeError, ValueError):
        return values.NilBytesMap()
    return values.BytesMap(decoded)
