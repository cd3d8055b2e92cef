"""With `missing: Defer` what needs a missing value is withheld alone, whatever the language."""

import pytest
from support import builders
from support.builders import API_VERSION
from support.readiness_steps import READY, condition, desired, fatal, observed, readiness, run

from function_script.request.values import Object

PREFIX = "script.fn.crossplane.io"
NAME = f"{PREFIX}/composition-resource-name"
HEAD = f"apiVersion: e.org/v1\nkind: Thing\nmetadata: {{annotations: {{{NAME}: NAME}}}}\n"
TEMPLATES = ("JinjaTemplate", "GoTemplate")
# Where a value comes from that does not exist, in each language.
PATHS = {
    "JinjaTemplate": "observed.resources.vpc.resource.status.id",
    "GoTemplate": ".observed.resources.vpc.resource.status.id",
}
VPC: Object = {"vpc": observed(status={"id": "vpc-7"})}


def document(name: str, body: str) -> str:
    """A document of a composed resource."""
    return HEAD.replace("NAME", name) + body


def template(kind: str, *documents: str, **fields: object) -> Object:
    """A step that defers; ``ID`` in its documents is the path of what does not exist."""
    text = "---\n".join(documents).replace("ID", PATHS[kind])
    step: Object = {"apiVersion": API_VERSION, "kind": kind, "inline": text, "missing": "Defer"}
    return {**step, **fields}  # type: ignore[dict-item] # plain values


@pytest.mark.parametrize("kind", TEMPLATES)
def test_deferral_withholds_only_the_document_that_needs_the_value(kind: str) -> None:
    step = template(
        kind,
        document("a", "spec: {x: 1}\n"),
        document("b", "spec:\n  vpc: {{ ID }}\n"),
        document("c", "spec: {x: 2}\n"),
    )
    response = run(step)
    assert set(desired(response)) == {"a", "c"}
    assert response["desired"]["composite"]["ready"] == "READY_FALSE"  # type: ignore[index,call-overload] # an object
    assert response["meta"]["ttl"] == "10s"  # type: ignore[index,call-overload] # an object
    whole = run(step, VPC)
    assert set(desired(whole)) == {"a", "b", "c"}
    assert desired(whole)["b"]["resource"]["spec"] == {"vpc": "vpc-7"}  # type: ignore[index,call-overload] # an object
    assert "composite" not in whole["desired"]  # type: ignore[operator] # an object


@pytest.mark.parametrize(
    "use", ["{{ ID }}", "{{ ID | quote }}", "{{ list ID | toJson }}", "{{ $id := ID }}{{ $id }}"]
)
def test_null_waits_in_a_go_template(use: str) -> None:
    """It may still become a value; written as null, the field would be left out."""
    step = template("GoTemplate", document("b", f"spec:\n  vpc: {use}\n"))
    null: dict[str, Object] = {"vpc": observed(status={"id": None})}
    assert desired(run(step, null)) == {}
    assert set(desired(run(step, VPC))) == {"b"}


@pytest.mark.parametrize("kind", TEMPLATES)
def test_condition_names_the_expression_and_its_line(kind: str) -> None:
    response = run(template(kind, document("b", "spec:\n  vpc: {{ ID }}\n")))
    message = str(condition(response)["message"])
    assert message.startswith("Waiting: b because ")
    assert "observed.resources.vpc" in message
    assert "(inline:5:" in message
    (event,) = response["results"]  # type: ignore[misc] # one
    assert event["severity"] == "SEVERITY_NORMAL"  # type: ignore[index,call-overload] # an object
    assert message.startswith(str(event["message"]))  # type: ignore[index,call-overload] # an object


@pytest.mark.parametrize("kind", TEMPLATES)
def test_resource_that_exists_is_fatal(kind: str) -> None:
    """To leave it out would delete it."""
    message = fatal(run(template(kind, document("b", "spec: {a: {{ ID }} }\n")), {"b": observed()}))
    assert 'cannot leave out resource "b", which exists' in message
    assert "onExisting: Keep" in message


