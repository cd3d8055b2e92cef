"""`validate`: Kubernetes' own kinds, as far as they are known; `render --validate`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import one_step
from support.commands import Run
from support.paths import ROOT
from support.validate_helpers import check

from function_script.tools.validate.report import render_diagnostics, render_json, render_text


def made(api_version: str, kind: str, rest: str = "", metadata: str = "name: a") -> str:
    """An object as YAML."""
    return f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{{metadata}}}\n{rest}\n"


GOOD = {
    "config-map": made("v1", "ConfigMap", "data: {a: b}\nimmutable: true"),
    "secret": made("v1", "Secret", "stringData: {a: b}\ntype: Opaque"),
    "null-field-is-absent": made("v1", "Namespace", "spec: null"),
    "empty-list": made("rbac.authorization.k8s.io/v1", "Role", "rules: []"),
    "quantity": made("v1", "ResourceQuota", "spec: {hard: {cpu: 0.5, memory: 1Gi, pods: 4}}"),
    "int-or-string": made(
        "v1",
        "Service",
        "spec: {ports: [{port: 80, targetPort: http}, {port: 81, targetPort: 8}]}",
    ),
    "null-is-absent": made("v1", "ConfigMap", "data: null"),
    "null-text-of-a-map": made("v1", "ConfigMap", "data: {a: null}"),
    "null-quantity-and-item": made(
        "v1", "ResourceQuota", "spec: {hard: {cpu: null}, scopes: [null]}"
    ),
    "metadata": made("v1", "Namespace", metadata="name: a, labels: {b: c}, finalizers: [d]"),
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_kinds_of_kubernetes_are_known(tmp_path: Path, text: str) -> None:
    """The schemas need no extension and no download."""
    report = check(tmp_path, text)
    assert [result.status for result in report.results] == ["valid"]
    assert report.notes == ()


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (made("v1", "ConfigMap", "labels: {a: b}"), 'did you mean "metadata.labels"?'),
        (made("v1", "Service", "type: NodePort"), 'did you mean "spec.type"?'),
        # Nobody writes a status.
        (made("v1", "Namespace", "phase: Active"), "there are apiVersion, kind, metadata"),
    ],
)
def test_field_that_is_one_level_deeper_is_told(tmp_path: Path, text: str, hint: str) -> None:
    """It is told if exactly one neighbour has it."""
    (result,) = check(tmp_path, text).results
    assert [(problem.hint or "").startswith(hint) for problem in result.problems] == [True]


BAD = {
    "top-level": (made("v1", "ConfigMap", "datas: {}"), 'unknown field "datas"'),
    "metadata": (
        made("v1", "Pod", metadata="name: a, nmespace: b"),
        'unknown field "metadata.nmespace"',
    ),
    "data": (made("v1", "ConfigMap", "data: {a: 1}"), "data.a in body must be of type string"),
    "base64": (made("v1", "Secret", "data: {a: LS0tLS1CRUdJTi...}"), "data.a: must be base64"),
    "variable": (
        made("v1", "Pod", "spec: {containers: [{name: a, env: [{name: a, value: 1}]}]}"),
        "spec.containers[0].env[0].value in body must be of type string",
    ),
    "deep-field": (
        made("v1", "Pod", "spec: {containers: [{name: a, imagePulPolicy: Never}]}"),
        'unknown field "spec.containers[0].imagePulPolicy": Kubernetes 1.37.2 has no such field',
    ),
    "required": (
        made("v1", "Pod", "spec: {containers: [{image: a}]}"),
        "spec.containers[0].name: Required value",
    ),
    "required-spec": (made("apps/v1", "Deployment"), "spec: Required value"),
    "int32": (
        made("apps/v1", "ReplicaSet", "spec: {selector: {matchLabels: {}}, replicas: 4000000000}"),
        "spec.replicas in body should be less than or equal to 2.147483647e+09",
    ),
    "time": (
        made(
            "batch/v1",
            "CronJob",
            "spec: {schedule: a, jobTemplate: {}}\nstatus: {lastScheduleTime: soon}",
        ),
        "status.lastScheduleTime in body must be of type date-time",
    ),
    "list-of-times": (
        made("coordination.k8s.io/v1", "Lease", "spec: {renewTime: []}"),
        "spec.renewTime in body must be of type string",
    ),
    "spec": (made("apps/v1", "Deployment", "spec: 3"), "spec in body must be of type object"),
    "type-in-metadata": (
        made("v1", "Pod", metadata="name: a, finalizers: b"),
        "metadata.finalizers in body must be of type array",
    ),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_builtin_kinds_are_checked(tmp_path: Path, text: str, message: str) -> None:
    (result,) = check(tmp_path, text).results
    assert result.status == "invalid"
    assert message in result.problems[0].message
    assert len(result.problems) == 1


SCALER = made(
    "autoscaling/v1",
    "HorizontalPodAutoscaler",
    "spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: a}, behavior: {}}",
)


def test_field_of_another_version_is_a_warning(tmp_path: Path) -> None:
    report = check(tmp_path, SCALER)
    assert [(result.status, len(result.problems)) for result in report.results] == [("valid", 1)]
    line, success, _ = render_text(report).splitlines()
    assert line.startswith("[!] schema validation warning autoscaling/v1, ")
    assert line.endswith(
        'unknown field "spec.behavior" (HorizontalPodAutoscaler of autoscaling/v2 has it)'
    )
    assert success.startswith("[✓]")
    (problem,) = json.loads(render_json(report))["resources"][0]["errors"]
    assert (problem["severity"], problem["type"]) == ("warning", "unknownField")
    assert '"severity": "warning"' in render_diagnostics(report, "json")


@pytest.mark.parametrize(("api_version", "kind"), [("v1", "Podd"), ("apps/v9", "Deployment")])
def test_other_kinds_have_no_schema(tmp_path: Path, api_version: str, kind: str) -> None:
    (result,) = check(tmp_path, made(api_version, kind)).results
    assert result.status == "missingSchema"


THREADS = """\
import importlib, sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from function_script.tools.validate import builtin
KINDS = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"]
sys.setswitchinterval(1e-6)
for _ in range(8):
    importlib.reload(builtin).version()
    barrier = Barrier(len(KINDS))
    def count(kind):
        barrier.wait()
        schema = builtin.find_schema("apps/v1", kind)
        return len(schema["properties"]["metadata"].get("properties", ()))
    with ThreadPoolExecutor(len(KINDS)) as threads:
        assert len({*threads.map(count, KINDS)}) == 1
