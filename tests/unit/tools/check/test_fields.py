"""Fields that programs read and that cannot exist: what is found, and what is left alone."""

from pathlib import Path

import pytest
from support import builders
from support.check_helpers import PIPELINE, composition, peer, pointed_at
from support.field_checks import CRD, GET, REFERENCE, XR, XRD, found, go, jinja, script

from function_script import inputs
from function_script.request.values import Object
from function_script.tools.check import checker, definitions, paths
from function_script.tools.check.report import Finding
from function_script.tools.project import Project


def _with_helper(call: str, value: str) -> str:
    """Return a script whose function ``size`` returns a value of what a call passes to it."""
    body = ["  def size(spec, more = 1):", f"      return {value}"]
    return "\n".join([script(GET, f"a = {call}"), *body])


def _defining(body: str, data: str, call: str = "template") -> str:
    """Return a Go template with a named one, which gets a part of the request."""
    return go(f'{{{{ define "a" }}}}{body}{{{{ end }}}}{{{{ {call} "a" {data} }}}}')


# A program, the path of what it reads, below the XR, and the field that is meant.
WRONG = {
    "alias": (script(GET, 'a = xr["spec"]["szie"]'), "spec.szie", "size"),
    "getter": (script(GET, 'a = get(xr, "status.adress")'), "status.adress", "address"),
    "get-xr": (script('a = get_xr(req, "spec.szie")'), "spec.szie", "size"),
    "items": (
        script(GET, 'for d in xr["spec"]["disks"]:', '    a = d["nmae"]'),
        "spec.disks[].nmae",
        "name",
    ),
    "items-of-two-loops": (
        script(
            GET,
            'for d in xr["spec"]["disks"]:',
            '    a = d["name"]',
            'b = [d["nmae"] for d in xr["spec"]["disks"]]',
        ),
        "spec.disks[].nmae",
        "name",
    ),
    "values-of-a-map": (
        script(GET, 'a = [v["tema"] for k, v in xr["spec"]["owners"].items()]'),
        "spec.owners[].tema",
        "team",
    ),
    "or-empty": (
        script(GET, 'a = (xr["spec"].get("owner") or {}).get("tema")'),
        "spec.owner.tema",
        "team",
    ),
    "metadata": (script(GET, 'a = xr["metadata"]["nmae"]'), "metadata.nmae", "name"),
    "helper": (
        _with_helper('size(xr["spec"]) + size(spec = xr["spec"], more = 2)', 'spec["szie"]'),
        "spec.szie",
        "size",
    ),
    "helper-of-a-loop": (
        _with_helper('[size(each) for each in xr["spec"]["disks"]]', 'spec["nmae"]'),
        "spec.disks[].nmae",
        "name",
    ),
    "selectattr": (
        jinja('{{ spec.disks | selectattr("nmae") | list }}'),
        "spec.disks[].nmae",
        "name",
    ),
    "jinja": (jinja("{{ spec.szie | default(1) }}"), "spec.szie", "size"),
    "set": (jinja("{% set s = xr.status %}{{ s.adress }}"), "status.adress", "address"),
    "for": (
        jinja("{% for d in spec.disks %}{{ d.nmae }}{% endfor %}"),
        "spec.disks[].nmae",
        "name",
    ),
    "for-of-two-loops": (
        jinja(
            "{% for d in spec.disks %}{{ d.name }}{% endfor %}"
            "{% for d in spec.disks %}{{ d.nmae }}{% endfor %}"
        ),
        "spec.disks[].nmae",
        "name",
    ),
    "filter": (jinja('{{ xr | get("spec.owner.tema", 1) }}'), "spec.owner.tema", "team"),
    "go": (go(f"{{{{ .{XR}.spec.szie }}}}"), "spec.szie", "size"),
    "variable": (
        go(f"{{{{ $xr := .{XR} }}}}{{{{ $xr.status.adress }}}}"),
        "status.adress",
        "address",
    ),
    "range": (
        go(f"{{{{ range .{XR}.spec.disks }}}}{{{{ .nmae }}}}{{{{ end }}}}"),
        "spec.disks[].nmae",
        "name",
    ),
    "variable-of-two-loops": (
        go(
            f"{{{{ $spec := .{XR}.spec }}}}"
            "{{ range $d := $spec.disks }}{{ $d.name }}{{ end }}"
            "{{ range $d := $spec.disks }}{{ $d.nmae }}{{ end }}"
        ),
        "spec.disks[].nmae",
        "name",
    ),
    "function": (go("{{ (getCompositeResource .).spec.szie }}"), "spec.szie", "size"),
    "index": (go(f'{{{{ index .{XR}.spec "szie" }}}}'), "spec.szie", "size"),
    "dig": (go(f'{{{{ dig "spec" "szie" 1 .{XR} }}}}'), "spec.szie", "size"),
    "dig-in-a-list": (
        go(f'{{{{ range .{XR}.spec.disks }}}}{{{{ dig "nmae" "" . }}}}{{{{ end }}}}'),
        "spec.disks[].nmae",
        "name",
    ),
    "define": (_defining("{{ .spec.szie }}", f".{XR}"), "spec.szie", "size"),
    "define-of-its-root": (_defining("{{ $.spec.szie }}", f".{XR}"), "spec.szie", "size"),
    "define-that-calls-another": (
        _defining(
            '{{ template "b" .spec }}{{ end }}{{ define "b" }}{{ .szie }}',
            f"$.{XR}",
            call="include",
        ),
        "spec.szie",
        "size",
    ),
    "macro": (
        jinja("{% macro m(x, y) %}{{ x.szie }}{% endmacro %}{{ m(spec, 1) }}{{ m(y=1, x=spec) }}"),
        "spec.szie",
        "size",
    ),
    "macro-that-calls-another": (
        jinja(
            "{% macro a(x) %}{{ x.szie }}{% endmacro %}"
            "{% macro b(y) %}{{ a(y.spec) }}{% endmacro %}{{ b(xr) }}"
        ),
        "spec.szie",
        "size",
    ),
}


