"""Two sides of a comparison: this function, and a twin of it that answers otherwise."""

import itertools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from google.protobuf import json_format
from support.commands import Run
from support.function_servers import serving

from function_script import __version__
from function_script.cli import exit_codes
from function_script.documents import to_yaml_stream
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import Limits
from function_script.request.values import Object
from function_script.step import function
from function_script.tools.compare import report
from function_script.tools.compare.command import Row

COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata:
  name: buckets
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: XBucket}
  mode: Pipeline
  pipeline:
  - step: render
    functionRef: {name: function-go-templating}
    input:
      apiVersion: gotemplating.fn.crossplane.io/v1beta1
      kind: GoTemplate
      source: Inline
      inline:
        template: |
          {{ range $i := until (int .observed.composite.resource.spec.count) }}
          ---
          apiVersion: s3.example.org/v1
          kind: Bucket
          metadata:
            annotations:
              gotemplating.fn.crossplane.io/composition-resource-name: bucket-{{ $i }}
              gotemplating.fn.crossplane.io/ready: "True"
          spec:
            region: {{ $.observed.composite.resource.spec.region }}
            size: 1
          {{ end }}
          ---
          apiVersion: meta.gotemplating.fn.crossplane.io/v1alpha1
          kind: CompositeConnectionDetails
          data:
            password: c2VjcmV0
          ---
          apiVersion: example.org/v1
          kind: XBucket
          status:
            region: {{ .observed.composite.resource.spec.region }}
  - step: later
    functionRef: {name: function-of-somebody-else}
"""
XR = """\
apiVersion: example.org/v1
kind: XBucket
metadata: {name: demo}
spec: {count: 2, region: eu}
"""
FUNCTIONS = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata:
  name: function-go-templating
  annotations:
    render.crossplane.io/runtime: Development
    render.crossplane.io/runtime-development-target: {address}
spec: {{package: example.org/function-go-templating:v0.11.0}}
"""
Change = Callable[[pb.RunFunctionResponse], None]
numbers = itertools.count()


class Twin:
    """This function with responses that are changed; ``seconds`` is how late they are."""

    def __init__(self) -> None:
        self.change: Change = _leave
        self.seconds = 0.0
        self.address = ""

    def answer(self, request: pb.RunFunctionRequest, _: object) -> pb.RunFunctionResponse:
        """Answer late, as function-patch-and-transform an input of its own."""
        time.sleep(self.seconds)
        if "resources" in request.input:
            return _compose_bases(request)
        result = function.handle(request.SerializeToString(), Limits(), lambda _: None)
        response = pb.RunFunctionResponse.FromString(result.response)
        self.change(response)
        return response


def _compose_bases(request: pb.RunFunctionRequest) -> pb.RunFunctionResponse:
    """Answer as function-patch-and-transform does to resources without patches."""
    response = pb.RunFunctionResponse(desired=request.desired)
    for each in request.input["resources"]:
        response.desired.resources[each["name"]].resource.update(each["base"])
    return response


def _leave(_: pb.RunFunctionResponse) -> None:
    pass


@pytest.fixture(scope="module")
def server() -> Iterator[Twin]:
    """The twin of all tests."""
    twin = Twin()
    with serving(twin.answer) as twin.address:
        yield twin


@pytest.fixture
def twin(server: Twin) -> Iterator[Twin]:
    """The twin, which changes nothing yet."""
    yield server
    server.change, server.seconds = _leave, 0.0


@pytest.fixture(autouse=True)
def project(here: Path, twin: Twin) -> Path:
    """A folder with a Composition, an XR and the address of the twin."""
    (here / "composition.yaml").write_text(COMPOSITION)
    (here / "xr.yaml").write_text(XR)
    (here / "functions.yaml").write_text(FUNCTIONS.format(address=twin.address))
    return here


def test_equal_sides_change_nothing(run: Run) -> None:
    flags = ("--fail-on", "difference", "--fail-on", "not-compared")
    assert run("compare", *flags).out == dedent("""\
        composition.yaml buckets  1 XR  equal

        1 of 1 Compositions change nothing.
        """)


