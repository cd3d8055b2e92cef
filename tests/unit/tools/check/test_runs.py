"""`check` finds mistakes by runs: each row is one, in any of the languages.

The place of a failure is that of `render`, which tests/diagnostics has for each language.
"""

import json
import re
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from pathlib import Path
from textwrap import dedent, indent

import pytest
from support import one_step
from support.check_helpers import pointed_at
from support.commands import Run

from function_script.documents.stream import read_value
from function_script.sandbox.pool import Pool
from function_script.tools.check import checker, runs
from function_script.tools.check.report import Report, render_text
from function_script.tools.render.runtimes.servers import Server, Servers

XRD = one_step.xrd("""\
spec:
  type: object
  required: [region, size]
  properties:
    region: {type: string, enum: [eu, us, "NO"]}
    size: {type: string, enum: [small, large]}
    count: {type: integer, minimum: 0, maximum: 5}
    debug: {type: boolean, default: false}
    ratio: {type: number, default: 1.5}
    version: {type: string, default: "1.10"}
    engine: {type: string, default: "16"}
    tags: {type: array, items: {type: string}}
    network: {type: object, properties: {mode: {type: string, enum: [a, b]}}}
    ports:
      type: array
      items:
        type: object
        required: [port]
        properties: {port: {type: integer, minimum: 1}}
status:
  type: object
  properties:
    address: {type: string}
""")
CRD = one_step.crd("spec: {type: object, properties: {engineVersion: {type: string}}}", "Database")
_CONFIG = """\
---
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: config
data:
  x: "1"
"""
_NAMELESS = """\
---
apiVersion: v1
kind: ConfigMap
metadata:
  labels: {a: b}
data:
  x: "1"
"""
_SET = {
    "GoTemplate": "{{ $spec := .observed.composite.resource.spec }}\n",
    "JinjaTemplate": "{% set spec = observed.composite.resource.spec %}\n",
}
_WORKLOAD = """\
---
apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: app
spec:
"""
_DATABASE = """\
---
apiVersion: example.org/v1
kind: Database
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: database
spec:
"""
_STATUS = """\
---
apiVersion: example.org/v1
kind: XThing
status:
"""


def _script(*lines: str) -> str:
    head = ["def main(req):", '    spec = get_xr(req)["spec"]', "    rsp = response()"]
    return "\n".join([*head, *(f"    {line}" for line in lines), "    return rsp", ""])


def _config(expression: str) -> str:
    data = f'{{"x": {expression}}}'
    return f'rsp.resource("config", {{"apiVersion": "v1", "kind": "ConfigMap", "data": {data}}})'


def _app(spec: str) -> str:
    return f'rsp.resource("app", {{"apiVersion": "apps/v1", "kind": "Deployment", "spec": {spec}}})'


_GO, _JINJA, _STARLARK = "GoTemplate", "JinjaTemplate", "StarlarkScript"
_CONTAINERS = "  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n"
_POD = f"{_CONTAINERS}    spec:\n      containers:\n      - name: app\n        image: app\n"
_POD_OBJECT = (
    '"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, '
    '"spec": {"containers": [{"name": "app", "image": "app"}]}}'
)


def _mistake(name: str, text: str, **programs: str) -> list[object]:
    """Rows of a mistake: ``text`` is of its line, in the programs of one or more languages."""
    kinds = {"go": _GO, "jinja": _JINJA, "starlark": _STARLARK}
    return [
        pytest.param(kinds[language], text, program, id=f"{name}-{kinds[language]}")
        for language, program in programs.items()
    ]


MISTAKES = [
    *_mistake("list-for-a-text", "x: []", go=_CONFIG.replace('"1"', "[]")),
    *_mistake(
        "optional-number",
        "count",
        go=_CONFIG + "  y: {{ $spec.count | quote }}\n",
        jinja=_CONFIG + "  y: {{ spec.count | string }}\n",
        starlark=_script(_config('str(spec["count"])')),
    ),
    *_mistake(
        "optional-object",
        "mode",
        jinja=_CONFIG + "  y: {{ spec.network.mode }}\n",
    ),
    *_mistake(
        "optional-list",
        "tags",
        starlark=_script(_config('",".join([tag for tag in spec["tags"]])')),
    ),
    *_mistake(
        "first-of-an-empty-list",
        "ports",
        go=_CONFIG
        + '{{- if hasKey $spec "ports" }}\n  y: {{ (index $spec.ports 0).port | quote }}\n'
        "{{- end }}\n",
    ),
    *_mistake(
        "enum-without-entry",
        "size",
        starlark=_script(_config('{"small": "1"}[spec["size"]]')),
    ),
    *_mistake(
        "division-by-zero",
        "count",
        jinja=_CONFIG + "{% if spec.count is defined %}\n"
        "  y: {{ (10 // spec.count) | string }}\n{% endif %}\n",
    ),
    *_mistake(
        "misspelt-in-a-branch",
        "replcas",
        go=_WORKLOAD + _POD + '{{- if eq $spec.size "large" }}\n  replcas: 1\n{{- end }}\n',
    ),
    *_mistake(
        "status-field-unknown",
        "adress",
        jinja=_STATUS + "  adress: x\n" + _CONFIG,
        starlark=_script('rsp.set_status("adress", "x")'),
    ),
    *_mistake(
        "status-of-another-type",
        "address",
        go=_STATUS + "  address: 5\n" + _CONFIG,
    ),
    *_mistake(
        "word-that-is-a-boolean",
        "region",
        go=_WORKLOAD + _POD + "        env:\n        - name: {{ $spec.region }}\n",
    ),
    *_mistake(
        "number-in-a-list-in-brackets",
        "env",
        jinja=_WORKLOAD + _POD + "        env: [{name: A, value: {{ spec.count }} }]\n",
    ),
    *_mistake(
        "version-that-is-a-number",
        "subdomain",
        starlark=_script(
            'pod = {"containers": [{"name": "app", "image": "app"}]}',
            'pod["subdomain"] = 1.10',
            'template = {"metadata": {"labels": {"a": "b"}}, "spec": pod}',
            _app('{"selector": {"matchLabels": {"a": "b"}}, "template": template}'),
        ),
    ),
    *_mistake(
        "version-of-a-crd-that-is-a-number",
        "engineVersion",
        go=_DATABASE + "  engineVersion: {{ $spec.engine }}\n",
    ),
    *_mistake(
        "range-of-a-fraction",
        "ratio",
        go=_CONFIG + '{{- range until $spec.ratio }}\n  k{{ . }}: "1"\n{{- end }}\n',
    ),
    *_mistake(
        "object-without-a-name",
        "apiVersion",
        go=_NAMELESS,
    ),
    *_mistake(
        "object-with-empty-metadata",
        "apiVersion",
        jinja="{% set all = context %}\n" + _NAMELESS.replace("  labels: {a: b}\n", ""),
    ),
    *_mistake(
        "key-twice-in-a-loop",
        "k:",
        jinja=_CONFIG + '{% for tag in spec.tags | default([]) %}\n  k: "1"\n{% endfor %}\n',
    ),
    *_mistake(
        "name-twice-in-a-loop",
        "composition-resource-name",
        go="{{- range ($spec.tags | default list) }}\n" + _CONFIG + "{{- end }}\n",
    ),
    *_mistake(
        "name-twice-in-a-loop-of-a-script",
        "apiVersion",
        starlark=_script('for tag in spec.get("tags", []):', "    " + _config("tag")),
    ),
    *_mistake(
        "wrong-operand",
        "count",
        starlark=_script('if spec["debug"]:', "    " + _config('"n" + spec.get("count", 1)')),
    ),
]


