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


_EXISTS: Final = "it exists"
_LOAD_BALANCER: Final = checks.any_of(
    checks.field("status.loadBalancer.ingress[0].ip"),
    checks.field("status.loadBalancer.ingress[0].hostname"),
)
# For every kind that is not in the table: Crossplane's kinds and most others have this condition.
GENERIC: Final = checks.condition("Ready")
GENERIC_MEANING: Final = "the condition `Ready` is True"

TABLE: Final = (
    Row(
        "",
        "ConfigMap Endpoints Event LimitRange PodTemplate ResourceQuota Secret ServiceAccount",
        checks.exists,
        _EXISTS,
    ),
    Row("", "Namespace", checks.field_is("status.phase", "Active"), "`status.phase` is Active"),
    Row(
        "",
        "PersistentVolumeClaim",
        checks.field_is("status.phase", "Bound"),
        "`status.phase` is Bound",
    ),
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
    Row("apps", "ControllerRevision", checks.exists, _EXISTS),
    Row("batch", "Job", checks.condition("Complete"), "the condition `Complete` is True"),
    Row("batch", "CronJob", checks.exists, _EXISTS),
    Row(
        "autoscaling",
        "HorizontalPodAutoscaler",
        checks.all_of(checks.condition("AbleToScale"), checks.condition("ScalingActive")),
        "the conditions `AbleToScale` and `ScalingActive` are True",
    ),
    Row("policy", "PodDisruptionBudget", checks.observed, "its controller has seen it"),
    Row("networking.k8s.io", "IngressClass NetworkPolicy", checks.exists, _EXISTS),
    Row("networking.k8s.io", "Ingress", _LOAD_BALANCER, "it has an address"),
    Row(
        "rbac.authorization.k8s.io",
        "ClusterRole ClusterRoleBinding Role RoleBinding",
        checks.exists,
        _EXISTS,
    ),
    Row("storage.k8s.io", "CSIDriver StorageClass VolumeAttributesClass", checks.exists, _EXISTS),
    Row("scheduling.k8s.io", "PriorityClass", checks.exists, _EXISTS),
    Row("node.k8s.io", "RuntimeClass", checks.exists, _EXISTS),
    Row("coordination.k8s.io", "Lease", checks.exists, _EXISTS),
    Row("discovery.k8s.io", "EndpointSlice", checks.exists, _EXISTS),
    Row(
        "admissionregistration.k8s.io",
        "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding "
        "ValidatingWebhookConfiguration",
        checks.exists,
        _EXISTS,
    ),
    Row(
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        checks.condition("Established"),
        "the condition `Established` is True",
    ),
    Row(
        "apiregistration.k8s.io",
        "APIService",
        checks.condition("Available"),
        "the condition `Available` is True",
    ),
    Row(
        "gateway.networking.k8s.io",
        "Gateway",
        checks.condition("Programmed"),
        "the condition `Programmed` is True",
    ),
    Row(
        "apiextensions.crossplane.io",
        "CompositeResourceDefinition",
        checks.condition("Established"),
        "the condition `Established` is True",
    ),
    Row("apiextensions.crossplane.io", "Composition EnvironmentConfig", checks.exists, _EXISTS),
    Row(
        "pkg.crossplane.io",
        "Configuration Function Provider",
        checks.all_of(checks.condition("Installed"), checks.condition("Healthy")),
        "the conditions `Installed` and `Healthy` are True",
    ),
    Row("pkg.crossplane.io", "DeploymentRuntimeConfig ImageConfig", checks.exists, _EXISTS),
    Row(
        "argoproj.io",
        "Application",
        checks.field_is("status.health.status", "Healthy"),
        "`status.health.status` is Healthy",
    ),
    Row(
        "monitoring.coreos.com",
        "AlertmanagerConfig PodMonitor Probe PrometheusRule ScrapeConfig ServiceMonitor",
        checks.exists,
        _EXISTS,
    ),
    Row(
        "monitoring.coreos.com",
        "Alertmanager Prometheus PrometheusAgent ThanosRuler",
        checks.condition("Available"),
        "the condition `Available` is True",
    ),
)
# Kinds of every provider, each in the provider's own group.
OF_ANY_GROUP: Final = (
    Row("any", "ClusterProviderConfig ProviderConfig ProviderConfigUsage", checks.exists, _EXISTS),
)

_CHECKS: Final = {(row.group, kind): row.check for row in TABLE for kind in row.kinds.split()}
_BY_KIND: Final = {kind: row.check for row in OF_ANY_GROUP for kind in row.kinds.split()}


def rule_of(resource: checks.Resource) -> checks.Check:
    """Return the check of an object's kind."""
    api_version, kind = api_version_and_kind(resource)
    group = api_version.rpartition("/")[0]
    return _CHECKS.get((group, kind)) or _BY_KIND.get(kind) or GENERIC