def edit(patch: Object) -> Change:
    """Return a change of fields of a response, which is protobuf JSON; None removes a field."""

    def change(response: pb.RunFunctionResponse) -> None:
        value = json_format.MessageToDict(response, preserving_proto_field_name=True)
        response.Clear()
        json_format.ParseDict(merge(value, patch), response)

    return change


def merge(value: object, patch: object) -> object:
    """Return a value with the fields of a patch."""
    if not isinstance(value, dict) or not isinstance(patch, dict):
        return patch
    merged = {**value, **{key: merge(value.get(key), each) for key, each in patch.items()}}
    return {key: each for key, each in merged.items() if each is not None}


def resources(**fields: object) -> Change:
    """Return a change of a resource; the name of a parameter has _ for -."""
    named = {name.replace("_", "-"): each for name, each in fields.items()}
    return edit({"desired": {"resources": named}})


def spec(**fields: object) -> Change:
    """Return a change of the first bucket's spec."""
    return resources(bucket_0={"resource": {"spec": fields}})


UNREADY = resources(bucket_0={"ready": "READY_FALSE"})


def _add_severity(response: pb.RunFunctionResponse) -> None:
    # A newer protocol may have more of them.
    response.results.add().MergeFromString(b"\x08\x09")


WITH = "with function-go-templating, and"
CONFIG = {"resource": {"apiVersion": "v1", "kind": "ConfigMap"}}
STATUS = {"resource": {"status": {"region": "us"}}}
SECRET = {"connection_details": {"password": "Y2FuYXJ5"}}
FINE = {"type": "Fine", "status": "STATUS_CONDITION_TRUE", "reason": "Good"}
TARGET = '"target": "TARGET_UNSPECIFIED"'
BUCKET = 'resource "bucket-0"'
LABELS = '{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}'
# With the line of a bucket's field, of its spec, of the bucket, or of the step.
CHANGES = {
    "value": (spec(size=2), 27, f"{BUCKET}: spec.size is 2", "1"),
    "field": (spec(size=None), 27, f"{BUCKET}: spec.size is absent", "1"),
    "new": (spec(new="x"), 25, f'{BUCKET}: spec.new is "x"', "absent"),
    "order of keys": (
        spec(labels=dict.fromkeys("fbdace", 1)),
        25,
        f"{BUCKET}: spec.labels is {LABELS}",
        "absent",
    ),
    "resource": (resources(bucket_1=None), 19, 'resource "bucket-1" is absent', '"Bucket"'),
    "other": (resources(other=CONFIG), 9, 'resource "other" is "ConfigMap"', "absent"),
    "readiness": (UNREADY, 19, f'{BUCKET}: ready is "false"', '"true"'),
    "status": (
        edit({"desired": {"composite": STATUS}}),
        38,
        'the response: xr.status.region is "us"',
        '"eu"',
    ),
    "context": (edit({"context": {"a": 1}}), 9, "the response: context.a is 1", "absent"),
    "requirement": (
        edit({"requirements": {"resources": {"all": {"kind": "Zone"}}}}),
        9,
        'the response: requirements.resources is {"all": {"kind": "Zone"}}',
        "absent",
    ),
    "condition": (
        edit({"conditions": [FINE]}),
        9,
        f'the response: conditions.Fine is {{"status": "true", "reason": "Good", {TARGET}}}',
        "absent",
    ),
    "warning": (
        edit({"results": [{"severity": "SEVERITY_WARNING", "message": "careful"}]}),
        9,
        f'the response: results is [{{"severity": "warning", "reason": "", {TARGET}}}]',
        "[]",
    ),
    "severity of a newer protocol": (
        _add_severity,
        9,
        f'the response: results is [{{"severity": "9", "reason": "", {TARGET}}}]',
        "[]",
    ),
    "refusal": (
        edit({"results": [{"severity": "SEVERITY_FATAL", "message": "no\nat all"}]}),
        9,
        'the response is "error: no"',
        '"no error"',
    ),
}


