"""`render --blame` and `render --explain`: the line of each value, and what it was made of."""

from pathlib import Path

import pytest
from support import one_step
from support.commands import Run

XRD = one_step.xrd(
    """\
spec: {type: object, properties: {size: {type: integer, default: 2}, zone: {type: string}}}
status: {type: object, properties: {zone: {type: string}}}"""
)
XR = """\
apiVersion: example.org/v1
kind: XThing
metadata: {name: shop, namespace: here}
spec:
  zone: north
"""
TEMPLATE = """\
apiVersion: v1
kind: ConfigMap
metadata:
  annotations: {script.fn.crossplane.io/composition-resource-name: my.map}
data:
  zone: {{ .observed.composite.resource.spec.zone }}
  size: "{{ .observed.composite.resource.spec.size }}"
  text: |
    two
    lines
---
apiVersion: example.org/v1
kind: XThing
status:
  zone: {{ .context.zone | default "none" }}
"""
SCRIPT = """\
def main(req):
    rsp = response()
    rsp.resource("script", {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "data": {"zone": get_xr(req, "spec.zone"), "other": json.encode({"a": 1})},
    })
    return rsp
"""
STEPS = one_step.step("first", "GoTemplate", TEMPLATE) + one_step.step(
    "second", "StarlarkScript", SCRIPT, field="script"
)


@pytest.fixture(autouse=True)
def _project(here: Path) -> None:
    files = {"xr": XR, "xrd": XRD, "composition": one_step.PIPELINE + STEPS}
    for name, text in files.items():
        (here / f"{name}.yaml").write_text(text)


def test_blame_is_render_behind_a_margin(run: Run) -> None:
    plain, text = run("render").out, run("render", "--blame").out
    rows = [line.partition(" | ") for line in text.splitlines()]
    assert [line for _, _, line in rows] == plain.splitlines()
    assert len({len(margin) for margin, bar, _ in rows if bar}) == 1
    margins = {line.strip(): margin.strip() for margin, _, line in rows}
    assert margins['size: "2"'] == "composition.yaml:20"
    assert margins["lines"] == margins["text: |"] == "composition.yaml:21"
    assert margins["other: '{\"a\":1}'"] == "composition.yaml:40"
    assert margins["zone: none"] == "composition.yaml:28"
    assert margins["crossplane.io/composite: shop"] == ""


EXPLAINED = [
    pytest.param(
        "my.map.data.zone",
        'my.map.data.zone: "north"\n'
        '  <- composition.yaml:19:11: step "first"\n'
        "     zone: {{ .observed.composite.resource.spec.zone }}\n"
        '    <- xr.yaml:5:3: spec.zone: "north"\n',
        id="field-of-the-xr",
    ),
    pytest.param(
        "my.map.data.size",
        'my.map.data.size: "2"\n'
        '  <- composition.yaml:20:11: step "first"\n'
        '     size: "{{ .observed.composite.resource.spec.size }}"\n'
        "    <- XR: spec.size: 2 (a default of the XRD)\n",
        id="default",
    ),
    pytest.param(
        "xr.status.zone",
        'xr.status.zone: "none"\n'
        '  <- composition.yaml:28:11: step "first"\n'
        '     zone: {{ .context.zone | default "none" }}\n'
        "    <- request: context.zone\n",
        id="status-and-context",
    ),
    pytest.param(
        "script.data.zone",
        'script.data.zone: "north"\n'
        '  <- composition.yaml:40:26: step "second"\n'
        '     "data": {"zone": get_xr(req, "spec.zone"), "other": json.encode({"a": 1})},\n'
        '    <- xr.yaml:5:3: spec.zone: "north"\n',
        id="script",
    ),
    pytest.param(
        "script.metadata.generateName",
        'script.metadata.generateName: "shop-"\n  <- written by Crossplane, or by no step\n',
        id="of-crossplane",
    ),
]


@pytest.mark.parametrize(("target", "expected"), EXPLAINED)
def test_explain(target: str, expected: str, run: Run) -> None:
    assert run("render", "--explain", target).out == expected


def test_explained_object_has_its_members_in_order(run: Run) -> None:
    """Protobuf hands over a map in another order in every process."""
    fields = ("h", "c", "a", "g", "zone", "b", "e", "d", "f")
    data = ", ".join(f'"{name}": "1"' for name in fields)
    Path("composition.yaml").write_text(
        one_step.PIPELINE + STEPS.replace('"zone": get_xr(req, "spec.zone")', data)
    )
    first, _, _ = run("render", "--explain", "script.data").out.partition("\n")
    names = [part.partition(":")[0].strip('{" ') for part in first.partition(": ")[2].split(", ")]
    assert names == sorted((*fields, "other"))


