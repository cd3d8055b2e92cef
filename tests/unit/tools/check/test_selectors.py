"""Selectors that select nothing, for a field that is not there or for what is at hand."""

from pathlib import Path

import pytest
from support import one_step
from support.commands import Run

from function_script.sandbox.pool import Pool
from function_script.tools.check import checker, runs
from function_script.tools.check.report import Finding

XRD = one_step.xrd("spec: {type: object, properties: {size: {type: string}}}")
XR = one_step.XR + "spec: {size: small}\n"
# Below `input` of a step of function-environment-configs, and of function-extra-resources.
ENVIRONMENT = """\
      apiVersion: environmentconfigs.fn.crossplane.io/v1beta1
      kind: Input
      spec:
        environmentConfigs:
        - type: Selector
          selector:
            mode: Multiple
            matchLabels:
            - {key: %s, type: %s}
"""
EXTRA = """\
      apiVersion: extra-resources.fn.crossplane.io/v1beta1
      kind: Input
      spec:
        extraResources:
        - kind: ConfigMap
          apiVersion: v1
          into: configs
          type: Selector
          selector:
            matchLabels:
            - {key: %s, type: %s}
"""
OWN = """\
requirements:
  resources:
    config:
      apiVersion: v1
      kind: ConfigMap
      %s
"""
CONFIG = """\
---
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: config
"""
OF_XR = "FromCompositeFieldPath, valueFromFieldPath: spec.szie"


def _own(fields: str) -> str:
    return one_step.composition("GoTemplate", CONFIG, fields=OWN % fields)


def _builtin(name: str, step_input: str, *parts: str) -> str:
    step = f"  - step: select\n    functionRef: {{name: {name}}}\n    input:\n"
    return (
        one_step.PIPELINE + step + step_input % parts + one_step.step("one", "GoTemplate", CONFIG)
    )


def _check(path: Path, composition: str, pool: Pool | None = None, **files: str) -> list[Finding]:
    texts = {"composition": composition, "xrd": XRD, "xr": XR, **files}
    for name, text in texts.items():
        path.joinpath(f"{name}.yaml").write_text(text)
    options = None if pool is None else runs.Options(pool=pool, variants=2)
    return checker.check([str(path)], run_options=options).findings


FIELDS = {
    "own": (_own("fromFieldPath: {matchName: spec.szie}"), "unknown-field"),
    "own-label": (_own("fromFieldPath: {matchLabels: {a: spec.szie.name}}"), "unknown-field"),
    "own-optional": (
        _own("optional: true\n      fromFieldPath: {matchName: spec.szie}"),
        "guarded-field",
    ),
    "environment": (
        _builtin("function-environment-configs", ENVIRONMENT, "size", OF_XR),
        "unknown-field",
    ),
    "optional": (
        _builtin(
            "function-environment-configs",
            ENVIRONMENT,
            "size",
            f"{OF_XR}, fromFieldPathPolicy: Optional",
        ),
        "guarded-field",
    ),
    "extra-resources": (
        _builtin("function-extra-resources", EXTRA, "size", OF_XR),
        "unknown-field",
    ),
}


@pytest.mark.parametrize(("composition", "rule"), FIELDS.values(), ids=FIELDS)
def test_selector_of_a_field_that_the_xrd_lacks(
    composition: str, rule: str, tmp_path: Path
) -> None:
    (finding,) = _check(tmp_path, composition)
    problem = finding.diagnostic
    assert (finding.rule, problem.hint) == (rule, 'did you mean "size"?')
    assert "spec.szie does not exist: the XR's schema has no such field" in problem.message
    line = composition.split("\n")[problem.span.line - 1]
    assert "spec.szie" in line


@pytest.mark.parametrize("path", ["spec.size", "metadata.labels.any", "status.conditions[0].type"])
def test_selector_of_a_field_that_is_there(path: str, tmp_path: Path) -> None:
    assert _check(tmp_path, _own(f'fromFieldPath: {{matchName: "{path}"}}')) == []