def find_difference(run: Run) -> dict[str, object]:
    """Return the only difference of the only Composition."""
    flags = ("-o", "json", "--fail-on", "difference")
    report = json.loads(run("compare", *flags, code=exit_codes.REPORTED).out)
    assert report["summary"][0] == "0 of 1 Compositions change nothing."
    assert not any(word in json.dumps(report) for word in ("canary", "Y2FuYXJ5"))
    (row,) = report["compositions"]
    assert row["verdict"] == "different"
    (difference,) = row["differences"]
    return difference


@pytest.mark.parametrize(("change", "line", "theirs", "ours"), CHANGES.values(), ids=CHANGES)
def test_change_of_one_side_is_reported_at_its_line(
    twin: Twin, run: Run, change: Change, line: int, theirs: str, ours: str
) -> None:
    twin.change = change
    difference = find_difference(run)
    message = f"{theirs} {WITH} {ours} here"
    assert (difference["message"], difference["line"]) == (message, line)


def test_connection_details_of_one_side_are_not_shown(twin: Twin, run: Run) -> None:
    twin.change = edit({"desired": {"composite": SECRET}})
    difference = find_difference(run)
    value = "xr.connectionDetails.password is another one"
    message = f"the response: {value} with function-go-templating than here"
    assert (difference["message"], difference["line"]) == (message, 9)


def _randomize(response: pb.RunFunctionResponse) -> None:
    response.desired.resources["bucket-0"].resource["spec"]["size"] = next(numbers)


NAMED = {
    "TTL": (edit({"meta": {"ttl": "7s"}}), "TTL"),
    "random value": (_randomize, "changes in every run"),
}


@pytest.mark.parametrize(("change", "kind"), NAMED.values(), ids=NAMED)
def test_named_difference_is_no_change(twin: Twin, run: Run, change: Change, kind: str) -> None:
    twin.change = change
    text = run("compare", "--all", "--fail-on", "difference").out
    assert "1 XR  equal" in text
    assert f"composition.yaml buckets: {kind} (1)" in text
    assert f"No changes, by XRs and requests: {kind} (1)." in text


def test_place_that_differs_for_a_second_xr_is_asked_once(
    project: Path, twin: Twin, run: Run
) -> None:
    calls: list[int] = []

    def change(response: pb.RunFunctionResponse) -> None:
        calls.append(len(calls))
        response.desired.resources["bucket-0"].resource["spec"]["size"] = 7

    twin.change = change
    run("compare")
    count = len(calls)
    (project / "examples").mkdir()
    _write(project, "examples/other.yaml", XR.replace("demo", "other"))
    assert "2 XRs  different" in run("compare").out
    assert len(calls) == 2 * count + 1


def _write(project: Path, name: str, text: str) -> None:
    (project / name).write_text(text)


def _add_document(project: Path, text: str) -> None:
    head, tail = COMPOSITION.split("  - step: later")
    _write(project, "composition.yaml", f"{head}{text}  - step: later{tail}")


REQUIRING = """\
          ---
          apiVersion: meta.gotemplating.fn.crossplane.io/v1alpha1
          kind: ExtraResources
          requirements:
            zone: {apiVersion: v1, kind: ConfigMap, matchName: zone}
"""


def _use_old_field(response: pb.RunFunctionResponse) -> None:
    for name, selector in response.requirements.resources.items():
        response.requirements.extra_resources[name].CopyFrom(selector)


def test_requirement_in_the_deprecated_field_too_is_no_difference(
    project: Path, twin: Twin, run: Run
) -> None:
    _add_document(project, REQUIRING)
    twin.change = _use_old_field
    assert "1 XR  equal" in run("compare", "--fail-on", "difference").out
    twin.change = edit({"requirements": None})
    assert 'absent with function-go-templating, and {"zone": ' in run("compare").out


