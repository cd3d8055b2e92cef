"""Fields that programs read and that cannot exist: what is found, and what is left alone."""

from pathlib import Path

import pytest
from support.check_helpers import PIPELINE, composition, peer, pointed_at
from support.field_checks import GET, REFERENCE, XR, XRD, found, go, jinja, script

from function_script.tools import check
from function_script.tools.check.report import Finding

SIZE = 'did you mean "size"?'
ADDRESS = 'did you mean "address"?'
WRONG = [
    pytest.param(script(GET, 'a = xr["spec"]["szie"]'), f"{XR}.spec.szie", SIZE, id="alias"),
    pytest.param(
        script(GET, 'a = get(xr, "status.adress")'), f"{XR}.status.adress", ADDRESS, id="getter"
    ),
    pytest.param(script('a = get_xr(req, "spec.szie")'), f"{XR}.spec.szie", SIZE, id="get-xr"),
    pytest.param(
        script(GET, 'for d in xr["spec"]["disks"]:', '    a = d["nmae"]'),
        f"{XR}.spec.disks[].nmae",
        'did you mean "name"?',
        id="items",
    ),
    pytest.param(
        script(
            GET,
            'for d in xr["spec"]["disks"]:',
            '    a = d["name"]',
            'b = [d["nmae"] for d in xr["spec"]["disks"]]',
        ),
        f"{XR}.spec.disks[].nmae",
        'did you mean "name"?',
        id="items-of-two-loops",
    ),
    pytest.param(
        script(GET, 'a = [v["tema"] for k, v in xr["spec"]["owners"].items()]'),
        f"{XR}.spec.owners[].tema",
        'did you mean "team"?',
        id="values-of-a-map",
    ),
    pytest.param(
        script(GET, 'a = (xr["spec"].get("owner") or {}).get("tema")'),
        f"{XR}.spec.owner.tema",
        'did you mean "team"?',
        id="or-empty",
    ),
    pytest.param(script('a = req["observd"]'), "observd", 'did you mean "observed"?', id="request"),
    pytest.param(
        script(GET, 'a = xr["metadata"]["nmae"]'),
        f"{XR}.metadata.nmae",
        'did you mean "name"?',
        id="metadata",
    ),
    pytest.param(jinja("{{ spec.szie | default(1) }}"), f"{XR}.spec.szie", SIZE, id="jinja"),
    pytest.param(
        jinja("{% set s = xr.status %}{{ s.adress }}"), f"{XR}.status.adress", ADDRESS, id="set"
    ),
    pytest.param(
        jinja("{% for d in spec.disks %}{{ d.nmae }}{% endfor %}"),
        f"{XR}.spec.disks[].nmae",
        'did you mean "name"?',
        id="for",
    ),
    pytest.param(
        jinja(
            "{% for d in spec.disks %}{{ d.name }}{% endfor %}"
            "{% for d in spec.disks %}{{ d.nmae }}{% endfor %}"
        ),
        f"{XR}.spec.disks[].nmae",
        'did you mean "name"?',
        id="for-of-two-loops",
    ),
    pytest.param(
        jinja('{{ xr | get("spec.owner.tema", 1) }}'),
        f"{XR}.spec.owner.tema",
        'did you mean "team"?',
        id="filter",
    ),
    pytest.param(go(f"{{{{ .{XR}.spec.szie }}}}"), f"{XR}.spec.szie", SIZE, id="go"),
    pytest.param(
        go(f"{{{{ $xr := .{XR} }}}}{{{{ $xr.status.adress }}}}"),
        f"{XR}.status.adress",
        ADDRESS,
        id="variable",
    ),
    pytest.param(
        go(f"{{{{ range .{XR}.spec.disks }}}}{{{{ .nmae }}}}{{{{ end }}}}"),
        f"{XR}.spec.disks[].nmae",
        'did you mean "name"?',
        id="range",
    ),
    pytest.param(
        go(
            f"{{{{ $spec := .{XR}.spec }}}}"
            "{{ range $d := $spec.disks }}{{ $d.name }}{{ end }}"
            "{{ range $d := $spec.disks }}{{ $d.nmae }}{{ end }}"
        ),
        f"{XR}.spec.disks[].nmae",
        'did you mean "name"?',
        id="variable-of-two-loops",
    ),
    pytest.param(
        go("{{ (getCompositeResource .).spec.szie }}"), f"{XR}.spec.szie", SIZE, id="function"
    ),
    pytest.param(go(f'{{{{ index .{XR}.spec "szie" }}}}'), f"{XR}.spec.szie", SIZE, id="index"),
    pytest.param(
        go("{{ .Values }}"),
        "Values",
        "Helm's values are observed.composite.resource.spec here, or the input's params",
        id="values-of-helm",
    ),
    pytest.param(
        peer("source: Inline", "inline: {template: '{{ .observd }}'}"),
        "observd",
        'did you mean "observed"?',
        id="peer",
    ),
]


