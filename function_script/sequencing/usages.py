"""Dependencies as Usage objects, so that what others depend on is deleted after them.

A Usage names two objects, so there is one only while both exist. Its own object name is left to
Crossplane, which makes one that is unique and stays the same for each composite resource.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.contribution import DesiredResource, lint
from function_script.diagnostics import Diagnostic
from function_script.errors import DocumentError
from function_script.objects import api_version_and_kind, find_path
from function_script.readiness import judge
from function_script.wire import enums

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script import wire
    from function_script.inputs import ReadinessOptions
    from function_script.sequencing.cluster_state import ClusterState
    from function_script.sequencing.dependencies import Graph
    from function_script.values import Object, Readable

_LEGACY: Final = "apiextensions.crossplane.io/v1beta1"
_MODERN: Final = "protection.crossplane.io/v1beta1"


def compose(
    edges: Graph, settings: ReadinessOptions, world: ClusterState
) -> tuple[dict[str, DesiredResource], tuple[wire.Result, ...]]:
    """A Usage for every dependency of a resource that wants them, by resource name.

    And a warning for each that no Usage can protect.
    """
    found: dict[str, DesiredResource] = {}
    unprotected: list[Diagnostic] = []
    for user, dependencies in edges.items():
        order = world.composed[user].policy
        stated = order.usages if order is not None else None
        if stated if stated is not None else settings.usages:
            for used in sorted({each.name for each in dependencies}):
                of, by = world.find(used), world.find(user)
                if of is None or by is None:
                    continue
                usage = _usage(_End(used, of, world), _End(user, by, world), settings, world)
                if usage is None:
                    unprotected.append(_unprotected(used, user))
                else:
                    _add(found, f"usage:{user}:{used}", usage, world)
    return found, lint.dialect_warnings(unprotected)


def _add(found: dict[str, DesiredResource], name: str, usage: Object, world: ClusterState) -> None:
    if name in found or name in world.composed:
        raise DocumentError.of(f'cannot compose a Usage: resource name "{name}" is used twice')
    is_ready = judge(world.find(name)).is_ready
    found[name] = DesiredResource(
        resource=usage, ready=enums.READY_TRUE if is_ready else enums.READY_FALSE
    )


class _End:
    """One of the two objects of a Usage. Its scope is certain, for it was read from the cluster.

    Crossplane puts all that a namespaced XR composes into its namespace.
    """

    def __init__(self, name: str, resource: Mapping[str, Readable], world: ClusterState) -> None:
        self.name = name
        self.namespace = _namespace(resource) or _namespace(world.xr)
        api_version, kind = api_version_and_kind(resource)
        self.object_name = str(find_path(resource, ("metadata", "name")))
        self.type: Object = {"apiVersion": api_version, "kind": kind}

    def reference(self, **more: str) -> Object:
        """What a Usage says of it."""
        return {**self.type, "resourceRef": {"name": self.object_name, **more}}


def _usage(of: _End, by: _End, settings: ReadinessOptions, world: ClusterState) -> Object | None:
    """The Usage; None where there can be none.

    Crossplane's webhook looks for Usages of an object under its namespace, which is empty for a
    cluster scoped one. A Usage without a namespace in its reference is found under its own.
    """
    kind, namespace = "Usage", by.namespace or of.namespace
    is_modern = _is_modern(world.xr) or (namespace is not None and world.has_protection)
    api_version = settings.usage_version or (_MODERN if is_modern else _LEGACY)
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


def _unprotected(used: str, user: str) -> Diagnostic:
    return Diagnostic(
        message=f'cannot protect resource "{used}", on which "{user}" depends: '
        "one of them is namespaced, and a Usage of apiextensions.crossplane.io knows no namespaces",
        hint=f"on Crossplane 2 or later, set `usages: {{apiVersion: {_MODERN}}}`",
    )


def _namespace(resource: Mapping[str, Readable]) -> str | None:
    found = find_path(resource, ("metadata", "namespace"))
    return found if isinstance(found, str) and found else None


def _is_modern(xr: Mapping[str, Readable]) -> bool:
    """Whether the XR is one of Crossplane 2: those keep their machinery apart."""
    return _namespace(xr) is not None or find_path(xr, ("spec", "crossplane")) is not None