def test_function_that_dies_in_the_middle_is_not_compared(
    project: Path, twin: Twin, run: Run
) -> None:
    """It answers the first request, and not the one with what it required."""
    _add_document(project, REQUIRING)
    calls = itertools.count()

    def die_at_the_second_call(_: pb.RunFunctionResponse) -> None:
        if next(calls):
            raise RuntimeError

    twin.change = die_at_the_second_call
    text = run("compare", "--fail-on", "not-compared", code=exit_codes.REPORTED).out
    assert "0 XRs  not compared" in text


def test_resource_that_nothing_can_compose_is_compared(project: Path, twin: Twin, run: Run) -> None:
    """Both sides answered the request, whatever Crossplane makes of it."""
    head, tail = COMPOSITION.split("            annotations:\n", 1)
    text = f"{head}            name: a b\n            annotations:\n{tail}"
    _write(project, "composition.yaml", text)
    assert "1 XR  equal" in run("compare").out
    twin.change = spec(size=2)
    assert "1 XR  different" in run("compare").out


def test_file_of_functions_may_hold_other_objects(project: Path, run: Run) -> None:
    provider = "---\napiVersion: pkg.crossplane.io/v1\nkind: Provider\nmetadata: {name: a}\n"
    with (project / "functions.yaml").open("a") as file:
        file.write(provider)
    assert "1 XR  equal" in run("compare").out


LEGACY = COMPOSITION.replace("mode: Pipeline", "mode: Resources").replace("pipeline:", "resources:")
BEFORE = COMPOSITION.replace(
    "  - step: render",
    "  - {step: before, functionRef: {name: function-of-somebody-else}}\n  - step: render",
)
PACKAGE = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-go-templating}
spec: {package: "localhost:1/example/function-go-templating:v0.11.0"}
"""
FAULTS = {
    "no function": ("functions.yaml", None, "nothing says how function"),
    "package without a network": ("functions.yaml", PACKAGE, "cannot"),
    "no server": ("functions.yaml", FUNCTIONS.format(address="localhost:1"), "templating=…"),
    "no XR": ("xr.yaml", None, "no XR is at hand"),
    "Crossplane 1": ("composition.yaml", LEGACY, "which only Crossplane 1 runs"),
    "other function before": ("composition.yaml", BEFORE, "function-of-somebody-else"),
}


@pytest.mark.parametrize(("name", "text", "reason"), FAULTS.values(), ids=FAULTS)
def test_step_that_cannot_run_on_both_sides_is_never_equal(
    project: Path, run: Run, name: str, text: str | None, reason: str
) -> None:
    (project / name).unlink()
    if text is not None:
        _write(project, name, text)
    flags = ("--timeout", "2s", "--fail-on", "not-compared")
    printed = run("compare", *flags, code=exit_codes.REPORTED).out
    assert printed.splitlines()[0].endswith("not compared")
    assert reason in printed


def test_function_that_nothing_runs_is_reported_once(project: Path, run: Run) -> None:
    (project / "functions.yaml").unlink()
    for name, step in (("a", "render"), ("b", "paint")):
        (project / name).mkdir()
        text = COMPOSITION.replace("step: render", f"step: {step}")
        _write(project, f"{name}/composition.yaml", text)
        _write(project, f"{name}/xr.yaml", XR)
    (project / "composition.yaml").unlink()
    printed = run("compare").out
    assert printed.count("nothing says how function") == 1
    titles = "in a/composition.yaml buckets, b/composition.yaml buckets"
    assert f"  = {titles}\n" in printed
    assert f"  - `{titles}`\n" in run("compare", "-o", "markdown").out


def test_errors_on_both_sides_are_neither_equal_nor_different(project: Path, run: Run) -> None:
    """They are counted apart from the XRs that both sides answer, and have their message."""
    template = '{{ if lt (int $xr.spec.count) 2 }}{{ fail "too few" }}{{ end }}'
    head, tail = COMPOSITION.split("          {{ range", 1)
    named = "          {{ $xr := .observed.composite.resource }}" + template
    _write(project, "composition.yaml", f"{head}{named}\n          {{{{ range{tail}")
    assert "1 XR  equal" in run("compare", "--fail-on", "not-compared").out
    (project / "examples").mkdir()
    _write(project, "examples/few.yaml", XR.replace("count: 2", "count: 1"))
    flags = ("--fail-on", "difference", "--fail-on", "not-compared")
    lines = run("compare", "--all", *flags).out.splitlines()
    assert lines[0].endswith("buckets  1 XR, 1 with errors on both sides  equal")
    assert lines[2].startswith("composition.yaml buckets: errors on both sides (1): ")
    assert lines[2].endswith("too few")
    assert "Errors on both sides, neither equal nor different: 1 by XRs and requests." in lines
    (project / "xr.yaml").unlink()
    report = json.loads(run("compare", "-o", "json", *flags).out)
    (row,) = report["compositions"]
    assert (row["verdict"], row["comparedXRs"]) == ("errors on both sides", 0)
    assert [each["count"] for each in row["errorsOnBothSides"]] == [1]
    assert report["summary"][0] == "0 of 1 Compositions change nothing."


PATCH_AND_TRANSFORM = """\
  - step: {name}
    functionRef: {{name: function-patch-and-transform}}
    input:
      apiVersion: pt.fn.crossplane.io/v1beta1
      kind: Resources
      resources:
      - name: {name}
        base: {{apiVersion: s3.example.org/v1, kind: Policy, spec: {{size: 1}}}}
