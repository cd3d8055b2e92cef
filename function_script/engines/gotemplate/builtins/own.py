"""Functions that only templates of our own kind have: getters, annotations, the library's.

Getters need no request: ``getComposedResource "bucket"`` is ``getComposedResource . "bucket"`` also
where the dot is not the request. Names of the library are in Go's spelling. Bytes are base64, as
everywhere in Go templates.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Protocol, cast

from function_script.engines import library
from function_script.engines.gotemplate.builtins import function_go_templating
from function_script.engines.gotemplate.data import copy_tree
from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Accepts, Function, FunctionTable, Injects
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.values import NilMap
from function_script.engines.gotemplate.yaml import writer
from function_script.engines.library import connection
from function_script.objects import EXTERNAL_NAME, RESOURCE_NAME, WATCHED
from function_script.values import Object, Readable, type_phrase

FUNCTIONS: Final = FunctionTable()

# Go's types of results, by the names in the reference.
_GO_TYPES: Final = {"boolean": "bool", "string": "string"}
_MAX_NAMES: Final = len(("name", "namespace"))


# Getters and annotations


class _Getter(Protocol):
    def __call__(self, *arguments: object) -> object: ...


def _with_optional_request(function: Function) -> Function:
    """Return a getter of the request whose first argument is optional."""
    getter = cast("_Getter", function.call)
    count = len(function.parameter_types)

    def call(run: Run, *arguments: object) -> object:
        if len(arguments) not in {count - 1, count}:
            raise CallError(f"wants {count - 1} or {count} arguments, got {len(arguments)}")
        request, *names = arguments if len(arguments) == count else (run.root, *arguments)
        if not isinstance(request, dict):
            raise CallError(f"wants the request first, got {type_phrase(request)}")
        if not all(isinstance(name, str) for name in names):
            raise CallError(f"wants a name, got {type_phrase(names[0])}")
        if function.injects is Injects.RUN:
            return getter(run, request, *names)
        return getter(request, *names)

    return replace(function, parameters="any...", call=call, injects=Injects.RUN)


GETTERS: Final = tuple(
    _with_optional_request(function)
    for function in function_go_templating.FUNCTIONS
    if function.parameter_types[0] == "map" and function.name.startswith("get")
)


@FUNCTIONS.add("setResourceNameAnnotation", parameters="string", returns="string")
def name_annotation(name: str) -> str:
    """The annotation that names a composed resource, as a line of YAML."""
    return f"{RESOURCE_NAME}: {function_go_templating.name_text(name)}"


@FUNCTIONS.add(
    "getExternalName", parameters="any", allocates=False, accepts=Accepts.MISSING, is_lookup=True
)
def external_name(resource: object) -> object:
    """The external name of a resource.

    It is nil if there is none. The resource may be in its wrapper.
    """
    for path in (("resource", "metadata", "annotations"), ("metadata", "annotations")):
        value = resource
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, dict) and EXTERNAL_NAME in value:
            return value[EXTERNAL_NAME]
    return None


# The library's functions


@FUNCTIONS.add(
    "connectionSecret",
    parameters="string map string...",
    returns="string",
    summary="The document of a Secret with connection details: resource name, data, and perhaps "
    "name and namespace.",
)
def connection_secret(resource_name: str, data: dict[str, object], *names: str) -> str:
    """Return a Secret's document as JSON on one line, which is valid YAML at any indent."""
    if len(names) > _MAX_NAMES:
        raise CallError("wants a resource name, data, and perhaps a name and a namespace")
    encoded: Object = {key: {"base64": _encode(key, item)} for key, item in data.items()}
    secret = connection.connection_secret(encoded, *names, resource_name=resource_name)
    return json.dumps(secret, sort_keys=True, ensure_ascii=False)


def _encode(key: str, item: object) -> str:
    if not isinstance(item, str):
        raise CallError(f'data: "{key}" must be base64, not {type_phrase(item)}')
    try:
        return connection.checked_base64(key, item)
    except ValueError as error:
        raise CallError(f"{error}, write it through b64enc") from error


def _add_row(row: library.Function) -> None:
    """Add a function of the library that has a name in Go; its arguments are objects or null."""

    def call(*arguments: object) -> object:
        objects = [cast("Readable", each) if isinstance(each, dict) else None for each in arguments]
        try:
            return row.call(*objects)
        except ValueError as error:
            raise CallError(str(error)) from error

    parameters = " ".join("any" for _ in row.parameters)
    returns = _GO_TYPES[row.returns]
    FUNCTIONS.add(
        row.go_name,
        parameters=parameters,
        returns=returns,
        accepts=Accepts.MISSING,
        summary=row.summary,
    )(call)


for _row in library.FUNCTIONS:
    if _row.go_name:
        _add_row(_row)


@FUNCTIONS.add("hasCapability", parameters="string", injects=Injects.RUN, returns="bool")
def has_capability(run: Run, name: str) -> bool:
    """True if Crossplane advertises the capability."""
    capabilities = _find(run.root, "meta", "capabilities")
    return (
        isinstance(capabilities, list)
        and f"CAPABILITY_{name.removeprefix('CAPABILITY_')}" in capabilities
    )


@FUNCTIONS.add(
    "getWatchedResource", parameters="", injects=Injects.RUN, allocates=False, is_lookup=True
)
def watched_resource(run: Run) -> object:
    """The resource that a WatchOperation watches."""
    items = _find(run.root, "requiredResources", WATCHED, "items")
    resource = _find(items[0], "resource") if isinstance(items, list) and items else None
    if resource is None or not run.mutates:
        return NilMap() if resource is None else resource
    run.check_tree(resource)
    return copy_tree(resource)


def _find(value: object, *path: str) -> object:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


@FUNCTIONS.add("setExternalNameAnnotation", parameters="string", returns="string")
def external_name_annotation(name: str) -> str:
    """The annotation of an external name, as a line of YAML."""
    return f"{EXTERNAL_NAME}: {writer.scalar_text(name)}"
