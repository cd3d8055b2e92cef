"""Two versions of a project side by side; live XRs and captured requests as further requests."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent

import jsonschema
import pytest
import yaml
from e2e.remote_sources import needs_git
from support import builders, one_step, plans
from support.commands import Run
from support.paths import ROOT

from function_script.cli import exit_codes
from function_script.documents import to_yaml, to_yaml_stream
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request import capture
from function_script.request.values import Object
from function_script.tools import sources
from function_script.tools.project import Project
from function_script.tools.render import messages

COMPOSITION = plans.COMPOSITION
for before, after in (
    ("for i in range(spec.count)", "for name in spec.names"),
    ("bucket-{{ i }}", "{{ name }}"),
    ("          region: {{ spec.region }}\n", ""),
):
    COMPOSITION = COMPOSITION.replace(before, after)
COMPOSITION += "  - step: ready\n    functionRef: {name: function-auto-ready}\n"
HEAD, INLINE, TAIL = re.split(r"(?s)      inline: \|\n(.*?)(?=  - step: ready)", COMPOSITION)
IN_FILE = f"{HEAD}      source: FileSystem\n      fileSystem: {{dirPath: buckets}}\n{TAIL}"
PROGRAM = dedent(INLINE)
XR: Object = {
    "apiVersion": "example.org/v1",
    "kind": "XBucket",
    "metadata": {"name": "demo"},
    "spec": {"names": ["a", "b"]},
}
FUNCTIONS = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-auto-ready}
spec: {package: xpkg.crossplane.io/crossplane-contrib/function-auto-ready:v0.6.0}
"""


@pytest.fixture
def project(here: Path) -> Path:
    """A folder with two versions, ``old`` and ``new``, which are equal."""
    for name in ("old", "new"):
        (here / name).mkdir()
        (here / name / "composition.yaml").write_text(COMPOSITION)
        (here / name / "functions.yaml").write_text(FUNCTIONS)
    (here / "new/xr.yaml").write_text(to_yaml(XR))
    return here


@pytest.fixture
def files(project: Path) -> Path:
    """The same, with programs in files: one input, and a folder of programs for each version."""
    for name in ("old", "new"):
        (project / name / "programs/buckets").mkdir(parents=True)
        (project / name / "composition.yaml").write_text(IN_FILE)
        (project / name / "programs/buckets/main.j2").write_text(PROGRAM)
    return project


def edit(path: Path, before: str, after: str) -> None:
    """Replace a text that is in a file."""
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


VERSIONS = ("compare", "new", "--with", "old")
FAIL_ON = ("--fail-on", "difference", "--fail-on", "not-compared")
WAITS = builders.document("a") + builders.document("b", depends_on="a")


@pytest.mark.usefixtures("project")
def test_equal_versions_change_nothing(run: Run) -> None:
    assert run(*VERSIONS, *FAIL_ON).out == (
        "new/composition.yaml buckets  1 XR  equal\n\n1 of 1 Compositions change nothing.\n"
    )


def test_default_of_the_xrd_is_that_of_each_version(project: Path, run: Run) -> None:
    for version, number in (("old", 5), ("new", 7)):
        names = "names: {type: array, items: {type: string}}"
        fields = f"{{size: {{type: integer, default: {number}}}, {names}}}"
        xrd = one_step.xrd(f"spec: {{type: object, properties: {fields}}}", "XBucket")
        (project / version / "xrd.yaml").write_text(xrd)
        edit(project / version / "composition.yaml", "size: 1", "size: {{ spec.size }}")
    text = run(*VERSIONS, "--variants", "0").out
    assert "spec.size is 5 in old, and 7 here" in text


NEXT_STEP = """\
  - step: next
    functionRef: {name: function-script}
    input:
      apiVersion: script.fn.crossplane.io/v1beta1
      kind: StarlarkScript
      script: |
        def main(req):
            return {"context": {"zone": 1}}
"""
REQUIRING = """\
    requirements:
      requiredResources:
      - {requirementName: zone, apiVersion: v1, kind: ConfigMap, name: zone}
"""
INLINE_FIELD = f"      inline: |\n{INLINE}"
REMOTE_FIELD = f"""\
      source: Remote
      remote: {{oci: {{ref: "example.org/a@sha256:{"0" * 64}", path: main.j2}}}}
"""
EDITS = {
    "value": (
        ("size: 1", "size: 2"),
        "new/composition.yaml:23",
        'resource "a": spec.size is 1 in old, and 2 here',
    ),
    "field": (
        ("          size: 1\n", ""),
        "new/composition.yaml:17",
        'resource "a": spec is {"size": 1} in old, and absent here',
    ),
    "resource that only the other has": (
        ("spec.names", "spec.names[:1]"),
        "old/composition.yaml:17",
        'resource "b" is "Bucket" in old, and absent here',
    ),
    "context": (
        ("  - step: ready\n    functionRef: {name: function-auto-ready}\n", NEXT_STEP),
        "new/composition.yaml:8",
        "the response: context.zone is absent in old, and 1 here",
    ),
    "refusal": (("spec.names", "spec.absent.names"), "new/composition.yaml:15", "error: "),
}