def managed(*owned: Object) -> Object:
    """An existing resource with managed fields of Crossplane."""
    fields = [
        {
            "manager": f"apiextensions.crossplane.io/composed/{number}",
            "operation": "Apply",
            "apiVersion": "example.org/v1",
            "fieldsV1": each,
        }
        for number, each in enumerate(owned)
    ]
    found = observed(managedFields=fields, labels={"ours": "1", "theirs": "2"})  # type: ignore[arg-type] # plain values
    found["resource"]["spec"] = {  # type: ignore[index,call-overload] # an object
        "size": 3,
        "defaulted": True,
        "list": [1, 2],
        "tags": {"a": "1", "b": "2"},
        "ports": [{"name": "web", "port": 80, "nodePort": 30001}, {"name": "other", "port": 81}],
        "set": ["x", "y"],
        "empty": {},
    }
    return found


OWNED: Object = {
    "f:metadata": {"f:labels": {".": {}, "f:ours": {}}, "f:ownerReferences": {}},
    "f:spec": {
        "f:size": {},
        "f:list": {},
        "f:tags": {"f:b": {}},
        "f:ports": {'k:{"name":"web"}': {".": {}, "f:name": {}, "f:port": {}}},
        "f:set": {'v:"y"': {}},
        "f:empty": {".": {}},
        "f:gone": {},
    },
}


@pytest.mark.parametrize("kind", TEMPLATES)
def test_resource_that_exists_is_kept_as_it_was_applied(kind: str) -> None:
    """With the fields that Crossplane owns, and none that a default or another has set."""
    step = template(kind, document("b", "spec: {a: {{ ID }} }\n"), onExisting="Keep")
    response = run(step, {"b": managed(OWNED)})
    assert desired(response)["b"]["resource"] == {
        "apiVersion": "example.org/v1",
        "kind": "Thing",
        "metadata": {"labels": {"ours": "1"}},
        "spec": {
            "size": 3,
            "list": [1, 2],
            "tags": {"b": "2"},
            "ports": [{"name": "web", "port": 80}],
            "set": ["y"],
            "empty": {},
        },
    }
    assert response["desired"]["composite"]["ready"] == "READY_FALSE"  # type: ignore[index,call-overload] # an object


# A script that says the same as the documents of templates.
SCRIPT = """
def main(req):
    rsp = response()
    rsp.resource("net", {"apiVersion": "e.org/v1", "kind": "Thing"})
    id = lambda: req["observed"]["resources"]["vpc"]["resource"]["status"]["id"]
    body = lambda: {"apiVersion": "e.org/v1", "kind": "Thing", "spec": {"a": id()}}
    rsp.resource("b", body, depends_on = ["net"], ready_when = "Never")
    return rsp
"""


@pytest.mark.parametrize("kind", [*TEMPLATES, "StarlarkScript"])
def test_kept_resource_has_the_order_and_the_rule_that_it_states(kind: str) -> None:
    """Without its Usage, that would be deleted; without its rule, others would begin too early."""
    fields: Object = {"missing": "Defer", "onExisting": "Keep", "usages": {}, "autoReady": {}}
    text = document("b", "spec: {a: {{ ID }} }\n").replace(
        ": b}", f": b, {PREFIX}/depends-on: net, {PREFIX}/ready-when: Never}}"
    )
    step = builders.starlark(SCRIPT, **fields)
    if kind in PATHS:
        step = template(kind, document("net", ""), text, **fields)
    existing = managed(OWNED)
    existing["resource"]["status"] = READY  # type: ignore[index,call-overload] # an object
    response = run(step, {"net": observed(), "b": existing})
    assert readiness(response) == {
        "net": "READY_FALSE",
        "b": "READY_FALSE",
        "usage:b:net": "READY_FALSE",
    }


@pytest.mark.parametrize("annotation", ["depends-on", "ready-when", "usages", "ready"])
def test_resource_whose_order_needs_a_missing_value_is_not_kept(annotation: str) -> None:
    """Its Usages would be deleted meanwhile."""
    waiting = document("b", "spec: {a: {{ ID }} }\n").replace(
        ": b}", f": b, {PREFIX}/{annotation}: 'x{{{{ ID }}}}'}}"
    )
    step = template("JinjaTemplate", waiting, onExisting="Keep")
    assert set(desired(run(step))) == set()
    message = fatal(run(step, {"b": managed(OWNED)}))
    assert f"needs a missing value, too: {PREFIX}/{annotation}" in message


