"""The rules of `check`: what each finds, where, and what it leaves alone."""

from pathlib import Path
from textwrap import indent

import pytest
from support import one_step
from support.check_helpers import composition, found, ours, peer, script, template, told
from support.one_step import HEAD
from support.paths import ROOT

from function_script.tools.check import checker
from function_script.tools.check.rules import RULES

PARSE = "cannot parse inline: "
COMPILE = "cannot compile template: "

# Single mistakes are in the catalogue of tests/diagnostics.
FINDINGS = {
    "gotemplate-unknown-functions": (
        ours("GoTemplate", "inline: |", "  {{ lowr 1 }}", "  {{ $x }} {{ uper 1 }}"),
        [
            ("program", "4:6", PARSE + 'function "lowr" not defined'),
            ("program", "5:6", PARSE + 'undefined variable "$x"'),
            ("program", "5:15", PARSE + 'function "uper" not defined'),
        ],
    ),
    "peer-second-template": (
        peer(
            "source: Inline", "inline:", "  templates:", "  - a", "  - |", "    b", "    {{ uper }}"
        ),
        [("program", "9:8", 'cannot parse inline.templates[1]: function "uper" not defined')],
    ),
    "jinja-unknown-filters-and-tests-in-all-modules": (
        ours(
            "JinjaTemplate",
            "modules:",
            "  m: |",
            "    {{ 1 | uper }}",
            "inline: |",
            "  {{ 1 is od }}",
        ),
        [
            ("program", "7:11", COMPILE + 'there is no test "od"'),
            ("program", "5:12", COMPILE + 'there is no filter "uper"'),
        ],
    ),
    "starlark-all-names-of-all-modules": (
        ours(
            "StarlarkScript",
            "modules:",
            "  a.star: x = nothing",
            "  b.star: y = (",
            "script: |",
            '  load("a.star", "x")',
            "  def main(req):",
            "      return first + second + first",
        ),
        [
            ("program", "4:15", 'cannot load modules[a.star]: name "nothing" is not defined'),
            ("program", "9:14", 'cannot load script: name "first" is not defined'),
            ("program", "9:22", 'cannot load script: name "second" is not defined'),
            ("program", "5:15", 'cannot parse modules[b.star]: bracket "(" is not closed'),
        ],
    ),
    "starlark-unused-module": (
        ours(
            "StarlarkScript",
            "modules:",
            "  a.star: x = 1",
            "  b.star: x = 2",
            "script: |",
            '  load("a.star", "x")',
            "  def main(req):",
            "      return {}",
        ),
        [("unused-module", "5:3", 'input.modules["b.star"]: nothing uses this module')],
    ),
    "jinja-unused-module": (
        ours("JinjaTemplate", "modules: {a: A, b: B}", "inline: \"{% include 'a' %}\""),
        [("unused-module", "3:17", 'input.modules["b"]: nothing uses this module')],
    ),
    "gotemplate-unused-module": (
        ours(
            "GoTemplate",
            "modules:",
            "  a: '{{ define `x` }}{{ template `c` }}{{ end }}'",
            "  b: B",
            "  c: C",
            "inline: '{{ include `x` . }}'",
        ),
        [("unused-module", "5:3", 'input.modules["b"]: nothing uses this module')],
    ),
    "program-not-checked": (
        ours("JinjaTemplate", "source: FileSystem", "fileSystem:", "  dirPath: site"),
        [
            (
                "program-not-checked",
                "5:3",
                "input.fileSystem.dirPath: the program is in files, and was not checked",
            )
        ],
    ),
}


@pytest.mark.parametrize(("text", "expected"), FINDINGS.values(), ids=FINDINGS)
def test_findings(tmp_path: Path, text: str, expected: list[tuple[str, str, str]]) -> None:
    assert [told(finding) for finding in found(tmp_path, text).findings] == expected


