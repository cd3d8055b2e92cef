"""Readiness of objects: the table of kinds, and the rules that authors write."""

import pytest

from function_script.request.values import Object, Value
from function_script.step.readiness import checks, judge, parse_rule
from function_script.step.readiness.kinds import OF_ANY_GROUP, TABLE, Row


def build_object(api_version: str, kind: str, **parts: Value) -> Object:
    """An object that exists."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"generation": 2}, **parts}


def having(*conditions: str, **fields: Value) -> Object:
    """A status with conditions written ``Type=Status``."""
    pairs = [text.partition("=") for text in conditions]
    return {"conditions": [{"type": kind, "status": status} for kind, _, status in pairs], **fields}


def scaled(*conditions: str, replicas: int | None = None, **fields: Value) -> Object:
    """A workload with a status of its generation."""
    spec: Object = {} if replicas is None else {"replicas": replicas}
    status = having(*conditions, **{"observedGeneration": 2, **fields})
    return {"spec": spec, "status": status}


def reached(**address: Value) -> Object:
    """What has an address that others reach."""
    return {"status": {"loadBalancer": {"ingress": [address]}}}


KINDS = [
    ("ConfigMap", "v1", {}, True),
    ("Secret", "v1", {}, True),
    ("ServiceAccount", "v1", {}, True),
    ("Namespace", "v1", {"status": {"phase": "Active"}}, True),
    ("Namespace", "v1", {"status": {"phase": "Terminating"}}, False),
    ("Namespace", "v1", {}, False),
    ("PersistentVolumeClaim", "v1", {"status": {"phase": "Bound"}}, True),
    ("PersistentVolumeClaim", "v1", {"status": {"phase": "Pending"}}, False),
    ("Pod", "v1", {"status": having("Ready=True", phase="Running")}, True),
    ("Pod", "v1", {"status": having("Ready=False", phase="Running")}, False),
    ("Pod", "v1", {"status": having("Ready=False", phase="Succeeded")}, True),
    ("Service", "v1", {"spec": {"type": "ClusterIP"}}, True),
    ("Service", "v1", {"spec": {"type": "LoadBalancer"}}, False),
    (
        "Service",
        "v1",
        {"spec": {"type": "LoadBalancer"}, **reached(hostname="a.example.org")},
        True,
    ),
    (
        "Deployment",
        "apps/v1",
        scaled("Available=True", replicas=2, updatedReplicas=2, availableReplicas=2),
        True,
    ),
    (
        "Deployment",
        "apps/v1",
        scaled("Available=True", replicas=2, updatedReplicas=1, availableReplicas=2),
        False,
    ),
    (
        "Deployment",
        "apps/v1",
        {
            **scaled("Available=True", replicas=1, updatedReplicas=1, availableReplicas=1),
            "metadata": {"generation": 3},
        },
        False,
    ),
    ("StatefulSet", "apps/v1", scaled(updatedReplicas=1, readyReplicas=1), True),
    ("StatefulSet", "apps/v1", {"spec": {"replicas": 3}, "status": {"readyReplicas": 3}}, False),
    (
        "DaemonSet",
        "apps/v1",
        scaled(desiredNumberScheduled=3, updatedNumberScheduled=3, numberReady=2),
        False,
    ),
    (
        "DaemonSet",
        "apps/v1",
        scaled(desiredNumberScheduled=3, updatedNumberScheduled=3, numberReady=3),
        True,
    ),
    ("ReplicaSet", "apps/v1", scaled(availableReplicas=1), True),
    ("Job", "batch/v1", {"status": having("Complete=True")}, True),
    ("Job", "batch/v1", {"status": having("Failed=True")}, False),
    ("CronJob", "batch/v1", {}, True),
    (
        "HorizontalPodAutoscaler",
        "autoscaling/v2",
        {"status": having("AbleToScale=True", "ScalingActive=True")},
        True,
    ),
    ("PodDisruptionBudget", "policy/v1", scaled(), True),
    ("PodDisruptionBudget", "policy/v1", {}, False),
    ("NetworkPolicy", "networking.k8s.io/v1", {}, True),
    ("Ingress", "networking.k8s.io/v1", {}, False),
    ("Ingress", "networking.k8s.io/v1", reached(ip="10.0.0.1"), True),
    ("ClusterRole", "rbac.authorization.k8s.io/v1", {}, True),
    ("StorageClass", "storage.k8s.io/v1", {}, True),
    (
        "CustomResourceDefinition",
        "apiextensions.k8s.io/v1",
        {"status": having("Established=True")},
        True,
    ),
    ("CustomResourceDefinition", "apiextensions.k8s.io/v1", {}, False),
    ("APIService", "apiregistration.k8s.io/v1", {"status": having("Available=True")}, True),
    ("ProviderConfig", "aws.upbound.io/v1beta1", {}, True),
    ("ClusterProviderConfig", "kubernetes.m.crossplane.io/v1alpha1", {}, True),
    ("Usage", "protection.crossplane.io/v1beta1", {}, False),
    ("Usage", "protection.crossplane.io/v1beta1", {"status": having("Ready=True")}, True),
    ("EnvironmentConfig", "apiextensions.crossplane.io/v1beta1", {}, True),
    ("Provider", "pkg.crossplane.io/v1", {"status": having("Installed=True")}, False),
    ("Bucket", "s3.aws.m.upbound.io/v1beta1", {"status": having("Ready=True")}, True),
    ("Bucket", "s3.aws.m.upbound.io/v1beta1", {"status": having("Synced=True")}, False),
    ("Bucket", "s3.aws.m.upbound.io/v1beta1", {}, False),
    ("Certificate", "cert-manager.io/v1", {"status": having("Ready=True")}, True),
    ("PersistentVolume", "v1", {"status": {"phase": "Bound"}}, True),
    ("PersistentVolume", "v1", {"status": {"phase": "Released"}}, False),
    ("ReplicaSet", "apps/v1", scaled(availableReplicas=0), False),
    ("ControllerRevision", "apps/v1", {}, True),
    (
        "HorizontalPodAutoscaler",
        "autoscaling/v2",
        {"status": having("AbleToScale=True", "ScalingActive=False")},
        False,
    ),
    ("PriorityClass", "scheduling.k8s.io/v1", {}, True),
    ("RuntimeClass", "node.k8s.io/v1", {}, True),
    ("Lease", "coordination.k8s.io/v1", {}, True),
    ("EndpointSlice", "discovery.k8s.io/v1", {}, True),
    ("ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1", {}, True),
    ("APIService", "apiregistration.k8s.io/v1", {"status": having("Available=False")}, False),
    ("Gateway", "gateway.networking.k8s.io/v1", {"status": having("Programmed=True")}, True),
    ("Gateway", "gateway.networking.k8s.io/v1", {"status": having("Accepted=True")}, False),
    (
        "CompositeResourceDefinition",
        "apiextensions.crossplane.io/v2",
        {"status": having("Established=True")},
        True,
    ),
    ("CompositeResourceDefinition", "apiextensions.crossplane.io/v2", {}, False),
    (
        "Provider",
        "pkg.crossplane.io/v1",
        {"status": having("Installed=True", "Healthy=True")},
        True,
    ),
    ("ImageConfig", "pkg.crossplane.io/v1beta1", {}, True),
    ("Application", "argoproj.io/v1alpha1", {"status": {"health": {"status": "Healthy"}}}, True),
    ("Application", "argoproj.io/v1alpha1", {"status": {"health": {"status": "Degraded"}}}, False),
    ("ServiceMonitor", "monitoring.coreos.com/v1", {}, True),
    ("PrometheusRule", "monitoring.coreos.com/v1", {}, True),
    ("Prometheus", "monitoring.coreos.com/v1", {"status": having("Available=True")}, True),
    ("Prometheus", "monitoring.coreos.com/v1", {"status": having("Available=Degraded")}, False),
    # The group decides, not the kind alone.
    ("Secret", "secretsmanager.aws.m.upbound.io/v1beta1", {}, False),
    ("Service", "serving.knative.dev/v1", {}, False),
]


@pytest.mark.parametrize(("kind", "api_version", "parts", "is_ready"), KINDS)
def test_kind_has_its_rule(kind: str, api_version: str, parts: Object, is_ready: bool) -> None:
    """Each kind is judged by what its controller reports, if it has one."""
    verdict = judge(build_object(api_version, kind, **parts))
    assert verdict.is_ready is is_ready
    assert bool(verdict.why) is not is_ready


@pytest.mark.parametrize("row", [*TABLE, *OF_ANY_GROUP], ids=lambda row: row.kinds.split()[0])
def test_row_has_an_object_of_each_side(row: Row) -> None:
    """A kind that is ready as it exists has one side."""
    verdicts = {
        is_ready
        for kind, api_version, _, is_ready in KINDS
        if kind in row.kinds.split() and row.group in {"any", api_version.rpartition("/")[0]}
    }
    assert verdicts == ({True} if row.check is checks.exists else {True, False})


def test_missing_object_is_not_ready() -> None:
    """Not even a kind that is ready as it exists."""
    assert judge(None) == (False, "does not exist yet")


def test_object_in_deletion_is_not_ready() -> None:
    """Its conditions do not count."""
    secret = build_object("v1", "Secret")
    secret["metadata"] = {"deletionTimestamp": "2025-01-01T00:00:00Z"}
    assert judge(secret) == (False, "is being deleted")


def test_stale_condition_is_not_believed() -> None:
    """It was judged for a spec that the object no longer has; one without a generation is."""
    condition: Object = {"type": "Ready", "status": "True", "observedGeneration": 1}
    assert judge(build_object("a.b/v1", "C", status={"conditions": [condition]})) == (
        False,
        "has a condition Ready of an older generation",
    )
    condition["observedGeneration"] = 2
    assert judge(build_object("a.b/v1", "C", status={"conditions": [condition]})).is_ready
    del condition["observedGeneration"]
    assert judge(build_object("a.b/v1", "C", status={"conditions": [condition]})).is_ready


def test_reason_is_told_and_the_message_is_not() -> None:
    """Messages of controllers hold times and identifiers, which would be news on every call."""
    condition = {"type": "Ready", "status": "False", "reason": "Creating", "message": "at 12:01"}
    verdict = judge(build_object("a.b/v1", "C", status={"conditions": [condition]}))
    assert verdict.why == "has Ready=False: Creating"


RULES = [
    ("Exists", True),
    ("Never", False),
    ("condition Available", True),
    ("condition Available == True", True),
    ("condition Degraded == False", True),
    ("condition Degraded", False),
    ("condition Gone", False),
    ("status.phase == Bound", True),
    ('status.phase == "Bound"', True),
    ("status.phase == Lost", False),
    ("status.count == 3", True),
    ("status.on == true", True),
    ("status.count == true", False),
    ("status.endpoint", True),
    ("status.empty", False),
    ("status.list[1].name == b", True),
    ('metadata.annotations["a.b/c"] == x', True),
]


@pytest.mark.parametrize(("text", "is_ready"), RULES)
def test_rule_of_an_author(text: str, is_ready: bool) -> None:
    """A word, a condition, a field, or a field with a value."""
    resource = build_object(
        "a.b/v1",
        "C",
        status=having(
            "Available=True",
            "Degraded=False",
            phase="Bound",
            count=3.0,
            on=True,
            endpoint="db:5432",
            empty="",
            list=[{"name": "a"}, {"name": "b"}],
        ),
    )
    resource["metadata"] = {"annotations": {"a.b/c": "x"}}
    assert judge(resource, parse_rule(text)).is_ready is is_ready


@pytest.mark.parametrize(
    "text",
    [
        "",
        "exists",
        "always",
        "Available",
        "condition",
        "condition A == Maybe",
        "status.a[",
        "status.a ==",
        "status.a = b",
        "phase == Bound",
    ],
)
def test_invalid_rule_is_refused(text: str) -> None:
    """A misspelled rule would never hold, and nobody would know why."""
    with pytest.raises(ValueError, match="cannot read the rule"):
        parse_rule(text)
