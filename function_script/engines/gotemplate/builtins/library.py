"""Library functions for templates of our own kind that sprig does not have.

The names are the library's in Go's spelling. Bytes are base64, as everywhere in Go templates.
"""

import json
from collections.abc import Mapping
from typing import Final

from function_script.engines.gotemplate.data import copy_tree
from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Function, Injects
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.values import NilMap
from function_script.engines.gotemplate.yaml import writer
from function_script.engines.library import connection, resources
from function_script.objects import EXTERNAL_NAME, WATCHED
from function_script.values import Object, type_phrase

_MAX_NAMES: Final = len(("name", "namespace"))


def _connection_secret(resource_name: str, data: dict[str, object], *names: str) -> str:
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


def _is_deleting(resource: object) -> bool:
    return isinstance(resource, dict) and resources.is_deleting(resource)


def _unready_reason(resource: object) -> str:
    return resources.unready_reason(resource if isinstance(resource, dict) else None)


def _has_capability(run: Run, name: str) -> bool:
    capabilities = _find(run.root, "meta", "capabilities")
    return (
        isinstance(capabilities, list)
        and f"CAPABILITY_{name.removeprefix('CAPABILITY_')}" in capabilities
    )


def _watched_resource(run: Run) -> object:
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


def _external_name(name: str) -> str:
    return f"{EXTERNAL_NAME}: {writer.scalar_text(name)}"


FUNCTIONS: Final = (
    Function(
        name="connectionSecret",
        parameters="string map string...",
        call=_connection_secret,
        returns="string",
    ),
    Function(name="isDeleting", parameters="any", call=_is_deleting, returns="bool"),
    Function(name="unreadyReason", parameters="any", call=_unready_reason, returns="string"),
    Function(
        name="hasCapability",
        parameters="string",
        call=_has_capability,
        injects=Injects.RUN,
        returns="bool",
    ),
    Function(
        name="getWatchedResource",
        parameters="",
        call=_watched_resource,
        injects=Injects.RUN,
        allocates=False,
    ),
    Function(
        name="setExternalNameAnnotation", parameters="string", call=_external_name, returns="string"
    ),
)
