"""Usage objects for dependencies, so that resources are deleted in reverse order.

A Usage refers to two objects, so it is composed only while both exist. Crossplane generates its
object name, which is unique and stable for each composite resource.
"""

from collections.abc import Mapping
from typing import Final

from function_script import wire
from function_script.contribution import DesiredResource, lint
from function_script.inputs import ReadinessOptions
from function_script.request import objects
from function_script.request.values import Object, Readable
from function_script.step.readiness import judge
from function_script.step.sequencing.dependencies import ClusterState, Graph
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import DocumentError
from function_script.wire import enums

_LEGACY: Final = "apiextensions.crossplane.io/v1beta1"
_MODERN: Final = "protection.crossplane.io/v1beta1"


def compose(
    graph: Graph, options: ReadinessOptions, cluster: ClusterState
) -> tuple[dict[str, DesiredResource], tuple[wire.Result, ...]]:
    """Return Usages by resource name, and warnings for dependencies that none can protect.

    A resource's own setting wins over the option.
    """
    composed: dict[str, DesiredResource] = {}
    unprotected: list[Diagnostic] = []
    for user, dependencies in graph.items():
        policy = cluster.composed[user].policy
        own_setting = policy.usages if policy is not None else None
        if not (options.usages if own_setting is None else own_setting):
            continue
        for used in sorted({each.name for each in dependencies}):
            of, by = cluster.find(used), cluster.find(user)
            if of is None or by is None:
                continue
            usage = _usage(_End(used, of, cluster), _End(user, by, cluster), options, cluster)
            if usage is None:
                message = (
                    f'cannot protect resource "{used}", on which "{user}" depends: one of them is '
                    "namespaced, and a Usage of apiextensions.crossplane.io knows no namespaces"
                )
                hint = f"on Crossplane 2 or later, set `usages: {{apiVersion: {_MODERN}}}`"
                unprotected.append(Diagnostic(message=message, hint=hint))
                continue
            name = f"usage:{user}:{used}"
            if name in composed or name in cluster.composed:
                raise DocumentError.of(
                    f'cannot compose a Usage: resource name "{name}" is used twice'
                )
            is_ready = judge(cluster.find(name)).is_ready
            composed[name] = DesiredResource(
                resource=usage, ready=enums.READY_TRUE if is_ready else enums.READY_FALSE
            )
    return composed, lint.warn(unprotected)


class _End:
    """One of the two objects of a Usage, as observed, so that its scope is certain.

    Crossplane composes all resources of a namespaced XR in the XR's namespace.
    """

    def __init__(self, name: str, resource: Mapping[str, Readable], cluster: ClusterState) -> None:
        self.name = name
        self.namespace = _namespace(resource) or _namespace(cluster.xr)
        api_version, kind = objects.api_version_and_kind(resource)
        self.object_name = str(objects.find_path(resource, ("metadata", "name")))
        self.type: Object = {"apiVersion": api_version, "kind": kind}

    def reference(self, **more: str) -> Object:
        """Return the Usage's reference to the object."""
        return {**self.type, "resourceRef": {"name": self.object_name, **more}}


def _usage(of: _End, by: _End, options: ReadinessOptions, cluster: ClusterState) -> Object | None:
    """Return the Usage; None if none can refer to both objects.

    Crossplane's webhook looks for Usages of an object under the object's namespace, which is
    empty for a cluster-scoped one. A Usage without a namespace in its reference is found under
    its own namespace.
    """
    kind, namespace = "Usage", by.namespace or of.namespace
    # An XR of Crossplane 2 is namespaced, or has `spec.crossplane`.
    is_modern = (
        _namespace(cluster.xr) is not None
        or objects.find_path(cluster.xr, ("spec", "crossplane")) is not None
        or (namespace is not None and cluster.has_protection)
    )
    api_version = options.usage_version or (_MODERN if is_modern else _LEGACY)
    if api_version == _MODERN and namespace is None:
        kind = "ClusterUsage"
    elif api_version != _MODERN and namespace is not None:
        return None
    is_elsewhere = of.namespace != namespace
    spec: Object = {
        "reason": f"{by.name} depends on {of.name}",
        "replayDeletion": True,
        "of": of.reference(namespace=of.namespace or "") if is_elsewhere else of.reference(),
        "by": by.reference(),
    }
    usage: Object = {"apiVersion": api_version, "kind": kind, "spec": spec}
    return usage if namespace is None else {**usage, "metadata": {"namespace": namespace}}


def _namespace(resource: Mapping[str, Readable]) -> str | None:
    namespace = objects.find_path(resource, ("metadata", "namespace"))
    return namespace if isinstance(namespace, str) and namespace else None
