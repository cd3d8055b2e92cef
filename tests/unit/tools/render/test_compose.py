"""Composed resources and the XR come out as Crossplane would write them.

What every one has is in the expected files of the examples.
"""

import pytest
from support.render_helpers import (
    BUCKET,
    CLUSTER_XR,
    XR,
    bucket,
    observed,
    render_once,
    rendered,
    script,
)

from function_script.request.values import Object
from function_script.texts.errors import DocumentError
from function_script.tools import render

UID = "b5ff092d-092e-5610-b06a-82969eb40172"
OWNER: Object = {
    "apiVersion": "example.org/v1",
    "kind": "XBucket",
    "name": "demo",
    "uid": UID,
    "controller": True,
    "blockOwnerDeletion": True,
}


def metadata(result: render.RenderResult, name: str = "bucket") -> Object:
    """The metadata of a composed resource."""
    return result.resources[name]["metadata"]


def messages(result: render.RenderResult) -> list[str]:
    """The messages of all events after the first, which tells of the Composition."""
    return [event.message for event in result.events[1:]]


def test_xr_that_composes_nothing() -> None:
    result = rendered()
    assert result.xr["spec"] == {"crossplane": {"resourceRefs": []}}
    assert [event.message for event in result.events] == [
        "Successfully selected composition: buckets"
    ]


def test_references_are_sorted_by_type_and_name() -> None:
    result = rendered(
        ("z", {"resource": {"apiVersion": "a/v1", "kind": "A"}}),
        ("a", {"resource": {"apiVersion": "b/v1", "kind": "A"}}),
        xr=CLUSTER_XR,
    )
    refs = result.xr["spec"]["crossplane"]["resourceRefs"]
    assert [ref["apiVersion"] for ref in refs] == ["a/v1", "b/v1"]
    assert list(result.resources) == ["a", "z"]


def test_cluster_scoped_xrs_refer_with_namespaces() -> None:
    result = rendered(("bucket", {"resource": bucket(namespace="far")}), xr=CLUSTER_XR)
    refs = result.xr["spec"]["crossplane"]["resourceRefs"]
    assert refs[0]["namespace"] == "far"
    assert metadata(result)["namespace"] == "far"


def test_namespace_that_differs_is_overridden() -> None:
    result = rendered(("bucket", {"resource": bucket(namespace="far"), "ready": "READY_TRUE"}))
    assert metadata(result)["namespace"] == "default"
    warning = result.events[-1]
    assert (warning.severity, warning.reason) == ("Warning", "NamespaceOverridden")
    assert warning.message == (
        'cannot create composed resource "bucket" in namespace "far", '
        'using XR namespace "default" instead'
    )


def test_given_names_stay() -> None:
    fields = metadata(rendered(("bucket", {"resource": bucket(name="mine")})))
    assert fields["name"] == "mine"
    assert "generateName" not in fields


# A prefix, and the name that Crossplane's render engine makes of it.
PREFIXES = {
    "with-hyphen": ("mine-", "mine-6b49c004c4b7"),
    "hyphen-is-added": ("mine", "mine-6b49c004c4b7"),
    "too-long-is-cut": (f"{'a' * 60}-", f"{'a' * 50}-6b49c004c4b7"),
    "cut-at-its-own-hyphen": (f"{'a' * 50}-{'b' * 8}", f"{'a' * 50}-6b49c004c4b7"),
}


@pytest.mark.parametrize(("prefix", "name"), PREFIXES.values(), ids=PREFIXES)
def test_generated_name_is_a_prefix_and_a_hash(prefix: str, name: str) -> None:
    fields = metadata(rendered(("bucket", {"resource": bucket(generateName=prefix)})))
    assert (fields["generateName"], fields["name"]) == (prefix, name)


def test_observed_resources_keep_their_identity() -> None:
    result = rendered(
        ("bucket", {"resource": bucket(name="new", generateName="new-")}),
        observed=[observed("bucket", name="old")],
    )
    fields = metadata(result)
    assert (fields["name"], fields["namespace"]) == ("old", "default")
    assert "generateName" not in fields