JINJA = """\
      apiVersion: script.fn.crossplane.io/v1beta1
      kind: JinjaTemplate
      inline: |
        ---
        apiVersion: s3.example.org/v1
        kind: Bucket
        metadata:
          annotations: {script.fn.crossplane.io/composition-resource-name: a}
        spec: {size: 1}
        ---
        apiVersion: example.org/v1
        kind: XBucket
        status: {names: {{ spec.names | to_json }}}
"""
GO = """\
      apiVersion: gotemplating.fn.crossplane.io/v1beta1
      kind: GoTemplate
      source: Inline
      inline:
        template: |
          ---
          apiVersion: s3.example.org/v1
          kind: Bucket
          metadata:
            annotations: {gotemplating.fn.crossplane.io/composition-resource-name: a}
          spec: {size: 1}
          ---
          apiVersion: example.org/v1
          kind: XBucket
          status: {names: {{ .observed.composite.resource.spec.names | toJson }}}
"""


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("{size: 1}", "1 XR  equal"),
        ("{size: 1, zone: null}", '"a": spec.zone is null on one side, and absent on the other'),
    ],
    ids=["equal", "null"],
)
def test_template_may_move_to_another_language(
    project: Path, run: Run, spec: str, message: str
) -> None:
    """Crossplane writes the XR's type, and annotations of its own, on either side."""
    for side, template in (("old", GO.replace("{size: 1}", spec)), ("new", JINJA)):
        pipeline, _ = HEAD.split("      apiVersion: script", 1)
        (project / side / "composition.yaml").write_text(f"{pipeline}{template}{TAIL}")
    assert message in run(*VERSIONS).out


@pytest.mark.parametrize(("replaced", "position", "message"), EDITS.values(), ids=EDITS)
def test_edit_is_reported_at_its_line(
    project: Path, run: Run, replaced: tuple[str, str], position: str, message: str
) -> None:
    edit(project / "new/composition.yaml", *replaced)
    text = run(*VERSIONS, *FAIL_ON, code=exit_codes.REPORTED).out
    assert "1 XR  different" in text
    assert message in text
    assert f"--> {position}" in text
    # An error is in the message alone.
    assert text.count("  = ") == 1


def test_edit_of_a_step_that_withholds_changes_nothing(project: Path, run: Run) -> None:
    """The context names what waits by a digest of the input."""
    for side, comment in (("old", "a"), ("new", "b")):
        text = one_step.composition("JinjaTemplate", f"{{# {comment} #}}\n{WAITS}")
        (project / side / "composition.yaml").write_text(text)
    (project / "new/xr.yaml").write_text(one_step.XR)
    assert "1 XR  equal" in run(*VERSIONS, *FAIL_ON).out


@pytest.mark.parametrize("side", ["new", "old"])
def test_program_that_one_side_cannot_fetch_is_not_compared(
    project: Path, run: Run, side: str
) -> None:
    edit(project / side / "composition.yaml", INLINE_FIELD, REMOTE_FIELD)
    flags = ("--offline", "--fail-on", "not-compared")
    text = run(*VERSIONS, *flags, code=exit_codes.REPORTED).out
    assert "0 XRs  not compared" in text
    assert "it is not in the cache, and --offline is set" in text


def test_compositions_of_one_name_are_compared_by_their_paths(project: Path, run: Run) -> None:
    """The old version has one beside the folder ``zone``, too."""
    shutil.copytree(project / "old", project / "copy")
    shutil.move(project / "copy", project / "old/zone")
    edit(project / "old/composition.yaml", "size: 1", "size: 3")
    shutil.move(project / "new", project / "copy")
    (project / "new").mkdir()
    shutil.move(project / "copy", project / "new/zone")
    lines = run(*VERSIONS).out.splitlines()
    assert lines[0].endswith("1 XR  equal")
    assert lines[1].startswith("old/composition.yaml buckets")
    assert lines[1].endswith("0 XRs  not compared")


