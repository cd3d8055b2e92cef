"""Moved resources: what a step sees, what Crossplane gets, and where a move is refused."""

from collections.abc import Callable
from typing import cast

import pytest
from support import builders
from support.builders import document
from support.core_model import Core
from support.readiness_steps import fatal

from function_script.request.values import Object

MOVED_TO = "script.fn.crossplane.io/moved-to"


def existing(name: str, **annotations: str) -> Object:
    """An observed resource."""
    return {
        "resource": {
            "apiVersion": "example.org/v1",
            "kind": "Thing",
            "metadata": {"name": f"demo-{name}", "annotations": dict(annotations)},
            "status": {"id": name, "conditions": [{"type": "Ready", "status": "True"}]},
        }
    }


def run(step: Object, *names: str, desired: Object | None = None, **marked: str) -> Object:
    """Call a step with observed resources; ``marked`` remember their name by an annotation."""
    resources = {name: existing(name) for name in names}
    resources |= {old: existing(old, **{MOVED_TO: new}) for old, new in marked.items()}
    observed = {"composite": {"resource": builders.XR}, "resources": resources}
    message = builders.request(step, observed=observed, desired={"resources": desired or {}})
    return builders.to_dict(builders.call(message))


def composed(response: Object) -> dict[str, Object]:
    """The desired resources."""
    assert "results" not in response, response["results"]
    desired = cast("Object", response["desired"])
    entries = cast("dict[str, Object]", desired.get("resources", {}))
    return {name: cast("Object", entry["resource"]) for name, entry in entries.items()}


def remembered(resource: Object) -> object:
    """The name that a resource remembers."""
    metadata = cast("Object", resource.get("metadata", {}))
    return cast("Object", metadata.get("annotations", {})).get(MOVED_TO)


MOVED = builders.jinja(document("new", moved_from="old"))


def test_moved_resource_has_its_old_name_in_the_response_and_remembers_the_new() -> None:
    resources = composed(run(MOVED, "old"))
    assert list(resources) == ["old"]
    assert remembered(resources["old"]) == "new"
    assert "moved-from" not in str(resources)


def test_resource_without_an_object_of_the_old_name_is_new() -> None:
    assert list(composed(run(MOVED))) == ["new"]
    resources = composed(run(MOVED, "new"))
    assert list(resources) == ["new"]
    assert remembered(resources["new"]) is None


def test_removal_of_the_new_name_removes_the_object() -> None:
    step = builders.starlark(
        'def main(req):\n    return {"desired": {"resources": {"new": None}}}\n'
    )
    earlier: Object = {"old": existing("old", **{MOVED_TO: "new"})}
    assert not composed(run(step, desired=earlier, old="new"))


SEEN = {
    "starlark": builders.starlark(
        "def main(req):\n"
        '    names = list(req["observed"]["resources"])\n'
        '    entry = {"resource": {"apiVersion": "example.org/v1", "kind": "Thing",'
        ' "spec": {"names": names}}, "moved_from": ["older", "old"]}\n'
        '    return {"desired": {"resources": {"new": entry}}}\n'
    ),
    "jinja": builders.jinja(
        document("new", moved_from="older, old").replace(
            "spec: {}", "spec: {names: {{ observed.resources | list | tojson }}}"
        )
    ),
}


@pytest.mark.parametrize("step", SEEN.values(), ids=SEEN)
def test_program_sees_the_new_name_in_the_first_reconcile_and_later(step: Object) -> None:
    for response in (run(step, "old"), run(step, old="new"), run(step, older="new")):
        (resource,) = composed(response).values()
        assert resource["spec"] == {"names": ["new"]}


def test_readiness_and_dependencies_are_of_the_new_name() -> None:
    step = builders.jinja(
        document("new", moved_from="old") + document("user", depends_on="new"), autoReady={}
    )
    response = run(step, "old")
    assert sorted(composed(response)) == ["old", "user"]
    entries = cast("dict[str, Object]", cast("Object", response["desired"])["resources"])
    assert entries["old"]["ready"] == "READY_TRUE"
    (condition,) = cast("list[Object]", response["conditions"])
    assert "user" in str(condition["message"])
    assert "new" not in str(condition["message"])