@pytest.mark.parametrize(("text", "path", "name"), WRONG.values(), ids=WRONG)
def test_field_that_does_not_exist(tmp_path: Path, text: str, path: str, name: str) -> None:
    assert found(tmp_path, text) == [(f"{XR}.{path}", f'did you mean "{name}"?')]


HELM = "Helm's values are $.observed.composite.resource.spec here, or the input's $.params"
_OTHERS = (
    "there are context, credentials, desired, extraResources, input, meta, observed, params, …"
)
PARTS = {
    "script": (script('a = req["observd"]'), "observd", 'did you mean "observed"?'),
    "peer": (
        peer("source: Inline", "inline: {template: '{{ .observd }}'}"),
        "observd",
        'did you mean "observed"?',
    ),
    "values-of-helm": (go("{{ .Values }}"), "Values", HELM),
    "peer-has-no-params": (
        peer("source: Inline", "inline: {template: '{{ .params }}'}"),
        "params",
        _OTHERS.replace("params", "requiredResources"),
    ),
    "peer-values-of-helm": (
        peer("source: Inline", "inline: {template: '{{ .Values }}'}"),
        "Values",
        HELM.partition(",")[0],
    ),
    "no-neighbour": (go("{{ .zz }}"), "zz", _OTHERS),
}


@pytest.mark.parametrize(("text", "name", "hint"), PARTS.values(), ids=PARTS)
def test_part_of_a_request_that_does_not_exist(
    tmp_path: Path, text: str, name: str, hint: str
) -> None:
    assert found(tmp_path, text) == [(name, hint)]


