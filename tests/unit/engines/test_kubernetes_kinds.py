"""Kinds of Kubernetes in an apiVersion that has none of them."""

import pytest

from function_script.engines.kubernetes_kinds import RELEASE, find_api_version
from function_script.tools.validate import builtin

# An apiVersion, a kind, and the apiVersion that has it: None where the first one may have it.
KINDS = [
    ("v1", "Deployment", "apps/v1"),
    ("apps/v1", "ConfigMap", "v1"),
    ("extensions/v1beta1", "Ingress", "networking.k8s.io/v1"),
    ("networking.k8s.io/v1beta1", "Ingress", "networking.k8s.io/v1"),
    ("batch/v1beta1", "CronJob", "batch/v1"),
    ("rbac.k8s.io/v1", "Role", "rbac.authorization.k8s.io/v1"),
    ("rbac/v1", "Role", "rbac.authorization.k8s.io/v1"),
    ("rbac.authorization.k8s.io/v2", "Role", "rbac.authorization.k8s.io/v1"),
    ("apps/v2", "Deployment", "apps/v1"),
    ("v2", "PersistentVolumeClaim", "v1"),
    ("apps/v1", "Deployment", None),
    ("autoscaling/v1", "HorizontalPodAutoscaler", None),
    ("autoscaling/v1", "Deployment", "apps/v1"),
    ("serving.knative.dev/v1", "Service", None),
    ("s3.aws.m.upbound.io/v1beta1", "Bucket", None),
    ("example.org/v1", "Deployment", None),
    ("v1", "Event", None),
]


@pytest.mark.parametrize(("api_version", "kind", "right"), KINDS)
def test_api_version_is_corrected(api_version: str, kind: str, right: str | None) -> None:
    assert find_api_version(api_version, kind) == right


def test_release_is_that_of_the_schemas() -> None:
    assert builtin.version().startswith(f"{RELEASE}.")


@pytest.mark.parametrize("api_version", ["apps/v2", "app/v1"])
def test_event_tells_no_later_version_and_no_slip(api_version: str) -> None:
    assert find_api_version(api_version, "Deployment") == "apps/v1"
    assert find_api_version(api_version, "Deployment", is_lasting=True) is None
