"""Readiness of objects: the table of kinds, and the rules that authors write."""

import pytest

from function_script.request.values import Object, Value
from function_script.step.readiness import checks, judge, parse_rule
from function_script.step.readiness.kinds import OF_ANY_GROUP, TABLE, Row


def build_object(api_version: str, kind: str, **parts: Value) -> Object:
    """An object that exists."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"generation": 2}, **parts}


def status(*conditions: str, **fields: Value) -> Object:
    """A status with conditions written ``Type=Status``."""
    pairs = [text.partition("=") for text in conditions]
    entries = [{"type": kind, "status": value} for kind, _, value in pairs]
    return {"status": {"conditions": entries, **fields}}


def scaled(*conditions: str, replicas: int | None = None, **fields: Value) -> Object:
    """A workload with a status of its generation."""
    spec: Object = {} if replicas is None else {"replicas": replicas}
    return {"spec": spec, **status(*conditions, **{"observedGeneration": 2, **fields})}


def reached(**address: Value) -> Object:
    """What has an address that others reach."""
    return status(loadBalancer={"ingress": [address]})


EXISTING = [
    "v1/ConfigMap",
    "v1/Secret",
    "apps/v1/ControllerRevision",
    "batch/v1/CronJob",
    "networking.k8s.io/v1/NetworkPolicy",
    "rbac.authorization.k8s.io/v1/ClusterRole",
    "storage.k8s.io/v1/StorageClass",
    "scheduling.k8s.io/v1/PriorityClass",
    "node.k8s.io/v1/RuntimeClass",
    "coordination.k8s.io/v1/Lease",
    "discovery.k8s.io/v1/EndpointSlice",
    "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration",
    "apiextensions.crossplane.io/v1beta1/EnvironmentConfig",
    "pkg.crossplane.io/v1beta1/ImageConfig",
    "monitoring.coreos.com/v1/ServiceMonitor",
    "aws.upbound.io/v1beta1/ProviderConfig",
    "kubernetes.m.crossplane.io/v1alpha1/ClusterProviderConfig",
]
SERVICE: Object = {"spec": {"type": "LoadBalancer"}}
DEPLOYMENT = scaled("Available=True", replicas=1, updatedReplicas=1, availableReplicas=1)
# A kind, and the parts of an object that is not ready and of one that is.
REPORTING: list[tuple[str, Object, Object]] = [
    ("v1/Namespace", status(phase="Terminating"), status(phase="Active")),
    ("v1/Namespace", {}, status(phase="Active")),
    ("v1/PersistentVolumeClaim", status(phase="Pending"), status(phase="Bound")),
    ("v1/PersistentVolume", status(phase="Released"), status(phase="Bound")),
    ("v1/Pod", status("Ready=False", phase="Running"), status("Ready=True", phase="Running")),
    ("v1/Pod", {}, status("Ready=False", phase="Succeeded")),
    ("v1/Service", SERVICE, {"spec": {"type": "ClusterIP"}}),
    ("v1/Service", SERVICE, {**SERVICE, **reached(hostname="a.example.org")}),
    (
        "apps/v1/Deployment",
        scaled("Available=True", replicas=2, updatedReplicas=1, availableReplicas=2),
        scaled("Available=True", replicas=2, updatedReplicas=2, availableReplicas=2),
    ),
    ("apps/v1/Deployment", {**DEPLOYMENT, "metadata": {"generation": 3}}, DEPLOYMENT),
    (
        "apps/v1/StatefulSet",
        {"spec": {"replicas": 3}, **status(readyReplicas=3)},
        scaled(updatedReplicas=1, readyReplicas=1),
    ),
    (
        "apps/v1/DaemonSet",
        scaled(desiredNumberScheduled=3, updatedNumberScheduled=3, numberReady=2),
        scaled(desiredNumberScheduled=3, updatedNumberScheduled=3, numberReady=3),
    ),
    ("apps/v1/ReplicaSet", scaled(availableReplicas=0), scaled(availableReplicas=1)),
    ("batch/v1/Job", status("Failed=True"), status("Complete=True")),
    (
        "autoscaling/v2/HorizontalPodAutoscaler",
        status("AbleToScale=True", "ScalingActive=False"),
        status("AbleToScale=True", "ScalingActive=True"),
    ),
    ("policy/v1/PodDisruptionBudget", {}, scaled()),
    ("networking.k8s.io/v1/Ingress", {}, reached(ip="10.0.0.1")),
    ("apiextensions.k8s.io/v1/CustomResourceDefinition", {}, status("Established=True")),
    ("apiregistration.k8s.io/v1/APIService", status("Available=False"), status("Available=True")),
    ("gateway.networking.k8s.io/v1/Gateway", status("Accepted=True"), status("Programmed=True")),
    (
        "apiextensions.crossplane.io/v2/CompositeResourceDefinition",
        {},
        status("Established=True"),
    ),
    (
        "pkg.crossplane.io/v1/Provider",
        status("Installed=True"),
        status("Installed=True", "Healthy=True"),
    ),
    (
        "argoproj.io/v1alpha1/Application",
        status(health={"status": "Degraded"}),
        status(health={"status": "Healthy"}),
    ),
    (
        "monitoring.coreos.com/v1/Prometheus",
        status("Available=Degraded"),
        status("Available=True"),
    ),
    ("protection.crossplane.io/v1beta1/Usage", {}, status("Ready=True")),
    ("s3.aws.m.upbound.io/v1beta1/Bucket", status("Synced=True"), status("Ready=True")),
    ("cert-manager.io/v1/Certificate", {}, status("Ready=True")),
    # The group decides, not the kind alone.
    ("secretsmanager.aws.m.upbound.io/v1beta1/Secret", {}, status("Ready=True")),
    ("serving.knative.dev/v1/Service", {}, status("Ready=True")),
]


@pytest.mark.parametrize("which", EXISTING)
def test_kind_without_a_controller_is_ready_as_it_exists(which: str) -> None:
    api_version, _, kind = which.rpartition("/")
    assert judge(build_object(api_version, kind))[:2] == (True, "")


@pytest.mark.parametrize(("which", "early", "late"), REPORTING)
def test_kind_has_its_rule(which: str, early: Object, late: Object) -> None:
    api_version, _, kind = which.rpartition("/")
    verdict = judge(build_object(api_version, kind, **early))
    assert not verdict.is_ready
    assert verdict.why
    assert judge(build_object(api_version, kind, **late))[:2] == (True, "")


@pytest.mark.parametrize("row", [*TABLE, *OF_ANY_GROUP], ids=lambda row: row.kinds.split()[0])
def test_row_has_an_object(row: Row) -> None:
    """Its other kinds have the same rule."""
    examples = EXISTING if row.check is checks.exists else [which for which, _, _ in REPORTING]
    groups = (
        api_version.rpartition("/")[0]
        for api_version, _, kind in (which.rpartition("/") for which in examples)
        if kind in row.kinds.split()
    )
    assert any(row.group in {"any", group} for group in groups)


def test_missing_object_is_not_ready() -> None:
    """Not even a kind that is ready as it exists."""
    assert judge(None)[:2] == (False, "does not exist yet")


def test_object_in_deletion_is_not_ready() -> None:
    """Its conditions do not count."""
    secret = build_object("v1", "Secret")
    secret["metadata"] = {"deletionTimestamp": "2025-01-01T00:00:00Z"}
    assert judge(secret)[:2] == (False, "is being deleted")


def test_stale_condition_is_not_believed() -> None:
    """It was judged for a spec that the object no longer has; one without a generation is."""
    condition: Object = {"type": "Ready", "status": "True", "observedGeneration": 1}
    verdict = judge(build_object("a.b/v1", "C", status={"conditions": [condition]}))
    assert verdict.why == "has a condition Ready of an older generation"
    condition["observedGeneration"] = 2
    assert judge(build_object("a.b/v1", "C", status={"conditions": [condition]})).is_ready
    del condition["observedGeneration"]
    assert judge(build_object("a.b/v1", "C", status={"conditions": [condition]})).is_ready


def test_reason_is_told_and_the_message_is_not() -> None:
    """Messages of controllers hold times and identifiers, which would be news on every call."""
    condition = {"type": "Ready", "status": "False", "reason": "Creating", "message": "at 12:01"}
    verdict = judge(build_object("a.b/v1", "C", status={"conditions": [condition]}))
    assert verdict.why == "has Ready=False: Creating"


def test_job_that_failed_is_not_awaited() -> None:
    """It gets no other condition."""
    condition = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}
    verdict = judge(build_object("batch/v1", "Job", status={"conditions": [condition]}))
    assert verdict.why == "has Failed=True: BackoffLimitExceeded"
    verdict = judge(build_object("batch/v1", "Job", **status("Failed=False")))
    assert verdict.why == "has no condition Complete yet"


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
        **status(
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


@pytest.mark.parametrize("value", ["true", "3", '"3"', '"true"', '"Bound"', "Bound"])
def test_unmet_rule_names_its_value_as_it_is_written(value: str) -> None:
    """A number in quotes is a text, which the number of the object does not equal."""
    verdict = judge(build_object("a.b/v1", "C", count=9), parse_rule(f"status.count == {value}"))
    expected = "Bound" if value == '"Bound"' else value
    assert verdict.why == f"has no status.count={expected} yet"


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