@pytest.mark.parametrize("owned", [(), (OWNED, OWNED)], ids=["none", "two"])
def test_resource_nobody_can_tell_the_owner_of_is_not_kept(owned: tuple[Object, ...]) -> None:
    """A guess would seize fields, or take them away."""
    step = template("JinjaTemplate", document("b", "spec: {a: {{ ID }} }\n"), onExisting="Keep")
    assert "its managed fields do not say" in fatal(run(step, {"b": managed(*owned)}))


def test_resource_is_kept_while_requirements_are_open() -> None:
    """Crossplane calls again when it has fetched them; the error would end that."""
    meta = "apiVersion: meta.script.fn.crossplane.io/v1beta1\nkind: Requirements\n"
    requirement = "resources: {zone: {api_version: v1, kind: ConfigMap, match_name: zone}}\n"
    needing = document(
        "b", "spec: {a: {{ required_resources.zone['items'][0].resource.data.a }} }\n"
    )
    step = template("JinjaTemplate", meta + requirement, needing)
    asking = run(step, {"b": managed(OWNED)})
    assert set(desired(asking)) == {"b"}
    assert asking["requirements"]
    other = {"items": [{"resource": {"metadata": {"name": "of-the-last-reconcile"}}}]}
    stale = run(step, {"b": managed(OWNED)}, required_resources={"zone": other})
    assert set(desired(stale)) == {"b"}
    answered = run(step, {"b": managed(OWNED)}, required_resources={"zone": {}})
    assert 'cannot leave out resource "b"' in fatal(answered)
    # The step gets its own context back, and does not take itself for an earlier step.
    zone = {"items": [{"resource": {"metadata": {"name": "zone"}, "data": {"a": 1}}}]}
    again = run(step, context=run(step).get("context", {}), required_resources={"zone": zone})
    assert set(desired(again)) == {"b"}


def test_earlier_step_adds_to_a_kept_resource_and_it_stays() -> None:
    """Its fields are newer than what was applied last."""
    step = template("JinjaTemplate", document("b", "spec: {a: {{ ID }} }\n"), onExisting="Keep")
    earlier: Object = {"resource": {"apiVersion": "e.org/v1", "kind": "T", "spec": {"size": 4}}}
    response = run(step, {"b": managed(OWNED)}, desired={"resources": {"b": earlier}})
    kept = desired(response)["b"]["resource"]["spec"]  # type: ignore[index,call-overload] # an object
    assert (kept["size"], kept["list"]) == (4, [1, 2])  # type: ignore[index,call-overload] # an object


def test_earlier_steps_resource_is_withheld_too() -> None:
    """It would be created without what this step adds."""
    step = template("JinjaTemplate", document("b", "spec: {a: {{ ID }} }\n"))
    assert desired(run(step, desired={"resources": {"b": observed()}})) == {}


PLACES = {
    "a text": 'spec: {a: "x-{{ ID }}-y"}\n',
    "a number": "spec: {a: {{ ID }}}\n",
    "a key": "spec: {{{ ID }}: 1}\n".replace("{{{", "{ {{").replace("}}:", "}} :"),
    "an item": "spec:\n- {{ ID }}\n",
    "a block": "spec: |\n  x\n  {{ ID }}\n",
    "a block of lines": "spec:{{ ID | toYaml | nindent 2 }}\n",
    "a line of its own": "spec:\n{{ ID | toYaml | indent 2 }}\n",
    "a comment": "spec: 1 # {{ ID }}\n",
    "a label": "spec: {}\nlabels:\n  a: {{ ID }}\n",
    "the end": "spec: {{ ID }}",
}
JINJA_FILTERS = {
    "toYaml | nindent 2": "to_yaml | nindent(2)",
    "toYaml | indent 2": "to_yaml | indent(2)",
}


@pytest.mark.parametrize("kind", TEMPLATES)
@pytest.mark.parametrize("body", PLACES.values(), ids=PLACES)
def test_gap_anywhere_in_a_document(kind: str, body: str) -> None:
    """The text need not be YAML without the value."""
    if kind == "JinjaTemplate":
        for go, jinja in JINJA_FILTERS.items():
            body = body.replace(go, jinja)
    step = template(kind, document("a", "spec: 1\n"), document("b", body))
    response = run(step)
    assert set(desired(response)) == {"a"}, response.get("results")
    assert "b because" in str(condition(response)["message"])