def _place(path: Path, kind: str, program: str) -> Path:
    field = "script" if kind == _STARLARK else "inline"
    text = one_step.composition(kind, _SET.get(kind, "") + program, field=field)
    path.joinpath("xrd.yaml").write_text(XRD)
    path.joinpath("crds").mkdir()
    path.joinpath("crds", "database.yaml").write_text(CRD)
    file = path / "composition.yaml"
    file.write_text(text)
    return file


def _add_step(file: Path, name: str = "other", **function: str) -> None:
    """Add a step of a function; ``function`` are fields that functions.yaml has of it."""
    with file.open("a") as composition:
        composition.write(f"\n  - step: {name}\n    functionRef: {{name: {name}}}\n")
    if function:
        text = "apiVersion: pkg.crossplane.io/v1\nkind: Function\n"
        text += "".join(f"{field}: {value}\n" for field, value in function.items())
        file.with_name("functions.yaml").write_text(text)


def _check(file: Path, pool: Pool, variants: int = 8) -> Report:
    return checker.check([str(file)], run_options=runs.Options(pool=pool, variants=variants))


@pytest.mark.parametrize(("kind", "text", "program"), MISTAKES)
def test_check_finds_the_mistake_at_its_line(
    kind: str, text: str, program: str, tmp_path: Path, pool: Pool
) -> None:
    file = _place(tmp_path, kind, program)
    findings = _check(file, pool).findings
    lines = file.read_text().split("\n")
    spans = [finding.diagnostic.span for finding in findings]
    assert spans
    # Where a script sets a field of the status is not known: it is the step's.
    assert any(
        span is not None
        and (text in lines[span.line - 1] or (kind == _STARLARK and "status" in program))
        for span in spans
    )


_COMPUTED = _NAMELESS.replace("  labels: {a: b}\n", "  annotations: {}\n")
_NAMED = _CONFIG.replace("name: config", "name: {}")
# What may differ with data that is not at hand, or with other words than those of a variant.
UNSURE = {
    "annotations": (
        _GO,
        _COMPUTED.format(
            "{{ .observed.composite.resource.metadata.annotations"
            " | default $spec.network | default dict | toJson }}"
        ),
    ),
    "name-of-an-item": (
        _GO,
        "{{- range ($spec.tags | default list) }}\n" + _NAMED.format("{{ . }}") + "{{- end }}\n",
    ),
    "key-of-an-item": (
        _JINJA,
        _CONFIG + '{% for tag in spec.tags | default([]) %}\n  {{ tag }}: "1"\n{% endfor %}\n',
    ),
}


@pytest.mark.parametrize(("kind", "program"), UNSURE.values(), ids=UNSURE)
def test_name_that_is_computed_is_no_finding(
    kind: str, program: str, tmp_path: Path, pool: Pool
) -> None:
    assert _check(_place(tmp_path, kind, program), pool).findings == []


_FOR_A_WORD = (
    _CONFIG + '{% if "crash" in spec.tags | default([]) %}\n  z: {{ spec.tags[1] }}\n{% endif %}\n'
)
_CASE = """\
xr:
  apiVersion: example.org/v1
  kind: XThing
  metadata: {name: a, namespace: default}
  spec: {region: eu, size: small, tags: [crash]}
"""
_STEPS = """\
xr:
  apiVersion: example.org/v1
  kind: XThing
  metadata: {{name: a, namespace: default}}
  spec: {{region: eu, size: small, tags: [a]}}
steps:
- expect: {expect}
- patch: {{spec: {{tags: [crash]}}}}
"""
CASES = {
    "case": (_CASE, ["failing-run"]),
    "second-step": (_STEPS.format(expect="{ready: false}"), ["failing-run"]),
    "step-behind-an-expected-error": (_STEPS.format(expect="{error: b}"), []),
    "expected-error": (f"{_CASE}expect: {{error: tags}}\n", []),
    "invalid-xr": (f"{_CASE}patch: {{spec: {{size: medium}}}}\n", []),
    "unreadable": ("xr: [", []),
}


@pytest.mark.parametrize(("case", "rules"), CASES.values(), ids=CASES)
def test_xr_of_a_case_runs(case: str, rules: list[str], tmp_path: Path, pool: Pool) -> None:
    file = _place(tmp_path, _JINJA, _FOR_A_WORD)
    tmp_path.joinpath("tests").mkdir()
    tmp_path.joinpath("tests", "crash.case.yaml").write_text(case)
    findings = _check(file, pool).findings
    assert [each.rule for each in findings if each.severity == "error"] == rules
    notes = [note for each in findings for note in map(str, each.diagnostic.notes)]
    assert any('crash.case.yaml"' in note for note in notes) is bool(rules)


_NO_YAML = {
    _GO: ("{{{{ $x := .observed.composite.resource.metadata.{} }}}}\n", "  region {{ $size }}\n"),
    _JINJA: ("{{% set x = observed.composite.resource.metadata.{} %}}\n", "  region {{ size }}\n"),
}
_SIZE = {_GO: "{{ $size := $spec.size }}\n", _JINJA: "{% set size = spec.size %}\n"}


@pytest.mark.parametrize("kind", _NO_YAML)
@pytest.mark.parametrize(("metadata", "rules"), [("name", ["failing-run"]), ("labels", [])])
def test_rendered_text_that_is_no_yaml_is_found_with_an_xr_at_hand(
    kind: str, metadata: str, rules: list[str], tmp_path: Path, pool: Pool
) -> None:
    """The line has no field of the request; an XR at hand may lack labels, and has a name."""
    head, line = _NO_YAML[kind]
    program = f"{head.format(metadata)}{_SIZE[kind]}{_CONFIG}{line}  last: a\n"
    file = _place(tmp_path, kind, program)
    (tmp_path / "xr.yaml").write_text(dedent(_CASE.partition("\n")[2]))
    findings = _check(file, pool).findings
    assert [each.rule for each in findings if each.severity == "error"] == rules


def test_name_of_an_xr_is_at_hand(tmp_path: Path, pool: Pool) -> None:
    loop = 'for letter in get_xr(req)["metadata"]["name"]:'
    file = _place(tmp_path, _STARLARK, _script('get_observed(req, "a")', loop, "    pass"))
    findings = [each for each in _check(file, pool).findings if each.rule == "failing-run"]
    assert [pointed_at(each)[:6] for each in findings] == ["get_xr"]


