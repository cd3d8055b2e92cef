"""Dependencies as Usage objects: which kind, when, and by which name."""

import pytest
from support.readiness_steps import READY, desired, observed, readiness, run, step

from function_script.request.values import Object

RESOURCES: dict[str, Object] = {"net": {}, "db": {"depends_on": ["net"]}}
NAME = "usage:db:net"
MODERN_CLUSTER: Object = {"kind": "X", "metadata": {"name": "x"}, "spec": {"crossplane": {}}}
LEGACY: Object = {"kind": "X", "metadata": {"name": "x"}, "spec": {}}


def both(**metadata: str) -> dict[str, Object]:
    """Both resources, ready."""
    return {
        "net": observed("Net", READY, name="net-7", **metadata),
        "db": observed("Db", READY, name="db-9", **metadata),
    }


def usage(exists: dict[str, Object], xr: Object | None = None, **fields: object) -> Object:
    """The Usage that a step adds."""
    state = {"resources": exists, **({} if xr is None else {"composite": {"resource": xr}})}
    parts = {} if xr is None else {"observed": state}
    response = run(step("starlark", RESOURCES, **{"usages": {}, **fields}), exists, **parts)  # type: ignore[arg-type] # plain values
    return desired(response)[NAME]["resource"]  # type: ignore[return-value] # an object


def test_namespaced_xr_has_a_usage_in_its_namespace() -> None:
    """Of Crossplane 2, by the names that the objects have in the cluster."""
    assert usage(both(namespace="here")) == {
        "apiVersion": "protection.crossplane.io/v1beta1",
        "kind": "Usage",
        "metadata": {"namespace": "here"},
        "spec": {
            "reason": "db depends on net",
            "replayDeletion": True,
            "of": {"apiVersion": "example.org/v1", "kind": "Net", "resourceRef": {"name": "net-7"}},
            "by": {"apiVersion": "example.org/v1", "kind": "Db", "resourceRef": {"name": "db-9"}},
        },
    }


@pytest.mark.parametrize(
    ("xr", "fields", "api_version", "kind"),
    [
        (MODERN_CLUSTER, {}, "protection.crossplane.io/v1beta1", "ClusterUsage"),
        (LEGACY, {}, "apiextensions.crossplane.io/v1beta1", "Usage"),
        (
            LEGACY,
            {"usages": {"apiVersion": "apiextensions.crossplane.io/v1alpha1"}},
            "apiextensions.crossplane.io/v1alpha1",
            "Usage",
        ),
        (
            LEGACY,
            {"usages": {"apiVersion": "protection.crossplane.io/v1beta1"}},
            "protection.crossplane.io/v1beta1",
            "ClusterUsage",
        ),
    ],
    ids=["modern", "legacy", "legacy-by-option", "legacy-xr-on-crossplane-2"],
)
def test_cluster_scoped_objects(xr: Object, fields: Object, api_version: str, kind: str) -> None:
    """The XR tells which Crossplane it is, unless the input does."""
    protection = usage(both(), xr, **fields)
    assert (protection["apiVersion"], protection["kind"]) == (api_version, kind)
    assert "metadata" not in protection


@pytest.mark.parametrize("missing", ["net", "db"])
def test_usage_waits_until_both_exist(missing: str) -> None:
    """It names them."""
    exists = both()
    del exists[missing]
    assert NAME not in desired(run(step("starlark", RESOURCES, usages={}), exists))


def test_readiness_of_a_usage_is_judged_without_asking() -> None:
    """Or the XR would never be ready for it."""
    exists = both()
    ordered_step = step("starlark", RESOURCES, usages={})
    assert readiness(run(ordered_step, exists))[NAME] == "READY_FALSE"
    exists[NAME] = observed("Usage", READY)
    assert readiness(run(ordered_step, exists))[NAME] == "READY_TRUE"


@pytest.mark.parametrize(
    ("fields", "stated", "is_there"),
    [({}, True, True), ({"usages": {}}, False, False), ({}, None, False)],
    ids=["asked-for-here", "refused-here", "not-asked-for"],
)
def test_resource_decides_for_itself(fields: Object, stated: bool | None, is_there: bool) -> None:
    entry: Object = {"depends_on": ["net"]} | ({} if stated is None else {"usages": stated})
    for language in ("starlark", "jinja"):
        ordered_step = step(language, {"net": {}, "db": entry}, **fields)
        assert (NAME in desired(run(ordered_step, both()))) is is_there
