"""Plans of what later reconciles do, when all is ready that is composed."""

import itertools
import json
from pathlib import Path

import pytest
from support.function_servers import serving
from support.plans import COMPOSITION, buckets, change, plan, xr

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object

HEAD = COMPOSITION[: COMPOSITION.index("        {% for")]
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

STAGES = [
    pytest.param(
        NEW + UNLESS.replace("BODY", OLD), ["add new", "destroy bucket-0 later"], id="destroy"
    ),
    pytest.param(
        OLD + NEW + LATER.replace("BODY", LAST),
        ["add last later", "add new"],
        id="add",
    ),
    pytest.param(
        NEW
        + LATER.replace("BODY", OLD.replace("size: 1", "size: 2"))
        + UNLESS.replace("BODY", OLD),
        ["add new", "change bucket-0 later"],
        id="change",
    ),
    pytest.param(OLD, [], id="nothing"),
    pytest.param(NEW, ["add new", "destroy bucket-0"], id="one reconcile"),
]


def render(project: Path, old: str, new: str) -> None:
    """Write both Compositions."""
    for name, text in (("old", old), ("new", new)):
        (project / name / "composition.yaml").write_text(HEAD + text)


@pytest.mark.parametrize(("program", "expected"), STAGES)
def test_later_reconciles_are_announced(
    project: Path, capsys: pytest.CaptureFixture[str], program: str, expected: list[str]
) -> None:
    """Without the flag, those changes alone that the next reconcile makes."""
    render(project, OLD, program)
    manifests: list[Object] = [xr(count=1), *buckets(count=1)]
    for flags, wanted in (
        (("--until-ready",), expected),
        ((), [each for each in expected if not each.endswith(" later")]),
    ):
        report = json.loads(plan(capsys, *manifests, flags=(*flags, "-o", "json")))
        (row,) = report["xrs"]
        changes = [
            f"{each['verb']} {each['resource']}{' later' if each['later'] else ''}"
            for each in row["changes"]
            if each["resource"] is not None
        ]
        assert sorted(changes) == wanted


def test_resource_that_waits_before_the_change_is_no_change(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = LATER.replace("'new'", "'bucket-0'").replace("BODY", LAST)
    render(project, OLD + waiting, OLD.replace("size: 1", "size: 2") + waiting)
    text = plan(capsys, xr(count=1), *buckets(count=1), flags=("--until-ready",))
    assert "Plan: 0 to add, 1 to change, 0 to destroy." in text


def test_later_change_is_told_apart(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    render(project, OLD, NEW + UNLESS.replace("BODY", OLD))
    text = plan(capsys, xr(count=1), *buckets(count=1), flags=("--until-ready",))
    assert 'destroy: 1 object of 1 XR, later: Bucket "demo-0"\n' in text


ENDLESS = [
    pytest.param(
        BUCKET.format(name="{{ 'b' if 'a' in observed.resources else 'a' }}", size=1),
        "unknown: it does not settle within 10 reconciles",
        id="no end",
    ),
    pytest.param(
        OLD + NEW + LATER.replace("BODY", "        {{ fail('no') }}\n"),
        "fails after the change: ",
        id="failure",
    ),
]


@pytest.mark.parametrize(("program", "text"), ENDLESS)
def test_pipeline_that_does_not_settle_has_no_plan(
    project: Path, capsys: pytest.CaptureFixture[str], program: str, text: str
) -> None:
    render(project, OLD, program)
    printed = plan(capsys, xr(count=1), *buckets(count=1), flags=("--until-ready",))
    assert printed.startswith(text)


def test_value_with_a_name_that_is_not_generated_yet_is_not_certain(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A later reconcile writes it into another object."""
    name = "{{ observed.resources.new.resource.metadata.name }}"
    named = OLD.replace("region: eu", f"region: at-{name}")
    render(project, OLD, NEW + LATER.replace("BODY", named) + UNLESS.replace("BODY", OLD))
    text = plan(capsys, xr(count=1), *buckets(count=1), flags=("--until-ready",))
    assert '1 object of 1 XR, later: spec.region: "eu" becomes ?\n' in text


def test_function_with_other_answers_is_no_change_of_a_later_reconcile(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such as one that reads the clock: what it is asked twice, it answers once."""
    numbers = itertools.count()

    def answer(request: pb.RunFunctionRequest, _: object) -> pb.RunFunctionResponse:
        status = request.observed.composite.resource.fields["status"].struct_value
        # From the second number on it settles.
        number = status.fields["call"].number_value or next(numbers)
        response = pb.RunFunctionResponse(desired=request.desired)
        response.desired.composite.resource.update({"status": {"call": number}})
        return response

    step = "  - {step: first, functionRef: {name: other}}\n  - step: render\n"
    change(project, ("  - step: render\n", step), ("size: 1", "size: 1 # GB"))
    text = (project / "new" / "composition.yaml").read_text()
    (project / "old" / "composition.yaml").write_text(text.replace(" # GB", ""))
    with serving(answer) as address:
        flags = ("--until-ready", "--function", f"other={address}")
        printed = plan(capsys, xr(), *buckets(), flags=flags)
    assert "Plan: 0 to add, 0 to change, 0 to destroy." in printed
    assert "1 XR looked at." in printed