@pytest.mark.parametrize("kind", _NO_YAML)
@pytest.mark.parametrize("metadata", ["name", "labels"])
def test_line_of_a_template_that_lacks_a_blank_is_found_with_any_xr(
    kind: str, metadata: str, tmp_path: Path, pool: Pool
) -> None:
    program = f"{_NO_YAML[kind][0].format(metadata)}{_CONFIG}  cidrBlock:10.0.0.0/16\n  last: a\n"
    file = _place(tmp_path, kind, program)
    findings = _check(file, pool).findings
    (span,) = (each.diagnostic.span for each in findings if each.rule == "failing-run")
    assert span is not None
    assert file.read_text().split("\n")[span.line - 1].strip() == "cidrBlock:10.0.0.0/16"


_TAGS = "{{- range ($spec.tags | default list) }}\n  {{ . }}: c\n{{- end }}\n"


@pytest.mark.parametrize(
    ("tags", "rules"), [("[a, a]", ["failing-run"]), ("[x]", [])], ids=["twice", "once"]
)
def test_key_that_a_list_of_the_xr_has_twice_is_found(
    tags: str, rules: list[str], tmp_path: Path, pool: Pool
) -> None:
    """The other key may be another one with labels, which the XR at hand lacks."""
    file = _place(tmp_path, _GO, f"{_NO_YAML[_GO][0].format('labels')}{_CONFIG}{_TAGS}")
    (tmp_path / "xr.yaml").write_text(dedent(_CASE.partition("\n")[2]).replace("[crash]", tags))
    findings = _check(file, pool).findings
    assert [each.rule for each in findings if each.severity == "error"] == rules


_READS_STATE = {
    _GO: '{{ $x := dig "a" "resource" "status" "id" "" .observed.resources }}\n',
    _JINJA: "{% set x = observed.resources.a is defined and is_ready(observed.resources.a) %}\n",
}


@pytest.mark.parametrize("kind", _READS_STATE)
@pytest.mark.parametrize(
    ("status", "rules"), [("", ["failing-run"]), ("status: {address: a}\n", [])], ids=["new", "old"]
)
def test_program_that_reads_resources_is_certain_to_fail_for_a_new_xr(
    kind: str, status: str, rules: list[str], tmp_path: Path, pool: Pool
) -> None:
    """Every XR begins without composed resources and a status, and this one never gets any."""
    line = _NO_YAML[kind][1]
    program = f"{_READS_STATE[kind]}{_SIZE[kind]}{_CONFIG}{line}  last: a\n"
    file = _place(tmp_path, kind, program)
    (tmp_path / "xr.yaml").write_text(dedent(_CASE.partition("\n")[2]) + status)
    findings = checker.check([str(file)], run_options=runs.Options(pool=pool, variants=0)).findings
    assert [each.rule for each in findings if each.severity == "error"] == rules


def test_script_that_writes_metadata_and_fails_is_found_with_an_xr_at_hand(
    tmp_path: Path, pool: Pool
) -> None:
    """The line has no field of the request, and what a script writes it does not read."""
    body = '{"apiVersion": "v1", "kind": "Thing", "metadata": {"labels": {"a": "%s-%s" % size}}}'
    program = _script(
        'size = spec["size"]', f'rsp.resource("a", {body})', 'rsp.status({"address": "a"})'
    )
    file = _place(tmp_path, _STARLARK, program)
    (tmp_path / "xr.yaml").write_text(dedent(_CASE.partition("\n")[2]))
    assert [each.rule for each in _check(file, pool).findings] == ["failing-run"]


_RECURSION = ["def add(x):", "    return add(x)"]
LIMITS = {
    "functions": (_STARLARK, _script(*_RECURSION, "add(1)"), ["failing-run"]),
    "functions-with-data": (
        _STARLARK,
        _script(*_RECURSION, 'if get_environment(req, "a", True): add(1)'),
        [],
    ),
    "items": (_GO, "{{ until 10000000 }}\n" + _CONFIG, ["failing-run"]),
    # A run that is too slow on this machine may be fast enough on a server.
    "time": (_STARLARK, _script("for i in range(1000000000):", "    i += 1"), ["doubtful"]),
}


@pytest.mark.parametrize(("kind", "program", "rules"), LIMITS.values(), ids=LIMITS)
def test_program_that_needs_too_much_for_any_xr_is_a_finding(
    kind: str, program: str, rules: list[str], tmp_path: Path, pool: Pool
) -> None:
    file = _place(tmp_path, kind, program)
    # On a busy machine, the time of a run that waits may end before its CPU time does.
    limited = f"kind: {kind}\n      limits: {{timeout: 500ms}}\n"
    file.write_text(file.read_text().replace(f"kind: {kind}\n", limited))
    (tmp_path / "xr.yaml").write_text(dedent(_CASE.partition("\n")[2]))
    findings = _check(file, pool, variants=1).findings
    assert [each.rule for each in findings if each.diagnostic.kind == "limit"] == rules


_CREDENTIALS = """\
    credentials:
    - {name: db, source: Secret, secretRef: {namespace: a, name: b}}
    input:
      credentials: [db]
"""
_USER = "{{ $user := index .credentials.db.data.user }}\n"
WITH_SECRETS = {
    "yaml": (_CONFIG + "   y: a\n", ["failing-run"]),
    "schema": (_CONFIG + _WORKLOAD + "  replicas: a\n", ["schema"]),
    "yaml-of-a-value": (_CONFIG + "  y: {{ $user }}\n   z: a\n", []),
    "failure": (_CONFIG + "  y: {{ fromJson $user | quote }}-{{ $spec.size }}\n", []),
}


@pytest.mark.parametrize(("program", "rules"), WITH_SECRETS.values(), ids=WITH_SECRETS)
def test_program_with_credentials_that_are_not_at_hand_is_judged_by_what_it_writes_out(
    program: str, rules: list[str], tmp_path: Path, pool: Pool
) -> None:
    file = _place(tmp_path, _GO, _USER + program)
    file.write_text(file.read_text().replace("    input:\n", _CREDENTIALS))
    findings = _check(file, pool).findings
    assert [each.rule for each in findings if each.severity == "error"] == rules


_OUTSIDE = 'status = get_environment(req, "status", {})'
_HELPER = ["def add(name, status):", "    return name"]
# Each fails whatever is observed, and reads what is not at hand.
WITH_ANY_DATA = {
    "attribute": [_OUTSIDE, "return status.address"],
    "format": [_OUTSIDE, 'return "%s-%s" % status'],
    "format-by-position": [_OUTSIDE, 'return "{}-{}".format(status)'],
    "parameter": [_OUTSIDE, *_HELPER, "return add(name = 1, state = status)"],
    "request": ['return is_ready(req, "db")'],
    "params": [_OUTSIDE, 'return req["params"]["stage"]'],
    "name-twice": [_OUTSIDE, *['rsp.resource("status", {"apiVersion": "v1", "kind": "A"})'] * 2],
    "reserved": ['rsp.condition("Re" + "ady", bool(get_environment(req, "db")), "Ready")'],
    "part-of-a-response": [_OUTSIDE, 'return {"desire": status}'],
    "method": [_OUTSIDE, 'rsp.status({"a": status})', "return rsp.build"],
}
WITH_SOME_DATA = {
    "key": [_OUTSIDE, 'return status["address"]'],
    "attribute": ['status = get_environment(req, "db")', 'return status.get("address")'],
    "format": ['text = get_environment(req, "format", "%s-%s")', "return text % 1"],
    "arguments": [*_HELPER, 'return add(*get_environment(req, "names", []))'],
}


