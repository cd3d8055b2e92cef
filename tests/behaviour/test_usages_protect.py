"""Usages as Crossplane enforces them: what is depended on cannot be deleted before its user.

`Cluster` is a model of what Crossplane's code does with Usages: its controller marks the object
that is used, and its webhook looks up the Usages of a marked object that is to be deleted. See
internal/protection/usage/finder.go and internal/controller/protection/usage/reconciler.go there.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, cast

import pytest
from support.readiness_steps import READY, desired, observed, run, step

from function_script.request.values import Object

MODERN: Object = {"kind": "X", "metadata": {"name": "x"}, "spec": {"crossplane": {}}}
LEGACY: Object = {"kind": "X", "metadata": {"name": "x"}, "spec": {}}
PROTECTION = "protection.crossplane.io"
# Where the protected object and the one that depends on it are; None: cluster scoped.
PLACES = [
    pytest.param("here", "here", id="both-in-one-namespace"),
    pytest.param("there", "here", id="in-two-namespaces"),
    pytest.param(None, "here", id="cluster-scoped-is-used"),
    pytest.param("there", None, id="used-by-cluster-scoped"),
    pytest.param(None, None, id="both-cluster-scoped"),
]


class Key(NamedTuple):
    """An object in the cluster; the namespace of a cluster scoped one is empty."""

    group: str
    kind: str
    name: str
    namespace: str


def key(resource: Object) -> Key:
    metadata = cast("dict[str, str]", resource["metadata"])
    group = str(resource["apiVersion"]).rpartition("/")[0]
    return Key(group, str(resource["kind"]), metadata["name"], metadata.get("namespace", ""))


@dataclass(kw_only=True)
class Cluster:
    """Objects, which of them are marked as used, and the index of Usages."""

    objects: set[Key]
    marked: set[Key] = field(default_factory=set)
    namespaced: set[Key] = field(default_factory=set)
    anywhere: set[Key] = field(default_factory=set)

    def get(self, group: str, kind: str, name: str, namespace: str) -> Key:
        """An object; the namespace is ignored for kinds that are cluster scoped."""
        (found,) = (each for each in self.objects if each[:3] == (group, kind, name))
        assert found.namespace in {"", namespace}, f"{found} is not found in {namespace!r}"
        return found

    def apply(self, usage: Object) -> None:
        """Index a Usage, mark what it protects, and find what depends on that."""
        group, kind, _, own = key({**usage, "metadata": {"name": "u", **metadata(usage)}})
        of, by = (cast("Object", spec(usage)[end]) for end in ("of", "by"))
        of_ref, by_ref = (cast("dict[str, str]", end["resourceRef"]) for end in (of, by))
        assert "namespace" not in by_ref, "the API has no such field"
        name = of_ref["name"], of_ref.get("namespace", own)
        of_group, by_group = (str(end["apiVersion"]).rpartition("/")[0] for end in (of, by))
        if (group, kind) == (PROTECTION, "Usage"):
            assert own, "a Usage is namespaced"
            self.namespaced.add(Key(of_group, str(of["kind"]), *name))
        else:
            assert not own, f"{kind} of {group} is cluster scoped"
            assert "namespace" not in of_ref, "the API has no such field"
            self.anywhere.add(Key(of_group, str(of["kind"]), of_ref["name"], ""))
        self.marked.add(self.get(of_group, str(of["kind"]), *name))
        self.get(by_group, str(by["kind"]), by_ref["name"], own)

    def can_delete(self, resource: Object) -> bool:
        """Report whether the webhook lets an object be deleted."""
        found = key(resource)
        if found not in self.marked:
            return True
        return found not in self.namespaced and found._replace(namespace="") not in self.anywhere


def metadata(usage: Object) -> dict[str, str]:
    """What a Usage says of itself."""
    return cast("dict[str, str]", usage.get("metadata", {}))


def spec(usage: Object) -> Object:
    """What a Usage is about."""
    return cast("Object", usage["spec"])


def exists(of: str | None, by: str | None) -> dict[str, Object]:
    """Both resources, ready, each in its namespace."""
    places = {"net": of, "db": by}
    return {
        name: observed(name.title(), READY, **({} if place is None else {"namespace": place}))
        for name, place in places.items()
    }


def respond(resources: dict[str, Object], xr: Object, *capabilities: str, **usages: str) -> Object:
    """Return the response of a step whose `db` depends on its `net`."""
    ordered_step = step("starlark", {"net": {}, "db": {"depends_on": ["net"]}}, usages=dict(usages))
    state = {"composite": {"resource": xr}, "resources": resources}
    return run(ordered_step, observed=state, meta={"tag": "a", "capabilities": list(capabilities)})


def usage_of(response: Object) -> Object | None:
    found = desired(response).get("usage:db:net")
    return None if found is None else cast("Object", found["resource"])


def cluster_of(resources: dict[str, Object]) -> Cluster:
    return Cluster(objects={key(cast("Object", each["resource"])) for each in resources.values()})


@pytest.mark.parametrize(("of", "by"), PLACES)
def test_dependency_cannot_be_deleted(of: str | None, by: str | None) -> None:
    """The scopes of both do not count on Crossplane 2."""
    resources = exists(of, by)
    cluster = cluster_of(resources)
    usage = usage_of(respond(resources, MODERN))
    assert usage is not None
    cluster.apply(usage)
    assert not cluster.can_delete(cast("Object", resources["net"]["resource"]))
    assert cluster.can_delete(cast("Object", resources["db"]["resource"]))


@pytest.mark.parametrize(("of", "by"), PLACES)
def test_legacy_xr_protects_or_says_that_it_cannot(of: str | None, by: str | None) -> None:
    """Usages of Crossplane 1 know no namespaces; those of Crossplane 2 can be asked for."""
    resources = exists(of, by)
    response = respond(resources, LEGACY)
    usage = usage_of(response)
    if of is None and by is None:
        assert usage is not None
        cluster = cluster_of(resources)
        cluster.apply(usage)
        assert not cluster.can_delete(cast("Object", resources["net"]["resource"]))
        return
    assert usage is None
    (result,) = cast("list[Object]", response["results"])
    assert result["severity"] == "SEVERITY_WARNING"
    assert str(result["message"]).startswith('cannot protect resource "net", on which "db" depends')
    for modern in (
        respond(resources, LEGACY, apiVersion="protection.crossplane.io/v1beta1"),
        respond(resources, LEGACY, "CAPABILITY_CAPABILITIES"),
    ):
        usage = usage_of(modern)
        assert usage is not None
        cluster = cluster_of(resources)
        cluster.apply(usage)
        assert not cluster.can_delete(cast("Object", resources["net"]["resource"]))
        assert "results" not in modern