@pytest.mark.parametrize(("text", "path", "hint"), WRONG)
def test_field_that_does_not_exist(tmp_path: Path, text: str, path: str, hint: str) -> None:
    assert found(tmp_path, text) == [(path, hint)]


RIGHT = [
    pytest.param(
        script(
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
        id="all-that-is-there",
    ),
    pytest.param(
        script(GET, 'xr["spec"]["more"] = 1', 'a = xr["spec"]["more"]'), id="set-by-the-script"
    ),
    pytest.param(script(GET, 'xr = {"any": 1}', 'a = xr["any"]'), id="a-name-with-two-meanings"),
    pytest.param(script(GET, 'a = "szie" in xr["spec"]'), id="asked-whether-it-is-there"),
    pytest.param(
        jinja("{{ spec.labels.items() }}{{ spec.size is defined }}{{ spec.szie is defined }}"),
        id="methods-and-tests",
    ),
    pytest.param(
        script(
            GET,
            'for d in xr["spec"]["disks"]:',
            '    for d in req["context"]["any"]:',
            '        a = d["any"]',
            'b = [d["any"] for d in req["context"]["any"] if d["any"]]',
        ),
        id="a-loop-in-another-loop",
    ),
    pytest.param(
        jinja(
            "{% for d in spec.disks %}{% for d in context.x %}{{ d.any }}{% endfor %}{% endfor %}"
        ),
        id="a-for-in-another-for",
    ),
    pytest.param(
        jinja("{% for d in spec.disks %}{% set d = context.x %}{{ d.any }}{% endfor %}"),
        id="a-for-whose-name-is-set",
    ),
    pytest.param(
        jinja("{% macro m(spec) %}{{ spec.any }}{% endmacro %}{{ m(1) }}"), id="parameters"
    ),
    pytest.param(
        jinja("{% macro spec() %}{% endmacro %}{{ spec.any }}"), id="a-macro-of-that-name"
    ),
    pytest.param(
        script(GET, "def xr(a):", "    return {}", 'a = xr["any"]'), id="a-function-of-that-name"
    ),
    pytest.param(
        jinja("{% set x = spec %}{% set x = params %}{{ x.any }}"), id="a-name-that-is-set-twice"
    ),
    pytest.param(
        go('{{ $_ := set . "any" 1 }}{{ .any }}{{ define "x" }}{{ .any }}{{ end }}'),
        id="set-and-defined",
    ),
    pytest.param(
        go("{{ $x := .observed }}{{ $x = .context }}{{ $x.any }}"), id="a-variable-that-changes"
    ),
    pytest.param(
        go("{{ $x := .observed }}{{ if .input }}{{ $x := .context }}{{ $x.any }}{{ end }}"),
        id="a-variable-of-an-inner-block",
    ),
    pytest.param(
        go(f"{{{{ $x := .context }}}}{{{{ with $x := .{XR} }}}}{{{{ end }}}}{{{{ $x.any }}}}"),
        id="a-variable-of-an-outer-block",
    ),
]


@pytest.mark.parametrize("text", RIGHT)
def test_uncertain_fields_have_no_finding(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text) == []


NETWORK = [
    "---",
    "apiVersion: net.example.org/v1",
    "kind: Network",
    "metadata:",
    "  annotations:",
]
RESOURCE = "observed.resources.net.resource"
NAMED = "    script.fn.crossplane.io/composition-resource-name: net"
COMPOSED = [
    pytest.param(jinja(f"a: {{{{ {RESOURCE}.status.networkID }}}}", *NETWORK, NAMED), id="jinja"),
    pytest.param(
        go(
            f"a: {{{{ .{RESOURCE}.status.networkID }}}}",
            *NETWORK,
            '    {{ setResourceNameAnnotation "net" }}',
        ),
        id="gotemplate",
    ),
    pytest.param(
        script(
            'a = get_observed(req, "net", "status.networkID")',
            'net = {"net": {"resource": {"apiVersion": "net.example.org/v1", "kind": "Network"}}}',
        ),
        id="starlark",
    ),
]


@pytest.mark.parametrize("text", COMPOSED)
def test_fields_of_composed_resources(tmp_path: Path, text: str) -> None:
    path = f"{RESOURCE}.status.networkID"
    assert found(tmp_path, text, crds=True) == [(path, 'did you mean "networkId"?')]
    assert found(tmp_path, text) == []


def test_definition_may_be_given(tmp_path: Path) -> None:
    step = jinja("{{ spec.szie }}")
    file = tmp_path / "a.yaml"
    file.write_text(composition(step).replace(PIPELINE, REFERENCE))
    (tmp_path / "api.txt").write_text(XRD)
    known = check.load(tmp_path / "api.txt", [])
    (finding,) = check.check([str(file)], None, known).findings
    assert finding.diagnostic.message == (
        f"{XR}.spec.szie does not exist: the XR's schema has no such field"
    )
    assert check.check([str(file)]).findings == []
    (tmp_path / "xrd.yaml").write_text(XRD.replace("kind: Thing", "kind: Other"))
    assert check.check([str(file)]).findings == []
    (tmp_path / "xrd.yaml").write_text(f"{XRD}---\n{XRD}")
    assert check.check([str(file)]).findings == []
    (tmp_path / "xrd.yaml").write_text("a: [")
    assert check.check([str(file)]).findings == []
    file.write_text(f"{file.read_text()}---\n{XRD}")
    (same,) = check.check([str(file)]).findings
    assert same.diagnostic.message == finding.diagnostic.message


COMPARISONS = [
    pytest.param(script(GET, 'return {} if xr["spec"]["size"] == "3" else {}'), '"3"', id="field"),
    pytest.param(script('return {"a": get_xr(req, "spec.size") != "3"}'), '"3"', id="getter"),
    pytest.param(jinja('# {{ spec.size == "3" }}'), '"3"', id="jinja"),
    pytest.param(jinja('# {{ "3" != xr.spec.size }}'), '"3"', id="jinja-reversed"),
    pytest.param(jinja("# {{ spec.owner.team == 3 }}"), "3 }", id="jinja-text"),
    pytest.param(
        go('# {{ eq .observed.composite.resource.spec.size "3" }}'), '"3"', id="gotemplate"
    ),
    pytest.param(
        go("{{ $xr := .observed.composite.resource }}# {{ ne $xr.spec.size true }}"),
        "true",
        id="gotemplate-variable",
    ),
]
EQUAL_TYPES = [
    script(GET, 'return {"a": xr["spec"]["size"] == 3}'),
    script(GET, 'return {"a": xr["spec"]["port"] == "3"}'),
    script(GET, 'xr["spec"]["size"] = "3"', 'return {"a": xr["spec"]["size"] == "3"}'),
    jinja("# {{ spec.size == 3.5 }}"),
    go("# {{ eq .observed.composite.resource.spec.size 3 }}"),
    go('# {{ eq (.observed.composite.resource.spec.size | toString) "3" }}'),
    jinja('# {{ spec.free.size == "3" }}'),
    jinja("# {{ spec.owner == none }}"),
]


def _doubts(path: Path, text: str) -> list[Finding]:
    file = path / "composition.yaml"
    file.write_text(composition(text).replace(PIPELINE, REFERENCE))
    (path / "xrd.yaml").write_text(XRD)
    findings = check.check([str(file)], None, check.load(None, [])).findings
    return [finding for finding in findings if finding.rule == "doubtful"]


@pytest.mark.parametrize(("text", "place"), COMPARISONS)
def test_comparison_with_another_type_is_found(tmp_path: Path, text: str, place: str) -> None:
    (finding,) = _doubts(tmp_path, text)
    assert pointed_at(finding).startswith(place)
    assert "never equal" in finding.diagnostic.message


@pytest.mark.parametrize("text", EQUAL_TYPES)
def test_comparison_with_a_possible_type_is_not_found(tmp_path: Path, text: str) -> None:
    """Nothing is certain of integers or strings, of free fields, and of values of the script."""
    assert _doubts(tmp_path, text) == []


TRUE_DEFAULTS = [
    pytest.param(
        script(GET, 'return {"a": xr["spec"]["owner"].get("shown") or True}'), id="script"
    ),
    pytest.param(jinja("# {{ spec.owner.shown | default(true, true) }}"), id="jinja"),
    pytest.param(jinja("# {{ spec.owner.shown or true }}"), id="jinja-or"),
    pytest.param(go(f"# {{{{ default true .{XR}.spec.owner.shown }}}}"), id="gotemplate"),
    pytest.param(go(f"# {{{{ .{XR}.spec.owner.shown | default true }}}}"), id="gotemplate-pipe"),
    pytest.param(go(f"# {{{{ or .{XR}.spec.owner.shown true }}}}"), id="gotemplate-or"),
]
# They keep false, or are of another type.
FALSE_KEPT = [
    script(GET, 'return {"a": xr["spec"]["owner"].get("shown", True)}'),
    jinja("# {{ spec.owner.shown | default(true) }}"),
    jinja("# {{ spec.free.active or true }}"),
    go(f"# {{{{ .{XR}.spec.owner.shown | default false }}}}"),
    go(f"# {{{{ .{XR}.spec.size | default true }}}}"),
]


@pytest.mark.parametrize("text", TRUE_DEFAULTS)
def test_default_that_replaces_false_is_found(tmp_path: Path, text: str) -> None:
    (finding,) = _doubts(tmp_path, text)
    assert pointed_at(finding).lower().startswith("true")
    assert "false becomes true" in finding.diagnostic.message


@pytest.mark.parametrize("text", FALSE_KEPT)
def test_default_that_keeps_false_is_not_found(tmp_path: Path, text: str) -> None:
    assert _doubts(tmp_path, text) == []