@pytest.mark.parametrize("lines", WITH_ANY_DATA.values(), ids=WITH_ANY_DATA)
def test_mistake_that_no_data_mends_is_a_finding(
    lines: list[str], tmp_path: Path, pool: Pool
) -> None:
    report = _check(_place(tmp_path, _STARLARK, _script(*lines)), pool)
    assert {finding.rule for finding in report.findings} == {"failing-run"}


def test_requirements_that_come_and_go_are_a_finding(tmp_path: Path, pool: Pool) -> None:
    lines = (
        'if get_required(req, "a") == None:',
        '    rsp.require("a", "v1", "ConfigMap", match_name = "a")',
    )
    (finding,) = _check(_place(tmp_path, _STARLARK, _script(*lines)), pool).findings
    assert finding.rule == "failing-run"
    assert "ask for the same requirements" in str(finding.diagnostic.hint)


@pytest.mark.parametrize("lines", WITH_SOME_DATA.values(), ids=WITH_SOME_DATA)
def test_failure_that_data_may_mend_is_no_finding(
    lines: list[str], tmp_path: Path, pool: Pool
) -> None:
    report = _check(_place(tmp_path, _STARLARK, _script(*lines)), pool)
    assert report.findings == []
    assert "failing-run" in {finding.rule for finding in report.unreached}


def test_error_of_a_run_stands_beside_a_warning_of_its_line(tmp_path: Path, run: Run) -> None:
    file = _place(tmp_path, _JINJA, _CONFIG + '  yes: {{ spec.count + "n" }}\n')
    report = run("check", file, code=1).out
    assert "warning: the key yes is read as" in report
    assert "1 error, 1 warning" in report


def test_end_of_a_run_is_listed_beside_a_warning_of_its_line(tmp_path: Path, run: Run) -> None:
    file = _place(tmp_path, _GO, '{{ set .context "a" 1 }}\n' + _CONFIG.removeprefix("---\n"))
    report = run("check", file).out
    assert "warning: set changes the map and prints it" in report
    assert ": a run ended here: cannot read document 1" in report


_NAME = "gotemplating.fn.crossplane.io/composition-resource-name"
_PEER_DOCUMENT = f"""\
---
apiVersion: v1
kind: ConfigMap
metadata: {{annotations: {{{_NAME}: one}}}}
data:
  a: "{{{{ $size }}}}"
"""
_LABELED_DOCUMENT = f"""\
---
apiVersion: v1
kind: ConfigMap
metadata:
  annotations: {{{{{_NAME}: two}}}}
  labels:
    label: "{{}}"
data: {{{{a: b, c: d, e: f}}}}
"""
# Documents of which a cluster loses parts, and the text of the line of each warning.
LOST = {
    "name-twice": (_PEER_DOCUMENT, ["metadata: "]),
    "line-between-objects-missing": (
        _PEER_DOCUMENT.removeprefix("---\n").replace(": one", ": two"),
        ["apiVersion: v1", "kind: ConfigMap", "metadata: "],
    ),
    "missing-value": ("  b: {{ $spec.network }}\n", ["  b: "]),
    "whole-path": ("  b: {{ $.observed.composite.resource.spec.network }}\n", ["  b: "]),
    "label": (_LABELED_DOCUMENT.format("{{ $spec.region }} {{ $spec.size }}"), ["label: "]),
    "label-of-a-missing-value": (_LABELED_DOCUMENT.format("{{ $spec.network }}"), ["label: "]),
    "field-of-the-xr": (
        _STATUS.replace("status:", "spec: {size: small}"),
        ["spec: {size: small}"],
    ),
    "unknown-field": ("  b: {{ $spec.netwrk }}\n", ["  b: "]),
    "nothing": ("  b: {{ $spec.network | default dict | toJson | quote }}\n", []),
}


def _place_peer(path: Path, program: str) -> Path:
    """Write a Composition with a step of function-go-templating, and an XR at hand."""
    file = _place(path, _GO, "")
    head = """\
apiVersion: gotemplating.fn.crossplane.io/v1beta1
kind: GoTemplate
source: Inline
inline:
  template: |
"""
    template = _SET[_GO] + "{{ $size := $spec.size }}\n" + _PEER_DOCUMENT + program
    file.write_text(one_step.HEAD + indent(head + indent(template, "    "), "      "))
    (path / "xr.yaml").write_text(one_step.XR + "spec: {region: eu, size: small}\n")
    return file


@pytest.mark.parametrize("name", LOST)
def test_warning_of_a_run_is_a_finding_at_its_line(name: str, tmp_path: Path, pool: Pool) -> None:
    """A field that does not exist is found without a run, and not once more."""
    program, texts = LOST[name]
    file = _place_peer(tmp_path, program)
    lines = file.read_text().split("\n")
    findings = _check(file, pool).findings
    spans = [each.diagnostic.span for each in findings]
    rule = "guarded-field" if name == "unknown-field" else "doubtful"
    assert {each.rule for each in findings} == ({rule} if texts else set())
    # The first of two objects with one name is the one above.
    assert all(span is not None and span.line > len(lines) - 8 for span in spans)
    assert all(
        span is not None and text in lines[span.line - 1]
        for span, text in zip(spans, texts, strict=True)
    )


def test_warning_about_a_field_that_the_xr_at_hand_has(tmp_path: Path, pool: Pool) -> None:
    """No text is made up in an XR without it, nor can its resources and its status have it."""
    program = """\
  b: "{{ $count }}"
  c: {{ dig "resources" "one" "resource" "status" "id" "" $.observed | quote }}
"""
    file = _place_peer(tmp_path, "{{ $count := $spec.count }}\n" + program)
    (tmp_path / "xr.yaml").write_text(one_step.XR + "spec: {region: eu, size: small, count: 1}\n")
    (finding,) = _check(file, pool).findings
    assert pointed_at(finding).startswith("$count")


def test_warning_about_what_is_not_at_hand_is_no_finding(tmp_path: Path, pool: Pool) -> None:
    program = "  b: {{ .observed.composite.resource.metadata.uid }}\n"
    assert not _check(_place_peer(tmp_path, program), pool).findings


def test_warning_of_a_run_has_the_position_in_every_form(tmp_path: Path, run: Run) -> None:
    file = _place_peer(tmp_path, LOST["name-twice"][0])
    line = [
        number
        for number, text in enumerate(file.read_text().split("\n"), 1)
        if text.strip().startswith("metadata: ")
    ][-1]
    printed = run("render", tmp_path, "--diagnostics", "json").err
    (problem,) = [json.loads(each) for each in printed.splitlines()]
    assert problem["severity"] == "warning"
    assert (problem["file"], problem["line"]) == (str(file), line)
    assert f"{file}:{line}:" in run("render", tmp_path, "--diagnostics", "line").err
    assert f"--> {file}:{line}:" in run("render", tmp_path).err


