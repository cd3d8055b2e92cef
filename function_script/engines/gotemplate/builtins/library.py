"""Library functions for templates of our own kind that sprig does not have.

The names are the library's in Go's spelling. Bytes are base64, as everywhere in Go templates.
"""

import json
from collections.abc import Mapping
from typing import Final

from function_script.engines.gotemplate.data import copy_tree
from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import FunctionTable, Injects
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.values import NilMap
from function_script.engines.gotemplate.yaml import writer
from function_script.engines.library import connection, resources
from function_script.objects import EXTERNAL_NAME, WATCHED
from function_script.values import Object, type_phrase

FUNCTIONS: Final = FunctionTable()

_MAX_NAMES: Final = len(("name", "namespace"))


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


@FUNCTIONS.add("isDeleting", parameters="any", returns="bool")
def is_deleting(resource: object) -> bool:
    """True if the resource is being deleted."""
    return isinstance(resource, dict) and resources.is_deleting(resource)


@FUNCTIONS.add("unreadyReason", parameters="any", returns="string")
def unready_reason(resource: object) -> str:
    """The reason why the resource is not ready; empty if it is ready."""
    return resources.unready_reason(resource if isinstance(resource, dict) else None)


@FUNCTIONS.add("hasCapability", parameters="string", injects=Injects.RUN, returns="bool")
def has_capability(run: Run, name: str) -> bool:
    """True if Crossplane advertises the capability."""
    capabilities = _find(run.root, "meta", "capabilities")
    return (
        isinstance(capabilities, list)
        and f"CAPABILITY_{name.removeprefix('CAPABILITY_')}" in capabilities
    )


@FUNCTIONS.add("getWatchedResource", parameters="", injects=Injects.RUN, allocates=False)
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
def external_name(name: str) -> str:
    """The annotation of an external name, as a line of YAML."""
    return f"{EXTERNAL_NAME}: {writer.scalar_text(name)}"
