"""A placeholder of a missing value never gets into a resource: random templates prove it.

Each template is rendered three times: deferring, with the value, and with errors. A resource that
is composed while the value is missing must equal the one that is composed with it.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import API_VERSION, NAME_KEY
from support.example_counts import examples
from support.readiness_steps import desired, observed, run

from function_script.request.values import Object

# A value that is visible in a text after each operation on it.
VALUE = "7"
JINJA = "observed.resources.vpc.resource.status.id"
GO = ".observed.resources.vpc.resource.status.id"

# Expressions that use the missing value (M), by language: plain, in filters, operators, containers,
# calls and conditions, through variables.
JINJA_EXPRESSIONS = [
    "M",
    "M | upper",
    "M ~ 'x'",
    "'x' ~ M",
    "M | default('d')",
    "M | to_yaml",
    "M | to_json",
    "M | b64encode",
    "M | length",
    "M | replace('7', '8')",
    "M | int + 1",
    "[M, 1] | to_json",
    "{'k': M} | to_json",
    "{'k': M}",
    "[M]",
    "M[0:1]",
    "M.deeper.still",
    "'a' if M else 'b'",
    "'a' if M is defined else 'b'",
    "(M ~ 'x') | sha256",
    "'%s' ~ [M] | first",
    "shout(M)",
    "echo(M)",
    "worked",
    "worked | default('w')",
    "worked ~ worked",
    "caught | upper",
    "caught | default('c')",
    "[1, 2] | map('string') | join(M)",
    "range(M | int) | list",
    "stable_id(M)",
]
GO_EXPRESSIONS = [
    "M",
    "M | upper",
    'printf "x%s" M',
    'printf "%v" M',
    'M | default "d"',
    "M | toYaml",
    "M | toJson",
    "M | b64enc",
    "M | quote",
    "M | toString",
    "len M",
    'M | replace "7" "8"',
    "list M 1 | toJson",
    'dict "k" M | toJson',
    'dict "k" M',
    "list M",
    "M.deeper.still",
    'ternary "a" "b" (empty M)',
    "M | sha256sum",
    'print "x" M',
    "$worked",
    '$worked | default "w"',
    "print $worked $worked",
    'include "shout" (dict "v" M)',
    'include "echo" .',
    'include "echo" . | upper',
    'index .observed.resources "vpc" | toYaml',
    "coalesce M",
    "and M M",
    "or M M",
    "kindOf M",
    "trunc 3 M",
    "cat M M",
    'join "-" (list M)',
    'get (dict "a" M) "a"',
    '(getComposedResource . "vpc").status.id',
]
JINJA_HEAD = """\
{%- macro shout(v) %}!{{ v }}!{% endmacro -%}
{%- macro echo(v) %}{{ M }}{% endmacro -%}
{%- set worked = "w" ~ M -%}
{%- set caught = echo(1) -%}
"""
GO_HEAD = """\
{{- define "shout" }}!{{ .v }}!{{ end -}}
{{- define "echo" }}{{ .observed.resources.vpc.resource.status.id }}{{ end -}}
{{- $worked := printf "w%s" M -}}
"""
PLACES = [
    "spec: {{ E }}",
    "spec: x{{ E }}y",
    'spec: "{{ E }}"',
    "spec: '{{ E }}'",
    "spec:\n  a: {{ E }}\n  b: 2",
    "spec:\n- {{ E }}\n- 1",
    "spec: [{{ E }}, 1]",
    'spec: {"a": {{ E }}}',
    "spec: |\n  line\n  {{ E }}",
    "spec:\n  k{{ E }}: 1",
    "spec: 1 # {{ E }}",
    "# {{ E }}\nspec: 2",
    "spec: 1\n{{ E }}: 2",
    "spec: {{ E }}{{ E }}",
]
MARKS = ("gap0", "gap1", "Gap", "Undefined", "undefined", "<no value>", "<nil>", "%!", "Poison")


def document(name: str, body: str) -> str:
    """Return the document of a composed resource."""
    metadata = f"{{annotations: {{{NAME_KEY}: {name}}}}}"
    return f"apiVersion: e.org/v1\nkind: T\nmetadata: {metadata}\n{body}\n"


def step(kind: str, documents: list[tuple[str, str]], missing: str) -> Object:
    """Return the input of a template with a document for each place and its expression."""
    head, path = (JINJA_HEAD, JINJA) if kind == "JinjaTemplate" else (GO_HEAD, GO)
    texts = [
        document(f"r{number}", place.replace("E", expression))
        for number, (place, expression) in enumerate(documents)
    ]
    text = (head + "---\n".join(["", *texts])).replace("M", path)
    return {"apiVersion": API_VERSION, "kind": kind, "inline": text, "missing": missing}


def bodies(response: Object) -> dict[str, str]:
    """Return each composed resource as text."""
    return {
        name: json.dumps(entry["resource"], sort_keys=True)
        for name, entry in desired(response).items()
    }


def check(kind: str, documents: list[tuple[str, str]]) -> None:
    """Render while the value is missing; assert that no resource has a trace of it."""
    deferring = step(kind, documents, "Defer")
    response = run(deferring)
    composed = bodies(response)
    for body in composed.values():
        assert not any(mark in body for mark in MARKS), (body, deferring["inline"])
    results = response.get("results") or []
    assert isinstance(results, list)
    is_fatal = any(
        isinstance(each, dict) and each["severity"] == "SEVERITY_FATAL" for each in results
    )
    if is_fatal:
        assert not composed
        return
    # A resource that is not composed is reported as waiting.
    conditions = response["conditions"]
    assert isinstance(conditions, list)
    (condition,) = conditions
    assert isinstance(condition, dict)
    withheld = {f"r{number}" for number in range(len(documents))} - composed.keys()
    message = str(condition.get("message", ""))
    for name in withheld:
        assert f"{name} because" in message or message.endswith("…")
    if withheld:
        composite = response["desired"]["composite"]  # type: ignore[index,call-overload] # an object
        assert composite["ready"] == "READY_FALSE"  # type: ignore[index,call-overload] # an object


def cases(expressions: list[str]) -> st.SearchStrategy[list[tuple[str, str]]]:
    """One to four documents, each a place with an expression in it."""
    return st.lists(
        st.tuples(st.sampled_from(PLACES), st.sampled_from(expressions)), min_size=1, max_size=4
    )


@pytest.mark.parametrize(
    ("kind", "expression"),
    [("JinjaTemplate", each) for each in JINJA_EXPRESSIONS]
    + [("GoTemplate", each) for each in GO_EXPRESSIONS],
)
def test_defer_accepts_each_expression(kind: str, expression: str) -> None:
    """An expression that is an error would prove nothing below."""
    response = run(step(kind, [("spec: {{ E }}", expression)], "Defer"))
    assert "conditions" in response, response


@pytest.mark.parametrize(
    ("kind", "expressions"),
    [("JinjaTemplate", JINJA_EXPRESSIONS), ("GoTemplate", GO_EXPRESSIONS)],
    ids=["jinja", "go"],
)
@examples(37)
@given(st.data())
def test_defer_leaves_no_trace_of_missing_value(
    kind: str, expressions: list[str], data: st.DataObject
) -> None:
    """Text, filters, functions, containers, macros, variables: in every place of a document."""
    check(kind, data.draw(cases(expressions)))


@examples(20)
@given(st.data())
def test_defer_without_missing_values_changes_nothing(data: st.DataObject) -> None:
    """The response is that of a step that does not defer, except for its report."""
    kind = data.draw(st.sampled_from(["JinjaTemplate", "GoTemplate"]))
    expressions = JINJA_EXPRESSIONS if kind == "JinjaTemplate" else GO_EXPRESSIONS
    documents = data.draw(cases(expressions))
    exists: dict[str, Object] = {"vpc": observed(status={"id": VALUE})}
    plain, deferring = (run(step(kind, documents, how), exists) for how in ("Error", "Defer"))
    if not plain.get("results"):
        assert bodies(deferring) == bodies(plain)