def test_doubt_about_a_line_hides_no_error_of_another_xr(tmp_path: Path, pool: Pool) -> None:
    """Of a made-up text nothing is known; without the field the line fails for certain."""
    line = "  z: {{ spec.tags[0] | from_json }}\n"
    findings = _check(_place(tmp_path, _JINJA, _CONFIG + line), pool).findings
    assert [each.rule for each in findings] == ["failing-run"]


@pytest.mark.parametrize(
    ("memory", "rules"),
    [("{{ spec.tags[0] }}", []), ("tiny", ["schema"])],
    ids=["made-up", "written-out"],
)
def test_made_up_text_that_a_schema_refuses_is_no_finding(
    memory: str, rules: list[str], tmp_path: Path, pool: Pool
) -> None:
    """The XRD allows any text, and that of a user is a quantity."""
    requests = f"        resources: {{requests: {{memory: {memory}}}}}\n"
    program = f"{{% if spec.tags %}}\n{_WORKLOAD}{_POD}{requests}{{% endif %}}\n"
    report = _check(_place(tmp_path, _JINJA, program), pool)
    assert [each.rule for each in report.findings] == rules


def test_required_field_with_a_typing_error_is_unknown(tmp_path: Path, pool: Pool) -> None:
    """The line has both problems, and the unknown field has the hint."""
    program = _WORKLOAD + _POD + "        ports:\n        - containerport: 80\n"
    findings = _check(_place(tmp_path, _JINJA, program), pool).findings
    hints = [each.diagnostic.hint for each in findings if each.severity == "error"]
    assert hints == ['did you mean "containerPort"?']


def test_field_of_another_version_is_a_warning(tmp_path: Path, pool: Pool) -> None:
    program = _WORKLOAD.replace("apps/v1", "autoscaling/v1")
    program = program.replace("Deployment", "HorizontalPodAutoscaler")
    program += "  maxReplicas: 3\n  scaleTargetRef: {kind: Deployment, name: a}\n  behavior: {}\n"
    *_, finding = _check(_place(tmp_path, _JINJA, program), pool).findings
    assert (finding.rule, finding.severity) == ("schema-version", "warning")
    assert finding.diagnostic.hint == "HorizontalPodAutoscaler of autoscaling/v2 has it"


def test_number_in_a_finding_prints_the_xr_of_its_composition(tmp_path: Path, run: Run) -> None:
    """Several Compositions of one call have numbers of their own."""
    for name, program in (("a", _CONFIG), ("b", _CONFIG + "  z: {{ spec.count + 'n' }}\n")):
        (tmp_path / name).mkdir()
        file = _place(tmp_path / name, _JINJA, program)
        file.write_text(file.read_text().replace("kind: XThing", f"kind: XThing{name}"))
        xrd = tmp_path / name / "xrd.yaml"
        xrd.write_text(xrd.read_text().replace("kind: XThing", f"kind: XThing{name}"))
    report = run("check", tmp_path, code=1).out
    number = re.search(r"--variant (\d+) prints it", report)
    assert number is not None
    assert "kind: XThingb" in run("check", tmp_path, "--variant", number[1]).out


OWN_CRD = one_step.crd(
    "status: {type: object, properties: {conditions: {type: array, items: {type: object}}}}",
    "XThing",
)


def test_xrd_has_a_word_in_its_name(tmp_path: Path, pool: Pool) -> None:
    """A folder of several Compositions has an XRD of each."""
    file = _place(tmp_path, _JINJA, _CONFIG + "  y: {{ spec.network.mode }}\n")
    expected = [each.rule for each in _check(file, pool).findings]
    assert expected
    (tmp_path / "xrd.yaml").rename(tmp_path / "things-xrd.yaml")
    (tmp_path / "others-xrd.yaml").write_text(XRD.replace("XThing", "XOther"))
    report = _check(file, pool)
    assert (report.untyped, [each.rule for each in report.findings]) == (0, expected)


def test_conditions_of_crossplane_are_no_finding(tmp_path: Path, pool: Pool) -> None:
    """A CRD of the XR's kind may say less of them."""
    file = _place(tmp_path, _GO, _CONFIG)
    (tmp_path / "crds" / "own.yaml").write_text(OWN_CRD)
    (tmp_path / "xr.yaml").write_text(dedent(_CASE.partition("\n")[2]))
    (tmp_path / "xrd.yaml").unlink()
    assert [each for each in _check(file, pool).findings if each.severity == "error"] == []


@pytest.mark.parametrize(
    "spec",
    ["{crossplane: {resourceRefs: []}}", "{resourceRefs: [], compositionRef: {name: a}}"],
    ids=["v2", "v1"],
)
def test_output_of_render_is_no_xr_at_hand(spec: str, tmp_path: Path, pool: Pool) -> None:
    """It has no field that the author of the XR wrote."""
    file = _place(tmp_path, _JINJA, _CONFIG + "  region: {{ spec.region }}\n")
    (tmp_path / "xrd.yaml").unlink()
    xr = _CASE.partition("\n")[2].replace("{region: eu, size: small, tags: [crash]}", spec)
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "expected.yaml").write_text(dedent(xr))
    assert _check(file, pool).findings == []


@pytest.mark.parametrize("is_json", [False, True], ids=["yaml", "json"])
@pytest.mark.parametrize(("field", "rules"), [("szie", ["doubtful"]), ("sizes", []), ("is", [])])
def test_misspelt_field_of_an_xr_without_an_xrd_is_a_finding(
    field: str, rules: list[str], is_json: bool, tmp_path: Path, pool: Pool
) -> None:
    """A plural may be another field."""
    file = _place(tmp_path, _STARLARK, _script(_config(f'get_xr(req, "spec.{field}", "a")')))
    (tmp_path / "xrd.yaml").unlink()
    text = f"{one_step.XR}spec: {{size: red}}\n"
    if is_json:
        text = json.dumps(read_value(text), separators=(",", ":"))
    (tmp_path / "xr.yaml").write_text(text)
    assert [each.rule for each in _check(file, pool).findings] == rules


@pytest.mark.parametrize(
    ("read", "rule"),
    [('["regoin"]', "failing-run"), ('.get("regoin", "a")', "doubtful"), ('.get("regions")', "")],
)
def test_misspelt_key_of_the_context_at_hand_is_a_finding(
    read: str, rule: str, tmp_path: Path, pool: Pool
) -> None:
    key = "apiextensions.crossplane.io/environment"
    file = _place(tmp_path, _STARLARK, _script(_config(f'req["context"]["{key}"]{read}')))
    (tmp_path / "context" / key).parent.mkdir(parents=True)
    (tmp_path / "context" / f"{key}.yaml").write_text("{region: eu, zone: a}")
    (tmp_path / "xr.yaml").write_text(dedent(_CASE.partition("\n")[2]))
    rules = [each.rule for each in _check(file, pool).findings if "region" in str(each.diagnostic)]
    assert rules == ([rule] if rule else [])