def test_labels_of_the_claim_are_handed_on() -> None:
    labels: Object = {
        "crossplane.io/composite": "top",
        "crossplane.io/claim-name": "claim",
        "crossplane.io/claim-namespace": "team",
    }
    xr: Object = {**XR, "metadata": {"name": "demo", "labels": labels}}
    fields = metadata(rendered(("bucket", {"resource": BUCKET}), xr=xr))
    assert fields["labels"] == labels
    assert fields["generateName"] == "top-"


def test_owners_are_kept() -> None:
    other: Object = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "other"}
    fields = metadata(rendered(("bucket", {"resource": bucket(ownerReferences=[other])})))
    assert fields["ownerReferences"] == [other, OWNER]


def test_name_with_a_colon_is_refused() -> None:
    """Kubernetes would refuse it."""
    with pytest.raises(DocumentError, match=r'invalid metadata\.name "system:demo"'):
        rendered(("bucket", {"resource": bucket(name="system:demo")}))


@pytest.mark.parametrize(
    "kind", [{}, {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role"}]
)
def test_name_is_a_subdomain_and_of_rbac_it_may_have_colons(kind: Object) -> None:
    name = "system:demo" if kind else "demo-1.example"
    fields = metadata(rendered(("bucket", {"resource": {**bucket(name=name), **kind}})))
    assert fields["name"] == name


def test_readiness_counts_when_explicit() -> None:
    result = rendered(
        ("c", {"resource": BUCKET, "ready": "READY_FALSE"}),
        ("b", {"resource": BUCKET}),
        ("a", {"resource": BUCKET, "ready": "READY_TRUE"}),
    )
    assert messages(result) == [
        'Composed resource "b" is not yet ready',
        'Composed resource "c" is not yet ready',
    ]


@pytest.mark.parametrize(("ready", "reason"), [("TRUE", "Available"), ("FALSE", "Creating")])
def test_readiness_of_the_xr_wins(ready: str, reason: str) -> None:
    opposite = "READY_FALSE" if ready == "TRUE" else "READY_TRUE"
    desired: Object = {
        "composite": {"ready": f"READY_{ready}"},
        "resources": {"bucket": {"resource": BUCKET, "ready": opposite}},
    }
    result = render_once(script({"desired": desired}))
    last = result.xr["status"]["conditions"][-1]
    assert (last["type"], last["reason"]) == ("Ready", reason)
    assert "message" not in last


def test_unchanged_xr_is_shown_as_written_last() -> None:
    """Crossplane's last write of an unchanged status is an earlier one, of all of it."""
    result = rendered()
    again: Object = {**XR, "status": result.xr["status"]}
    manifest = rendered(xr=again).xr
    assert manifest["metadata"]["labels"] == {"crossplane.io/composite": "demo"}
    assert "resourceVersion" in manifest["metadata"]


def test_references_of_namespaced_xrs_are_sorted_without_their_namespace() -> None:
    """They show none, so "fixed" comes before "fixed2" although "fixedd…" would not."""
    result = rendered(
        ("a", {"resource": bucket(name="fixed2")}), ("b", {"resource": bucket(name="fixed")})
    )
    refs = result.xr["spec"]["crossplane"]["resourceRefs"]
    assert [ref["name"] for ref in refs] == ["fixed", "fixed2"]


def test_names_in_events_are_quoted_as_in_crossplane() -> None:
    result = rendered(('"q" é', {"resource": bucket(name="q")}))
    assert result.events[-1].message == 'Composed resource "\\"q\\" é" is not yet ready'


@pytest.mark.parametrize(
    ("status", "reasons"),
    [
        pytest.param({}, ["ReconcileRequestHandled", "SelectComposition"], id="new"),
        pytest.param({"lastHandledReconcileAt": "now"}, ["SelectComposition"], id="handled"),
    ],
)
def test_request_to_reconcile_is_told_once(status: Object, reasons: list[str]) -> None:
    """Functions see in the XR's status that it was heard."""
    annotations = {"crossplane.io/reconcile-requested-at": "now"}
    xr = {**XR, "metadata": {**XR["metadata"], "annotations": annotations}, "status": status}
    runner = script()
    result = render_once(runner, xr=xr, observed=[])
    assert [event.reason for event in result.events] == reasons
    composite = runner.requests[0]["observed"]["composite"]["resource"]
    assert composite["status"]["lastHandledReconcileAt"] == "now"