RIGHT = {
    "all-that-is-there": script(
        GET,
        'a = xr["spec"]["size"] + xr["spec"]["labels"]["any"]',
        'b = xr["spec"]["free"]["a"]["b"]',
        'c = xr["spec"]["port"]',
        'd = xr["status"]["conditions"][0]["type"]',
        'e = xr["metadata"]["labels"]["any"]',
        'f = xr["spec"]["crossplane"]["resourceRefs"]',
        'g = req["observed"]["resources"]["any"]["resource"]["any"]',
        'h = req["context"]["any"]["any"]',
    ),
    "set-by-the-script": script(GET, 'xr["spec"]["more"] = 1', 'a = xr["spec"]["more"]'),
    "a-helper-of-two-values": _with_helper('size(xr["spec"]) + size({})', 'spec["any"]'),
    "a-helper-that-is-passed-on": _with_helper(
        '[size(xr["spec"]), map(size, [{}])]', 'spec["any"]'
    ),
    "a-helper-that-calls-itself": _with_helper('size(xr["spec"])', 'size(spec["any"])'),
    "a-resource-of-that-name": script('a = req["observed"]["resources"]["resource"]["resource"]'),
    "a-getter-of-the-script": script(
        "def get_condition(a, b):", "    return {}", 'a = get_condition(req, "Ready")["any"]'
    ),
    "a-getter-of-required-resources-of-the-script": script(
        "def get_required(a, b):", "    return []", 'a = get_required(req, "x")[0]["resource"]'
    ),
    "required-resources": script('a = get_required(req, "resource")[0]["data"]["any"]'),
    "a-required-resource-in-go": go(
        '{{ range getExtraResources . "resource" }}{{ .resource.data.any }}{{ end }}'
    ),
    "a-name-with-two-meanings": script(GET, 'xr = {"any": 1}', 'a = xr["any"]'),
    "asked-whether-it-is-there": script(GET, 'a = "szie" in xr["spec"]'),
    "methods-and-tests": jinja(
        "{{ spec.labels.items() }}{{ spec.size is defined }}{{ spec.szie is defined }}"
    ),
    "a-loop-in-another-loop": script(
        GET,
        'for d in xr["spec"]["disks"]:',
        '    for d in req["context"]["any"]:',
        '        a = d["any"]',
        'b = [d["any"] for d in req["context"]["any"] if d["any"]]',
    ),
    "a-for-in-another-for": jinja(
        "{% for d in spec.disks %}{% for d in context.x %}{{ d.any }}{% endfor %}{% endfor %}"
    ),
    "a-for-whose-name-is-set": jinja(
        "{% for d in spec.disks %}{% set d = context.x %}{{ d.any }}{% endfor %}"
    ),
    "parameters": jinja("{% macro m(spec) %}{{ spec.any }}{% endmacro %}{{ m(1) }}"),
    "a-macro-of-that-name": jinja("{% macro spec() %}{% endmacro %}{{ spec.any }}"),
    "a-function-of-that-name": script(GET, "def xr(a):", "    return {}", 'a = xr["any"]'),
    "a-name-that-is-set-twice": jinja("{% set x = spec %}{% set x = params %}{{ x.any }}"),
    "set-and-defined": go('{{ $_ := set . "any" 1 }}{{ .any }}{{ define "x" }}{{ .any }}{{ end }}'),
    "a-define-of-two-values": _defining("{{ .any }}", f'.{XR}.spec }}}}{{{{ template "a" .context'),
    "a-define-in-a-pipe": _defining("{{ .any }}", f'.{XR}.spec }}}}{{{{ .context | include "a"'),
    "a-define-whose-name-is-made": _defining(
        "{{ .any }}", f'.{XR}.spec }}}}{{{{ include (print "a") .context'
    ),
    "a-define-that-calls-itself": _defining(
        '{{ .any }}{{ if .more }}{{ template "a" .more }}{{ end }}', f".{XR}.spec"
    ),
    "a-define-that-sets-a-field": _defining('{{ $_ := set . "any" 1 }}{{ .any }}', f".{XR}.spec"),
    "a-macro-of-two-values": jinja(
        "{% macro m(x) %}{{ x.any }}{% endmacro %}{{ m(spec) }}{{ m(params) }}"
    ),
    "a-macro-that-is-a-value": jinja(
        "{% macro m(x) %}{{ x.any }}{% endmacro %}{% set n = m %}{{ m(spec) }}{{ n(params) }}"
    ),
    "a-macro-without-an-argument": jinja(
        "{% macro m(x=params) %}{{ x.any }}{% endmacro %}{{ m(spec) }}{{ m() }}"
    ),
    "a-macro-with-arguments-of-a-list": jinja(
        "{% macro m(x) %}{{ x.any }}{% endmacro %}{{ m(spec) }}{{ m(*[params]) }}"
    ),
    "a-variable-that-changes": go("{{ $x := .observed }}{{ $x = .context }}{{ $x.any }}"),
    "a-variable-of-an-inner-block": go(
        "{{ $x := .observed }}{{ if .input }}{{ $x := .context }}{{ $x.any }}{{ end }}"
    ),
    "a-variable-of-an-outer-block": go(
        f"{{{{ $x := .context }}}}{{{{ with $x := .{XR} }}}}{{{{ end }}}}{{{{ $x.any }}}}"
    ),
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_uncertain_fields_have_no_finding(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text) == []


ANNOTATIONS = ["metadata:", "  annotations:"]
NETWORK = ["---", "apiVersion: net.example.org/v1", "kind: Network", *ANNOTATIONS]
RESOURCE = "observed.resources.net.resource"
NAMED = "    script.fn.crossplane.io/composition-resource-name: net"
NAMES = '    {{ setResourceNameAnnotation "net" }}'
NETWORK_BODY = '{"apiVersion": "net.example.org/v1", "kind": "Network"}'
COMPOSED = {
    "jinja": jinja(f"a: {{{{ {RESOURCE}.status.networkID }}}}", *NETWORK, NAMED),
    "gotemplate": go(f"a: {{{{ .{RESOURCE}.status.networkID }}}}", *NETWORK, NAMES),
    "starlark": script(
        'a = get_observed(req, "net", "status.networkID")',
        'net = {"net": {"resource": {"apiVersion": "net.example.org/v1", "kind": "Network"}}}',
    ),
}


ANNOTATION = "    script.fn.crossplane.io/"
AWAITED = {
    "depends-on-of-jinja": jinja(
        *NETWORK, NAMED, *NETWORK, NAMED.replace("net", "b"), f"{ANNOTATION}depends-on: net:%s"
    ),
    "ready-when-of-jinja": jinja(*NETWORK, NAMED, f"{ANNOTATION}ready-when: %s == available"),
    "depends-on-of-gotemplate": go(
        *NETWORK, NAMES, *NETWORK, NAMED.replace("net", "b"), f"{ANNOTATION}depends-on: x, net:%s"
    ),
    "ready-when-of-gotemplate": go(*NETWORK, NAMED, f'{ANNOTATION}ready-when: "%s"'),
    "depends-on-of-starlark": script(
        "rsp = response()",
        f'rsp.resource("net", {NETWORK_BODY})',
        f'rsp.resource("b", {NETWORK_BODY}, depends_on = ["net:%s"])',
    ),
    "ready-when-of-starlark": script(
        "rsp = response()", f'rsp.resource("net", {NETWORK_BODY}, ready_when = "%s == 1")'
    ),
    "ready-when-of-a-dict": script(
        f'net = {{"net": {{"resource": {NETWORK_BODY}, "ready_when": "%s"}}}}'
    ),
}


@pytest.mark.parametrize("text", AWAITED.values(), ids=AWAITED)
@pytest.mark.parametrize(("path", "count"), {"networkID": 1, "networkId": 0}.items())
def test_field_that_a_rule_waits_for(tmp_path: Path, text: str, path: str, count: int) -> None:
    """A resource that waits for a field which no object has waits for ever."""
    file = tmp_path / "composition.yaml"
    file.write_text(composition(text.replace("%s", f"status.{path}")))
    (tmp_path / "network.yaml").write_text(CRD)
    schemas = definitions.load(None, [tmp_path / "network.yaml"], Project([tmp_path]))
    findings = checker.check([str(file)], None, schemas).findings
    found_ = [each for each in findings if each.rule == "guarded-field"]
    assert [each.diagnostic.hint for each in found_] == ['did you mean "networkId"?'] * count
    assert all(f"status.{path}" in pointed_at(each) for each in found_)


KEYS = {
    "starlark": script('a = req["context"].get("%s")'),
    "jinja": jinja('{{ context["%s"] }}'),
    "gotemplate": go('{{ index .context "%s" }}'),
}
ENVIRONMENT = "apiextensions.crossplane.io/environment"


@pytest.mark.parametrize("text", KEYS.values(), ids=KEYS)
def test_key_of_the_context_that_functions_share(tmp_path: Path, text: str) -> None:
    slip = ENVIRONMENT.replace("environment", "enviroment")
    for key, hints in {slip: [f'write "{ENVIRONMENT}"'], ENVIRONMENT: [], "a.b/c": []}.items():
        file = tmp_path / "composition.yaml"
        file.write_text(composition(text.replace("%s", key)))
        findings = checker.check([str(file)]).findings
        assert [e.diagnostic.hint for e in findings if e.rule.endswith("-field")] == hints


@pytest.mark.parametrize("text", KEYS.values(), ids=KEYS)
def test_key_of_the_context_that_another_step_has_may_be_written_there(
    tmp_path: Path, text: str
) -> None:
    key = ENVIRONMENT.replace("environment", "environments")
    writer = script(f'return {{"context": {{"{key}": 1}}}}')
    file = tmp_path / "composition.yaml"
    file.write_text(composition(writer, text.replace("%s", key)))
    findings = checker.check([str(file)]).findings
    assert [each for each in findings if each.rule.endswith("-field")] == []


CONDITIONS = {
    "starlark": script('return is_ready(get_observed(req, "a"), "%s")'),
    "starlark-getter": script('return get_condition(get_observed(req, "a"), "%s")["status"]'),
    "starlark-rule": script(
        "rsp = response()",
        f'rsp.resource("net", {NETWORK_BODY}, ready_when = "condition %s")',
        "return rsp",
    ),
    "jinja": jinja('# {{ is_ready(get_composed_resource("a"), "%s") }}'),
    "jinja-filter": jinja('# {{ observed.resources.a.resource | is_ready("%s") }}'),
    "gotemplate": go('# {{ (getResourceCondition "%s" .observed.resources.a).Status }}'),
    "annotation": go(*NETWORK, NAMED, f"{ANNOTATION}ready-when: condition %s"),
}


@pytest.mark.parametrize("text", CONDITIONS.values(), ids=CONDITIONS)
@pytest.mark.parametrize(("name", "count"), {"Redy": 1, "Ready": 0, "Read": 0, "Up": 0}.items())
def test_condition_with_a_slip(tmp_path: Path, text: str, name: str, count: int) -> None:
    findings = _doubts(tmp_path, text.replace("%s", name))
    messages = [each.diagnostic.message for each in findings if "condition" in str(each.diagnostic)]
    assert messages == [f'no object has a condition "{name}"'] * count


ASKED = {
    "starlark": script(
        "rsp = response()",
        'rsp.require("config", "v1", "ConfigMap", match_name = "a")',
        'a = get_required(req, "%s")',
    ),
    "jinja": jinja(
        *["---", "apiVersion: meta.script.fn.crossplane.io/v1beta1", "kind: Requirements"],
        *["resources:", "  config:", "    kind: ConfigMap"],
        '# {{ get_required_resources("%s") }}',
    ),
    "gotemplate": go(
        *["---", "apiVersion: meta.script.fn.crossplane.io/v1beta1", "kind: ExtraResources"],
        *["requirements:", "  config:", "    kind: ConfigMap"],
        "# {{ .extraResources.%s }}",
    ),
}


@pytest.mark.parametrize("text", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize(("name", "count"), {"cofnig": 1, "config": 0, "other": 0}.items())
def test_objects_that_are_asked_for_under_another_name(
    tmp_path: Path, text: str, name: str, count: int
) -> None:
    findings = _doubts(tmp_path, text.replace("%s", name))
    messages = [each.diagnostic.message for each in findings if "asks" in each.diagnostic.message]
    assert messages == [f'nothing asks for the objects "{name}", so there are none'] * count


@pytest.mark.parametrize("text", COMPOSED.values(), ids=COMPOSED)
def test_fields_of_composed_resources(tmp_path: Path, text: str) -> None:
    path = f"{RESOURCE}.status.networkID"
    assert found(tmp_path, text, crds=True) == [(path, 'did you mean "networkId"?')]
    assert found(tmp_path, text) == []


ROOTS = {
    "starlark": script(GET, 'a = xr["spce"]["size"]'),
    "jinja": jinja("{{ xr.spce.size }}"),
    "gotemplate": go("{{ .observed.composite.resource.spce.size }}"),
}


@pytest.mark.parametrize("text", ROOTS.values(), ids=ROOTS)
def test_xr_without_an_xrd_has_the_fields_of_all_xrs(tmp_path: Path, text: str) -> None:
    file = tmp_path / "composition.yaml"
    file.write_text(composition(text))
    (finding,) = [each for each in checker.check([str(file)]).findings if each.severity == "error"]
    assert (finding.rule, finding.diagnostic.hint) == ("unknown-field", 'did you mean "spec"?')
    file.write_text(composition(text.replace("spce", "spec")))
    assert [each for each in checker.check([str(file)]).findings if each.severity == "error"] == []


def test_definition_may_be_given(tmp_path: Path) -> None:
    step = jinja("{{ spec.szie }}")
    file = tmp_path / "a.yaml"
    file.write_text(composition(step).replace(PIPELINE, REFERENCE))
    (tmp_path / "api.txt").write_text(XRD)
    schemas = definitions.load(tmp_path / "api.txt", [], Project([tmp_path]))
    (finding,) = checker.check([str(file)], None, schemas).findings
    message = f"{XR}.spec.szie does not exist: the XR's schema has no such field"
    assert finding.diagnostic.message == message
    assert checker.check([str(file)]).findings == []
    for text in (XRD.replace("kind: Thing", "kind: Other"), f"{XRD}---\n{XRD}"):
        (tmp_path / "xrd.yaml").write_text(text)
        assert checker.check([str(file)]).findings == []
    (tmp_path / "xrd.yaml").write_text("a: [")
    assert [each.rule for each in checker.check([str(file)]).findings] == ["yaml"]
    (tmp_path / "xrd.yaml").unlink()
    file.write_text(f"{file.read_text()}---\n{XRD}")
    (same,) = checker.check([str(file)]).findings
    assert same.diagnostic.message == message


COMPARISONS = {
    "field": (script(GET, 'return {} if xr["spec"]["size"] == "3" else {}'), '"3"'),
    "getter": (script('return get_xr(req, "spec.size") != "3"'), '"3"'),
    "jinja": (jinja('# {{ spec.size == "3" }}'), '"3"'),
    "jinja-reversed": (jinja('# {{ "3" != xr.spec.size }}'), '"3"'),
    "jinja-text": (jinja("# {{ spec.owner.team == 3 }}"), "3 }"),
    "gotemplate": (go('# {{ eq .observed.composite.resource.spec.size "3" }}'), '"3"'),
    "word": (script('return get_xr(req, "spec.owner.mode") == "Fast"'), '"Fast"'),
    "word-of-jinja": (jinja('# {{ spec.owner.mode == "Fast" }}'), '"Fast"'),
    "word-of-gotemplate": (go(f'# {{{{ eq .{XR}.spec.owner.mode "Fast" }}}}'), '"Fast"'),
    "word-comes-first": (go(f'# {{{{ eq "Fast" .{XR}.spec.owner.mode }}}}'), '"Fast"'),
    "word-of-a-pipe": (go(f'# {{{{ .{XR}.spec.owner.mode | eq "Fast" }}}}'), '"Fast"'),
    "another-word": (script('return get_xr(req, "spec.owner.mode") == "other"'), '"other"'),
    "another-word-of-jinja": (jinja('# {{ spec.owner.mode != "other" }}'), '"other"'),
    "another-word-of-go": (go(f'# {{{{ eq .{XR}.spec.owner.mode "other" }}}}'), '"other"'),
    "word-of-default": (script('return get_xr(req, "spec.owner.mode", "x") == "Fast"'), '"Fast"'),
    "word-of-default-of-jinja": (jinja('# {{ (spec.owner.mode | d("x")) == "y" }}'), '"y"'),
    "word-of-default-of-go": (
        go(f'{{{{ $o := .{XR}.spec.owner | default dict }}}}# {{{{ eq $o.mode "Fast" }}}}'),
        '"Fast"',
    ),
    "condition": (script('return get_condition(req, "Ready")["status"] == True'), "True"),
    "condition-of-jinja": (jinja('# {{ get_condition(xr, "Ready").status == true }}'), "true"),
    "condition-of-a-list": (jinja('# {{ xr.status.conditions[0].status == "true" }}'), '"true"'),
    "condition-of-go": (go('# {{ eq (getResourceCondition "A" .x).Status "true" }}'), '"true"'),
    "condition-in-a-variable": (
        go('{{ with $c := getResourceCondition "A" .x }}# {{ ne .Status "true" }}{{ end }}'),
        '"true"',
    ),
    "gotemplate-variable": (
        go("{{ $xr := .observed.composite.resource }}# {{ ne $xr.spec.size true }}"),
        "true",
    ),
}
EQUAL_TYPES = [
    script(GET, 'return xr["spec"]["size"] == 3'),
    script(GET, 'return xr["spec"]["port"] == "3"'),
    script(GET, 'xr["spec"]["size"] = "3"', 'return xr["spec"]["size"] == "3"'),
    jinja("# {{ spec.size == 3.5 }}"),
    go("# {{ eq .observed.composite.resource.spec.size 3 }}"),
    go('# {{ eq (getResourceCondition "A" .x).Status "True" }}{{ $.context.x.Reason }}'),
    go('# {{ eq (.observed.composite.resource.spec.size | toString) "3" }}'),
    go(f'# {{{{ .{XR}.spec.owner.mode | eq "fast" }}}}{{{{ eq "fast" .{XR}.spec.owner.mode }}}}'),
    # The first is compared with each, and these not with one another.
    go(f'# {{{{ eq .{XR}.spec.owner.mode .{XR}.spec.free.mode "fast" }}}}'),
    jinja('# {{ spec.free.size == "3" }}'),
    jinja("# {{ spec.owner == none }}"),
    script('return req["context"] == "x"'),
    go('# {{ eq . "x" }}'),
    # The default of a field that is absent.
    script('return get_xr(req, "spec.size", "") == ""'),
    script('return get_xr(req, "spec.owner.mode", "other") == "other"'),
    script(GET, 'mode = xr["spec"]["owner"].get("mode") or "other"', 'return mode == "other"'),
    script(GET, 'return xr["spec"]["owner"].get("team", False) == False'),
    jinja('{% set size = spec.size | default("auto") %}# {{ size == "auto" }}'),
    go(f'# {{{{ .{XR}.spec.size | default "auto" | eq "auto" }}}}'),
    go(f'{{{{ $o := .{XR}.spec.owner | default (dict "mode" "x") }}}}# {{{{ eq $o.mode "x" }}}}'),
    go(f'{{{{ $o := .{XR}.spec.owner }}}}# {{{{ set $o "mode" "x" }}}}{{{{ eq $o.mode "x" }}}}'),
    jinja('{% set owner = spec.owner | default({"mode": "x"}) %}# {{ owner.mode == "x" }}'),
    script('return get_xr(req, "spec.owner.mode", default = "other") == "other"'),
    # A value that only a run knows.
    script('return get_xr(req, "spec.owner.mode", req["context"]["x"]) == "other"'),
    script('return get_xr(req, "spec.owner", dict(mode = "x"))["mode"] == "x"'),
    jinja('{% set d = "other" %}# {{ (spec.owner.mode | default(d)) == "other" }}'),
    jinja('# {{ spec.owner.get("mode", params.x) == "other" }}'),
    jinja('# {{ (spec.owner | get("mode", context.x)) == "other" }}'),
    jinja('# {{ get(spec, "owner.mode", context.x) == "other" }}'),
    go(f'{{{{ $d := "other" }}}}# {{{{ .{XR}.spec.owner.mode | default $d | eq "other" }}}}'),
    go(f'# {{{{ eq (dig "mode" (print "other") .{XR}.spec.owner) "other" }}}}'),
    go(f'{{{{ $s := .{XR}.spec }}}}# {{{{ set $s "owner" $ }}}}{{{{ eq $s.owner.mode "x" }}}}'),
    # A key of any name is changed, which may be this one.
    script(GET, 'xr["spec"][str(1)]["mode"] = 1', 'return xr["spec"]["owner"]["mode"] == "x"'),
    # An enum that has a number as well.
    script('return get_xr(req, "spec.owner.limit") == 1'),
    script('return get_xr(req, "spec.owner.level") == 2'),
    script('return get_condition(None, "Ready")["status"] == "Unknown"'),
    jinja('# {{ get_condition(xr, "Ready").reason == "true" }}'),
]


def _doubts(path: Path, text: str) -> list[Finding]:
    file = path / "composition.yaml"
    file.write_text(composition(text).replace(PIPELINE, REFERENCE))
    (path / "xrd.yaml").write_text(XRD)
    schemas = definitions.load(None, [], Project([path]))
    findings = checker.check([str(file)], None, schemas).findings
    return [finding for finding in findings if finding.rule == "doubtful"]


@pytest.mark.parametrize(("text", "place"), COMPARISONS.values(), ids=COMPARISONS)
def test_comparison_with_another_type_is_found(tmp_path: Path, text: str, place: str) -> None:
    (finding,) = _doubts(tmp_path, text)
    assert pointed_at(finding).startswith(place)
    assert "never equal" in finding.diagnostic.message


@pytest.mark.parametrize("text", EQUAL_TYPES)
def test_comparison_with_a_possible_type_is_not_found(tmp_path: Path, text: str) -> None:
    """Nothing is certain of integers or strings, of free fields, and of values of the script."""
    assert _doubts(tmp_path, text) == []


TRUE_DEFAULTS = {
    "script": script(GET, 'return {"a": xr["spec"]["owner"].get("shown") or True}'),
    "jinja": jinja("# {{ spec.owner.shown | default(true, true) }}"),
    "jinja-or": jinja("# {{ spec.owner.shown or true }}"),
    "gotemplate": go(f"# {{{{ default true .{XR}.spec.owner.shown }}}}"),
    "gotemplate-pipe": go(f"# {{{{ .{XR}.spec.owner.shown | default true }}}}"),
    "gotemplate-or": go(f"# {{{{ or .{XR}.spec.owner.shown true }}}}"),
}
# They keep false, or are of another type.
FALSE_KEPT = [
    script(GET, 'return {"a": xr["spec"]["owner"].get("shown", True)}'),
    jinja("# {{ spec.owner.shown | default(true) }}"),
    jinja("# {{ spec.free.active or true }}"),
    go(f"# {{{{ .{XR}.spec.owner.shown | default false }}}}"),
    go(f"# {{{{ .{XR}.spec.size | default true }}}}"),
]


@pytest.mark.parametrize("text", TRUE_DEFAULTS.values(), ids=TRUE_DEFAULTS)
def test_default_that_replaces_false_is_found(tmp_path: Path, text: str) -> None:
    (finding,) = _doubts(tmp_path, text)
    assert pointed_at(finding).lower().startswith("true")
    assert "false becomes true" in finding.diagnostic.message


@pytest.mark.parametrize("text", FALSE_KEPT)
def test_default_that_keeps_false_is_not_found(tmp_path: Path, text: str) -> None:
    assert _doubts(tmp_path, text) == []


def test_length_of_a_list_is_a_filter_of_jinja() -> None:
    schema: Object = {"properties": {"spec": {"properties": {"disks": {"type": "array"}}}}}
    request = paths.of_request(inputs.parse_without_sources(builders.jinja("a")), schema, {})
    unknown = request.find_unknown((*paths.XR, "spec", "disks", "length"))
    message = "observed.composite.resource.spec.disks is a list"
    assert unknown == (message, "write `value | length`")