def test_only_the_first_xrs_at_hand_run_however_many_a_file_has(tmp_path: Path, pool: Pool) -> None:
    file = _place(tmp_path, _JINJA, _CONFIG + "  size: '{{ spec.count + 1 }}'\n")
    (tmp_path / "xrd.yaml").unlink()
    (tmp_path / "examples").mkdir()
    many = "".join(f"---\n{one_step.XR}spec: {{count: {number}}}\n" for number in range(10))
    (tmp_path / "examples" / "a.yaml").write_text(many)
    (tmp_path / "examples" / "b.yaml").write_text(f"{one_step.XR}spec: {{count: many}}\n")
    assert _check(file, pool).findings == []


@pytest.mark.parametrize(
    ("type_", "count"),
    [("/v2\nkind: XThing", 1), ("/v1\nkind: Xthing", 1), ("/v1\nkind: XOther", 0)],
    ids=["version", "capitals", "another"],
)
def test_xr_that_is_almost_of_the_composition_is_a_finding(
    type_: str, count: int, tmp_path: Path, pool: Pool
) -> None:
    file = _place(tmp_path, _JINJA, _CONFIG)
    (tmp_path / "xrd.yaml").unlink()
    xr = f"{one_step.XR}spec: {{}}\n".replace("/v1\nkind: XThing", type_)
    (tmp_path / "xr.yaml").write_text(xr)
    messages = [each.diagnostic.message for each in _check(file, pool).findings]
    assert sum("but the XR to render is" in each for each in messages) == count


def test_provider_without_namespaces_is_refused_for_an_xr_with_one(
    tmp_path: Path, pool: Pool
) -> None:
    old = _DATABASE.replace("example.org/v1", "rds.aws.upbound.io/v1beta1")
    file = _place(tmp_path, _JINJA, f"{old}  a: {{{{ spec.region }}}}\n")
    (tmp_path / "xr.yaml").write_text(dedent(_CASE.partition("\n")[2]))
    (finding,) = _check(file, pool).findings
    assert "rds.aws.m.upbound.io" in (finding.diagnostic.hint or "")


def test_example_with_a_composition_of_its_own_is_not_that_of_another(
    tmp_path: Path, pool: Pool
) -> None:
    """Folders of examples may share one type of XR."""
    for name, field in (("a", "size"), ("b", "color")):
        folder = tmp_path / "examples" / name
        folder.mkdir(parents=True)
        _place(folder, _JINJA, f"{_CONFIG}  z: {{{{ spec.{field} }}}}\n")
        (folder / "xrd.yaml").unlink()
        (folder / "xr.yaml").write_text(f"{one_step.XR}spec: {{{field}: red}}\n")
    assert _check(tmp_path, pool).findings == []


def test_value_of_an_example_that_the_xrd_refuses_is_in_no_variant(
    tmp_path: Path, pool: Pool
) -> None:
    program = (
        "{% if spec.size is defined and 'huge' not in spec.size %}{{ spec.ratio.x }}{% endif %}"
    )
    file = _place(tmp_path, _JINJA, program)
    (tmp_path / "xr.yaml").write_text(f"{one_step.XR}spec: {{region: eu, size: huge}}\n")
    findings = _check(file, pool, variants=1).findings
    assert [each.rule for each in findings] == ["xr", "failing-run"]


_GO_BRANCHES = (
    _CONFIG
    + """\
{{- $size := $spec.size }}
{{- if eq $size "small" }}
  a: "YES"
{{- else if eq $size "large" }}
  b: "YES"
{{- else if eq $size "huge" }}
  c: "NO"
  {{- if eq $size "huge" }}
  inner: "1"
  {{- end }}
{{- else }}
  d: "NO"
{{- end }}
{{- range $spec.tags | default list }}
  e-{{ . }}: "YES"
{{- else }}
  f: "YES"
{{- end }}
{{- with eq $size "huge" }}
  g: "NO"
{{- end }}
{{- if eq $size "huge" }}{{ $size = "NO" }}{{ end }}
{{- define "used" }}{{ if true -}} YES {{- else -}} NO {{- end }}{{ end }}
{{- define "unused" }}
  h: "NO"
{{- end }}
  i: {{ include "used" . | quote }}
{{- if eq $size "large" }}{{ fail "YES" }}{{ end }}
"""
)
_JINJA_BRANCHES = (
    _CONFIG
    + """\
{% set size = spec.size %}
{% if size == "small" %}
  a: "YES"
{% elif size == "large" %}
  b: "YES"
{% elif size == "huge" %}
  c: "NO"
  {% if size == "huge" %}
  inner: "1"
  {% endif %}
{% else %}
  d: "NO"
{% endif %}
{% for tag in spec.tags | default([]) %}
  e-{{ tag }}: "YES"
{% else %}
  f: "YES"
{% endfor %}
{% if size == "huge" %}
  {% set size = "NO" %}
{% endif %}
{% macro used() %}
YES
{%- endmacro %}
{% macro unused() %}
  h: "NO"
{% endmacro %}
  i: {{ used() | quote }}
{% if size == "large" %}{{ fail("YES") }}{% endif %}
"""
)
_STARLARK_BRANCHES = """\
def used(x):
    \"\"\"Return a text.\"\"\"
    return x

def unused():
    if True:  # NO
        return "inner"
    return "outer"

def main(req):
    size = get_xr(req)["spec"]["size"]
    if size == "small": x = "YES"
    elif size == "large":
        x = "YES"
    elif size.startswith("huge"):
        # A comment is no line of the branch.
        if size:  # NO
            x = "inner"
    else:
        x = "NO"
    data = {"x": used(x)}
    for tag in get_xr(req)["spec"].get("tags", []):
        if tag == "other":
            data[tag] = "NO"
        else:
            data[tag] = "YES"
    if size.startswith("huge"): data["NO"] = "1"; data = {}
    rsp = response()
    rsp.resource("config", {"apiVersion": "v1", "kind": "ConfigMap", "data": data})
    if size == "large":
        fail("YES")
    return rsp
"""
BRANCHES = [
    pytest.param(_GO, _GO_BRANCHES, id=_GO),
    pytest.param(_JINJA, _JINJA_BRANCHES, id=_JINJA),
    pytest.param(_STARLARK, _STARLARK_BRANCHES, id=_STARLARK),
]


@pytest.mark.parametrize(("kind", "program"), BRANCHES)
def test_branch_that_no_run_enters_is_listed_at_its_first_line(
    kind: str, program: str, tmp_path: Path, pool: Pool
) -> None:
    file = _place(tmp_path, kind, program)
    report = _check(file, pool)
    lines = file.read_text().split("\n")
    spans = [each.diagnostic.span for each in report.unreached if each.rule == "unreached"]
    numbers = [span.line for span in spans if span is not None]
    assert numbers == [number for number, line in enumerate(lines, 1) if "NO" in line]
    assert report.findings == []


