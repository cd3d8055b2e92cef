"""Connection details of composite resources: since Crossplane v2 a Secret among the others."""

import base64
import binascii
from typing import Final

from function_script.engines.library.function import Group
from function_script.request.objects import RESOURCE_NAME
from function_script.request.values import Object, type_phrase

GROUP: Final = Group(
    name="connection details",
    summary="Legacy composite resources have connection details of their own. For all others a "
    "Secret is composed, as one resource among others.",
)


TYPE = "connection.crossplane.io/v1alpha1"


@GROUP.function(
    example='connection_secret({"user": "admin"}, "db-1")',
    result={
        "apiVersion": "v1",
        "kind": "Secret",
        "type": TYPE,
        "metadata": {"name": "db-1"},
        "data": {"user": "YWRtaW4="},
    },
)
def connection_secret(
    data: Object, name: str = "", namespace: str = "", *, resource_name: str = ""
) -> Object:
    """A Secret with connection details; templates give it its ``resource_name`` here, too."""
    metadata: Object = {}
    if resource_name:
        metadata["annotations"] = {RESOURCE_NAME: resource_name}
    if name:
        metadata["name"] = name
    if namespace:
        metadata["namespace"] = namespace
    encoded: Object = {}
    for key, item in data.items():
        match item:
            case str():
                encoded[key] = base64.b64encode(item.encode()).decode()
            # The form in which programs write bytes.
            case {"base64": str(text), **others} if not others:
                encoded[key] = checked_base64(key, text)
            case _:
                raise ValueError(f'data: "{key}" must be a string, not {type_phrase(item)}')
    secret: Object = {"apiVersion": "v1", "kind": "Secret", "type": TYPE, "data": encoded}
    return {**secret, "metadata": metadata} if metadata else secret


def checked_base64(key: str, text: str) -> str:
    """Return ``text``; raises ValueError when it is not base64."""
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f'data: "{key}" must be base64') from error
    return text
