"""Gaps in texts that come from elsewhere: modules, blocks, macros, and what is captured."""

import pytest
from support.builders import API_VERSION
from support.readiness_steps import condition, desired, fatal, run

from function_script.request.values import Object

NAME = "script.fn.crossplane.io/composition-resource-name"
MISSING = "observed.resources.vpc.resource.status.id"


def document(name: str, body: str) -> str:
    """A document of a composed resource."""
    head = f"apiVersion: e.org/v1\nkind: T\nmetadata: {{annotations: {{{NAME}: {name}}}}}"
    return f"\n---\n{head}\n{body}\n"


def step(kind: str, text: str, **modules: str) -> Object:
    """A step that defers; M in its texts is what does not exist."""
    path = MISSING if kind == "JinjaTemplate" else f".{MISSING}"
    sources: Object = {name: body.replace("M_", path) for name, body in modules.items()}
    base: Object = {"apiVersion": API_VERSION, "kind": kind, "missing": "Defer"}
    return {**base, "inline": text.replace("M_", path), **({"modules": sources} if sources else {})}


CAPTURED = "{% set x %}{% include 'm' %}{% endset %}a: {{ x }}"
CALL = "{% macro f() %}{{ caller() }}{% endmacro %}a: {% call f() %}{{ M_ }}{% endcall %}"
JINJA = [
    ("an included module", "{% include 'm' %}", "id: {{ M_ }}"),
    ("a block", "{% block b %}a: {{ M_ }}{% endblock %}", ""),
    (
        "a macro of a module",
        "{% import 'm' as m %}a: {{ m.f() }}",
        "{% macro f() %}{{ M_ }}{% endmacro %}",
    ),
    ("a call block", CALL, ""),
    ("a loop", "{% for x in [1, 2] %}\na{{ x }}: {{ M_ }}{% endfor %}", ""),
    ("a namespace", "{% set n = namespace(a=1) %}{% set n.a = M_ ~ 'x' %}a: {{ n.a }}", ""),
    ("a text in an argument", "a: {{ 'x'.replace('x', M_) }}", ""),
    ("a list built step by step", "{% set x = [1] + [M_] %}a: {{ x | to_json }}", ""),
]
DOCUMENTS = "\n---\na: {{ M_ }}\n---\nb: 1"
MACRO = "{% macro f() %}" + DOCUMENTS + "{% endmacro %}"
OUTER = "{% macro g() %}{{ f() }}{% endmacro %}"
CALLED = "{% macro f() %}{{ caller() }}{% endmacro %}"
ENDED = "{% endcall %}"
JINJA_STOPS = [
    ("an include that is captured", CAPTURED, "{{ M_ }}"),
    ("a filter block", "{% filter upper %}a: {{ M_ }}{% endfilter %}", ""),
    ("a recursive loop", "{% for x in [1] recursive %}a: {{ M_ }}{% endfor %}", ""),
    ("a set block", "{% set x %}{{ M_ }}{% endset %}a: {{ x }}", ""),
    ("a macro of several documents", MACRO + "a: {{ f() }}", ""),
    ("a macro of such a macro", MACRO + OUTER + "{% set x = g() %}a: {{ x }}", ""),
    ("a call block of several documents", CALLED + "{% call f() %}" + DOCUMENTS + ENDED, ""),
]