FINE = {
    "a-computed-name-may-be-that-of-any-module": ours(
        "GoTemplate", "modules: {a: A}", "inline: '{{ include .params.x . }}'"
    ),
    "a-template-from-the-context": peer("source: Environment", "environment: {key: a}"),
    "function-go-templating-has-random-functions": peer(
        "source: Inline", "inline: {template: '{{ randAlpha 3 }}'}"
    ),
    "allowed-by-an-option": ours(
        "GoTemplate", "options: {stableValues: true}", "inline: '{{ randAlpha 3 }}'"
    ),
    "set-by-the-includer": ours(
        "JinjaTemplate",
        "modules: {a: '{{ x }}'}",
        "inline: \"{% set x = 1 %}{% include 'a' %}\"",
    ),
    "set-by-loops-and-macros": ours(
        "JinjaTemplate",
        "inline: |",
        "  {% for a, b in xr|items %}{{ loop.index }}{{ a }}{{ b }}{% endfor %}",
        "  {% macro m(x) %}{{ x }}{{ caller() }}{% endmacro %}{% call m(1) %}{% endcall %}",
    ),
    "objects-are-asked-for-through-another-name": ours(
        "StarlarkScript",
        "script: |",
        "  def main(req):",
        "      rsp = response()",
        "      ask = rsp.require",
        '      ask("a", "v1", "ConfigMap", "a")',
        '      rsp.context("a", get_required(req, "a"))',
        "      return rsp",
    ),
    "functions-of-the-script-with-names-of-the-library": ours(
        "StarlarkScript",
        "script: |",
        "  def get_required(value, key):",
        "      return value[key]",
        "  def is_ready(value):",
        "      return value != None",
        "  def main(req):",
        "      rsp = response()",
        '      size = get_required(get_xr(req, "spec"), "size")',
        '      rsp.resource("a", {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": size}})',
        '      rsp.ready(is_ready(get_observed(req, "a")))',
        "      return rsp",
    ),
    "not-ours": "apiVersion: example.org/v1\nkind: Other\nscirpt: x",
}


@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_uncertain_compositions_have_no_finding(tmp_path: Path, text: str) -> None:
    """A finding is a mistake, whatever the request."""
    fine = ours("GoTemplate", "inline: a")
    assert [told(finding) for finding in found(tmp_path, text, fine).findings] == []


NAMED = """\
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    name: not-this-one
    script.fn.crossplane.io/composition-resource-name: a
  name: NAME
data:
  name: nor-this
---
apiVersion: v1
kind: XR
metadata:
  name: not-composed
"""
NAMES = {
    "plain": ("JinjaTemplate", "same", "10:11"),
    "quoted": ("JinjaTemplate", '"same" # a comment', "10:11"),
    "gotemplate": ("GoTemplate", "same", "10:11"),
    "jinja-computed": ("JinjaTemplate", "{{ xr.metadata.name }}-a", None),
    "gotemplate-computed": ("GoTemplate", 'a-{{ "x" }}', None),
    "empty": ("GoTemplate", "", None),
    "block": ("GoTemplate", "|", None),
    "same-namespace": ("JinjaTemplate", "same\n  namespace: {{ xr.metadata.namespace }}", "10:11"),
    "one-namespace": ("JinjaTemplate", "same\n  namespace: prod", "10:11"),
    "own-namespace": ("GoTemplate", 'same\n  namespace: {{ "t" }}-web', None),
}


@pytest.mark.parametrize(("kind", "name", "place"), NAMES.values(), ids=NAMES)
def test_constant_names_in_templates(
    tmp_path: Path, kind: str, name: str, place: str | None
) -> None:
    lines = NAMED.replace("NAME", name).splitlines()
    report = found(tmp_path, ours(kind, "inline: |", *(f"  {line}" for line in lines)))
    assert [told(finding)[:2] for finding in report.findings] == [
        ("constant-name", where) for where in [place] if where is not None
    ]


OBJECTS = {
    "constant": ('"name": "same"', "5:66"),
    "computed": ('"name": req["meta"]["tag"]', None),
    "label": ('"labels": {"name": "same"}', None),
    "same-namespace": ('"name": "same", "namespace": get_xr(req, "metadata.namespace")', "5:66"),
    "own-namespace": ('"name": "same", "namespace": "t-" + req["meta"]["tag"]', None),
}


