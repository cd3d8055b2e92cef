"""Kinds of Kubernetes in an apiVersion that has none of them."""

import pytest

from function_script.engines.kubernetes_kinds import find_api_version

WRONG = [
    ("v1", "Deployment", "apps/v1"),
    ("apps/v1", "ConfigMap", "v1"),
    ("extensions/v1beta1", "Ingress", "networking.k8s.io/v1"),
    ("networking.k8s.io/v1beta1", "Ingress", "networking.k8s.io/v1"),
    ("batch/v1beta1", "CronJob", "batch/v1"),
]
RIGHT = [
    ("apps/v1", "Deployment"),
    ("autoscaling/v1", "HorizontalPodAutoscaler"),
    ("serving.knative.dev/v1", "Service"),
    ("s3.aws.m.upbound.io/v1beta1", "Bucket"),
    ("example.org/v1", "Deployment"),
    ("v1", "Event"),
]


@pytest.mark.parametrize(("api_version", "kind", "right"), WRONG)
def test_wrong_api_version_has_the_right_one(api_version: str, kind: str, right: str) -> None:
    assert find_api_version(api_version, kind) == right


@pytest.mark.parametrize(("api_version", "kind"), RIGHT)
def test_possible_api_version_is_left_alone(api_version: str, kind: str) -> None:
    assert find_api_version(api_version, kind) is None