def _config(kind: str = "ConfigMap", version: str = "v1", **metadata: str) -> str:
    fields = ", ".join(f"{key}: {value}" for key, value in metadata.items())
    return f"apiVersion: {version}\nkind: {kind}\nmetadata: {{{fields}}}\ndata: {{a: b}}\n"


def _environment(labels: str) -> str:
    version = "apiextensions.crossplane.io/v1beta1"
    return _config("EnvironmentConfig", version, name="e", labels=labels)


GOLD = _builtin("function-environment-configs", ENVIRONMENT, "tier", "Value, value: gold")
NEAR = {
    "another-namespace": (
        _own("matchName: a\n      namespace: b"),
        _config(name="a", namespace="c"),
        'the one at hand is in namespace "c", not in "b"',
        "config:",
    ),
    "no-namespace": (
        _own("matchName: a"),
        _config(name="a", namespace="c"),
        'the one at hand is in namespace "c", the selector has none',
        "config:",
    ),
    "label": (
        GOLD,
        _environment("{teir: gold}"),
        'those at hand have the label "teir", not "tier"',
        "- type: Selector",
    ),
    "value-of-a-label": (
        GOLD,
        _environment("{tier: glod}"),
        "one at hand has tier=glod, not tier=gold",
        "- type: Selector",
    ),
}


@pytest.mark.parametrize(("composition", "required", "cause", "line"), NEAR.values(), ids=NEAR)
def test_selector_of_what_is_at_hand_in_another_form(
    composition: str, required: str, cause: str, line: str, tmp_path: Path, pool: Pool
) -> None:
    (finding,) = _check(tmp_path, composition, pool, required=required)
    assert (finding.rule, finding.severity) == ("doubtful", "warning")
    assert finding.diagnostic.message.endswith(f" was not found: {cause}")
    assert line in composition.split("\n")[finding.diagnostic.span.line - 1]


OTHERS = {
    "found": (_own("matchName: a\n      namespace: c"), _config(name="a", namespace="c")),
    "another-name": (_own("matchName: a\n      namespace: b"), _config(name="b", namespace="c")),
    "two-namespaces": (
        _own("matchName: a\n      namespace: b"),
        f"{_config(name='a', namespace='c')}---\n{_config(name='a', namespace='d')}",
    ),
    "a-kind-of-the-cluster": (_own("matchName: a\n      namespace: b"), _config(name="a")),
    "other-labels": (GOLD, _environment("{tier: silver}")),
    "none-at-hand": (GOLD, _config(name="a")),
}


@pytest.mark.parametrize(("composition", "required"), OTHERS.values(), ids=OTHERS)
def test_selector_of_what_is_not_at_hand_is_no_finding(
    composition: str, required: str, tmp_path: Path, pool: Pool
) -> None:
    assert _check(tmp_path, composition, pool, required=required) == []


def test_render_and_test_warn_of_a_selector(tmp_path: Path, run: Run) -> None:
    composition, required, cause, _ = NEAR["another-namespace"]
    _check(tmp_path, composition, required=required)
    assert f'required resource "config" was not found: {cause}' in run("render", tmp_path).err
    tmp_path.joinpath("a.case.yaml").write_text("required: required.yaml\nexpect: {}\n")
    assert cause in run("test", tmp_path).out


WORKLOAD = (
    '{"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"selector": %s, "template": %s}}'
)
PODS = '{"metadata": {"labels": {"app": "web", "tier": "front"}}, "spec": {"containers": [%s]}}'
CONTAINER = '{"name": "main", "image": "a"}'
SERVICE = (
    '{"apiVersion": "v1", "kind": "Service", "spec": {"selector": %s, "ports": [{"port": 80}]}}'
)