def test_branch_that_a_later_step_of_a_case_enters_is_not_listed(
    tmp_path: Path, pool: Pool
) -> None:
    program = """\
def main(req):
    rsp = response()
    rsp.resource("service", {"apiVersion": "v1", "kind": "Service", "spec": {}})
    if get_observed(req, "service", "spec.clusterIP"):
        rsp.set_status("address", "known")
    return rsp
"""
    file = _place(tmp_path, _STARLARK, program)
    assert [each.rule for each in _check(file, pool).unreached] == ["unreached"]
    tmp_path.joinpath("tests").mkdir()
    case = _STEPS.format(expect="{ready: false}")
    change = "changed: {service: {spec: {clusterIP: 10.0.0.17}}}"
    case = case.replace("patch: {spec: {tags: [crash]}}", change)
    tmp_path.joinpath("tests", "ready.case.yaml").write_text(case)
    assert _check(file, pool).unreached == []


_LISTED = "no run reached this line"
FORMS = {
    "text": ([], f"Not reached: code at 5 lines, or after it\n  {{file}}: {_LISTED}"),
    "line": (["--diagnostics", "line"], f"{{file}}: info: {_LISTED}"),
    "json": (["--diagnostics", "json"], '{{"severity": "info", "rule": "unreached"'),
    "report": (["--output", "json"], '"notReached": ['),
}


@pytest.mark.parametrize(("flags", "text"), FORMS.values(), ids=FORMS)
def test_branch_is_listed_in_every_form_and_is_no_finding(
    flags: list[str], text: str, tmp_path: Path, run: Run
) -> None:
    file = _place(tmp_path, _STARLARK, _STARLARK_BRANCHES.replace('fail("YES")', "pass"))
    assert text.format(file=f"{file}:19:13") in run("check", file, "--strict", *flags).out


def test_step_of_another_function_that_refuses_is_listed_at_its_line(
    tmp_path: Path, pool: Pool
) -> None:
    file = _place(tmp_path, _STARLARK, "def main(req): return {}\n")
    package = "xpkg.crossplane.io/crossplane-contrib/function-environment-configs:v0.4.0"
    _add_step(file, "settings", metadata="{name: settings}", spec=f'{{package: "{package}"}}')
    with file.open("a") as composition:
        composition.write("""\
    input:
      apiVersion: environmentconfigs.fn.crossplane.io/v1beta1
      kind: Input
      spec: {environmentConfigs: [{type: Reference, ref: {name: absent}}]}
""")
    report = _check(file, pool)
    (finding,) = report.unreached
    span = finding.diagnostic.span
    assert "step: settings" in file.read_text().split("\n")[span.line - 1]
    assert "not found, for an XR with all fields" in render_text(report)


def test_functions_of_others_run_on_demand(tmp_path: Path, run: Run) -> None:
    """No registry is at the address."""
    file = _place(tmp_path, _STARLARK, "def main(req): return {}\n")
    _add_step(file, metadata="{name: other}", spec='{package: "127.0.0.1:1/other:v1"}')
    assert "Not reached" not in run("check", file).out
    assert "yaml:17:19: a run ended here: cannot " in run("check", file, "--run-functions").out


def test_function_that_nothing_says_how_to_run_is_an_error_at_its_step(
    tmp_path: Path, run: Run
) -> None:
    """The report has the other Compositions, too."""
    file = _place(tmp_path, _STARLARK, "def main(req): return {}\n")
    _add_step(file)
    out = run("check", file, "--run-functions", code=1).out
    assert "composition.yaml:17:19\n" in out
    assert "hint: name its package in functions.yaml; without --run-functions" in out
    assert "Checked 1 step in 1 file: 1 error" in out


def test_step_whose_input_is_compared_and_that_does_not_run_is_listed(
    tmp_path: Path, run: Run
) -> None:
    file = _place(tmp_path, _STARLARK, "def main(req): return {}\n")
    patches = "{apiVersion: pt.fn.crossplane.io/v1beta1, kind: Resources, resources: []}"
    _add_step(file, "function-p")
    with file.open("a") as composition:
        composition.write(f"    input: {patches}\n")
    line = "composition.yaml:17:19: function-p runs only with --run-functions"
    assert line in run("check", file).out


