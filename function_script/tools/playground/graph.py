"""The resource graph: the XR, composed and waiting resources, those to be deleted, references.

It is data; the page draws it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from function_script.request import objects
from function_script.request.program import Blocked
from function_script.request.values import Object, Value
from function_script.tools import manifests
from function_script.tools.render import RenderResult

XR: Final = "xr"
_REFERENCE: Final = ("Ref", "Refs")


def build(
    result: RenderResult, outcome: Object, observed: Sequence[Object], waiting: Sequence[Blocked]
) -> Object:
    """Return ``nodes`` with id, name, kind and state, and ``edges`` as pairs of ids.

    States: ready, unready, waiting, and deleted for a resource that exists and is no longer
    composed.
    """
    composed = result.composition.resources
    resources = {
        manifests.resource_name(composed[name]) or name: composed[name] for name in composed
    }
    ready = objects.find_path(outcome, ("ready",))
    is_ready = ready if isinstance(ready, dict) else {}
    root = _node(XR, manifests.name(result.xr), result.xr, _xr_state(outcome))
    nodes: list[Value] = [root]
    for name in sorted(resources):
        state = "ready" if is_ready.get(name) is True else "unready"
        nodes.append(_node(_id(name), name, resources[name], state))
    blocked = {each.subject: each for each in waiting if each.subject not in resources}
    # A document about the XR itself is named by its kind.
    if own := blocked.pop(objects.api_version_and_kind(result.xr)[1], None):
        root["note"] = own.reason
    for name, each in blocked.items():
        nodes.append({**_node(_id(name), name, {}, "waiting"), "note": each.reason})
    for manifest in observed:
        name = manifests.annotation(manifest, manifests.RESOURCE_NAME)
        if name and name not in composed and name not in blocked:
            nodes.append(_node(_id(name), name, manifest, "deleted"))
    composes: list[Value] = [[XR, _id(name)] for name in (*sorted(resources), *blocked)]
    dependencies: list[Value] = [
        [_id(name), _id(other)]
        for name, each in blocked.items()
        for other in each.dependencies
        if other in resources or other in blocked
    ]
    return {"nodes": nodes, "edges": composes + _references(resources) + dependencies}


def _xr_state(outcome: Object) -> str:
    conditions = outcome.get("conditions")
    for condition in conditions if isinstance(conditions, list) else []:
        if isinstance(condition, dict) and condition.get("type") == "Ready":
            return "ready" if condition.get("status") == "True" else "unready"
    return "unready"


def _id(name: str) -> str:
    return f"resource/{name}"


def _node(node_id: str, name: str, manifest: Object, state: str) -> Object:
    kind = objects.api_version_and_kind(manifest)[1]
    return {"id": node_id, "name": name, "kind": kind, "state": state}


def _references(resources: Mapping[str, Object]) -> list[Value]:
    """Return pairs where a resource names another's object, as in ``networkRef.name``."""
    owners = {manifests.name(manifest): name for name, manifest in resources.items()}
    pairs = {
        (name, owners[target])
        for name, manifest in resources.items()
        for target in _targets(manifest.get("spec"))
        if target in owners and owners[target] != name
    }
    return [[_id(name), _id(other)] for name, other in sorted(pairs)]


def _targets(value: Value) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _targets(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            references = item if isinstance(item, list) else [item]
            if key.endswith(_REFERENCE):
                for reference in references:
                    name = reference.get("name") if isinstance(reference, dict) else None
                    if name and isinstance(name, str):
                        yield name
            yield from _targets(item)