NAMES_IN_GO = """\
{{- $spec := .observed.composite.resource.spec }}
{{- $n := $spec.size | int }}
{{- $m := add $n 1 }}
{{- $free := "" }}{{ $free = $spec.zone }}
apiVersion: v1
kind: ConfigMap
metadata:
  annotations: {script.fn.crossplane.io/composition-resource-name: a}
data:
  sum: "{{ $m }}"
  free: {{ $free }}
  {{- range $name, $db := $spec.dbs }}
  {{ $name }}: "{{ $db.size }}"
  {{- end }}
  {{- range $spec.zones }}
  zone-{{ . }}: {{ . }}
  {{- end }}
"""
NAMES_IN_JINJA = """\
{% set n = spec.size | int %}
{% set m = n + 1 %}
{% set free = spec.zone %}
{% set free = free + "" %}
apiVersion: v1
kind: ConfigMap
metadata:
  annotations: {script.fn.crossplane.io/composition-resource-name: a}
data:
  sum: "{{ m }}"
  free: {{ free }}
  {% for name, db in spec.dbs.items() %}
  {{ name }}: "{{ db.size }}"
  {% endfor %}
  {% for zone in spec.zones %}
  zone-{{ zone }}: {{ zone }}
  {% endfor %}
"""
NAMES_IN_STARLARK = """\
def main(req):
    spec = get_xr(req, "spec")
    n = int(spec["size"])
    m = n + 1
    free = spec["zone"]
    free += ""
    data = {
        "sum": str(m) + get_condition({}, "Ready")["reason"],
        "free": free,
    }
    for name, db in spec["dbs"].items():
        data[name] = str(db["size"])
    for zone in spec["zones"]:
        data["zone-" + zone] = zone
    rsp = response()
    rsp.resource("a", {"apiVersion": "v1", "kind": "ConfigMap", "data": data})
    return rsp
"""
NAMES = [
    pytest.param("GoTemplate", "inline", NAMES_IN_GO, id="go"),
    pytest.param("JinjaTemplate", "inline", NAMES_IN_JINJA, id="jinja"),
    pytest.param("StarlarkScript", "script", NAMES_IN_STARLARK, id="starlark"),
]


@pytest.mark.parametrize(("kind", "field", "program"), NAMES)
def test_names_stand_for_what_their_values_are_made_of(
    kind: str, field: str, program: str, run: Run
) -> None:
    """Which item a line reads is not known, nor the value of a name that is bound twice."""
    Path("xrd.yaml").unlink()
    Path("xr.yaml").write_text(f"{XR}  size: 2\n  zones: [a]\n  dbs: {{one: {{size: 4}}}}\n")
    step = one_step.step("first", kind, program, field=field)
    Path("composition.yaml").write_text(one_step.PIPELINE + step)
    reads = {
        name: run("render", "--explain", f"a.data.{name}").out.splitlines()[3:]
        for name in ("sum", "free", "one", "zone-a")
    }
    assert reads == {
        "sum": ["    <- xr.yaml:6:3: spec.size: 2"],
        "free": ["    <- nothing of the request that is certain"],
        "one": ["    <- xr.yaml:8:3: spec.dbs[].size"],
        "zone-a": ["    <- xr.yaml:7:3: spec.zones[]"],
    }


UNKNOWN = [
    pytest.param("scrpt.data", 'no such resource\n  = hint: did you mean "script"?', id="resource"),
    pytest.param("nothing", "no such resource\n  = hint: there are xr, my.map, script", id="alone"),
    pytest.param(
        "script.data.zones",
        'script.data lacks zones\n  = hint: did you mean "zone"?',
        id="field",
    ),
    pytest.param("script.data[", "cannot read the path 'data['", id="path"),
]


@pytest.mark.parametrize(("target", "error"), UNKNOWN)
def test_explain_of_what_is_not_there(target: str, error: str, run: Run) -> None:
    out, err = run("render", "--explain", target, code=1)
    assert out == ""
    assert f'error: cannot explain "{target}": {error}' in err


@pytest.mark.parametrize("flags", ["--watch", "--validate", "--explain x"])
def test_blame_is_for_documents_that_are_printed(flags: str, run: Run) -> None:
    run("render", "--blame", *flags.split(), code=2)
