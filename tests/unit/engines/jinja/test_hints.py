"""Mistakes that the compiler of Jinja finds, and that the catalogue of tests/diagnostics lacks."""

import pytest
from support import programs

from function_script.engines.jinja import engine as jinja

# A template, the column, the message, and part of the hint: "" where there is none.
CASES = (
    ("{{{ a }}}", 3, 'unexpected "{"', "two braces"),
    ("{% set x 1 %}", 10, 'unexpected "1"', "{% set name = value %}"),
    ("{% for a on b %}{% endfor %}", 10, 'unexpected "on"', "for item in list"),
    ("{% if a === 1 %}{% endif %}", 9, 'unexpected "==="', "write =="),
    ("{{ x = 1 }}", 6, 'unexpected "="', "{% set name = value %}"),
    ("{{ {'a' = 1} }}", 9, 'unexpected "="', "`key: value`"),
    ("é\r\n{{ d('b) }}", 6, "a text is not closed", "close it with '"),
    ("{{ a & b }}", 6, 'unexpected "&"', ""),
    ("{{ !a }}", 4, 'unexpected "!"', "write `not`"),
    ("{{ a <> b }}", 6, 'unexpected "<>"', "write !="),
    ("{{ a ? 1 : 2 }}", 6, 'unexpected "?"', "if condition else"),
    ("{{ a ?? 1 }}", 6, 'unexpected "??"', "default(other)"),
    ("{{ $a }}", 4, 'unexpected "$"', "no $"),
    ("{{ $a := 1 }}", 4, 'unexpected "$"', "{% set name = value %}"),
    ("{{ ${a} }}", 4, 'unexpected "${"', "without ${ }"),
    ("{{ (a }}", 4, 'bracket "(" is not closed', "close it with )"),
    ("{% if a }}{% endif %}", 9, 'unexpected "}"', "%}"),
    ("{% if a\nb: 1\n{% endif %}", 1, "the tag that begins here does not end", "close it with %}"),
    ("{% raw %}a", 1, '"raw" is not closed', "{% endraw %}"),
    ("{{ 'it's' }}", 9, "a text is not closed", ""),
    ("{% else %}", 4, 'there is no tag "else" here', 'no "if"'),
    ("{% if a %}{% end %}", 14, 'there is no tag "end" here', "{% endif %}"),
    ("{% if a %}{{ b }}{% end %}", 21, 'there is no tag "end" here', "{% endif %}"),
    ("{% x = 1 %}", 4, 'there is no tag "x" here', "{% set name = value %}"),
    ("{% for (a in b) %}{% endfor %}", 8, 'unexpected "("', "without parentheses"),
    ('{{ a.b ~ ".." c }}', 15, 'unexpected "c"', ""),
    ("{{ a.b..c }}", 7, 'unexpected "."', ""),
    ("{% if a not is defined %}{% endif %}", 9, 'unexpected "not"', "is not"),
    ("{% if a then %}{% endif %}", 9, 'unexpected "then"', "leave it out"),
    ("{{ a bc }}", 6, 'unexpected "bc"', ""),
    ("{{ a 1 }}", 6, 'unexpected "1"', ""),
    ("{{ a upper }}", 6, 'unexpected "upper"', ""),
    ("{{ [1 2] }}", 7, 'unexpected "2"', "a comma is missing"),
    ("{{ a.[0] }}", 5, 'unexpected "."', "without a dot"),
    ('{{ a . "b" }}', 6, 'unexpected "."', "join values with ~"),
    ("{{ quote a }}", 4, 'unexpected "quote"', "quote(...)"),
    ("{% if and a b %}{% endif %}", 7, 'unexpected "and"', "`a and b`"),
    ("{{ b | map(lambda a: a) }}", 12, 'unexpected "lambda"', "no lambda"),
    ('{{ f"a" }}', 4, 'unexpected "f"', "no f-strings"),
    ("{% set x := 1 %}", 10, 'unexpected ":="', "{% set name = value %}"),
    ("{% set x['a'] = 1 %}", 9, 'unexpected "["', ""),
    ("{% for i in a %}{% ns.x = 1 %}{% endfor %}", 20, 'there is no tag "ns" here', "{% set name"),
    ("{% for i in a %}{% cycle 'a' %}{% endfor %}", 20, 'there is no tag "cycle" here', "block,"),
    ("{% for i in a %}{% empty %}{% endfor %}", 20, 'there is no tag "empty" here', "{% else %}"),
    ("{{- if .a }}x{% endif %}", 5, 'unexpected "if"', "{% if %}"),
    ("{% for i in a %}<% if b %>{% endif %}", 20, 'unexpected "if"', "{% if %}"),
    ("{{ range .a }}{% endfor %}", 4, 'unexpected "range"', "{% for item in list %}"),
    ("{% if a =~ 'b' %}{% endif %}", 9, 'unexpected "=~"', "regex_match"),
    ('{{ join "," a }}', 4, 'unexpected "join"', '`list | join(",")`'),
    ("{% macro m(a: str) %}{% endmacro %}", 13, 'unexpected ":"', ""),
    ("{{#if a}}", 3, 'unexpected "#"', "{% if %}"),
    ("{{#each a}}", 3, 'unexpected "#"', ""),
    ("{{/if}}", 3, 'unexpected "/"', ""),
    ("{{ range $i := .a }}", 4, 'unexpected "range"', "{% for item in list %}"),
    ("{{ a | replace 'b' 'c' }}", 16, "unexpected 'b'", "replace(...)"),
    ("{{ a | default b=1 }}", 16, 'unexpected "b"', "default(...)"),
    ("{{ [f(x) for x in a] | g }}", 10, 'unexpected "for"', "no comprehensions"),
    ("{% if a not == 1 %}{% endif %}", 9, 'unexpected "not"', "write !="),
    ("{{{ a }}", 3, 'unexpected "{"', "two braces"),
    ("{{ a if b then c }}", 11, 'unexpected "then"', ""),
    ("{{ a.'b' }}", 5, 'unexpected "."', "write ['b']"),
    ("x{{.Names}}", 4, 'unexpected "."', ""),
    ("echo ${#A}", 7, "the comment that begins here does not end", '{{ "{#" }}'),
    ("{{ with .a }}x{% endwith %}", 4, 'unexpected "with"', "name = value"),
    ("{{!-- a --}}", 3, 'unexpected "!--"', "{# comment #}"),
    ("{{ if a > 1 then 1 else 2 }}", 4, 'unexpected "if"', "`a if condition else b`"),
    ("{% if a is not null %}{% endif %}", 16, 'there is no test "null"', "is `none`"),
    ("{% if a is not empty %}{% endif %}", 16, 'there is no test "empty"', "`if value`"),
    ("{{ a | to_uuid }}", 8, 'there is no filter "to_uuid"', ""),
    (
        "{{ a | x.y.b64encode }}",
        8,
        'there is no filter "x.y.b64encode"',
        'did you mean "b64encode"?',
    ),
    (
        "{{ a | x.y.json_query('b') }}",
        8,
        'there is no filter "x.y.json_query"',
        '`value | get("a.b")`',
    ),
    ("{{ a | first.upper() }}", 8, 'there is no filter "first.upper"', "into parentheses"),
    ("{% do ns.l.append(1) %}", 4, 'there is no tag "do" here', "ns.list + [item]"),
    ("{% do d.update({}) %}", 4, 'there is no tag "do" here', "merge(object, other)"),
    ("{% do d.pop('a') %}", 4, 'there is no tag "do" here', "{% set name = value %}"),
    ("{% set d = namespace() %}{% do d.update() %}", 29, 'there is no tag "do" here', "{% set n"),
    ("{{ $.Values.a }}", 4, 'unexpected "$"', "no Helm values"),
    ("{{ $.a }}", 4, 'unexpected "$"', "no $"),
    ("{% for k v in a %}{% endfor %}", 10, 'unexpected "v"', "write `for k, v in ...`"),
    ("a: {{ {{ b }}\nc: d", 7, 'unexpected "{{"', "without braces"),
    ("a: {{ b", 4, "the tag that begins here does not end", "close it with }}"),
    ("{% set x = 5\na: b\n", 1, "the tag that begins here does not end", "close it with %}"),
    (
        *("{{ a | dig(*b) }}", 8, "cannot call dig: * and ** cannot be used here"),
        "write dig(value, path, default=None)",
    ),
)


@pytest.mark.parametrize(("text", "column", "said", "hint"), CASES, ids=[c[0] for c in CASES])
def test_mistake_is_told_at_its_place(text: str, column: int, said: str, hint: str) -> None:
    problem = programs.refusal(jinja, programs.program(text))
    assert problem.message == f"cannot compile template: {said}"
    assert hint in (problem.hint or "") if hint else problem.hint is None
    assert problem.span is not None
    assert problem.span.line == (2 if "\r" in text else 1)
    assert problem.span.column == column
