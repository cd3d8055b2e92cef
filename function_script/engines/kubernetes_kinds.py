"""The API groups of Kubernetes' own kinds, for objects that name a group without such a kind."""

from typing import Final

_KINDS: Final = {
    "apps/v1": ("ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    "batch/v1": ("CronJob", "Job"),
    "networking.k8s.io/v1": ("Ingress", "IngressClass", "NetworkPolicy"),
    "policy/v1": ("PodDisruptionBudget",),
    "autoscaling/v2": ("HorizontalPodAutoscaler",),
    "rbac.authorization.k8s.io/v1": (
        *("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    ),
    "storage.k8s.io/v1": ("CSIDriver", "StorageClass", "VolumeAttachment"),
    "apiextensions.k8s.io/v1": ("CustomResourceDefinition",),
    "scheduling.k8s.io/v1": ("PriorityClass",),
    "coordination.k8s.io/v1": ("Lease",),
    "admissionregistration.k8s.io/v1": (
        *("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
    ),
    "v1": (
        *("ConfigMap", "Endpoints", "LimitRange", "Namespace", "PersistentVolume"),
        *("PersistentVolumeClaim", "Pod", "ReplicationController", "ResourceQuota", "Secret"),
        *("Service", "ServiceAccount"),
    ),
}
_API_VERSIONS: Final = {kind: version for version, kinds in _KINDS.items() for kind in kinds}
KINDS: Final = frozenset(_API_VERSIONS)
"""The kinds that `find_api_version` may have a doubt about."""
# API versions that no supported release of Kubernetes serves these kinds in.
_REMOVED: Final = frozenset(
    {
        *("apps/v1beta1", "apps/v1beta2", "batch/v1beta1", "batch/v2alpha1"),
        *("networking.k8s.io/v1beta1", "policy/v1beta1", "autoscaling/v2beta1"),
        *("autoscaling/v2beta2", "rbac.authorization.k8s.io/v1beta1"),
        *("rbac.authorization.k8s.io/v1alpha1", "apiextensions.k8s.io/v1beta1"),
        *("scheduling.k8s.io/v1beta1", "coordination.k8s.io/v1beta1"),
        *("storage.k8s.io/v1beta1", "admissionregistration.k8s.io/v1beta1"),
    }
)
_GROUPS: Final = {"extensions", *(version.rpartition("/")[0] for version in _KINDS)}


def find_api_version(api_version: str, kind: str) -> str | None:
    """Return the apiVersion of a kind that its object does not have; None if there is no doubt.

    A group that is none of Kubernetes' own may have a kind of any name.
    """
    right = _API_VERSIONS.get(kind)
    if right is None or api_version == right:
        return None
    group = api_version.rpartition("/")[0]
    if group not in _GROUPS or (group == right.rpartition("/")[0] and api_version not in _REMOVED):
        return None
    return right
