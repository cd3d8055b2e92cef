from support.jinja_programs import rendered

from function_script.texts.source import Span

LIB = """{% macro labels(name) -%}
app: {{ name }}
owner: {{ xr.metadata.name }}
{%- endmacro %}
{% macro whole(name) %}
kind: {{ name }}
{% if true %}
static: after a tag
{% endif %}
{% endmacro %}
"""


def lines(template: str, **modules: str) -> list[tuple[str, str]]:
    """Every line of the text, and the line it comes from."""
    result = rendered(template, modules)
    results = []
    for number, text in enumerate(result.text.split("\n"), 1):
        span = result.locate(number)
        assert span is not None
        results.append((text, f"{span.name}:{span.line}"))
    return results


def test_static_lines_after_tags_are_exact() -> None:
    """Tags that vanish from the text do not shift the lines below them."""
    template = """a: 1
{% if true %}
b: 2
{# a comment
   of two lines #}
c: 3
{% endif %}

d: 4"""
    assert lines(template) == [
        ("a: 1", "inline:1"),
        ("b: 2", "inline:3"),
        ("c: 3", "inline:6"),
        ("", "inline:8"),
        ("d: 4", "inline:9"),
    ]


def test_loops_give_the_same_lines_again() -> None:
    template = "{% for z in spec.zones %}\n- {{ z.name }}\n  x: 1\n{% endfor %}\n"
    assert [place for _, place in lines(template)] == [
        *("inline:2", "inline:3", "inline:2", "inline:3"),
        "inline:4",
    ]


def test_lines_of_macros_come_from_the_macro() -> None:
    """Also in modules, and through filters that only move lines."""
    template = """{% import "lib" as lib %}
labels:
  {{ lib.labels("x") | indent(2) }}
nested: {{ lib.labels("y") | nindent(2) }}
{{ lib.whole("z") }}
"""
    assert lines(template, lib=LIB) == [
        ("labels:", "inline:2"),
        ("  app: x", "modules[lib]:2"),
        ("  owner: demo", "modules[lib]:3"),
        ("nested: ", "inline:4"),
        ("  app: y", "modules[lib]:2"),
        ("  owner: demo", "modules[lib]:3"),
        ("kind: z", "modules[lib]:6"),
        ("static: after a tag", "modules[lib]:8"),
        ("", "inline:5"),
        ("", "inline:6"),
    ]


def test_lines_of_blocks_and_captured_text() -> None:
    """Set blocks, call blocks, includes and blocks of a parent keep the lines they were written."""
    template = """{% extends "base" %}
{% block body %}
{% set kept %}
in: set
{% endset %}
{{ kept | trim }}
{% include "part" %}
{{ super() }}
{%- endblock %}
"""
    base = "top: 1\n{% block body %}\nfrom: base\n{% endblock %}\nend: 1\n"
    assert lines(template, base=base, part="\npart: 1\n") == [
        ("top: 1", "modules[base]:1"),
        ("in: set", "inline:4"),
        ("", "modules[part]:1"),
        ("part: 1", "modules[part]:2"),
        ("from: base", "modules[base]:3"),
        ("end: 1", "modules[base]:5"),
        ("", "modules[base]:6"),
    ]


def test_values_of_several_lines_come_from_their_expression() -> None:
    """A value's lines have no place of their own."""
    template = "a: 1\nb: {{ 'x\\ny' }}\nc: 1"
    assert lines(template) == [
        ("a: 1", "inline:1"),
        ("b: x", "inline:2"),
        ("y", "inline:2"),
        ("c: 1", "inline:3"),
    ]


def test_line_is_known_without_the_blanks_around_it() -> None:
    """From its first character to its last; an empty line has no columns."""
    result = rendered("a:\n  {{ 1 + 1 }}: é \n\n")
    assert [result.locate(number) for number in (1, 2, 3)] == [
        Span(name="inline", line=1, column=1, width=2),
        Span(name="inline", line=2, column=3, width=len("{{ 1 + 1 }}: é")),
        Span(name="inline", line=3),
    ]


def test_lines_that_do_not_exist_have_no_place() -> None:
    result = rendered("a")
    assert result.locate(0) is None
    assert result.locate(2) is None
