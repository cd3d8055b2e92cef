"""Managed fields of what was composed, as the API server keeps them after Crossplane applied it.

Called for the resources that exist between two reconciles of a sequence. Lists are owned whole.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from function_script.tools import manifests

if TYPE_CHECKING:
    from function_script.values import Object

_IDENTITY = ("apiVersion", "kind", "status")
_NAMES = ("name", "namespace", "managedFields")


def managed_fields(composed: Object, xr: Object) -> Object:
    """The entry of Crossplane: every field of ``composed``, which it has applied for ``xr``."""
    owned = {key: value for key, value in composed.items() if key not in _IDENTITY}
    metadata = owned.get("metadata")
    if isinstance(metadata, dict):
        owned["metadata"] = {key: metadata[key] for key in metadata if key not in _NAMES}
    digest = hashlib.sha256(manifests.name(xr).encode()).hexdigest()
    return {
        "manager": f"apiextensions.crossplane.io/composed/{digest}",
        "operation": "Apply",
        "apiVersion": composed.get("apiVersion"),
        "fieldsType": "FieldsV1",
        "fieldsV1": _fields(owned),
    }


def _fields(value: Object) -> Object:
    return {
        f"f:{key}": _fields(item) if isinstance(item, dict) else {} for key, item in value.items()
    }