@pytest.mark.parametrize(("metadata", "place"), OBJECTS.values(), ids=OBJECTS)
def test_constant_names_in_scripts(tmp_path: Path, metadata: str, place: str | None) -> None:
    """Those of objects inside of others, such as a manifest to apply, are left alone."""
    inner = '{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "inner"}}'
    outer = f'{{"apiVersion": "v1", "kind": "é", "metadata": {{{metadata}}}, "spec": {inner}}}'
    report = found(tmp_path, script(f"x = {outer}", "return x"))
    assert [told(finding)[:2] for finding in report.findings] == [
        ("constant-name", where) for where in [place] if where is not None
    ]


def test_object_that_a_function_gets_may_have_any_name(tmp_path: Path) -> None:
    """The function may put it into the manifest of another one."""
    thing = '{"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "same"}}'
    report = found(tmp_path, script(f"x = dict(manifest = {thing})", "return {'context': x}"))
    assert report.findings == []


def test_operations_write_whole_names(tmp_path: Path) -> None:
    """There is no XR after which Crossplane could name what an Operation applies."""
    thing = "{'apiVersion': 'v1', 'kind': 'Thing', 'metadata': {'name': 'same'}}"
    resources = f"{{'a': {{'resource': {thing}}}}}"
    script = f"def main(req):\n  return {{'desired': {{'resources': {resources}}}}}\n"
    text = composition(ours("StarlarkScript", "script: |", indent(script, "  ")))
    file = tmp_path / "operation.yaml"
    file.write_text(
        text.replace("apiextensions.crossplane.io/v1", "ops.crossplane.io/v1alpha1").replace(
            "Composition", "Operation"
        )
    )
    assert checker.check([str(file)]).findings == []
    file.write_text(text)
    assert [each.rule for each in checker.check([str(file)]).findings] == ["constant-name"]


OPERATION = """\
apiVersion: ops.crossplane.io/v1alpha1
kind: CronOperation
metadata: {name: nightly, labels: {kept: here}}
spec:
  schedule: "@daily"
  operationTemplate:
    metadata:
      labels: {team: platform}
    spec:
      mode: Pipeline
      pipeline:
"""
STEP = one_step.step("report", "StarlarkScript", "def main(req):\n    return {}\n", field="script")


def test_metadata_of_a_template_is_told(tmp_path: Path) -> None:
    """An API server refuses the field or drops it, though `render` makes an Operation with it."""
    path = tmp_path / "operation.yaml"
    text = OPERATION + indent(STEP, "    ")
    path.write_text(text)
    (finding,) = checker.check([str(path)]).findings
    assert (finding.rule, finding.severity) == ("template-metadata", "error")
    assert str(finding.diagnostic.span) == f"{path}:8:7"
    message = finding.diagnostic.message
    assert message.startswith("spec.operationTemplate.metadata.labels: no cluster keeps this field")
    path.write_text(text.replace("      labels: {team: platform}\n", ""))
    assert checker.check([str(path)]).findings == []


BUILTIN_INPUTS = {
    "environment-configs": (
        ("environmentconfigs", "spec: {environmentConfigs: [{type: Selektor, ref: {name: a}}]}"),
        "input.spec.environmentConfigs[0].type: must be one of Reference, Selector",
    ),
    "extra-resources": (("extra-resources", "spec: {}"), "input.spec.extraResources: is required"),
    "auto-ready": (("autoready", "ttl: 5"), "input.ttl: must be of type string"),
    "unknown-field": (("autoready", "ttk: 5s"), "input.ttk: unknown field"),
}


