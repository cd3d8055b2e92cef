"""Plans of changed Compositions over dumps of a cluster."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from textwrap import dedent

import jsonschema
import pytest
from e2e.remote_sources import needs_git
from support.function_servers import serving
from support.paths import ROOT
from support.plans import (
    COMPOSITION,
    CROSSPLANE,
    DETAILS,
    OUTER,
    SIZE,
    XRD,
    buckets,
    change,
    crd,
    managed,
    nested,
    plan,
    xr,
)

from function_script import cli
from function_script.cli import exit_codes
from function_script.documents import to_yaml_stream
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.values import Object


@pytest.mark.usefixtures("project")
def test_same_compositions_change_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ("--fail-on", "change", "--fail-on", "unknown")
    assert plan(capsys, xr(), *buckets(), flags=flags) == (
        "Plan: 0 to add, 0 to change, 0 to destroy.\n1 XR looked at.\n"
    )


def test_change_is_reported_once_for_all_xrs(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At the line that writes the value after the change."""
    change(project, ("size: 1", "size: 2"))
    text = plan(capsys, xr(), *buckets(), xr("other", 1), *buckets("other", 1))
    assert (
        "change: 3 objects of 2 XRs: spec.size: 1 becomes 2\n  --> new/composition.yaml:24:" in text
    )
    assert text.count("spec.size") == 1
    assert 'Bucket "other-0" of XBucket/other' in text
    assert "Plan: 0 to add, 3 to change, 0 to destroy." in text


