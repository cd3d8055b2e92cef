"""Names and UIDs as Crossplane's render engine generates them, so that outputs are equal."""

import hashlib
import uuid

from function_script.request import names

# Letters and digits of the suffixes that the API server generates.
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_NIL = uuid.UUID(int=0)
_MAX_NAME = 63
_HASH = 12
_RBAC_GROUP = "rbac.authorization.k8s.io"
_RBAC_KINDS = {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}


def xr_uid(api_version: str, kind: str, namespace: str, name: str) -> str:
    """Return the UID for an XR without one; it depends on type, namespace and name only."""
    group, _, version = api_version.rpartition("/")
    text = f"{group}/{version}, Kind={kind}\0{namespace}\0{name}"
    return str(uuid.uuid5(_NIL, text))


def xr_name(namespace: str, name: str) -> str:
    """Return the name of a claim's XR: a prefix and a suffix that is the same every time."""
    digest = hashlib.sha256(f"{namespace}/{name}".encode()).digest()
    letters = (_SUFFIX_LETTERS[byte % len(_SUFFIX_LETTERS)] for byte in digest[:_SUFFIX_LENGTH])
    return f"{name}-"[: _MAX_NAME - _SUFFIX_LENGTH] + "".join(letters)


def child_name(generate_name: str, uid: str, resource_name: str) -> str:
    """Return the object name of a composed resource: a prefix and 12 hex digits, at most 63 long.

    ``uid`` is the XR's; ``resource_name`` is the key in desired state.
    """
    suffix = hashlib.sha256((uid + resource_name).encode()).hexdigest()[:_HASH]
    prefix = (
        generate_name if generate_name.endswith("-") or not generate_name else f"{generate_name}-"
    )
    if len(prefix) + _HASH > _MAX_NAME:
        prefix = prefix[: _MAX_NAME - _HASH]
        if not prefix.endswith("-"):
            prefix = f"{prefix[:-1]}-"
    return prefix + suffix


def is_object_name(name: str, group: str, kind: str) -> bool:
    """Report whether ``name`` is an RFC 1123 subdomain; names of RBAC kinds may have colons."""
    if group == _RBAC_GROUP and kind in _RBAC_KINDS:
        name = name.replace(":", "")
    return names.is_subdomain(name)