"""


def test_threads_that_need_schemas_at_once_all_get_the_whole() -> None:
    """A process of its own reads them anew, a few times."""
    subprocess.run([sys.executable, "-c", THREADS], check=True)


def test_extensions_win(tmp_path: Path) -> None:
    text = made("apps/v1", "Deployment", "spec: {replicaz: 1}")
    crd = one_step.crd("spec: {type: object}", "Deployment", "apps")
    report = check(tmp_path, text, extensions=crd)
    assert [result.status for result in report.results] == ["invalid"]
    assert report.notes == ()


EXAMPLE = ROOT / "examples" / "gotemplate-conditions"


@pytest.mark.parametrize("output", ["text", "json", "yaml"])
def test_render_validates_what_it_renders(run: Run, output: str) -> None:
    """The same report and exit code as with the two commands in a pipe."""
    rendered = run("render", EXAMPLE, "--include-full-xr").out
    piped = run("validate", EXAMPLE / "xrd.yaml", "-", "-o", output, stdin=rendered)
    assert run("render", EXAMPLE, "--validate", "--output", output).out == piped.out


def test_render_fails_when_what_it_renders_is_invalid(run: Run, tmp_path: Path) -> None:
    """The XRD of `render` is used for validation; other schemas come with --crds."""
    crd = tmp_path / "crd.yaml"
    group = "rds.aws.upbound.io"
    crd.write_text(one_step.crd("spec: {type: object}", "Instance", group, "v1beta1"))
    printed = run("render", EXAMPLE, "--validate", "--crds", crd, "--output", "json", code=1)
    assert json.loads(printed.out)["summary"]["invalid"] == 1


def test_missing_schemas_may_fail_too(run: Run) -> None:
    """The flag is the same as in `validate`."""
    run("render", EXAMPLE, "--validate", "--error-on-missing-schemas", code=1)


def test_watched_validation_has_no_crds_of_stdin(run: Run) -> None:
    run("render", EXAMPLE, "--watch", "--validate", "--crds", "x,-", code=2)


def test_report_without_schemas_names_their_place(run: Run) -> None:
    """A report of nothing but missing schemas is no good news."""
    printed = run("render", ROOT / "examples" / "starlark-robots", "--validate")
    assert "note: there are no schemas: --xrd and --crds name them" in printed.err
