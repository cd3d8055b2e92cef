"""What functions see of the XR, and which XRs no function sees."""

import pytest
from support.render_helpers import (
    BUCKET,
    CLUSTER_XR,
    RESPONSIVE,
    XR,
    composition,
    observed,
    render_once,
    script,
    xrd,
)

from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.texts.source import Span
from function_script.tools import manifests

UID = "b5ff092d-092e-5610-b06a-82969eb40172"


def observed_state(**inputs: object) -> Object:
    """The observed state of the first call."""
    runner = script()
    render_once(runner, **inputs)
    return runner.requests[0]["observed"]


def observed_xr(**inputs: object) -> Object:
    """The XR as the function saw it."""
    return observed_state(**inputs)["composite"]["resource"]


def test_functions_see_the_xr_with_its_identity() -> None:
    assert observed_xr() == {
        "apiVersion": "example.org/v1",
        "kind": "XBucket",
        "metadata": {
            "name": "demo",
            "namespace": "default",
            "uid": UID,
            "resourceVersion": "999",
            "labels": {"crossplane.io/composite": "demo"},
        },
        "spec": {"region": "here", "crossplane": {"compositionRef": {"name": "buckets"}}},
        "status": {"conditions": [RESPONSIVE]},
    }


def test_given_uid_stays() -> None:
    xr: Object = {**XR, "metadata": {"name": "demo", "uid": "mine", "resourceVersion": "7"}}
    metadata = observed_xr(xr=xr)["metadata"]
    assert (metadata["uid"], metadata["resourceVersion"]) == ("mine", "999")


def test_observed_resources_are_seen_and_referred_to() -> None:
    state = observed_state(observed=[observed("bucket", name="old")])
    assert list(state["resources"]) == ["bucket"]
    refs = state["composite"]["resource"]["spec"]["crossplane"]["resourceRefs"]
    assert refs == [{"apiVersion": "s3.example.org/v1", "kind": "Bucket", "name": "old"}]


def test_connection_details_come_from_the_secret() -> None:
    spec: Object = {"writeConnectionSecretToRef": {"name": "keys"}}
    secret: Object = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "keys", "namespace": "default"},
        "data": {"user": "YWRtaW4="},
        "stringData": {"password": "s3cret"},
    }
    state = observed_state(
        observed=[{**observed("bucket", name="old"), "spec": spec}], required=[secret]
    )
    details = state["resources"]["bucket"]["connection_details"]
    assert details == {"user": "YWRtaW4=", "password": "czNjcmV0"}


def test_legacy_xrs_keep_machinery_below_spec() -> None:
    """An XRD of Crossplane v1 makes an XR a legacy one."""
    runner = script({"desired": {"resources": {"bucket": {"resource": BUCKET}}}})
    secrets = composition({}, writeConnectionSecretsToNamespace="system")
    result = render_once(runner, xr=CLUSTER_XR, composition=secrets, xrd=xrd("v1"))
    spec = runner.requests[0]["observed"]["composite"]["resource"]["spec"]
    uid = "b8fcf89c-6199-55bd-ae28-15d86857f775"
    assert spec == {
        "region": "here",
        "compositionRef": {"name": "buckets"},
        "writeConnectionSecretToRef": {"name": uid, "namespace": "system"},
    }
    assert list(result.xr["spec"]) == ["resourceRefs"]


def test_legacy_xrs_name_conditions_for_their_claim() -> None:
    condition: Object = {
        "type": "Mine",
        "status": "STATUS_CONDITION_TRUE",
        "reason": "Why",
        "target": "TARGET_COMPOSITE_AND_CLAIM",
    }
    runner = script({"conditions": [condition]})
    status = render_once(runner, xr=CLUSTER_XR, xrd=xrd("v1")).xr["status"]
    assert status["claimConditionTypes"] == ["Mine"]


def test_selection_is_told_once() -> None:
    """An XR that refers to the Composition already did not just select it."""
    spec: Object = {"crossplane": {"compositionRef": {"name": "buckets"}}}
    assert render_once(xr={**XR, "spec": spec}).events == ()


def test_paused_xr_is_left_alone() -> None:
    metadata: Object = {"name": "demo", "annotations": {"crossplane.io/paused": "true"}}
    runner = script()
    result = render_once(runner, xr={**XR, "metadata": metadata})
    assert runner.requests == []
    assert [event.reason for event in result.events] == ["ReconciliationPaused"]
    conditions = result.xr["status"]["conditions"]
    assert [item["reason"] for item in conditions] == ["WatchCircuitClosed", "ReconcilePaused"]


def test_deleted_xr_is_left_alone() -> None:
    metadata: Object = {"name": "demo", "deletionTimestamp": "2020-01-01T00:00:00Z"}
    runner = script()
    conditions = render_once(runner, xr={**XR, "metadata": metadata}).xr["status"]["conditions"]
    assert runner.requests == []
    assert [item["reason"] for item in conditions] == [
        "WatchCircuitClosed",
        "Deleting",
        "ReconcileSuccess",
    ]


def test_foreign_observed_resources_are_refused() -> None:
    owner: Object = {"kind": "XBucket", "uid": "other", "controller": True}
    foreign = observed("a", name="foreign", namespace="far", ownerReferences=[owner])
    nameless: Object = {**BUCKET, "metadata": {"name": "nameless", "namespace": "default"}}
    with pytest.raises(InputError) as caught:
        render_once(observed=[foreign, nameless], spans=[None, Span(name="observed.yaml", line=9)])
    problems = caught.value.diagnostics
    assert [problem.message for problem in problems] == [
        'cannot observe Bucket "foreign": its controller is not the XR, but one with uid "other"',
        'cannot observe Bucket "foreign": it is not in the XR\'s namespace "default"',
        f'cannot observe Bucket "nameless": it has no annotation "{manifests.RESOURCE_NAME}"',
    ]
    assert str(problems[2].span) == "observed.yaml:9"


def test_secret_of_connection_details_among_the_observed_is_told_its_file() -> None:
    """An author who mocks connection details writes it beside the resource that names it."""
    spec: Object = {"writeConnectionSecretToRef": {"name": "a-details"}}
    metadata: Object = {"name": "a-details", "namespace": "default"}
    secret: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
    with pytest.raises(InputError) as caught:
        render_once(observed=[{**observed("a"), "spec": spec}, secret])
    (problem,) = caught.value.diagnostics
    assert problem.hint is not None
    assert "credentials.yaml or required.yaml" in problem.hint


@pytest.mark.parametrize("missing", ["apiVersion", "kind", "metadata"])
def test_xr_without_identity_is_refused(missing: str) -> None:
    xr = {key: value for key, value in XR.items() if key != missing}
    with pytest.raises(InputError):
        render_once(xr=xr)
