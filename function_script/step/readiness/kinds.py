"""Readiness rules by group and kind, for any version, and the rule of all other kinds.

docs/reference/readiness.md is generated from this table.
"""

from typing import Final, NamedTuple

from function_script.request.objects import api_version_and_kind
from function_script.step.readiness import checks


class Row(NamedTuple):
    """Kinds of one group with their check; ``meaning`` is the check in words."""

    group: str
    kinds: str
    check: checks.Check
    meaning: str


_CONDITION: Final = "condition "


def _row(group: str, kinds: str, rule: str = "Exists") -> Row:
    """Return the row of a rule that an author could state for each resource of these kinds."""
    path, _, value = rule.partition(" == ")
    meaning = f"`{path}` is {value}"
    if rule == "Exists":
        return Row(group, kinds, checks.exists, "it exists")
    if rule.startswith(_CONDITION):
        meaning = f"the condition `{rule.removeprefix(_CONDITION)}` is True"
    return Row(group, kinds, checks.parse_rule(rule), meaning)


_LOAD_BALANCER: Final = checks.any_of(
    checks.field("status.loadBalancer.ingress[0].ip", example="192.0.2.1"),
    checks.field("status.loadBalancer.ingress[0].hostname"),
)
# For every kind that is not in the table: Crossplane's kinds and most others have this condition.
_, _, GENERIC, GENERIC_MEANING = _row("", "", "condition Ready")

TABLE: Final = (
    _row(
        "", "ConfigMap Endpoints Event LimitRange PodTemplate ResourceQuota Secret ServiceAccount"
    ),
    _row("", "Namespace", "status.phase == Active"),
    _row("", "PersistentVolumeClaim", "status.phase == Bound"),
    Row(
        "",
        "PersistentVolume",
        checks.field_is("status.phase", "Available", "Bound"),
        "`status.phase` is Available or Bound",
    ),
    Row(
        "",
        "Pod",
        checks.any_of(checks.condition("Ready"), checks.field_is("status.phase", "Succeeded")),
        "the condition `Ready` is True, or `status.phase` is Succeeded",
    ),
    Row(
        "",
        "Service",
        checks.when(checks.field_is("spec.type", "LoadBalancer"), _LOAD_BALANCER),
        "it exists; one of type LoadBalancer has an address",
    ),
    Row(
        "apps",
        "Deployment",
        checks.all_of(
            checks.observed,
            checks.replicas("updatedReplicas", "availableReplicas"),
            checks.condition("Available"),
        ),
        "all replicas are updated and available, and the condition `Available` is True",
    ),
    Row(
        "apps",
        "StatefulSet",
        checks.all_of(checks.observed, checks.replicas("updatedReplicas", "readyReplicas")),
        "all replicas are updated and ready",
    ),
    Row(
        "apps",
        "DaemonSet",
        checks.all_of(
            checks.observed,
            checks.replicas(
                "updatedNumberScheduled",
                "numberReady",
                target="status.desiredNumberScheduled",
                default=0,
            ),
        ),
        "its pods are updated and ready on every node they are wanted on",
    ),
    Row(
        "apps",
        "ReplicaSet",
        checks.all_of(checks.observed, checks.replicas("availableReplicas")),
        "all replicas are available",
    ),
    _row("apps", "ControllerRevision"),
    Row(
        "batch",
        "Job",
        checks.all_of(
            # The reason of a Job that has failed for good is that, and not what it lacks.
            checks.when(checks.condition("Failed"), checks.condition("Failed", "False")),
            checks.condition("Complete"),
        ),
        "the condition `Complete` is True",
    ),
    _row("batch", "CronJob"),
    Row(
        "autoscaling",
        "HorizontalPodAutoscaler",
        checks.all_of(checks.condition("AbleToScale"), checks.condition("ScalingActive")),
        "the conditions `AbleToScale` and `ScalingActive` are True",
    ),
    Row("policy", "PodDisruptionBudget", checks.observed, "its controller has seen it"),
    _row("networking.k8s.io", "IngressClass NetworkPolicy"),
    Row("networking.k8s.io", "Ingress", _LOAD_BALANCER, "it has an address"),
    _row("rbac.authorization.k8s.io", "ClusterRole ClusterRoleBinding Role RoleBinding"),
    _row("storage.k8s.io", "CSIDriver StorageClass VolumeAttributesClass"),
    _row("scheduling.k8s.io", "PriorityClass"),
    _row("node.k8s.io", "RuntimeClass"),
    _row("coordination.k8s.io", "Lease"),
    _row("discovery.k8s.io", "EndpointSlice"),
    _row(
        "admissionregistration.k8s.io",
        "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding "
        "ValidatingWebhookConfiguration",
    ),
    _row("apiextensions.k8s.io", "CustomResourceDefinition", "condition Established"),
    _row("apiregistration.k8s.io", "APIService", "condition Available"),
    _row("gateway.networking.k8s.io", "Gateway", "condition Programmed"),
    _row("apiextensions.crossplane.io", "CompositeResourceDefinition", "condition Established"),
    _row("apiextensions.crossplane.io", "Composition EnvironmentConfig"),
    Row(
        "pkg.crossplane.io",
        "Configuration Function Provider",
        checks.all_of(checks.condition("Installed"), checks.condition("Healthy")),
        "the conditions `Installed` and `Healthy` are True",
    ),
    _row("pkg.crossplane.io", "DeploymentRuntimeConfig ImageConfig"),
    _row("argoproj.io", "Application", "status.health.status == Healthy"),
    _row(
        "monitoring.coreos.com",
        "AlertmanagerConfig PodMonitor Probe PrometheusRule ScrapeConfig ServiceMonitor",
    ),
    _row(
        "monitoring.coreos.com",
        "Alertmanager Prometheus PrometheusAgent ThanosRuler",
        "condition Available",
    ),
)
# Kinds of every provider, each in the provider's own group.
OF_ANY_GROUP: Final = (_row("any", "ClusterProviderConfig ProviderConfig ProviderConfigUsage"),)

_CHECKS: Final = {(row.group, kind): row.check for row in TABLE for kind in row.kinds.split()}
_BY_KIND: Final = {kind: row.check for row in OF_ANY_GROUP for kind in row.kinds.split()}


def rule_of(resource: checks.Resource) -> checks.Check:
    """Return the check of an object's kind."""
    api_version, kind = api_version_and_kind(resource)
    group = api_version.rpartition("/")[0]
    return _CHECKS.get((group, kind)) or _BY_KIND.get(kind) or GENERIC