def test_later_step_sees_the_new_name() -> None:
    later = builders.jinja(
        document("other").replace(
            "spec: {}",
            "spec: {observed: {{ observed.resources | list | tojson }},"
            " desired: {{ desired.resources | list | tojson }}}",
        )
    )
    core = Core(pipeline=[builders.jinja(document("old"))])
    core.run(1.0)
    core.pipeline = [MOVED, later]
    core.run(1.0)
    assert core.created == ["demo-old", "demo-other"]
    resource = cast("Object", core.resources["other"]["resource"])
    assert resource["spec"] == {"observed": ["new", "other"], "desired": ["new"]}


def test_return_to_the_first_name_in_an_earlier_step_returns_usages_of_a_later_one() -> None:
    """A rollback: an earlier Composition composes the object under the name that it had first."""

    def pipeline(name: str, old_name: str = "") -> list[Object]:
        user = document("user", depends_on=name)
        return [
            builders.jinja(document(name, moved_from=old_name) if old_name else document(name)),
            builders.jinja(user, usages={}),
        ]

    core = Core(pipeline=pipeline("old"))
    status: Object = {"conditions": [{"type": "Ready", "status": "True"}]}
    for following in (pipeline("old"), pipeline("new", "old"), pipeline("old"), pipeline("old")):
        core.pipeline = following
        core.run(30.0)
        core.provide(status, {})
        core.run(30.0)
        assert not core.warnings()
        assert not [event for event in core.events if event.kind == "Fatal"], core.events
    assert sorted(core.resources) == ["old", "usage:user:old", "user"]
    assert not core.deleted


@pytest.mark.parametrize("names", [["old", "new"], ["new"], ["older", "old", "new"]])
def test_rollback_with_moved_from_keeps_the_object_whatever_its_first_name(
    names: list[str],
) -> None:
    core = Core()
    for at, name in enumerate(names):
        old_name = names[at - 1] if at else None
        core.pipeline = [builders.jinja(document(name, moved_from=old_name or "none"))]
        core.run(1.0)
    core.pipeline = [builders.jinja(document("old", moved_from="new"))]
    core.run(1.0)
    assert len(core.created) == 1
    assert not core.deleted


def test_deferred_resource_is_moved() -> None:
    """What waits for a value has no old name in the response; its object must not be deleted."""
    waiting = document(
        "new", "data:\n  x: {{ observed.resources.db.resource.status.id }}\n", moved_from="old"
    )
    message = fatal(run(builders.jinja(waiting, missing="Defer"), "old"))
    assert 'cannot leave out resource "new", which exists' in message
    script = builders.starlark(
        "def main(req):\n"
        '    others = req["observed"]["resources"]\n'
        '    body = lambda: {"apiVersion": "v1", "kind": "A", "spec": others["db"]}\n'
        '    return {"desired": {"resources": {"new": {"resource": body, "moved_from": "old"}}}}\n',
        missing="Defer",
    )
    assert 'cannot leave out resource "new", which exists' in fatal(run(script, "old"))


GO_TEMPLATING = (
    "apiVersion: example.org/v1\nkind: Thing\nmetadata:\n  annotations:\n"
    "    gotemplating.fn.crossplane.io/composition-resource-name: new\n"
    "    %s.fn.crossplane.io/moved-from: old\n"
    "spec: {names: {{ keys .observed.resources | sortAlpha | toJson }}}\n"
)


def test_moved_from_in_a_document_of_function_go_templating_is_ours() -> None:
    step = builders.peer(GO_TEMPLATING % "script")
    for response in (run(step, "old"), run(step, old="new")):
        (resource,) = composed(response).values()
        assert resource["spec"] == {"names": ["new"]}
        assert remembered(resource) == "new"
        assert "moved-from" not in str(resource)
    other = builders.peer(GO_TEMPLATING % "gotemplating")
    assert "script.fn.crossplane.io/moved-from" in fatal(run(other, "old"))