VAGUE = {
    "the name": (
        f"apiVersion: v1\nkind: T\nmetadata: {{annotations: {{{NAME}: 'b-{{{{ ID }}}}'}}}}\n"
    ),
    "the kind": document("b", "").replace("kind: Thing", "kind: T{{ ID }}"),
    "no name": "apiVersion: v1\nkind: T\nspec: {{ ID }}\n",
    "a separator": document("b", "spec: 1\n---{{ ID }}\n"),
    "before a separator": document("b", "spec: 1\n{{ ID }}---\n"),
    "nothing else": "{{ ID }}\n",
}


@pytest.mark.parametrize("kind", TEMPLATES)
@pytest.mark.parametrize("text", VAGUE.values(), ids=VAGUE)
def test_gap_that_leaves_the_document_open_is_fatal(kind: str, text: str) -> None:
    """Nobody could say what is withheld, or whether it exists."""
    assert "cannot defer" in fatal(run(template(kind, document("a", "spec: 1\n"), text)))


@pytest.mark.parametrize("kind", TEMPLATES)
def test_document_that_is_no_yaml_whatever_the_gap_says_why(kind: str) -> None:
    step = template(kind, document("b", "spec: {{ ID }}\nkind: Twice\n"))
    assert fatal(run(step)).startswith("inline:5:1: cannot read document 1, line 5")


@pytest.mark.parametrize("kind", TEMPLATES)
def test_name_that_is_used_twice_is_told(kind: str) -> None:
    step = template(kind, document("b", "spec: 1\n"), document("b", "spec: {{ ID }}\n"))
    assert 'resource name "b" is used twice' in fatal(run(step))


@pytest.mark.parametrize("kind", TEMPLATES)
def test_later_errors_keep_their_lines(kind: str) -> None:
    """A removed document leaves its line breaks in the text."""
    step = template(kind, document("b", "spec: {{ ID }}\n"), "apiVersion: v1\nkind: T\n")
    assert fatal(run(step)).startswith("inline:6")


@pytest.mark.parametrize("kind", TEMPLATES)
def test_status_and_meta_documents_are_withheld_alone(kind: str) -> None:
    """They have no name that counts, and are told by their kind."""
    step = template(
        kind,
        "apiVersion: example.org/v1\nkind: XThing\nstatus: {id: {{ ID }} }\n",
        "apiVersion: meta.script.fn.crossplane.io/v1beta1\nkind: Context\ndata: {a: {{ ID }} }\n"
        f"metadata: {{annotations: {{{NAME}: a}}}}\n",
        document("a", "spec: 1\n"),
    )
    response = run(step)
    assert set(desired(response)) == {"a"}
    assert "resource" not in response["desired"]["composite"]  # type: ignore[index,call-overload,operator] # an object
    assert response["context"] == {}
    message = str(condition(response)["message"])
    assert "Context because" in message
    assert "XThing because" in message


@pytest.mark.parametrize("kind", TEMPLATES)
def test_default_takes_the_place_of_a_gap(kind: str) -> None:
    """Nothing waits for a value that may be missing."""
    default = "ID | default('none')" if kind == "JinjaTemplate" else 'ID | default "none"'
    response = run(template(kind, document("b", f"spec: {{{{ {default} }}}}\n")))
    assert desired(response)["b"]["resource"]["spec"] == "none"  # type: ignore[index,call-overload] # an object


STRUCTURES = {
    "JinjaTemplate": [
        "{% for x in ID %}\n---\na: 1\n{% endfor %}",
        "{% set a, b = ID.a, ID + 1 %}",
        "{% set x = ID ~ 'a' %}{% if x %}a: 1{% endif %}",
        "{% if ID > 3 %}a: 1{% endif %}",
    ],
    "GoTemplate": [
        "{{ range ID }}\n---\na: 1\n{{ end }}",
        '{{ $x := printf "%s" ID }}{{ if $x }}a: 1{{ end }}',
        "{{ if gt ID 3 }}a: 1{{ end }}",
        '{{ template "t" (dict "a" ID) }}{{ define "t" }}{{ end }}',
    ],
}


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind in TEMPLATES for text in STRUCTURES[kind]]
)
def test_missing_value_that_decides_which_documents_there_are_is_fatal(
    kind: str, text: str
) -> None:
    """A loop without turns or a branch not taken would lose resources without a word."""
    message = fatal(run(template(kind, document("a", "spec: 1\n"), text)))
    assert message.startswith("inline:6:")