def test_single_file_is_compared_with_its_own_composition_of_a_directory(
    project: Path, run: Run
) -> None:
    """The directory has another Composition and a broken file, which nobody asked for."""
    other = COMPOSITION.replace("name: buckets", "name: other")
    (project / "old/other.yaml").write_text(other)
    (project / "old/broken.yaml").write_text(COMPOSITION.replace("metadata:", "metadata: ["))
    text = run("compare", "new/composition.yaml", "--with", "old", *FAIL_ON).out
    assert text.endswith("1 of 1 Compositions change nothing.\n")
    text = run(*VERSIONS).out
    assert "old/other.yaml other" in text
    assert "old/broken.yaml" in text


@needs_git
def test_revision_is_compared_with_the_work_tree(files: Path, run: Run) -> None:
    """What only the revision has is in a file of the revision."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for arguments in (("init",), ("add", "new"), (*identity, "commit", "--message=one")):
        subprocess.run(["git", *arguments], check=True, capture_output=True)
    edit(files / "new/programs/buckets/main.j2", "spec.names", "spec.names[:1]")
    text = run(*VERSIONS, "--with", "HEAD").out
    assert 'resource "b" is "Bucket" in HEAD, and absent here' in text
    assert "--> HEAD:new/programs/buckets/main.j2:3" in text


FAULTS = {
    "new": ("old", "name: buckets", "name: other", "no Composition of this name"),
    "deleted": ("new", "name: buckets", "name: other", "no such Composition here"),
    "old mode": ("old", "mode: Pipeline", "mode: Resources", "only Crossplane 1"),
    "no YAML": ("old", "kind: Composition", "kind: [", "composition.yaml"),
    "other function": ("old", "function-auto-ready", "function-x", "cannot run step"),
}


@pytest.mark.parametrize(("version", "before", "after", "reason"), FAULTS.values(), ids=FAULTS)
def test_version_that_cannot_run_is_never_equal(
    project: Path, run: Run, version: str, before: str, after: str, reason: str
) -> None:
    edit(project / version / "composition.yaml", before, after)
    text = run(*VERSIONS, "--fail-on", "not-compared", code=exit_codes.REPORTED).out
    assert reason in text
    assert "  equal" not in text


def live(**crossplane: object) -> Object:
    """A live XR with one bucket."""
    value = plans.xr("live", 1, **crossplane)
    return {**value, "spec": {**value["spec"], "names": ["bucket-0"]}}


(BUCKET,) = plans.buckets("live", 1)


def test_live_xrs_are_compared_with_what_they_composed(project: Path, run: Run) -> None:
    """The new version does something else only where a bucket is observed."""
    (project / "dump.yaml").write_text(to_yaml_stream([live(), BUCKET]))
    assert "2 XRs  equal" in run(*VERSIONS, "--cluster", "dump.yaml", *FAIL_ON).out
    size = "size: {{ 1 + (observed.resources | default({}) | length) }}"
    edit(project / "new/composition.yaml", "size: 1", size)
    text = run(*VERSIONS, "--cluster", "dump.yaml").out
    assert 'resource "bucket-0": spec.size is 1 in old, and 2 here' in text
    assert 'for XBucket "live" of the dump' in text
    assert "and for" not in text


def test_list_of_compositions_is_not_compared(project: Path, run: Run) -> None:
    """It may be the dump, which is none of them."""
    composition = yaml.safe_load((project / "new/composition.yaml").read_text())
    items = [composition, live(), BUCKET]
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items})
    (project / "new/dump.yaml").write_text(text)
    assert "it has a List" in run(*VERSIONS).out
    assert "it has a List" not in run(*VERSIONS, "--cluster", "new/dump.yaml").out


PAUSED: Object = {
    "name": "live",
    "uid": "uid-live",
    "annotations": {"crossplane.io/paused": "true"},
}
MASKED: Object = {"name": "b", "namespace": "here"}
SECRET: Object = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {**MASKED, "annotations": {"script.fn.crossplane.io/masked": "true"}},
}
LACKS = {
    "Composition": ([live(compositionRef={})], "no compositionRef yet"),
    "composed resource": ([live()], 'the dump lacks Bucket "live-0"'),
    "paused": ([{**live(), "metadata": PAUSED}, BUCKET], "the XR is paused"),
    "other version": (
        [{**live(), "apiVersion": "example.org/v2"}, BUCKET],
        "the XR to render is XBucket of example.org/v2",
    ),
    "masked Secret": (
        [live(), {**BUCKET, "spec": {"writeConnectionSecretToRef": MASKED}}, SECRET],
        "a step gets a Secret, which the dump has masked",
    ),
}


@pytest.mark.parametrize(("manifests", "reason"), LACKS.values(), ids=LACKS)
def test_live_xr_whose_request_is_not_at_hand_is_not_compared(
    project: Path, run: Run, manifests: list[Object], reason: str
) -> None:
    (project / "dump.yaml").write_text(to_yaml_stream(manifests))
    flags = ("--cluster", "dump.yaml", "--fail-on", "not-compared")
    text = run(*VERSIONS, *flags, code=exit_codes.REPORTED).out
    assert "1 XR  not compared" in text
    assert reason in text


def capture_request(directory: Path, details: bytes = b"") -> None:
    """Write a case as the server does, of the Composition in a directory."""
    path = directory / "composition.yaml"
    (document,) = sources.load([str(path)], Project([directory]))
    pipeline = document.value["spec"]["pipeline"]
    request = pb.RunFunctionRequest()
    messages.write_struct(request.input, pipeline[0]["input"])
    value: Object = {**XR, "spec": {"names": ["captured"]}}
    messages.write_struct(request.observed.composite.resource, value)
    if details:
        request.observed.composite.connection_details["password"] = details
    response = pb.RunFunctionResponse()
    text = capture.to_case(request.SerializeToString(), response.SerializeToString())
    (directory / "buckets.case.yaml").write_text(text)


def test_captured_request_is_a_further_request_of_its_step(files: Path, run: Run) -> None:
    """Each side gets it with its own input."""
    capture_request(files / "new")
    assert "1 XR, 1 request  equal" in run(*VERSIONS, *FAIL_ON).out
    program = PROGRAM.replace("size: 1", "size: {{ 2 if name == 'captured' else 1 }}")
    (files / "new/programs/other").mkdir()
    (files / "new/programs/other/main.j2").write_text(program)
    edit(files / "new/composition.yaml", "dirPath: buckets", "dirPath: other")
    text = run(*VERSIONS).out
    assert 'resource "captured": spec.size is 1 in old, and 2 here' in text
    assert 'for the request in "new/buckets.case.yaml"' in text
    assert "--> new/programs/other/main.j2:9:" in text


@pytest.mark.parametrize(
    "details",
    [
        pytest.param(b"canary-of-a-request", id="text"),
        pytest.param(b'{"pin": 5432}', id="number in JSON"),
        pytest.param(b"\xff\x00canary", id="bytes"),
    ],
)
def test_request_with_masked_values_is_not_comparable(
    project: Path, run: Run, details: bytes
) -> None:
    """It is counted apart; alone it makes nothing equal."""
    capture_request(project / "new", details=details)
    text = run(*VERSIONS, *FAIL_ON).out
    assert "1 XR  equal" in text
    assert "Not comparable, for values in them are masked: 1 captured request." in text
    (project / "new/xr.yaml").unlink()
    text = run(*VERSIONS, "--fail-on", "not-compared", code=exit_codes.REPORTED).out
    assert "0 XRs  not compared" in text
    (row,) = json.loads(run(*VERSIONS, "-o", "json").out)["compositions"]
    assert (row["comparedRequests"], row["maskedRequests"]) == (0, 1)


def test_request_of_no_step_is_not_compared(project: Path, run: Run) -> None:
    capture_request(project / "new")
    for version in ("old", "new"):
        edit(project / version / "composition.yaml", "size: 1", "size: 2")
    text = run(*VERSIONS, "--fail-on", "not-compared", code=exit_codes.REPORTED).out
    assert "new/buckets.case.yaml" in text
    assert "no step at hand has the request's input" in text


def test_json_is_what_its_schema_says(project: Path, run: Run) -> None:
    """The report has a difference, a secret, and an XR and a request that are not compared."""
    capture_request(project / "new", details=b"canary-of-a-request")
    (project / "dump.yaml").write_text(to_yaml_stream([live()]))
    edit(project / "new/composition.yaml", "size: 1", "size: 2")
    (project / "new/broken.yaml").write_text(COMPOSITION.replace("metadata:", "metadata: ["))
    report = json.loads(run(*VERSIONS, "-o", "json", "--cluster", "dump.yaml").out)
    schema = json.loads((ROOT / "docs/reference/compare.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(report, schema)
    rows = {row["file"]: row for row in report["compositions"]}
    row = rows["new/composition.yaml"]
    assert (row["verdict"], rows["new/broken.yaml"]["verdict"]) == ("different", "not compared")
    assert row["differences"][0]["path"] == ["spec", "size"]
    assert row["notCompared"][0]["count"] == 1
    for fault in (lambda: row.pop("named"), lambda: row.update(verdict="fine")):
        fault()
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(report, schema)
