"""Releases of a Composition that rename resources, in a model of what Crossplane does with them.

No object is ever deleted or given to another resource: a release is carried out, or it is refused.
"""

import random
from typing import NamedTuple, cast

import pytest
from support import builders
from support.core_model import Core, make_ready
from support.example_counts import SEARCH_FACTOR

from function_script.request.values import Object

PREFIX = "script.fn.crossplane.io"


class Thing(NamedTuple):
    """A composed resource of one release; ``identity`` stays the same in all of them."""

    identity: str
    name: str
    moved_from: str = ""
    depends_on: str = ""
    waits_for: str = ""

    def document(self) -> str:
        """The resource as a document."""
        lines = [f'    {PREFIX}/composition-resource-name: "{self.name}"']
        if self.moved_from:
            lines.append(f'    {PREFIX}/moved-from: "{self.moved_from}"')
        if self.depends_on:
            lines.append(f'    {PREFIX}/depends-on: "{self.depends_on}"')
        spec = f"{{identity: {self.identity}}}"
        if self.waits_for:
            waits_for = f'observed.resources["{self.waits_for}"].resource.status.id'
            spec = f'{{identity: {self.identity}, id: "{{{{ {waits_for} }}}}"}}'
        head = "---\napiVersion: example.org/v1\nkind: Thing\nmetadata:\n  annotations:\n"
        return head + "\n".join(lines) + f"\nspec: {spec}\n"


def release(*things: Thing, **fields: object) -> Object:
    """A step that composes these resources."""
    text = "".join(each.document() for each in things) or "# nothing\n"
    return builders.jinja(text, autoReady={}, **fields)


def settle(core: Core, *, are_ready: bool = True) -> None:
    """Let several reconciles pass, with a controller that makes what exists ready."""
    for _ in range(5):
        core.run(15.0)
        if are_ready:
            make_ready(core)
            for name, entry in core.resources.items():
                status = cast("Object", cast("Object", entry["resource"])["status"])
                status["id"] = f"id of {name}"


def identities(core: Core) -> dict[str, str]:
    """The identity of each object of the cluster by the object's name."""
    resources = [cast("Object", entry["resource"]) for entry in core.resources.values()]
    return {
        str(cast("Object", each["metadata"])["name"]): str(cast("Object", each["spec"])["identity"])
        for each in resources
        if each["kind"] == "Thing"
    }


def is_refused(core: Core) -> bool:
    """Report whether the last reconcile ended with a Fatal result."""
    count = len(core.events)
    core.reconcile()
    return any(event.kind == "Fatal" for event in core.events[count:])


def start(*things: Thing, **fields: object) -> Core:
    """A cluster in which a first release has settled."""
    core = Core(pipeline=[release(*things, **fields)])
    settle(core)
    assert not is_refused(core)
    return core


def follow(core: Core, *things: Thing, **fields: object) -> None:
    """Install another release, which must be carried out without a loss."""
    before = identities(core)
    core.pipeline = [release(*things, **fields)]
    settle(core)
    assert not is_refused(core)
    assert not core.deleted
    assert identities(core) == before


A, B = Thing("first", "a"), Thing("second", "b")


def test_chain_of_renames_keeps_the_object() -> None:
    core = start(A)
    follow(core, Thing("first", "b", "a"))
    follow(core, Thing("first", "c", "b"))
    follow(core, Thing("first", "d", "a, b, c"))
    follow(core, Thing("first", "d"))
    assert core.created == ["demo-a"]


def test_chain_of_which_an_xr_misses_a_release_keeps_the_object() -> None:
    core = start(A)
    follow(core, Thing("first", "c", "b, a"))


@pytest.mark.parametrize("moved_from", ["b", ""], ids=["with moved-from", "without"])
def test_rename_back_keeps_the_object(moved_from: str) -> None:
    """Without: an older CompositionRevision is in force again, which knows no later name."""
    core = start(A, B._replace(name="other"))
    other = B._replace(name="other")
    follow(core, Thing("first", "b", "a"), other)
    follow(core, Thing("first", "a", moved_from), other)
    annotations = str(core.resources["a"])
    assert "moved-to" not in annotations
    follow(core, Thing("first", "b", "a"), other)
    follow(core, Thing("first", "c", "b"), other)
    follow(core, Thing("first", "a", moved_from), other)