@pytest.mark.parametrize(("value", "message"), BUILTIN_INPUTS.values(), ids=BUILTIN_INPUTS)
def test_input_of_a_builtin_function_is_compared_with_its_schema(
    tmp_path: Path, value: tuple[str, str], message: str
) -> None:
    group, fields = value
    file = tmp_path / "composition.yaml"
    head = f"apiVersion: {group}.fn.crossplane.io/v1beta1\nkind: Input\n"
    file.write_text(HEAD + indent(f"{head}{fields}\n", " " * 6))
    report = checker.check([str(file)])
    assert [finding.diagnostic.message for finding in report.findings] == [message]
    assert not report.others


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("functionRevisionSelector: {matchLabels: {channel: next}}", 1),
        ("functionRevisionRef: {name: function-script-1a2b}", 1),
        ("requirements: {}", 0),
    ],
)
def test_function_revision_of_a_step_is_found(tmp_path: Path, line: str, count: int) -> None:
    """No released Crossplane reads these fields, so every XR would use the new version at once."""
    path = tmp_path / "composition.yaml"
    text = one_step.composition("JinjaTemplate", "{# nothing #}")
    path.write_text(text.replace("    input:", f"    {line}\n    input:"))

    findings = [
        each for each in checker.check([str(path)]).findings if each.rule == "function-revision"
    ]

    assert len(findings) == count
    for finding in findings:
        assert finding.diagnostic.span.line == 10


DOCUMENT = (
    "apiVersion: v1",
    "kind: ConfigMap",
    "metadata:",
    "  annotations:",
    "    script.fn.crossplane.io/composition-resource-name: server",
)
MISSPELT = {
    "starlark-test": script(
        "rsp = response()",
        'rsp.resource("server", {"apiVersion": "v1", "kind": "ConfigMap"})',
        'rsp.ready(is_observed(req, "servce"))',
        "return rsp",
    ),
    "starlark": script(
        "rsp = response()",
        'rsp.resource("server", {"apiVersion": "v1", "kind": "ConfigMap"})',
        'if get_observed(req, "servce", "status.x"):',
        '    rsp.set_status("x", get_observed(req, "server", "status.x"))',
        "return rsp",
    ),
    "jinja": template(
        "JinjaTemplate",
        '{% set server = get_composed_resource("servce") %}',
        *DOCUMENT,
        'data: {x: "{{ server.status.x | default("") }}"}',
    ),
    "gotemplate": template(
        "GoTemplate",
        '{{ $server := getComposedResource . "servce" }}',
        *DOCUMENT,
        'data: {x: {{ dig "status" "x" "" ($server | default dict) | quote }}}',
    ),
}


def test_name_of_the_function_of_templates_is_a_name(tmp_path: Path) -> None:
    by_function = MISSPELT["jinja"].replace(
        "script.fn.crossplane.io/composition-resource-name: server",
        "{{ set_resource_name_annotation('server') }}",
    )
    rules = [
        each.rule for each in found(tmp_path, by_function.replace("servce", "server")).findings
    ]
    assert "unknown-resource" not in rules


@pytest.mark.parametrize("text", MISSPELT.values(), ids=MISSPELT)
def test_unknown_resource_is_found_where_all_names_are_constants(text: str, tmp_path: Path) -> None:
    (finding,) = [
        each for each in found(tmp_path, text).findings if each.rule == "unknown-resource"
    ]
    assert finding.diagnostic.message == 'no step composes "servce", so it is never observed'
    assert finding.diagnostic.hint == 'did you mean "server"?'
    computed = text.replace(": server", ": {{ 1 }}").replace('resource("server"', "resource(str(1)")
    others = tmp_path / "others"
    others.mkdir()
    assert "unknown-resource" not in [each.rule for each in found(others, computed).findings]


def test_rule_has_a_test() -> None:
    """It is named by a mistake of the catalogue, or by a test of what `check` finds."""
    tests = ROOT / "tests"
    modules = [*tests.glob("unit/tools/check/*.py"), *tests.glob("behaviour/*.py")]
    texts = [path.read_text() for path in [*modules, *tests.glob("diagnostics/cases/*/*.txt")]]
    names = [rule.name for rule in RULES]
    lacking = [n for n in names if not any(f"[{n}]" in t or f'"{n}"' in t for t in texts)]
    assert lacking == []