REFUSED = {
    "both exist": (
        lambda: run(MOVED, "old", "new"),
        '"new" and "old" both exist',
    ),
    "both exist, one remembers": (
        lambda: run(builders.jinja(document("new")), "new", old="new"),
        '"new" and "old" both exist',
    ),
    "two remember": (
        lambda: run(MOVED, old="new", older="new"),
        "both exist",
    ),
    "two old names exist": (
        lambda: run(SEEN["jinja"], "old", "older"),
        '"old" and "older" both exist',
    ),
    "one moved, another old name exists": (
        lambda: run(SEEN["jinja"], "older", old="new"),
        '"old" and "older" both exist',
    ),
    "two claim one": (
        lambda: run(
            builders.jinja(document("new", moved_from="old") + document("newer", moved_from="old"))
        ),
        '"new" is moved from "old", too',
    ),
    "this step desires it": (
        lambda: run(builders.jinja(document("new", moved_from="old") + document("old")), "old"),
        'this step desires "old"',
    ),
    "an earlier step desires it": (
        lambda: run(MOVED, "old", desired={"old": existing("old")}),
        'an earlier step desires "old"',
    ),
    "an earlier step desires it later": (
        lambda: run(MOVED, desired={"old": existing("old")}, old="new"),
        'an earlier step desires "old"',
    ),
    "the old name is used again": (
        lambda: run(builders.jinja(document("new") + document("old")), old="new"),
        'it has the name of the object that "new" was moved from',
    ),
    "the program depends on the old name": (
        lambda: run(
            builders.jinja(
                '{% if "old" in observed.resources %}'
                + document("new", moved_from="old")
                + "{% endif %}"
            ),
            "old",
        ),
        "its program leaves it out when it sees it moved",
    ),
    "itself": (
        lambda: run(builders.jinja(document("new", moved_from="new"))),
        'must not be the name "new" itself',
    ),
    "nothing": (
        lambda: run(builders.jinja(document("new", moved_from=" , "))),
        "must name a resource",
    ),
    "no text": (
        lambda: run(
            builders.starlark(
                'def main(req):\n    return {"desired": {"resources": {"a": {"resource": '
                '{"apiVersion": "v1", "kind": "A"}, "moved_from": 1}}}}\n'
            )
        ),
        "must be a text or a list of texts",
    ),
}


@pytest.mark.parametrize(("response", "text"), REFUSED.values(), ids=REFUSED)
def test_move_that_is_ambiguous_is_fatal(response: Callable[[], Object], text: str) -> None:
    assert text in fatal(response())


def test_operation_moves_nothing() -> None:
    step = builders.starlark(
        'def main(req):\n    return {"desired": {"resources": {"a": {"moved_from": "b", '
        '"resource": {"apiVersion": "v1", "kind": "A", "metadata": {"name": "x"}}}}}}\n'
    )
    message = builders.request(step)
    message.ClearField("observed")
    assert list(composed(builders.to_dict(builders.call(message)))) == ["a"]


COPIES = {
    "starlark": builders.starlark(
        "def main(req):\n"
        '    moved = req["observed"]["resources"]["new"]["resource"]\n'
        '    body = {key: moved[key] for key in ["apiVersion", "kind", "metadata"]}\n'
        '    resources = {"new": {"resource": body}, "copy": {"resource": body}}\n'
        '    return {"desired": {"resources": resources}}\n'
    ),
    "jinja": builders.jinja(
        "{% for name in ('new', 'copy') %}"
        + document("{{ name }}").replace(
            "spec: {}",
            "    {{ observed.resources.new.resource.metadata.annotations | to_yaml | indent(4) }}",
        )
        + "{% endfor %}"
    ),
}


@pytest.mark.parametrize("step", COPIES.values(), ids=COPIES)
def test_copy_of_a_moved_object_is_not_moved(step: Object) -> None:
    resources = composed(run(step, old="new"))
    names = {name: remembered(resource) for name, resource in resources.items()}
    assert names == {"old": "new", "copy": None}
