"""Tokens to nodes: the positions of nodes and errors are Go's."""

import pytest

from function_script.engines.gotemplate.programs import Settings
from function_script.engines.gotemplate.syntax import nodes, parser

GRAMMAR = Settings().grammar()
FAILURES = [
    ("{{ end }}", 7, "unexpected {{end}}"),
    ("{{ else if .a }}", 8, "unexpected {{else}}"),
    ("{{ if .a }}{{ else }}{{ else }}", 29, "expected end; found {{else}}"),
    ("{{ if .a }}", 11, "unexpected EOF"),
    ("{{ if }}", 6, "missing value for if"),
    ('{{ .a | "b" }}', 12, "non executable command in pipeline stage 2"),
    ("{{ $a, $b := .c }}", 5, "too many declarations in command"),
    ("{{ range $a, 1 }}", 13, "range can only initialize variables"),
    ('{{ "a".b }}', 9, 'unexpected . after term "\\"a\\""'),
    ("{{ .a(.b) }}", 5, 'unexpected "(" in operand'),
    ("{{ '' }}", 3, "invalid syntax"),
    ("{{ break }}", 9, "{{break}} outside {{range}}"),
    ('{{ define "a" }}b{{ end }}{{ define "a" }}c{{ end }}', 50,
     'template: multiple definition of template "a"'),
]  # fmt: skip


def _error(text: str) -> tuple[int | None, str]:
    with pytest.raises(parser.ParseFailure) as failure:
        parser.parse("main", text, GRAMMAR)
    error = failure.value.errors[0]
    return error.position, error.text


@pytest.mark.parametrize(("text", "position", "message"), FAILURES)
def test_parser_error_is_at_the_last_token_looked_at(
    text: str, position: int, message: str
) -> None:
    assert _error(text) == (position, message)


def test_parser_reports_every_unknown_function_and_variable() -> None:
    with pytest.raises(parser.ParseFailure) as failure:
        parser.parse("main", "{{ f $x | g $x }}", GRAMMAR)
    assert [error.position for error in failure.value.errors] == [3, 5, 10]


def test_parser_follows_a_chain_of_thousands_of_else_ifs() -> None:
    count = 3_000
    text = "{{ if .a }}" + "{{ else if .a }}" * count + "{{ end }}"
    root = parser.parse("main", text, GRAMMAR).trees["main"]
    links = [node for node in nodes.walk_nodes(root) if isinstance(node, nodes.If)]
    assert len(links) == 1 + count
    assert links[0].else_branch() is links[1]


def test_parser_ends_at_parentheses_nested_too_deeply() -> None:
    position, text = _error("{{ " + "(" * 9_000 + "." + ")" * 9_000 + " }}")
    assert (position, text) == (48, "parentheses are nested more than 45 deep")


def test_walk_yields_nodes_in_the_order_of_the_text() -> None:
    text = '{{ range $i, $x := .a.b | f (g .c) }}{{ $x }}{{ else }}{{ template "t" .d }}{{ end }}'
    functions = dict.fromkeys("fg", GRAMMAR.functions["print"])
    grammar = parser.Grammar(GRAMMAR.delims, functions)
    root = parser.parse("main", text, grammar).trees["main"]
    names = [type(node).__name__ for node in nodes.walk_nodes(root)]
    assert names == [
        *("Range", "Pipe", "Variable", "Variable", "Command", "Field", "Command", "Identifier"),
        *("Pipe", "Command", "Identifier", "Field", "Action", "Pipe", "Command", "Variable"),
        *("Template", "Pipe", "Command", "Field"),
    ]