def _serve(selector: str, workload: str | None = None) -> str:
    """Return a Composition of a Deployment, and of a Service with a selector."""
    if workload is None:
        workload = WORKLOAD % ('{"matchLabels": {"app": "web"}}', PODS % CONTAINER)
    lines = [f'rsp.resource("app", {workload})', f'rsp.resource("svc", {SERVICE % selector})']
    body = ["def main(req):", "  rsp = response()", *(f"  {line}" for line in lines)]
    text = "\n".join([*body, "  return rsp\n"])
    return one_step.composition("StarlarkScript", text, field="script")


SLIPS = {
    '{"app": "wbe"}': "they have app: web",
    '{"app.kubernetes.io/name": "web"}': "they have app: web",
    '{"app": "web", "tier": "fornt"}': "they have tier: front",
}


@pytest.mark.parametrize(("selector", "hint"), SLIPS.items())
def test_service_that_selects_no_pod_for_a_slip(
    selector: str, hint: str, tmp_path: Path, pool: Pool
) -> None:
    """The resources of a run are compared, whatever language made them."""
    composition = _serve(selector)
    (finding,) = _check(tmp_path, composition, pool)
    assert (finding.rule, finding.diagnostic.hint) == ("doubtful", hint)
    assert f'"selector": {selector}' in composition.split("\n")[finding.diagnostic.span.line - 1]


POD = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"app": "wbe"}}, "spec": {%s}}'
KEPT = {
    "selected": ('{"app": "web"}', None),
    "of-others": ('{"app": "database"}', None),
    "of-two-others": ('{"app": "database", "tier": "front"}', None),
    "no-labels": ("{}", None),
    "a-pod": ('{"app": "wbe"}', POD % f'"containers": [{CONTAINER}]'),
}


@pytest.mark.parametrize(("selector", "workload"), KEPT.values(), ids=KEPT)
def test_service_of_other_pods_is_no_finding(
    selector: str, workload: str | None, tmp_path: Path, pool: Pool
) -> None:
    assert _check(tmp_path, _serve(selector, workload), pool) == []


DATABASE = """\
---
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: database
spec: {instances: 1}
"""


@pytest.mark.parametrize(("last", "count"), {"": 1, DATABASE: 0}.items(), ids=["none", "cluster"])
def test_service_of_pods_that_another_kind_may_make_is_no_finding(
    last: str, count: int, tmp_path: Path, pool: Pool
) -> None:
    composition = _serve('{"cnpg.io/cluster": "web"}')
    steps = composition + one_step.step("last", "JinjaTemplate", last or CONFIG)
    assert len(_check(tmp_path, steps, pool)) == count


MAKING_NAMES = """\
def main(req):
  rsp = response()
  for i in range(2):
    rsp.resource("other-%%d" %% i, {"apiVersion": "v1", "kind": "ConfigMap"})
  if get_observed(req, "%s"):
    rsp.resource("last", {"apiVersion": "v1", "kind": "ConfigMap"})
  return rsp
"""


@pytest.mark.parametrize(("name", "count"), {"othre-1": 1, "other-1": 0, "other-7": 0}.items())
def test_observed_name_that_is_almost_one_that_is_made(
    name: str, count: int, tmp_path: Path, pool: Pool
) -> None:
    """tests/unit/tools/check/test_rules.py has the names that each language reads."""
    text = one_step.composition("StarlarkScript", MAKING_NAMES % name, field="script")
    findings = _check(tmp_path, text, pool)
    assert [each.diagnostic.message for each in findings] == (
        [f'no run composed "{name}", so it is never observed'] * count
    )
    assert all(name in text.split("\n")[each.diagnostic.span.line - 1] for each in findings)


def test_observed_name_of_a_step_that_does_not_run_is_no_finding(
    tmp_path: Path, pool: Pool
) -> None:
    other = "  - step: other\n    functionRef: {name: function-other}\n"
    text = one_step.composition("StarlarkScript", MAKING_NAMES % "othre-1", field="script")
    assert _check(tmp_path, text + other, pool) == []
