"""Common syntax mistakes in Jinja: their positions and hints."""

import pytest
from support import programs

from function_script.engines.jinja import engine as jinja

# A template, the column, the message, and part of the hint: "" where there is none.
CASES = (
    ("{{{ a }}}", 3, 'unexpected "{"', "two braces"),
    ("{% set x 1 %}", 10, 'unexpected "1"', "{% set name = value %}"),
    ("{% for a on b %}{% endfor %}", 10, 'unexpected "on"', "for item in list"),
    ("{% if a = 1 %}{% endif %}", 9, 'unexpected "="', "compare with =="),
    ("{% if a == b = 1 %}{% endif %}", 14, 'unexpected "="', "compare with =="),
    ("{% if a === 1 %}{% endif %}", 9, 'unexpected "==="', "write =="),
    ("{{ x = 1 }}", 6, 'unexpected "="', "{% set name = value %}"),
    ("{{ {'a' = 1} }}", 9, 'unexpected "="', "`key: value`"),
    ('{{ "a" }}{{ d("b) }}', 15, "a text is not closed", 'close it with "'),
    ("é\r\n{{ d('b) }}", 6, "a text is not closed", "close it with '"),
    ("{{ a && b }}", 6, 'unexpected "&&"', "write `and`"),
    ("{{ a & b }}", 6, 'unexpected "&"', ""),
    ("{{ a || b }}", 6, 'unexpected "||"', "write `or`"),
    ("{{ !a }}", 4, 'unexpected "!"', "write `not`"),
    ("{{ a <> b }}", 6, 'unexpected "<>"', "write !="),
    ("{{ a ? 1 : 2 }}", 6, 'unexpected "?"', "if condition else"),
    ("{{ a ?? 1 }}", 6, 'unexpected "??"', "default(other)"),
    ("{{ a?.b }}", 5, 'unexpected "?."', "write `.`"),
    ("{{ $a }}", 4, 'unexpected "$"', "no $"),
    ("{{ $a := 1 }}", 4, 'unexpected "$"', "{% set name = value %}"),
    ("{{ ${a} }}", 4, 'unexpected "${"', "without ${ }"),
    ("{{ a[0 }}", 5, 'bracket "[" is not closed', "close it with ]"),
    ("{{ (a }}", 4, 'bracket "(" is not closed', "close it with )"),
    ("{{ a) }}", 5, 'unexpected ")"', 'no "("'),
    ("{{ a }\n{{ b }}", 6, 'unexpected "}"', "two braces"),
    ("{% if a }}{% endif %}", 9, 'unexpected "}"', "%}"),
    ("{% if {{ a }} %}{% endif %}", 7, 'unexpected "{{"', "without braces"),
    ("{% if a\nb: 1\n{% endif %}", 1, "the tag that begins here does not end", "close it with %}"),
    ("{% raw %}a", 1, '"raw" is not closed', "{% endraw %}"),
    ("{{ 'it's' }}", 9, "a text is not closed", 'between "'),
    ("{% else %}", 4, 'there is no tag "else" here', 'no "if"'),
    ("{# a }", 1, "the comment that begins here does not end", "close it with #}"),
    ("{% if a %}{% else if b %}{% endif %}", 19, 'unexpected "if"', "write elif"),
    ("{% if a %}{% elseif b %}{% endif %}", 14, 'there is no tag "elseif" here', "elif condition"),
    ("{% if a %}{% end %}", 14, 'there is no tag "end" here', "{% endif %}"),
    ("{% x = 1 %}", 4, 'there is no tag "x" here', "{% set name = value %}"),
    ("{% while a %}", 4, 'there is no tag "while" here', "there is no while"),
    ("{% while a && %}", 4, 'there is no tag "while" here', "there is no while"),
    ("{% if a %}{% if b %}", 14, '"if" is not closed', "{% endif %}"),
    ("{% for (a in b) %}{% endfor %}", 8, 'unexpected "("', "without parentheses"),
    ("{% for a in 1..3 %}{% endfor %}", 14, 'unexpected "."', "range(1, 4)"),
    ('{{ a.b ~ ".." c }}', 15, 'unexpected "c"', ""),
    ("{{ a.b + 1..3 }}", 11, 'unexpected "."', "range(1, 4)"),
    ("{{ a.b..c }}", 7, 'unexpected "."', ""),
    ("{% if a not is defined %}{% endif %}", 9, 'unexpected "not"', "is not"),
    ("{% if a then %}{% endif %}", 9, 'unexpected "then"', "leave it out"),
    ("{% set a = 1; %}", 13, 'unexpected ";"', "semicolon"),
    ("{% // a %}", 4, 'unexpected "//"', "{# comment #}"),
    ("{{ a bc }}", 6, 'unexpected "bc"', ""),
    ("{{ a 1 }}", 6, 'unexpected "1"', ""),
    ("{{ a upper }}", 6, 'unexpected "upper"', "`| upper`"),
    ("{{ [1 2] }}", 7, 'unexpected "2"', "a comma is missing"),
    ("{{ .spec.a }}", 4, 'unexpected "."', "no dot in front: spec"),
    ("{{ .Values.a }}", 4, 'unexpected "."', "no Helm values"),
    ("{{ a.[0] }}", 5, 'unexpected "."', "without a dot"),
    ('{{ a . "b" }}', 6, 'unexpected "."', "join values with ~"),
    ('{{ a | default: "b" }}', 15, 'unexpected ":"', "default(...)"),
    ("{{ a | nindent 4 }}", 16, 'unexpected "4"', "nindent(4)"),
    ("{{ toYaml a }}", 4, 'unexpected "toYaml"', "value | to_yaml"),
    ("{{ quote a }}", 4, 'unexpected "quote"', "quote(...)"),
    ("{% if eq a 1 %}{% endif %}", 7, 'unexpected "eq"', "a == b"),
    ("{% if and a b %}{% endif %}", 7, 'unexpected "and"', "`a and b`"),
    ("{{ if a == 1 }}", 4, 'unexpected "if"', "{% if %}"),
    ("{{ [a for a in b] }}", 7, 'unexpected "for"', "no comprehensions"),
    ("{{ b | map(lambda a: a) }}", 12, 'unexpected "lambda"', "no lambda"),
    ('{{ f"a" }}', 4, 'unexpected "f"', "no f-strings"),
    ("{{ a | combine(b) }}", 8, 'there is no filter "combine"', "merge(other)"),
    ("{% if a is null %}{% endif %}", 12, 'there is no test "null"', "is none"),
)


@pytest.mark.parametrize(("text", "column", "said", "hint"), CASES, ids=[c[0] for c in CASES])
def test_mistake_is_told_at_its_place(text: str, column: int, said: str, hint: str) -> None:
    """The very character, what is wrong with it, and what to write instead."""
    problem = programs.refusal(jinja, programs.program(text))
    assert problem.message == f"cannot compile template: {said}"
    assert hint in (problem.hint or "") if hint else problem.hint is None
    assert problem.span is not None
    assert problem.span.line == (2 if "\r" in text else 1)
    assert problem.span.column == column