def test_resource_that_is_composed_no_longer_is_destroyed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Deletions come first, at the line that composed it."""
    change(project, ("range(spec.count)", "range(spec.count - 1)"), ("size: 1", "size: 2"))
    flags = ("--fail-on", "destroy")
    text = plan(capsys, xr(), *buckets(), flags=flags, code=exit_codes.REPORTED)
    assert text.startswith(
        'destroy: 1 object of 1 XR: Bucket "demo-1"\n  --> old/composition.yaml:17:'
    )
    assert "Plan: 0 to add, 1 to change, 1 to destroy." in text


def test_resource_under_a_new_name_is_destroyed_and_added(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(project, ("resource-name: bucket-", "resource-name: store-"))
    text = plan(capsys, xr(), *buckets())
    assert "Plan: 2 to add, 0 to change, 2 to destroy." in text
    # The API server generates the name.
    assert "add: 2 objects of 1 XR: Bucket ?\n" in text


def test_name_of_the_program_is_the_name_of_a_new_object(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(
        project,
        (
            "metadata:\n          annotations",
            "metadata:\n          name: b-{{ i }}\n          annotations",
        ),
        ("resource-name: bucket-", "resource-name: store-"),
    )
    assert 'add: 2 objects of 1 XR: Bucket "b-0"' in plan(capsys, xr(), *buckets())


def test_other_kind_under_the_same_name_leaves_the_object_behind(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(project, ("kind: Bucket", "kind: Store"))
    text = plan(capsys, xr(), *buckets())
    assert 'add: 2 objects of 1 XR: Store "demo-0", and Bucket "demo-0" stays behind' in text
    assert "Plan: 2 to add, 0 to change, 0 to destroy." in text


def test_moved_resource_keeps_its_object(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(
        project,
        ("size: 1", "size: 2"),
        (
            "resource-name: bucket-{{ i }}",
            (
                "resource-name: store-{{ i }}\n            "
                "script.fn.crossplane.io/moved-from: bucket-{{ i }}"
            ),
        ),
    )
    text = plan(capsys, xr(), *buckets())
    assert "Plan: 0 to add, 2 to change, 0 to destroy." in text
    assert '"bucket-0" becomes "store-0", the object stays' in text
    assert "spec.size: 1 becomes 2" in text


def test_program_that_fails_after_the_change_is_no_change(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(project, ("spec.region", "spec.regoin"))
    flags = ("--fail-on", "invalid")
    text = plan(capsys, xr(), *buckets(), flags=flags, code=exit_codes.REPORTED)
    assert text.startswith("fails after the change: cannot render template: ")
    assert "  = XBucket/demo" in text


OWNERS = [
    pytest.param([(CROSSPLANE, SIZE)], [], "spec.size: 1 becomes ?", id="without a CRD"),
    pytest.param([(CROSSPLANE, SIZE)], [crd()], "spec.size: 1 becomes absent", id="alone"),
    pytest.param([(CROSSPLANE, SIZE)], [crd(default=3)], "spec.size: 1 becomes 3", id="default"),
    pytest.param([(CROSSPLANE, SIZE)], [crd(default=1)], "0 to change", id="same default"),
    pytest.param([(CROSSPLANE, SIZE), ("kubectl", SIZE)], [], "0 to change", id="another too"),
    pytest.param([("kubectl", SIZE)], [], "no managedFields that say whose it is", id="unknown"),
    pytest.param([], [crd()], "no managedFields that say whose it is", id="no managedFields"),
]


@pytest.mark.parametrize(("owners", "definitions", "text"), OWNERS)
def test_field_that_is_desired_no_longer_goes_if_nobody_else_has_it(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    owners: list[tuple[str, dict[str, object]]],
    definitions: list[Object],
    text: str,
) -> None:
    change(project, ("  size: 1", "  # no size"))
    assert text in plan(capsys, xr(count=1), *managed(*owners), *definitions)


RULES = [
    pytest.param("self == oldSelf", "", "refused by the API server: Bucket: spec.size:", id="same"),
    pytest.param("self >= oldSelf", "", "1 XR looked at.", id="holds"),
    pytest.param("oldSelf == size", "", "a rule of Bucket was not evaluated", id="no rule"),
    pytest.param("self == oldSelf", "size: 1", "1 XR looked at.", id="no change"),
]


@pytest.mark.parametrize(("rule", "size", "text"), RULES)
def test_change_that_a_rule_refuses_is_invalid(
    project: Path, capsys: pytest.CaptureFixture[str], rule: str, size: str, text: str
) -> None:
    change(project, ("size: 1", size or "size: 2"), ("{{ spec.region }}", "us"))
    definition = crd(**{"x-kubernetes-validations": [{"rule": rule}]})
    printed = plan(capsys, xr(count=1), *managed((CROSSPLANE, SIZE)), definition)
    assert text in printed
    if "not evaluated" not in text:
        assert "1 to change" in printed


def test_json_is_what_its_schema_says(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With each verb and an uncertain value; a field that the schema lacks is refused."""
    schema = json.loads((ROOT / "docs/reference/plan.schema.json").read_text())
    edits = (("  size: 1", "  # no size"), ("resource-name: bucket-", "resource-name: store-"))
    live = managed((CROSSPLANE, SIZE))
    reports = []
    for each in edits:
        change(project, each)
        reports.append(json.loads(plan(capsys, xr(count=1), *live, flags=("-o", "json"))))
    for report in reports:
        jsonschema.validate(report, schema)
    rows = [row for report in reports for each in report["xrs"] for row in each["changes"]]
    assert {(row["verb"], row["certain"]) for row in rows} >= {
        ("change", False),
        ("add", True),
        ("destroy", True),
    }
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**reports[0], "more": 1}, schema)