def test_moved_from_may_stay_for_ever_and_be_removed() -> None:
    core = start(A)
    renamed = Thing("first", "b", "a")
    for _ in range(3):
        follow(core, renamed)
    follow(core, renamed._replace(moved_from=""))
    follow(core, renamed)


@pytest.mark.parametrize("usages", [None, {}], ids=["", "usages"])
def test_rename_beside_dependencies_keeps_all_objects(usages: Object | None) -> None:
    fields = {} if usages is None else {"usages": usages}
    user = Thing("second", "user", depends_on="a")
    core = start(A, user, **fields)
    names = set(core.resources)
    assert len(names) == 2 + (usages is not None)
    both = (Thing("first", "net", "a"), Thing("second", "client", "user", depends_on="net"))
    follow(core, *both, **fields)
    follow(core, *both, **fields)
    follow(core, *(each._replace(moved_from="") for each in both), **fields)
    follow(core, A, user, **fields)
    assert set(core.resources) == names


def test_rename_while_a_dependency_is_unready_keeps_all_objects() -> None:
    core = start(A, Thing("second", "user", depends_on="a"))
    cast("Object", core.resources["a"]["resource"])["status"] = {
        "conditions": [{"type": "Ready", "status": "False"}]
    }
    before = identities(core)
    core.pipeline = [
        release(Thing("first", "net", "a"), Thing("second", "client", "user", depends_on="net"))
    ]
    settle(core, are_ready=False)
    assert not core.deleted
    assert identities(core) == before


@pytest.mark.parametrize("on_existing", ["Fatal", "Keep"])
def test_rename_beside_deferral_keeps_all_objects(on_existing: str) -> None:
    fields: dict[str, object] = {"missing": "Defer", "onExisting": on_existing}
    core = start(A, Thing("second", "user", waits_for="a"), **fields)
    follow(
        core,
        Thing("first", "net", "a"),
        Thing("second", "client", "user", waits_for="net"),
        **fields,
    )
    # The value is missing again.
    cast("Object", core.resources["a"]["resource"]).pop("status")
    before = identities(core)
    core.run(30.0)
    assert not core.deleted
    assert identities(core) == before
    core.pipeline = [
        release(
            Thing("first", "web", "net"),
            Thing("second", "browser", "client", waits_for="web"),
            **fields,
        )
    ]
    core.run(30.0)
    assert not core.deleted
    assert identities(core) == before
    settle(core)
    assert not is_refused(core)
    assert identities(core) == before


def test_resource_that_moves_to_another_step_keeps_its_object() -> None:
    core = Core(pipeline=[release(A), release(B)])
    settle(core)
    before = identities(core)
    for moved_from in ("a", ""):
        core.pipeline = [release(), release(B, Thing("first", "x", moved_from))]
        settle(core)
        assert not is_refused(core)
        assert not core.deleted
        assert identities(core) == before
    core.pipeline = [release(Thing("first", "a")), release(B)]
    settle(core)
    assert not core.deleted
    assert identities(core) == before


@pytest.mark.parametrize("seed", range(12 * max(1, SEARCH_FACTOR)))
def test_sequence_of_releases_deletes_nothing(seed: int) -> None:
    """Names of few resources change at random, with the last name, all names or none stated."""
    choose = random.Random(seed)  # a repeatable choice  # noqa: S311 # a repeatable choice
    names = ["a", "b", "c", "d", "e"]
    things = ["first", "second", "third"]
    current = dict(zip(things, names, strict=False))
    history = {identity: [name] for identity, name in current.items()}
    core = start(*(Thing(identity, name) for identity, name in current.items()))
    before = identities(core)
    for _ in range(6):
        targets = dict(zip(things, choose.sample(names, 3), strict=True))
        if choose.random() < 0.5:
            identity = choose.choice(things)
            targets = {**current, identity: targets[identity]}
        if len(set(targets.values())) < len(things):
            continue
        is_whole_history = choose.random() < 0.5
        release_things = []
        for identity, name in targets.items():
            olds = [old for old in history[identity] if old != name]
            last = [current[identity]] if current[identity] != name else []
            moved_from = ", ".join(olds if is_whole_history else last)
            release_things.append(Thing(identity, name, moved_from))
        core.pipeline = [release(*release_things)]
        core.run(40.0)
        make_ready(core)
        core.run(40.0)
        assert not core.deleted
        assert identities(core) == before
        assert len(core.created) == len(things)
        if is_refused(core):
            continue
        current = targets
        for identity, name in targets.items():
            history[identity].append(name)
