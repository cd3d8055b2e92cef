"""Dependencies as Usage objects, so that what others depend on is deleted after them.

A Usage names two objects, so there is one only while both exist. Its own object name is left to
Crossplane, which makes one that is unique and stays the same for each composite resource.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from function_script.contribution import Composed
from function_script.errors import DocumentError
from function_script.objects import api_version_and_kind, find_path
from function_script.readiness import judge
from function_script.wire import enums

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.inputs import Progress
    from function_script.progress.dependencies import Edges
    from function_script.progress.world import World
    from function_script.values import Object, Readable

_LEGACY: Final = "apiextensions.crossplane.io/v1beta1"
_MODERN: Final = "protection.crossplane.io/v1beta1"


def compose(edges: Edges, settings: Progress, world: World) -> dict[str, Composed]:
    """A Usage for every dependency of a resource that wants them, by resource name."""
    found: dict[str, Composed] = {}
    for user, dependencies in edges.items():
        order = world.composed[user].order
        stated = order.usages if order is not None else None
        if stated if stated is not None else settings.usages:
            for used in sorted({each.name for each in dependencies}):
                usage = _usage(used, user, settings, world)
                if usage is not None:
                    _add(found, f"usage:{user}:{used}", usage, world)
    return found


def _add(found: dict[str, Composed], name: str, usage: Object, world: World) -> None:
    if name in found or name in world.composed:
        raise DocumentError.of(f'cannot compose a Usage: resource name "{name}" is used twice')
    is_ready = judge(world.find(name)).is_ready
    found[name] = Composed(
        resource=usage, ready=enums.READY_TRUE if is_ready else enums.READY_FALSE
    )


def _usage(used: str, user: str, settings: Progress, world: World) -> Object | None:
    of, by = world.find(used), world.find(user)
    if of is None or by is None:
        return None
    api_version = settings.usage_version or (_MODERN if _is_modern(world.xr) else _LEGACY)
    spec: Object = {
        "reason": f"{user} depends on {used}",
        "replayDeletion": True,
        "of": _reference(of),
        "by": _reference(by),
    }
    usage: Object = {"apiVersion": api_version, "kind": "Usage", "spec": spec}
    namespace = _namespace(by)
    if api_version == _MODERN and namespace is None:
        # It knows no namespaces: one that is used by a cluster scoped object cannot be said.
        return usage | {"kind": "ClusterUsage"} if _namespace(of) is None else None
    if namespace is not None:
        usage["metadata"] = {"namespace": namespace}
        _locate(spec["of"], _namespace(of), namespace)
    return usage


def _locate(reference: object, namespace: str | None, own: str) -> None:
    """Say which namespace the used object is in, if it is not the Usage's own."""
    if namespace not in {None, own} and isinstance(reference, dict):
        reference["resourceRef"]["namespace"] = namespace


def _reference(resource: Mapping[str, Readable]) -> Object:
    api_version, kind = api_version_and_kind(resource)
    name = find_path(resource, ("metadata", "name"))
    return {"apiVersion": api_version, "kind": kind, "resourceRef": {"name": str(name)}}


def _namespace(resource: Mapping[str, Readable]) -> str | None:
    found = find_path(resource, ("metadata", "namespace"))
    return found if isinstance(found, str) and found else None


def _is_modern(xr: Mapping[str, Readable]) -> bool:
    """Whether the XR is one of Crossplane 2: those keep their machinery apart."""
    return _namespace(xr) is not None or find_path(xr, ("spec", "crossplane")) is not None