"""


def test_patch_and_transform_runs_before_and_after(project: Path, twin: Twin, run: Run) -> None:
    """Both sides get the desired state of the step before."""
    head, rest = COMPOSITION.split("  - step: render")
    body = rest.split("  - step: later")[0]
    before, after = (PATCH_AND_TRANSFORM.format(name=each) for each in ("before", "after"))
    _write(project, "composition.yaml", f"{head}{before}  - step: render{body}{after}")
    patching = FUNCTIONS.replace("function-go-templating", "function-patch-and-transform")
    with (project / "functions.yaml").open("a") as file:
        file.write(f"---\n{patching.format(address=twin.address)}")
    assert "1 XR  equal" in run("compare", "--fail-on", "not-compared").out
    twin.change = resources(before=None)
    assert f'resource "before" is absent {WITH} "Policy" here' in run("compare").out


def test_data_of_a_secret_on_one_side_alone_is_not_shown(
    project: Path, twin: Twin, run: Run
) -> None:
    resource = """\
          ---
          apiVersion: v1
          kind: Secret
          metadata:
            annotations: {gotemplating.fn.crossplane.io/composition-resource-name: secret}
          data: {password: Y2FuYXJ5}
"""
    _add_document(project, resource)

    other = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"password": "other"}}
    twin.change = resources(secret={"resource": other})
    text = run("compare", "-o", "json").out
    assert "data.password is another one with function-go-templating than here" in text
    assert "Y2FuYXJ5" not in text


OTHERS = {
    "left out": ("skip", "is skipped: --function"),
    "here": ("local", "runs here, in the sandbox"),
}


@pytest.mark.parametrize(("runtime", "reason"), OTHERS.values(), ids=OTHERS)
def test_function_that_has_no_other_side_is_not_compared(
    run: Run, runtime: str, reason: str
) -> None:
    text = run("compare", "--function", f"function-go-templating={runtime}").out
    assert "0 XRs  not compared" in text
    assert reason in text


def test_address_that_a_file_names_needs_a_permission(project: Path, run: Run) -> None:
    _write(project, "functions.yaml", FUNCTIONS.format(address="192.0.2.1:9443"))
    assert 'a file names the address "192.0.2.1:9443"' in run("compare").out


def test_function_that_answers_too_late_is_not_compared(twin: Twin, run: Run) -> None:
    twin.seconds = 1.0
    assert "0 XRs  not compared" in run("compare", "--timeout", "300ms").out


def test_difference_is_reported_once_for_all_xrs(project: Path, twin: Twin, run: Run) -> None:
    (project / "examples").mkdir()
    for number in range(9):
        _write(project / "examples", f"{number}.yaml", XR.replace("demo", f"other-{number}"))
    twin.change = spec(size=2)
    text = run("compare").out
    assert text.count("spec.size is 2") == 1
    assert "--> composition.yaml:27:" in text
    assert 'for the XR in "xr.yaml"' in text
    assert "and for 9 more" in text


def test_composition_without_go_templates_has_nothing_to_compare(project: Path, run: Run) -> None:
    head, _, rest = COMPOSITION.partition("    input:\n")
    _write(project, "composition.yaml", head + rest[rest.index("  - step: later") :])
    assert "nothing to compare" in run("compare", "--fail-on", "not-compared").out


OWN = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {{name: function-script}}
spec: {{package: "localhost:1/example/function-script:VERSION"}}
"""
ITSELF = "With Go templates that this function runs already: 1 Composition. See --with."
OWN_VERSIONS = {
    "same": (OWN.replace("VERSION", f"v{__version__}"), "nothing to compare", ITSELF),
    "no Function": ("", "nothing to compare", ITSELF),
    "another": (OWN.replace("VERSION", "v0.0.9"), "not compared", "function-script:v0.0.9"),
    "at an address": (
        FUNCTIONS.replace("function-go-templating", "function-script"),
        "1 XR  equal",
        "1 of 1 Compositions change nothing.",
    ),
}


