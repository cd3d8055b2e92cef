"""Plans of what later reconciles do, when all is ready that is composed."""

import itertools

import pytest
from support.function_servers import serving
from support.plans import COMPOSITION, HEAD, Plan, buckets, xr

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object

LIVE = [xr(count=1), *buckets(count=1)]
BUCKET = """\
        ---
        apiVersion: s3.example.org/v1
        kind: Bucket
        metadata:
          annotations:
            script.fn.crossplane.io/composition-resource-name: {name}
        spec:
          region: eu
          size: {size}
"""
OLD = BUCKET.format(name="bucket-0", size=1)
LAST = BUCKET.format(name="last", size=1)
NEW = BUCKET.format(name="new", size=1)
LATER = "        {% if is_ready(get_composed_resource('new')) %}\nBODY        {% endif %}\n"
UNLESS = LATER.replace("is_ready", "not is_ready")

DEPLOYMENT = NEW.replace("s3.example.org/v1", "apps/v1").replace("Bucket", "Deployment")

STAGES = {
    "destroy": (NEW + UNLESS.replace("BODY", OLD), ["add new", "destroy bucket-0 later"]),
    "add": (OLD + NEW + LATER.replace("BODY", LAST), ["add last later", "add new"]),
    "change": (
        (
            NEW
            + LATER.replace("BODY", OLD.replace("size: 1", "size: 2"))
            + UNLESS.replace("BODY", OLD)
        ),
        ["add new", "change bucket-0 later"],
    ),
    "by the rule of a kind": (
        OLD + DEPLOYMENT + LATER.replace("is_ready", "not unready_reason").replace("BODY", LAST),
        ["add last later", "add new"],
    ),
    "nothing": (OLD, []),
    "one reconcile": (NEW, ["add new", "destroy bucket-0"]),
}


def plan_stages(plan: Plan, old: str, new: str) -> str:
    """Plan the change of one template to another, as far as it settles."""
    plan.write("composition.yaml", HEAD + old, HEAD + new)
    return plan(*LIVE, flags=("--until-ready",))


@pytest.mark.parametrize(("program", "expected"), STAGES.values(), ids=STAGES)
def test_later_reconciles_are_announced(plan: Plan, program: str, expected: list[str]) -> None:
    """A plan without the flag has those of the next reconcile, and what goes later."""
    plan.write("composition.yaml", HEAD + OLD, HEAD + program)
    at_once = [each for each in expected if "later" not in each or each.startswith("destroy")]
    for flags, announced in ((("--until-ready",), expected), ((), at_once)):
        (row,) = plan.find_rows(*LIVE, flags=flags)
        changes = [
            f"{each['verb']} {each['resource']}{' later' if each['later'] else ''}"
            for each in row["changes"]
            if each["resource"] is not None
        ]
        assert sorted(changes) == announced


def test_resource_that_goes_because_another_one_is_gone_is_announced(plan: Plan) -> None:
    """The next reconcile still has it."""
    other = BUCKET.format(name="bucket-1", size=1)
    waiting = LATER.replace("'new'", "'bucket-0'").replace("BODY", other)
    plan.write("composition.yaml", HEAD + OLD + waiting, HEAD + waiting)
    status: Object = {"conditions": [{"type": "Ready", "status": "True"}]}
    text = plan(xr(), *({**each, "status": status} for each in buckets()))
    assert 'destroy: 1 object of 1 XR: Bucket "demo-0"\n' in text
    assert 'destroy: 1 object of 1 XR, later: Bucket "demo-1"\n' in text
    assert "Plan: 0 to add, 0 to change, 2 to destroy.\n" in text


def test_resource_that_waits_for_an_object_of_another_kind_goes(plan: Plan) -> None:
    """The new object takes the resource name, and has no status yet."""
    field = "get_composed_resource('bucket-0').status.id | default('')"
    waiting = f"        {{% if {field} %}}\n{BUCKET.format(name='bucket-1', size=1)}"
    program = OLD + waiting + "        {% endif %}\n"
    new = OLD.replace("Bucket", "Queue") + program.removeprefix(OLD)
    plan.write("composition.yaml", HEAD + program, HEAD + new)
    text = plan(xr(), *({**each, "status": {"id": "a"}} for each in buckets()))
    assert 'destroy: 1 object of 1 XR, later: Bucket "demo-1"\n' in text


