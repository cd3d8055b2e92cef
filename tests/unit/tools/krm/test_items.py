"""The items of a ResourceList: which belong to an XR, and what is written of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from function_script.texts.errors import InputError
from function_script.tools.krm import resource_list

if TYPE_CHECKING:
    from function_script.request.values import Object

NAME = "crossplane.io/composition-resource-name"
UID = "8e1b0f5a-58d1-4b59-9a10-6f5d4a7a4ab1"
TYPE = ("example.org/v1", "Site")
OWNER: Object = {"apiVersion": "example.org/v1", "kind": "Site", "name": "a", "controller": True}


def site(name: str, **metadata: object) -> Object:
    """An XR."""
    return {"apiVersion": TYPE[0], "kind": TYPE[1], "metadata": {"name": name, **metadata}}


def host(**metadata: object) -> Object:
    """A composed resource."""
    annotations = {NAME: "host"}
    return {
        "apiVersion": "example.org/v1",
        "kind": "Host",
        "metadata": {"name": "h", "annotations": annotations, **metadata},
    }


OWNERS = {
    "label": (site("a"), host(labels={"crossplane.io/composite": "a"}), True),
    "other": (site("a"), host(labels={"crossplane.io/composite": "b"}), False),
    "label-of-another-namespace": (
        site("a", namespace="n"),
        host(labels={"crossplane.io/composite": "a"}, namespace="m"),
        False,
    ),
    "uid": (site("a", uid=UID), host(ownerReferences=[{**OWNER, "uid": UID}]), True),
    "another-uid-wins-over-the-label": (
        site("a", uid=UID),
        host(
            ownerReferences=[{**OWNER, "uid": "another"}],
            labels={"crossplane.io/composite": "a"},
        ),
        False,
    ),
    "owner-by-name": (site("a"), host(ownerReferences=[{**OWNER, "uid": UID}]), True),
    "owner-by-name-in-another-namespace": (
        site("a", namespace="n"),
        host(ownerReferences=[OWNER], namespace="m"),
        False,
    ),
    "nothing-and-one-xr": (site("a"), host(), True),
}


@pytest.mark.parametrize(("xr", "composed", "is_owned"), OWNERS.values(), ids=OWNERS)
def test_composed_resource_belongs_to_its_xr(xr: Object, composed: Object, is_owned: bool) -> None:
    (composite,) = resource_list.find_composites(resource_list.read_items([xr, composed]), {}, TYPE)

    assert bool(composite.composed) is is_owned
    assert bool(composite.others) is not is_owned


def test_composed_resource_without_an_owner_belongs_to_none_of_two_xrs() -> None:
    values = [site("a"), site("b"), host()]

    assert [
        each.composed
        for each in resource_list.find_composites(resource_list.read_items(values), {}, TYPE)
    ] == [
        {},
        {},
    ]


@pytest.mark.parametrize(("text", "index"), [("12", 12), ("-1", 0), ("9" * 5_000, 999_999_999)])
def test_index_in_a_file_is_a_number(text: str, index: int) -> None:
    value = site("a", annotations={resource_list.PATH: "a.yaml", resource_list.INDEX: text})
    assert resource_list.file_of(value) == {"path": "a.yaml", "index": index}


TWICE = {
    "resource": ([site("a"), host(), host()], r'items\[2\] are both resource "host"'),
    "xr": ([site("a"), site("a")], r'items\[0\] and items\[1\] are both Site "a"'),
}


@pytest.mark.parametrize(("values", "message"), TWICE.values(), ids=TWICE)
def test_two_items_of_one_object_are_an_error(values: list[Object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        resource_list.find_composites(resource_list.read_items(values), {}, TYPE)


@pytest.mark.parametrize("place", ["spec", "crossplane"])
def test_xr_of_another_composition_is_left_alone(place: str) -> None:
    reference: Object = {"compositionRef": {"name": "another"}}
    xr: Object = {**site("a"), "spec": reference if place == "spec" else {place: reference}}
    composition: Object = {"metadata": {"name": "sites"}}

    assert resource_list.find_composites(resource_list.read_items([xr]), composition, TYPE) == []


def test_item_keeps_what_the_server_and_the_orchestrator_have_set() -> None:
    transport = {"internal.config.kubernetes.io/path": "a.yaml", "config.k8s.io/id": "3"}
    before: Object = {
        **host(uid=UID, resourceVersion="7", annotations={NAME: "host", "mine": "x", **transport}),
        "spec": {"old": 1},
        "status": {"ready": True},
    }

    item = resource_list.to_item({**host(), "spec": {"new": 2}}, before, "", has_owner=False)

    assert item["spec"] == {"new": 2}
    assert item["status"] == {"ready": True}
    metadata = item["metadata"]
    assert (metadata["uid"], metadata["resourceVersion"]) == (UID, "7")
    assert metadata["annotations"] == {NAME: "host", **transport}