@pytest.mark.parametrize(("functions", "verdict", "text"), OWN_VERSIONS.values(), ids=OWN_VERSIONS)
def test_step_that_calls_this_function_has_no_other_side(
    project: Path, twin: Twin, run: Run, functions: str, verdict: str, text: str
) -> None:
    """Another version of it is one, and so is one at an address."""
    composition = COMPOSITION.replace("name: function-go-templating", "name: function-script")
    _write(project, "composition.yaml", composition)
    _write(project, "functions.yaml", functions.format(address=twin.address))
    request: Object = {
        "observed": {"composite": {"resource": yaml.safe_load(XR)}},
        "input": yaml.safe_load(composition)["spec"]["pipeline"][0]["input"],
    }
    _write(project, "a.case.yaml", to_yaml_stream([{"request": request, "expect": {}}]))
    printed = run("compare", "--offline").out
    assert printed.splitlines()[0].endswith(verdict.replace("1 XR", "1 XR, 1 request"))
    assert text in printed


def test_step_that_calls_this_function_runs_here_beside_others(
    project: Path, twin: Twin, run: Run
) -> None:
    head, step = COMPOSITION.split("  - step: render")
    body = step.split("  - step: later")[0]
    own = body.replace("name: function-go-templating", "name: function-script")
    _write(project, "composition.yaml", f"{head}  - step: own{own}  - step: render{body}")
    assert "1 XR  equal" in run("compare").out
    twin.change = spec(size=2)
    assert json.loads(run("compare", "-o", "json").out)["compositions"][0]["differences"]


def test_markdown_has_a_table_and_the_differences(twin: Twin, run: Run) -> None:
    twin.change = UNREADY
    sentence = f'resource "bucket-0": ready is "false" {WITH} "true" here'
    assert run("compare", "-o", "markdown").out == (
        "| Composition | compared | |\n"
        "|---|---:|---|\n"
        "| `composition.yaml buckets` | 1 XR | different |\n"
        "\n"
        f"- **difference** `composition.yaml:19:11`: `{sentence}`\n"
        '  - `for the XR in "xr.yaml"`\n'
        "\n"
        "0 of 1 Compositions change nothing.\n"
    )


def test_markdown_has_the_length_of_a_comment() -> None:
    """The totals are there in any case."""
    rows = [Row(f"{number}.yaml", "x" * 100) for number in range(1000)]
    text = report.make(rows, shows_all=False).write("markdown", None)
    assert 50_000 < len(text) < 65_536
    assert " lines are left out.\n\n0 of 1000 Compositions change nothing." in text