@pytest.mark.parametrize("count", [1, 3])
def test_function_that_does_not_start_is_tried_once(
    count: int, tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[object] = []
    original = Servers.start

    def start(servers: Servers, key: Hashable, begin: Callable[[], Server]) -> Future[Server]:
        return original(servers, key, lambda: starts.append(key) or begin())

    monkeypatch.setattr(Servers, "start", start)
    for number in range(count):
        folder = tmp_path / str(number)
        folder.mkdir()
        file = _place(folder, _STARLARK, "def main(req): return {}\n")
        _add_step(file, metadata="{name: other}", spec='{package: "127.0.0.1:1/other:v1"}')
    options = runs.Options(pool=pool, variants=2, runs_others=True)
    report = checker.check([str(tmp_path)], run_options=options)
    assert len(starts) == 1
    assert len(report.unreached) == count


_WAITING = """\
---
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    script.fn.crossplane.io/composition-resource-name: waiting
    script.fn.crossplane.io/depends-on: %s
data:
  x: %s
"""


def _wait_for(name: str, made: str) -> str:
    """Return a program that reads labels, and makes the names of resources or writes them out."""
    body = '{"apiVersion": "v1", "kind": "ConfigMap", "data": {"x": label}}'
    return f"""\
def main(req):
    rsp = response()
    label = get_xr(req, "metadata.labels.a", "")
    rsp.resource("database{made and "-%s"}"{made and ' % get_xr(req, "spec.region")'}, {body})
    rsp.resource("waiting", {body}, depends_on = ["{name}"])
    return rsp
"""


@pytest.mark.parametrize(
    ("name", "made", "rules"),
    {
        "databse": ("databse", "", ["unknown-dependency", "failing-run"]),
        "databse-eu": ("databse-eu", "made", ["failing-run"]),
        "anything": ("anything", "made", []),
    }.values(),
)
def test_dependency_that_nobody_desires(
    name: str, made: str, rules: list[str], tmp_path: Path, pool: Pool
) -> None:
    """tests/unit/tools/check/test_dependencies.py has the names that each language writes out."""
    file = _place(tmp_path, _STARLARK, _wait_for(name, made))
    tmp_path.joinpath("xr.yaml").write_text(f"{one_step.XR}spec: {{region: eu, size: small}}\n")
    report = _check(file, pool)
    assert [each.rule for each in report.findings if each.rule != "doubtful"] == rules
    message = f'it depends on "{name}", which is not desired'
    listed = [each for each in (*report.findings, *report.unreached) if each.rule == "failing-run"]
    assert message in listed[0].diagnostic.message


_UNGUARDED = {
    "starlark": (
        _STARLARK,
        _script('config = get_observed(req, "config")', _config('config["data"]["id"]')),
    ),
    "status-of-the-xr": (_JINJA, _CONFIG + "  other: {{ xr.status.address }}\n"),
}


@pytest.mark.parametrize(("kind", "program"), _UNGUARDED.values(), ids=_UNGUARDED)
@pytest.mark.parametrize("status", ["", "status: {size: 1}\n"])
def test_first_reconcile_that_reads_what_no_new_xr_has(
    kind: str, program: str, status: str, tmp_path: Path, pool: Pool
) -> None:
    """An XR at hand with a status is no new one."""
    file = _place(tmp_path, kind, program)
    xr = f"{one_step.XR}spec: {{region: eu, size: small}}\n{status}"
    tmp_path.joinpath("xr.yaml").write_text(xr.replace("size: 1", "address: a") if status else xr)
    rules = {each.rule for each in _check(file, pool).findings} - {"doubtful"}
    assert rules == (set() if status else {"failing-run"})


def test_dependency_on_a_resource_of_a_step_that_does_not_run(tmp_path: Path, pool: Pool) -> None:
    file = _place(tmp_path, _GO, _WAITING % ("other", '"1"'))
    text = file.read_text()
    other = "  - step: other\n    functionRef: {name: other}\n"
    file.write_text(text.replace("  - step: one\n", f"{other}  - step: one\n", 1))
    report = _check(file, pool)
    assert report.count("error") == 0
    assert 'depends on "other"' in render_text(report)


def test_resource_that_nobody_can_compose_is_listed_with_the_xr(tmp_path: Path, pool: Pool) -> None:
    owner = "  ownerReferences: [{apiVersion: v1, kind: A, name: b, uid: c, controller: true}]\n"
    program = _CONFIG.replace("metadata:\n", f"metadata:\n{owner}")
    report = _check(_place(tmp_path, _GO, program), pool)
    assert "(uid c), for an XR with all fields" in render_text(report)


def test_module_in_a_file_runs(tmp_path: Path, pool: Pool) -> None:
    program = """\
load("names.star", "name_of")
def main(req):
    name = name_of(req)
    version = get_xr(req)["spec"]["version"] + 1
    return {"context": {name: version}}
"""
    file = _place(tmp_path, _STARLARK, program)
    with file.open("a") as composition:
        composition.write("\n      modulesFrom:\n      - fileSystem: {dirPath: lib}\n")
    (tmp_path / "programs/lib").mkdir(parents=True)
    (tmp_path / "programs/lib/names.star").write_text('def name_of(req):\n    return "name"\n')
    report = _check(file, pool)
    assert report.unreached == []
    (finding,) = report.findings
    assert "+ 1" in pointed_at(finding)


def test_warning_of_a_run_is_a_finding_once(tmp_path: Path, pool: Pool) -> None:
    """Each run has it; what is known without a run is not said twice."""
    program = _CONFIG + '  a: {{ printf "%d" $spec.region | quote }}\n  b: ${{ $spec.size }}\n'
    file = _place(tmp_path, _GO, program)
    findings = _check(file, pool).findings
    assert [(each.rule, each.severity) for each in findings] == [("doubtful", "warning")] * 2
    assert all(each.diagnostic.hint for each in findings)


_APP = _WORKLOAD.replace(": app\n", ": app\n    script.fn.crossplane.io/depends-on: {}\n")
# Nobody knows its fields.
_BUCKET = _CONFIG.replace("apiVersion: v1", "apiVersion: example.org/v1").replace("Config", "Other")
_FIRST = _BUCKET.replace('"1"', "{{ $spec.region }}")
_SECOND = _BUCKET.replace(
    ": config\n", ": second\n    script.fn.crossplane.io/depends-on: config\n"
)
_WAITS = _app(f'{{\n        "replcas": 2,\n        {_POD_OBJECT}}}')
_IF_OBSERVED = "{{{{ if .observed.resources.config }}}}\n{}{}{{{{ end }}}}\n"
_UNNAMED = _POD.replace("name: app\n        ", "")
_OBSERVED = '(index .observed.resources "config").resource.status'
LATE = {
    "gotemplate": (_GO, f"{_FIRST}{_APP.format('config')}  replcas: 2\n{_POD}"),
    "starlark": (_STARLARK, _script(_config('"a"'), f'{_WAITS[:-1]}, depends_on=["config"])')),
    "name": (_GO, f"{_FIRST}{_APP.format('config')}  replcas: {{{{ $spec.size }}}}\n{_POD}"),
    "third": (_GO, f"{_FIRST}{_SECOND}{_APP.format('second')}  replicas: two\n{_POD}"),
    "branch": (_GO, _FIRST + _IF_OBSERVED.format(_WORKLOAD, f"  replcas: 2\n{_POD}")),
}
# A real status may have what is missing here.
EARLY = {
    "value": f'  replicas: {{{{ dig "n" "none" (default dict {_OBSERVED}) }}}}\n{_POD}',
    "absent": f"{_UNNAMED}{{{{ if ({_OBSERVED}).n }}}}\n        name: app\n{{{{ end }}}}",
    "failure": f"  replicas: {{{{ {_OBSERVED}.n.m }}}}\n{_POD}",
    "right": f"  replicas: 2\n{_POD}",
}


@pytest.mark.parametrize(("kind", "program"), LATE.values(), ids=LATE)
def test_resource_that_waits_is_compared_with_its_schema(
    kind: str, program: str, tmp_path: Path, pool: Pool
) -> None:
    (finding,) = _check(_place(tmp_path, kind, program), pool).findings
    assert finding.rule == "schema"
    assert pointed_at(finding).lstrip('"').startswith("repl")
    assert "when all is ready" in str(finding.diagnostic.notes[-1])


def test_resource_that_is_composed_while_it_is_absent_is_found(tmp_path: Path, pool: Pool) -> None:
    lines = ('if not is_observed(req, "config"):', f"    {_config(repr('1'))}")
    findings = _check(_place(tmp_path, _STARLARK, _script(*lines)), pool).findings
    (doubt,) = (each for each in findings if "composed again" in each.diagnostic.message)
    assert doubt.rule == "doubtful"
    assert pointed_at(doubt).startswith("config")


def test_resource_that_goes_once_another_one_exists_is_no_finding(
    tmp_path: Path, pool: Pool
) -> None:
    second = _CONFIG.replace(": config\n", ": second\n")
    condition = '{% if not get_composed_resource("config") %}\n'
    program = f"{_CONFIG}{condition}{second}{{% endif %}}\n"
    findings = _check(_place(tmp_path, _JINJA, program), pool).findings
    assert not any("composed again" in each.diagnostic.message for each in findings)


@pytest.mark.parametrize("spec", EARLY.values(), ids=EARLY)
def test_value_of_a_status_that_is_not_at_hand_is_no_finding(
    spec: str, tmp_path: Path, pool: Pool
) -> None:
    program = _FIRST + _IF_OBSERVED.format(_WORKLOAD, spec)
    report = _check(_place(tmp_path, _GO, program), pool)
    assert not report.findings
    # A report about the state that is made up helps nobody.
    assert not [each for each in report.unreached if "status" in each.diagnostic.message]
