"""UIDs and names are those of Crossplane's render engine."""

import pytest

from function_script.tools.render import xr

NOP_UID = "60aa46dc-5505-53e4-a362-4d602bb8f73e"
BUCKET_UID = "b5ff092d-092e-5610-b06a-82969eb40172"

UIDS = [
    pytest.param(
        "nop.example.org/v1alpha1", "XNopResource", "", "test-render", NOP_UID, id="cluster-scoped"
    ),
    pytest.param("example.org/v1", "XBucket", "default", "demo", BUCKET_UID, id="namespaced"),
]

# Prefix, the XR's UID, the name made for the resource "bucket".
NAMES = [
    pytest.param("test-render-", NOP_UID, "test-render-b755916ce260", id="with-hyphen"),
    pytest.param("test-render", NOP_UID, "test-render-b755916ce260", id="hyphen-is-added"),
    pytest.param("demo-", BUCKET_UID, "demo-6b49c004c4b7", id="another-xr"),
    pytest.param(f"{'a' * 60}-", NOP_UID, f"{'a' * 50}-b755916ce260", id="too-long-is-cut"),
    pytest.param(
        f"{'a' * 50}-{'b' * 8}", NOP_UID, f"{'a' * 50}-b755916ce260", id="cut-at-its-own-hyphen"
    ),
    pytest.param("", NOP_UID, "b755916ce260", id="no-prefix"),
]

OBJECT_NAMES = [
    pytest.param("demo-1.example", "apps", "Deployment", True, id="subdomain"),
    pytest.param("Demo", "apps", "Deployment", False, id="upper-case"),
    pytest.param("system:demo", "rbac.authorization.k8s.io", "Role", True, id="colon-for-rbac"),
    pytest.param("system:demo", "apps", "Deployment", False, id="colon-elsewhere"),
]


@pytest.mark.parametrize(("api_version", "kind", "namespace", "name", "uid"), UIDS)
def test_xr_uid(api_version: str, kind: str, namespace: str, name: str, uid: str) -> None:
    """An XR without a UID gets the one that Crossplane makes up for it."""
    metadata = {"name": name, "namespace": namespace}
    assert uid == xr.xr_uid({"apiVersion": api_version, "kind": kind, "metadata": metadata})


@pytest.mark.parametrize(("prefix", "uid", "name"), NAMES)
def test_child_name(prefix: str, uid: str, name: str) -> None:
    """A composed resource's name is its prefix and a hash, within 63 characters."""
    child = xr.child_name(prefix, uid, "bucket")
    assert child == name
    assert len(child) <= 63


@pytest.mark.parametrize(("name", "group", "kind", "is_valid"), OBJECT_NAMES)
def test_object_name(name: str, group: str, kind: str, is_valid: bool) -> None:
    """Names are RFC 1123 subdomains, and RBAC kinds may have colons."""
    assert is_valid is xr.is_object_name(name, group, kind)