NESTED = 'a: {{ include "m" $ }}{{ define "o" }}{{ M_ }}{{ end }}'
IN_A_LOOP = '{{ $x := "" }}{{ range list 1 }}{{ $x = print $x $M_ }}{{ end }}a: {{ $x }}'
GO = [
    ("a template", '{{ define "t" }}a: {{ M_ }}{{ end }}{{ template "t" $ }}', ""),
    ("a template of a module", '{{ template "m" $ }}', "a: {{ M_ }}"),
    ("an include", 'a: {{ include "m" $ }}', "{{ M_ }}"),
    ("an include that is worked on", 'a: {{ include "m" $ | upper | quote }}', "{{ M_ }}"),
    ("an include in an include", NESTED, '{{ include "o" $ }}'),
    ("a loop in an include", 'a: {{ include "m" $ }}', "{{ range M_ }}x{{ end }}"),
    ("a block", '{{ block "b" $ }}a: {{ M_ }}{{ end }}', ""),
    ("a loop", "{{ range list 1 2 }}\na{{ . }}: {{ $M_ }}{{ end }}", ""),
    ("a with", "{{ with $.observed }}a: {{ $M_ }}{{ end }}", ""),
    ("a variable that is changed", '{{ $x := "a" }}{{ $x = printf "%s" M_ }}a: {{ $x }}', ""),
    ("a variable in a loop", IN_A_LOOP, ""),
    ("a map", '{{ $m := dict "k" M_ }}a: {{ $m.k }}', ""),
]
SET = '{{ $m := dict }}{{ $_ := set $m "k" M_ }}a: {{ $m | toJson }}'
GO_STOPS = [
    ("what set was given", SET, ""),
    ("set in an include", '{{ $m := dict }}a: {{ include "m" $ }}', SET),
    ("an include of several documents", 'a: {{ include "m" $ }}', DOCUMENTS),
    ("such an include in an include", 'a: {{ include "m" $ }}', '{{ include "n" $ | upper }}'),
]


def rows(jinja: list[tuple[str, str, str]], go: list[tuple[str, str, str]]) -> list[object]:
    """The cases of both languages of templates."""
    return [
        pytest.param(kind, body, module, id=f"{kind}, {place}")
        for kind, cases in (("JinjaTemplate", jinja), ("GoTemplate", go))
        for place, body, module in cases
    ]


def render(kind: str, body: str, module: str) -> Object:
    """The response to three documents, the second of which has this body."""
    text = document("a", "spec: 1") + document("b", body) + document("c", "spec: 2")
    if kind == "GoTemplate":
        text += f'{{{{ define "n" }}}}{DOCUMENTS}{{{{ end }}}}'
    return run(step(kind, text, **({"m": module} if module else {})))


@pytest.mark.parametrize(("kind", "body", "module"), rows(JINJA, GO))
def test_gap_withholds_only_its_document(kind: str, body: str, module: str) -> None:
    response = render(kind, body, module)
    assert set(desired(response)) == {"a", "c"}, response.get("results")
    assert "b because" in str(condition(response)["message"])


@pytest.mark.parametrize(("kind", "body", "module"), rows(JINJA_STOPS, GO_STOPS))
def test_structures_without_a_gap_stop_the_step(kind: str, body: str, module: str) -> None:
    """What is changed would be used as it is; or nobody could say which documents are missing."""
    message = fatal(render(kind, body, module))
    assert ("id is undefined" if kind == "JinjaTemplate" else "id: it does not exist") in message


@pytest.mark.parametrize("depth", [15, 16, 18, 19])
def test_loops_nest_as_deep_as_python_allows(depth: int) -> None:
    """Deferring takes a few of the blocks; beyond them it is the usual error."""
    text = "{{ range list 1 }}" * depth + "{{ M_ }}" + "{{ end }}" * depth
    inner = f'{{{{ define "t" }}}}\n---\n{text.replace("M_", "$.x")}{{{{ end }}}}'
    for body in (f"a: {text.replace('M_', '$M_')}", f'a: 1{inner}{{{{ template "t" $ }}}}'):
        response = run(step("GoTemplate", document("a", body)))
        assert "internal error" not in str(response)


def test_gap_after_a_failed_include_is_still_one_of_the_main_text() -> None:
    """What an include had captured when it failed is forgotten."""
    text = document("a", 'x: {{ include "m" $ }}') + document("b", "x: {{ M_ }}")
    response = run(step("GoTemplate", text, m="captured {{ M_ }}"))
    message = str(condition(response)["message"])
    assert "a because" in message
    assert "b because" in message
