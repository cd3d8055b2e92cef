"""Desired state of several steps, by what Crossplane makes of it.

It deletes by resource names alone, creates what it is told, and hands each step the state and the
context of those before it.
"""

import pytest
from support import builders
from support.builders import call, document, request, starlark
from support.readiness_steps import READY, condition, desired, observed, run, step

from function_script.engines.registry import LANGUAGES
from function_script.request.values import Object

MOVED_TO = "script.fn.crossplane.io/moved-to"


@pytest.mark.parametrize(("before", "after"), [(1, True), (0, False), (True, 1), ([0], [False])])
def test_change_of_what_python_takes_for_equal_is_made(before: object, after: object) -> None:
    body = {"apiVersion": "v1", "kind": "A", "spec": {"x": after}}
    resources = {"a": {"resource": body}}
    script = f'def main(req):\n    return {{"desired": {{"resources": {resources}}}}}\n'
    earlier = {"resources": {"a": {"resource": {**body, "spec": {"x": before}}}}}
    response = call(request(starlark(script), desired=earlier))
    assert response.desired == request(desired={"resources": resources}).desired


REMOVAL = "---\napiVersion: meta.script.fn.crossplane.io/v1beta1\nkind: Removal\nresources: [old]\n"
REMOVERS = {
    "before it": builders.jinja(REMOVAL + document("new", moved_from="old")),
    "after it": builders.jinja(document("new", moved_from="old") + REMOVAL),
    "while it is blocked": builders.jinja(
        document("db") + document("new", moved_from="old", depends_on="db") + REMOVAL
    ),
    "in a script": starlark(
        "def main(req):\n"
        '    rsp = response()\n    body = {"apiVersion": "v1", "kind": "A"}\n'
        '    rsp.resource("new", body, moved_from = "old")\n    rsp.remove("old")\n'
        "    return rsp\n"
    ),
    "in a later step": builders.jinja(REMOVAL),
}


@pytest.mark.parametrize("moving", REMOVERS.values(), ids=REMOVERS)
def test_removal_of_the_old_name_leaves_the_moved_object(moving: Object) -> None:
    """Crossplane knows the object by that name only."""
    remembering = observed(annotations={MOVED_TO: "new"})
    earlier = {"old": remembering} if moving is REMOVERS["in a later step"] else {}
    for entry in (observed(), remembering):
        assert "old" in desired(run(moving, {"old": entry}, desired={"resources": earlier}))


FALSE, TRUE = "READY_FALSE", "READY_TRUE"


REQUIRED: Object = {"resources": {"r": {"apiVersion": "v1", "kind": "A", "matchLabels": {}}}}


def follow(*steps: Object, exist: str = "") -> Object:
    """The response of the last step, behind one whose `b` waits for its `a`."""
    exists = {name: observed(status=READY) for name in exist}
    resources: dict[str, Object] = {"a": {"ready_when": "Exists"}, "b": {"depends_on": ["a"]}}
    first = step("jinja", resources, requirements=REQUIRED)
    response: Object = {}
    for each in (first, *steps):
        state = response.get("desired", {})
        # Crossplane calls a step again with what it requires, and with its own context.
        for required_resources in ({}, {"r": {}}, {"r": {}}) if "requirements" in each else ({},):
            parts = {"desired": state, "context": response.get("context", {})}
            response = run(each, exists, required_resources=required_resources, **parts)
    return response


@pytest.mark.parametrize("language", LANGUAGES)
def test_dependency_on_what_an_earlier_step_withholds_waits_too(language: str) -> None:
    """An error would end every reconcile before that is created."""
    behind = step(language, {"c": {"depends_on": ["b"]}})
    response = follow(behind)
    assert set(desired(response)) == {"a"}
    assert str(condition(response)["message"]).startswith("Waiting: c for b")
    assert set(desired(follow(behind, exist="a"))) == {"a", "b"}
    assert set(desired(follow(behind, exist="ab"))) == {"a", "b", "c"}


@pytest.mark.parametrize("requirements", [{}, {"requirements": REQUIRED}], ids=["once", "again"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_part_of_what_an_earlier_step_withholds_is_not_created(
    language: str, requirements: Object
) -> None:
    """It would lack what the earlier step states; a script states the whole of a resource."""
    part = step(language, {"b": {}}, **requirements)
    response = follow(part)
    assert set(desired(response)) == ({"a", "b"} if language == "starlark" else {"a"})
    assert response["desired"]["composite"] == {"ready": FALSE}  # type: ignore[index,call-overload] # objects
    assert set(desired(follow(part, exist="a"))) == {"a", "b"}
    assert set(desired(follow(part, exist="b"))) == {"a", "b"}


def test_xr_is_not_ready_while_an_earlier_step_withholds_a_resource() -> None:
    ready = starlark('def main(req):\n    return {"desired": {"composite": {"ready": True}}}')
    for exist, readiness in (("", FALSE), ("a", TRUE), ("b", TRUE)):
        response = follow(ready, exist=exist)
        assert response["desired"]["composite"] == {"ready": readiness}  # type: ignore[index,call-overload] # objects


def test_resource_that_a_step_withholds_only_until_its_requirement_is_answered_is_forgotten() -> (
    None
):
    """The step's own context comes back with the answer, and goes on to later steps."""
    asking = starlark(
        "def main(req):\n"
        "    rsp = response()\n    rsp.ready(True)\n"
        '    rsp.require("r", "v1", "A", match_labels = {})\n'
        '    body = {"apiVersion": "v1", "kind": "A"}\n'
        '    if get_required(req, "r") == None:\n'
        '        rsp.resource("a", body)\n        rsp.resource("b", body, depends_on = ["a"])\n'
        "    return rsp\n"
    )
    context = run(asking)["context"]
    again = run(asking, context=context, required_resources={"r": {}})
    part = run(step("jinja", {"b": {}}), desired=again["desired"], context=again["context"])
    assert again["desired"]["composite"] == {"ready": TRUE}  # type: ignore[index,call-overload] # objects
    assert set(desired(part)) == {"b"}