def test_value_that_an_object_has_already_is_no_change(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such as a default, which becomes a value of the program's."""
    change(project, ("size: 1", "size: 1\n          class: fast"))
    live = managed((CROSSPLANE, SIZE), **{"class": "fast"})
    text = plan(capsys, xr(count=1), *live)
    assert text == "Plan: 0 to add, 0 to change, 0 to destroy.\n1 XR looked at.\n"


def test_map_is_printed_by_its_keys(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In every process: protobuf has them in an order of its own in each."""
    change(project, ("size: 1", "tags: {f: 1, c: 1, e: 1, a: 1, d: 1, b: 1}"))
    text = plan(capsys, xr(count=1), *managed((CROSSPLANE, SIZE)))
    assert 'spec.tags: absent becomes {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}\n' in text


DRIFTS = [
    pytest.param(SIZE, {"size": 5}, "spec.size", id="other value"),
    pytest.param({"f:region": {}}, {}, "spec.size", id="not applied"),
    pytest.param({**SIZE, "f:class": {}}, {"class": "fast"}, "spec.class", id="more applied"),
]


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
@pytest.mark.parametrize(("fields", "spec", "path"), DRIFTS)
@pytest.mark.usefixtures("project")
def test_object_that_is_not_what_is_desired_before_is_drift(
    capsys: pytest.CaptureFixture[str],
    fields: dict[str, object],
    spec: dict[str, object],
    path: str,
    form: str,
) -> None:
    """Counted and named."""
    live = managed((CROSSPLANE, fields), **spec)
    text = plan(capsys, xr(count=1), *live, flags=("-o", form))
    assert "1 with drift" in text
    assert f"{path} of Bucket" in text
    assert "XBucket/demo" in text


def test_step_that_does_not_change_is_called_once(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A function whose answers differ is no change of its own."""
    numbers = itertools.count()

    def answer(request: pb.RunFunctionRequest, _: object) -> pb.RunFunctionResponse:
        response = pb.RunFunctionResponse(desired=request.desired)
        response.desired.composite.resource.update({"status": {"call": next(numbers)}})
        return response

    step = "  - {step: first, functionRef: {name: other}}\n  - step: render\n"
    before = COMPOSITION.replace("  - step: render\n", step)
    (project / "old" / "composition.yaml").write_text(before)
    change(project, ("  - step: render\n", step), ("size: 1", "size: 2"))
    with serving(answer) as address:
        text = plan(capsys, xr(), *buckets(), flags=("--function", f"other={address}"))
    assert "spec.size: 1 becomes 2" in text
    assert "status.call" not in text
    assert next(numbers) == 1


REQUIRED = """\
    requirements:
      requiredResources:
      - {requirementName: all, apiVersion: v1, kind: ConfigMap}
"""


def unknown_cases() -> list[object]:
    """Dumps, and Compositions, that leave a question open."""
    hidden = buckets()
    secretive = buckets()
    secretive[0]["spec"] = {**DETAILS, "region": "eu", "size": 1}
    unnamed = buckets()
    unnamed[0]["metadata"] = {"name": "demo-0", "uid": "x"}
    again = json.loads(json.dumps(xr(count=3)).replace('"count": 3', '"count": 2'))
    without = xr()
    assert isinstance(without["spec"], dict)
    without["spec"] = {"count": 2, "region": "eu"}
    return [
        pytest.param([xr(), hidden[0]], (), 'the dump lacks Bucket "demo-1"', id="composed object"),
        pytest.param([xr(), *unnamed], (), "has no annotation", id="resource name"),
        pytest.param(
            [again, *buckets(count=3)],
            (("range(spec.count)", "range(3)"),),
            'Bucket "demo-2" is there, and desired only from now on',
            id="composed again",
        ),
        pytest.param([without], (), "it has no compositionRef", id="Composition"),
        pytest.param(
            [{**xr(), "apiVersion": "example.org/v2"}, *buckets()],
            (),
            "the dump has it as example.org/v2",
            id="version",
        ),
        pytest.param(
            [xr(), *buckets()],
            (("    input:\n", f"{REQUIRED}    input:\n"),),
            "a step requires ConfigMap objects, and the dump has none",
            id="required objects",
        ),
        pytest.param(
            [xr(), *secretive],
            (("size: 1", "size: {{ observed.resources['bucket-0'].connectionDetails | length }}"),),
            'the dump lacks Secret "password" with connection details',
            id="connection details",
        ),
        pytest.param(
            [xr(), *buckets()],
            (("  - step: render", "  - {step: a, functionRef: {name: b}}\n  - step: render"),),
            "it cannot be rendered",
            id="function",
        ),
    ]


@pytest.mark.parametrize(("manifests", "edits", "reason"), unknown_cases())
def test_xr_whose_change_cannot_be_known_is_unknown(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    manifests: list[Object],
    edits: tuple[tuple[str, str], ...],
    reason: str,
) -> None:
    change(project, *edits)
    flags = ("--fail-on", "unknown")
    text = plan(capsys, *manifests, flags=flags, code=exit_codes.REPORTED)
    assert text.startswith("unknown: ")
    assert reason in text
    assert "1 XR looked at, 1 unknown." in text


LACKS = [
    pytest.param([XRD, xr()], (), 'the dump lacks Composition "buckets"', id="Composition"),
    pytest.param(
        [XRD, xr(compositionRevisionRef={"name": "buckets-7"})],
        (),
        'the dump lacks CompositionRevision "buckets-7"',
        id="revision",
    ),
    pytest.param([xr()], ("--before", "old"), "the dump lacks its XRD", id="XRD"),
    pytest.param(
        [XRD, xr()],
        ("--before", "old", "--function", "other=skip"),
        'step "other" was left out',
        id="step",
    ),
]


@pytest.mark.parametrize(("manifests", "flags", "reason"), LACKS)
def test_xr_of_which_something_is_not_at_hand_is_unknown(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    manifests: list[Object],
    flags: tuple[str, ...],
    reason: str,
) -> None:
    step = "  - {step: other, functionRef: {name: other}}\n  - step: render"
    change(project, *[("  - step: render", step)] * ("other=skip" in flags))
    Path("dump.yaml").write_text(to_yaml_stream([*manifests, *buckets()]))
    args = ["plan", "new", "--cluster", "dump.yaml", *flags, "--fail-on", "unknown"]
    assert cli.execute(args) == exit_codes.REPORTED
    text = capsys.readouterr().out
    assert text.startswith(f"unknown: {reason}")
    assert "1 XR looked at, 1 unknown." in text


HELD = [
    pytest.param({"compositionUpdatePolicy": "Manual"}, "Manual", id="policy"),
    pytest.param(
        {"compositionRevisionSelector": {"matchLabels": {"channel": "stable"}}},
        "compositionRevisionSelector",
        id="selector",
    ),
]


@pytest.mark.parametrize(("crossplane", "reason"), HELD)
def test_xr_that_does_not_follow_stays(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    crossplane: dict[str, object],
    reason: str,
) -> None:
    change(project, ("size: 1", "size: 2"))
    text = plan(capsys, xr(**crossplane), *buckets())
    assert text.startswith("does not follow the change: ")
    assert reason in text
    assert "Plan: 0 to add, 0 to change, 0 to destroy." in text


def test_compositions_of_the_dump_are_those_before(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The revision that the XR has counts more than the Composition."""
    change(project, ("size: 1", "size: 3"))
    (project / "dump").mkdir()
    revision = COMPOSITION.replace("kind: Composition\n", "kind: CompositionRevision\n")
    revision = revision.replace("name: buckets", "name: buckets-1").replace("size: 1", "size: 2")
    live = xr(compositionRevisionRef={"name": "buckets-1"})
    (project / "dump" / "a.yaml").write_text(to_yaml_stream([XRD, live]))
    (project / "dump" / "b.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": buckets()})
    )
    (project / "dump" / "c.yml").write_text(f"\N{ZERO WIDTH NO-BREAK SPACE}{revision}")
    assert cli.execute(["plan", "new", "--cluster", "dump"]) == 0
    assert "spec.size: 2 becomes 3" in capsys.readouterr().out


def test_new_xrd_is_compared_with_every_xr(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.dumps(XRD).replace('"integer"', '"integer", "maximum": 1')
    (project / "new" / "xrd.yaml").write_text(text)
    report = json.loads(plan(capsys, xr(), *buckets(), flags=("-o", "json")))
    (row,) = report["xrs"]
    assert row["verdict"] == "invalid"
    assert "count" in row["reason"]


def test_objects_of_a_new_xr_are_unknown(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "old" / "outer.yaml").write_text(OUTER)
    more = OUTER[OUTER.index("        apiVersion: example.org") :].replace(
        "name: inner", "name: more"
    )
    (project / "new" / "outer.yaml").write_text(f"{OUTER}        ---\n{more}")
    text = plan(capsys, *nested(), flags=("--fail-on", "unknown"), code=exit_codes.REPORTED)
    assert "Plan: 1 to add, 0 to change, 0 to destroy." in text
    assert "unknown: it is a new XR: what it composes is not planned" in text


@pytest.mark.parametrize(
    ("edit", "totals"),
    [
        pytest.param(
            ("region: eu", "region: us"), "0 to add, 3 to change, 0 to destroy", id="its spec"
        ),
        pytest.param(("count: 2", "count: 1"), "0 to add, 1 to change, 1 to destroy", id="less"),
        pytest.param(
            ("        apiVersion: example.org/v1\n", "        # none\n        apiVersion: v1\n"),
            "1 to add, 0 to change, 0 to destroy",
            id="another kind, which leaves the XR behind",
        ),
        pytest.param(
            ("resource-name: inner", "resource-name: other"),
            "1 to add, 0 to change, 3 to destroy",
            id="the XR",
        ),
    ],
)
def test_change_of_an_outer_xr_reaches_the_objects_of_inner_ones(
    project: Path, capsys: pytest.CaptureFixture[str], edit: tuple[str, str], totals: str
) -> None:
    (project / "old" / "outer.yaml").write_text(OUTER)
    (project / "new" / "outer.yaml").write_text(OUTER.replace(*edit))
    assert totals in plan(capsys, *nested())


def test_data_of_a_secret_is_not_printed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("old", "Y2FuYXJ5LTE="), ("new", "Y2FuYXJ5LTI=")):
        composition = COMPOSITION.replace("s3.example.org/v1", "v1").replace("Bucket\n", "Secret\n")
        composition = composition.replace("  size: 1", f"  size: 1\n        data: {{a: {text}}}")
        composition = composition.replace("kind: XSecret", "kind: XBucket")
        (project / name / "composition.yaml").write_text(composition)
    live = xr()
    text = json.dumps([live, *buckets()]).replace("s3.example.org/v1", "v1")
    objects = json.loads(text.replace('"Bucket"', '"Secret"'))
    for each in objects[1:]:
        each["data"] = {"a": "Y2FuYXJ5LTE="}
    for form in ("text", "json", "markdown"):
        printed = plan(capsys, *objects, flags=("-o", form))
        assert "data.a" in printed or '"data"' in printed
        # The frame shows the line of the program.
        assert "Y2FuYXJ5" not in printed.replace("data: {a: Y2FuYXJ5LTI=}", "")


def test_name_in_a_dump_has_no_meaning_in_markdown(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever names an object must not write into a pull request."""
    change(project, ("size: 1", "size: 2"))
    objects = buckets()
    metadata = objects[0]["metadata"]
    assert isinstance(metadata, dict)
    metadata["labels"] = {"a": "b"}
    evil = "x` <b>@everyone</b>\n# Title"
    live = xr()
    live["metadata"] = {"name": "demo", "namespace": evil, "uid": "uid-demo"}
    text = plan(capsys, live, *objects, flags=("-o", "markdown"))
    lines = [line for line in text.splitlines() if "everyone" in line]
    assert lines
    assert all(line.count("`") % 2 == 0 and "`` <b>" not in line for line in lines)
    assert not any(line.startswith("# ") for line in text.splitlines())


@needs_git
def test_revision_of_git_has_the_compositions_before(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the positions there of what is destroyed."""
    subprocess.run(["git", "init", "--quiet"], check=True)
    subprocess.run(["git", "add", "new"], check=True)
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, "commit", "--quiet", "--message=one"], check=True)
    change(project, ("range(spec.count)", "range(1)"))
    text = plan(capsys, xr(), *buckets(), flags=("--before", "HEAD"))
    assert 'destroy: 1 object of 1 XR: Bucket "demo-1"\n  --> HEAD:new/composition.yaml:17:' in text
    plan(capsys, xr(), *buckets(), flags=("--before", "mian"), code=exit_codes.PROBLEM)


def test_programs_in_files_are_those_of_each_side(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head, program = COMPOSITION.split("      inline: |\n")
    for name, size in (("old", 1), ("new", 2)):
        directory = project / name / "programs/buckets"
        directory.mkdir(parents=True)
        (directory / "main.j2").write_text(dedent(program).replace("size: 1", f"size: {size}"))
        (project / name / "composition.yaml").write_text(
            f"{head}      source: FileSystem\n      fileSystem: {{dirPath: buckets}}\n"
        )
    text = plan(capsys, xr(), *buckets())
    assert "2 objects of 1 XR: spec.size: 1 becomes 2\n  --> new/programs/buckets/main.j2:" in text
    secretive = buckets()
    secretive[0]["spec"] = {**DETAILS, "region": "eu", "size": 1}
    # Nothing of a Composition says what such a program reads.
    assert 'the dump lacks Secret "password"' in plan(capsys, xr(), *secretive)


BROKEN = [
    pytest.param("", "the dump has no objects", id="empty"),
    pytest.param('{"apiVersion": "v1", "kind"', "it is not JSON", id="truncated"),
    pytest.param("a: 1\n", "a value that is no object", id="other"),
    pytest.param("kind: Pod\napiVersion: v1\nmetadata: {}\n", "no metadata.name", id="no name"),
    pytest.param(
        "kind: Pod\napiVersion: v1\nmetadata: {name: a, uid: b}\n---\n"
        "kind: Pod\napiVersion: v1\nmetadata: {name: a, uid: c}\n",
        "several clusters",
        id="two clusters",
    ),
]


@pytest.mark.parametrize(("text", "message"), BROKEN)
@pytest.mark.usefixtures("project")
def test_broken_dump_is_an_error(
    capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    Path("dump.yaml").write_text(text)
    assert cli.execute(["plan", "new", "--cluster", "dump.yaml"]) == exit_codes.PROBLEM
    assert message in capsys.readouterr().err


def test_moved_object_that_is_composed_no_longer_is_destroyed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Crossplane has it by its former name."""
    moved = ("resource-name: bucket-{{ i }}", "resource-name: store-{{ i }}")
    old = COMPOSITION.replace(*moved)
    (project / "old" / "composition.yaml").write_text(old)
    change(project, moved, ("range(spec.count)", "range(1)"))
    live = buckets()
    for number, each in enumerate(live):
        metadata = each["metadata"]
        assert isinstance(metadata, dict)
        annotations = metadata["annotations"]
        assert isinstance(annotations, dict)
        annotations["script.fn.crossplane.io/moved-to"] = f"store-{number}"
    text = plan(capsys, xr(), *live)
    assert text.startswith('destroy: 1 object of 1 XR: Bucket "demo-1"\n')
    assert "Plan: 0 to add, 0 to change, 1 to destroy." in text


def test_object_under_another_resource_name_is_destroyed_first(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if the program gives it the same name."""
    named = ("          annotations", "          name: demo-{{ i }}\n          annotations")
    change(project, named, ("resource-name: bucket-", "resource-name: store-"))
    assert "Plan: 2 to add, 0 to change, 2 to destroy." in plan(capsys, xr(), *buckets())


def test_progress_is_on_a_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    Path("dump.yaml").write_text(to_yaml_stream([XRD, xr(), *buckets()]))
    args = ["plan", str(project / "new"), "--cluster", "dump.yaml", "--before", "old"]
    assert cli.execute(args) == 0
    assert not capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert cli.execute(args) == 0
    assert "planning   0 %" in capsys.readouterr().err


def test_interrupt_leaves_no_process(project: Path) -> None:
    """While the dump is read, when the sandbox has started."""
    pipe = project / "dump.json"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "function_script", "plan", "new", "--cluster", str(pipe)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    descriptor = None
    while descriptor is None and process.poll() is None:
        # There is no reader yet.
        with suppress(OSError):
            descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.02)
    assert descriptor is not None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    os.close(descriptor)
    assert process.returncode == exit_codes.INTERRUPTED
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.parametrize("is_planned", [True, False])
def test_values_below_an_xr_with_a_secret_are_not_printed(
    project: Path, capsys: pytest.CaptureFixture[str], is_planned: bool
) -> None:
    """The outer XR may have written them into the inner one, also if it does not change itself."""
    for name in ("old", "new") if is_planned else ():
        (project / name / "outer.yaml").write_text(OUTER)
    change(project, ("{{ spec.region }}", "x-{{ spec.region }}"))
    definition, outer, inner, *others = json.loads(json.dumps(nested()).replace("eu", "canary"))
    outer["spec"]["writeConnectionSecretToRef"] = {"name": "a", "namespace": "b"}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "b"}}
    text = plan(capsys, definition, outer, inner, *others, secret)
    assert '2 objects of 1 XR: spec.region: "(hidden)" becomes "(hidden)"' in text
    assert "canary" not in text


@pytest.mark.parametrize("name", ["dump.yaml", "cluster/dump.yaml"])
def test_dump_beside_the_compositions_is_none_of_them(
    project: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """As in a project of `init`, whose CI job plans all of it."""
    change(project, ("size: 1", "size: 2"))
    file = project / "new" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{to_yaml_stream([XRD, xr(), *buckets()])}---\n{COMPOSITION}")
    cluster = project / "new" / Path(name).parts[0]
    assert cli.execute(["plan", "new", "--cluster", str(cluster)]) == 0
    assert "spec.size: 1 becomes 2" in capsys.readouterr().out
