"""Plans of random edits against what the model of Crossplane's reconcile does after them."""

import copy
import random
from pathlib import Path
from typing import cast

import yaml
from support import one_step
from support.builders import jinja
from support.core_model import Core
from support.plans import applied, list_fields

from function_script.documents import to_yaml_stream
from function_script.request.objects import compare_values
from function_script.request.values import Object
from function_script.sandbox.pool import Pool
from function_script.tools.plan.dump import Dump
from function_script.tools.plan.planning import Planner
from function_script.tools.plan.sides import load
from function_script.tools.plan.xr_plans import XrPlan
from function_script.tools.project import Project
from function_script.tools.render import renderer
from function_script.tools.render.sides import Sides

EDITS = 60
SEED = 31
MANAGER = "apiextensions.crossplane.io/composed/model"
XRD: Object = yaml.safe_load(
    one_step.xrd("spec: {type: object, properties: {count: {type: integer}, size: {type: string}}}")
)
VALUES: list[object] = [1, True, "text", "{{ spec.size }}", "{{ spec.count + 1 }}", [1, 2], [3]]
KEYS = ["a", "b", "c"]

Program = dict[str, dict[str, object]]
"""The spec of each resource by its name."""


def fields(draw: random.Random) -> dict[str, object]:
    """A random spec."""
    spec: dict[str, object] = {key: draw.choice(VALUES) for key in draw.sample(KEYS, 2)}
    spec["below"] = {key: draw.choice(VALUES) for key in draw.sample(KEYS, draw.randint(1, 3))}
    return spec


def edit(program: Program, draw: random.Random) -> None:
    """Change one thing of a program."""
    kind = draw.choice(["add", "remove", "rename", "set", "set", "drop", "drop"])
    name = draw.choice(sorted(program))
    below = cast("dict[str, object]", program[name].setdefault("below", {}))
    target = draw.choice([program[name], below])
    if kind == "add":
        program[f"new-{draw.randint(0, 9)}"] = fields(draw)
    elif kind == "remove" and len(program) > 1:
        del program[name]
    elif kind == "rename":
        program[f"renamed-{draw.randint(0, 9)}"] = program.pop(name)
    elif kind == "set":
        target[draw.choice(KEYS)] = draw.choice(VALUES)
    elif kind == "drop" and target:
        del target[draw.choice(sorted(target))]


def to_text(program: Program) -> str:
    """Return the template."""
    head: Object = {"apiVersion": "example.org/v1", "kind": "Thing"}
    key = "script.fn.crossplane.io/composition-resource-name"
    return to_yaml_stream(
        {**head, "metadata": {"annotations": {key: name}}, "spec": spec}
        for name, spec in program.items()
    )


def composition(text: str) -> Object:
    """Return a Composition of one step."""
    value: Object = yaml.safe_load(one_step.composition("JinjaTemplate", text))
    return value


def live(core: Core) -> dict[str, Object]:
    """Return the composed objects by their names."""
    manifests = [
        cast("Object", copy.deepcopy(cast("Object", each)["resource"]))
        for each in core.resources.values()
    ]
    return {str(cast("Object", each["metadata"])["name"]): each for each in manifests}


def dump_of(core: Core, text: str) -> Dump:
    """Return the cluster of the model."""
    xr = copy.deepcopy(core.xr)
    things = [*live(core).values()]
    for each in things:
        fields = list_fields({"spec": each["spec"]})
        metadata = cast("Object", each["metadata"])
        entry = applied(MANAGER, fields, "example.org/v1")
        metadata |= {"namespace": "here", "managedFields": [entry]}
    head: Object = {"apiVersion": "example.org/v1", "kind": "Thing"}
    references = [{**head, "name": each["metadata"]["name"]} for each in things]
    spec = cast("Object", xr["spec"])
    spec["crossplane"] = {"compositionRef": {"name": "things"}, "resourceRefs": references}
    return Dump(("", each) for each in [XRD, composition(text), xr, *things])


def compare(plan: XrPlan, before: dict[str, Object], core: Core) -> tuple[int, int]:
    """Check a plan against the settled model; return announced changes, and those of no effect."""
    after = live(core)
    destroyed = {each.object for each in plan.changes if each.verb == "destroy"}
    added = [each for each in plan.changes if each.verb == "add"]
    announced = {
        (f"demo-{each.resource}", each.path): each.is_certain
        for each in plan.changes
        if each.verb == "change"
    }
    happened = {
        (name, path)
        for name in before.keys() & after.keys()
        for path, _, _ in compare_values(before[name]["spec"], after[name]["spec"], ("spec",))
    }
    assert {f'Thing "{name}"' for name in before.keys() - after.keys()} <= destroyed, plan
    assert happened <= announced.keys(), plan
    assert len(after.keys() - before.keys()) <= len(added), plan
    idle = len(destroyed) - len(before.keys() - after.keys()) + len(announced) - len(happened)
    return len(plan.changes), idle + len(added) - len(after.keys() - before.keys())


def test_random_edits_do_what_their_plans_say(tmp_path: Path, pool: Pool) -> None:
    """No object goes that no plan names, and each changed field is named."""
    draw = random.Random(SEED)  # noqa: S311 - no secret
    announced = idle = 0
    file = tmp_path / "composition.yaml"
    for _ in range(EDITS):
        program = {f"thing-{number}": fields(draw) for number in range(3)}
        old = to_text(program)
        for _ in range(draw.randint(1, 3)):
            edit(program, draw)
        new = to_text(program)
        core = Core(pipeline=[jinja(old)])
        core.run(10)
        file.write_text(to_yaml_stream([composition(new)]))
        project = Project.of([tmp_path], allowed=None)
        dump = dump_of(core, old)
        sides = Sides(pool, project, renderer.Options(), [])
        (plan,) = Planner(dump, sides, load(tmp_path, project, sides, dump)).plan()
        assert plan.verdict in {"planned", "unchanged"}, plan
        assert not plan.drift
        before = live(core)
        core.pipeline = [jinja(new)]
        core.run(10)
        numbers = compare(plan, before, core)
        announced += numbers[0]
        idle += numbers[1]
    assert announced > EDITS
    assert idle <= announced / 100