def test_resource_that_goes_between_two_reconciles_is_unknown(plan: Plan) -> None:
    """The last reconcile has it."""
    waiting = LATER.replace("BODY", LAST)
    last = "not get_composed_resource('new') or get_composed_resource('last')"
    between = f"        {{% if {last} %}}\n{OLD}        {{% endif %}}\n"
    reason = 'a reconcile destroys "bucket-0", and another one adds it'
    for program in (NEW + waiting + between, NEW + LATER.replace("BODY", OLD)):
        text = plan_stages(plan, OLD, program)
        assert text.startswith(f"unknown: {reason}\n  = XBucket/demo\n")


def test_resource_that_is_there_between_two_reconciles_is_unknown(plan: Plan) -> None:
    """Neither the XR before nor the last reconcile has it."""
    text = plan_stages(plan, OLD, OLD + NEW + UNLESS.replace("BODY", LAST))
    reason = 'a reconcile destroys "last", and another one adds it'
    assert text.startswith(f"unknown: {reason}\n  = XBucket/demo\n")


def test_resource_that_waits_before_the_change_is_no_change(plan: Plan) -> None:
    waiting = LATER.replace("'new'", "'bucket-0'").replace("BODY", LAST)
    text = plan_stages(plan, OLD + waiting, OLD.replace("size: 1", "size: 2") + waiting)
    assert "Plan: 0 to add, 1 to change, 0 to destroy." in text


# A later reconcile writes a name that is not generated yet into another object.
NAMED = OLD.replace("region: eu", "region: at-{{ observed.resources.new.resource.metadata.name }}")
PRINTED = {
    "destroy": (
        NEW + UNLESS.replace("BODY", OLD),
        'destroy: 1 object of 1 XR, later: Bucket "demo-0"\n',
    ),
    "value that is not certain": (
        NEW + LATER.replace("BODY", NAMED) + UNLESS.replace("BODY", OLD),
        '1 object of 1 XR, later: spec.region: "eu" becomes ?\n',
    ),
    "no end": (
        BUCKET.format(name="{{ 'b' if 'a' in observed.resources else 'a' }}", size=1),
        "unknown: it does not settle within 10 reconciles",
    ),
    "failure": (
        OLD + NEW + LATER.replace("BODY", "        {{ fail('no') }}\n"),
        "fails after the change: ",
    ),
}


@pytest.mark.parametrize(("program", "text"), PRINTED.values(), ids=PRINTED)
def test_later_change_is_told_apart(plan: Plan, program: str, text: str) -> None:
    assert text in plan_stages(plan, OLD, program)


def test_function_with_other_answers_is_no_change_of_a_later_reconcile(plan: Plan) -> None:
    """It may read the clock: what it is asked twice, it answers once."""
    numbers = itertools.count()

    def answer(request: pb.RunFunctionRequest, _: object) -> pb.RunFunctionResponse:
        status = request.observed.composite.resource.fields["status"].struct_value
        # From the second number on it settles.
        number = status.fields["call"].number_value or next(numbers)
        response = pb.RunFunctionResponse(desired=request.desired)
        response.desired.composite.resource.update({"status": {"call": number}})
        return response

    step = "  - {step: first, functionRef: {name: other}}\n  - step: render\n"
    before = COMPOSITION.replace("  - step: render\n", step)
    plan.change(("size: 1", "size: 1 # GB"), before=before)
    with serving(answer) as address:
        flags = ("--until-ready", "--function", f"other={address}")
        printed = plan(xr(), *buckets(), flags=flags)
    assert "Plan: 0 to add, 0 to change, 0 to destroy." in printed
    assert "1 XR looked at." in printed
