"""Template text to tokens: kinds, positions and gaps, as Go's lexer has them."""

import pytest

from function_script.engines.gotemplate.syntax.lexer import tokenize

# The tokens of an action, as text; each one's kind is in front.
ACTIONS = [
    ("{{.a.b}}", "field .a, field .b"),
    ("{{ $x.y }}", "variable $x, field .y"),
    ("{{ . | f -1 .5 1e2 }}", "dot ., pipe |, identifier f, number -1, number .5, number 1e2"),
    ("{{ $i, $x }}", "variable $i, punctuation ,, variable $x"),
    ("{{ $x := (true) }}", "variable $x, declare :=, lparen (, bool true, rparen )"),
    ("{{ end }}", "end end"),
    ("{{ 'a' }}", "character 'a'"),
    ('{{ "a}}\\"b" }}', 'string "a}}\\"b"'),
    ("{{ `a\n}}` }}", "raw `a\n}}`"),
    ("{{ größe }}", "identifier größe"),
    ("{{ x² }}", "identifier x²"),
]
BAD = [
    ("{{ .a", 5, "unclosed action"),
    ("{{ .a  ", 7, "unclosed action"),
    ("{{ .a+ }}", 5, "bad character U+002B '+'"),
    ("{{ 1x }}", 3, 'bad number syntax: "1x"'),
    ("{{ 1+2 }}", 3, 'bad number syntax: "1+"'),
    # Complex numbers are Go's, and no template has any.
    ("{{ 1i }}", 3, 'bad number syntax: "1i"'),
    ("{{ 1+2i }}", 3, 'bad number syntax: "1+"'),
    ("{{ (a }}", 6, "unclosed left paren"),
    ("{{ a) }}", 4, "unexpected right paren"),
    ('{{ "a\n" }}', 3, "unterminated quoted string"),
    ("{{ 'a }}", 3, "unterminated character constant"),
    ("{{ : }}", 3, "expected :="),
    ("{{ € }}", 3, "unrecognized character in action: U+20AC '€'"),
    ("{{/* a }}", 2, "unclosed comment"),
    ("{{/* a */ }}", 2, "comment ends before closing delimiter"),
]
DELIMS = [
    ("[[ .a ]]b", "[[", "]]", "left [[, field .a, right ]], text b"),
    ("#.a#b", "#", "#", "left #, field .a, right #, text b"),
    ("{{.a }}b", "{{", " }}", "left {{, field .a, right  }}, text b"),
    ("{{.a - }} b", "{{", " }}", "left {{, field .a, right  }}, text b"),
    ("{{ax y x}}b", "{{", "x}}", "left {{, identifier ax, identifier y, right x}}, text b"),
    ("{{a x b", "{{", "x", "left {{, identifier a, right x, text  b"),
]


def _list(text: str, left: str = "{{", right: str = "}}") -> list[str]:
    tokens = tokenize(text, left, right)
    assert tokens.kinds[-1] in {"eof", "error"}
    pairs = zip(tokens.kinds, tokens.texts, strict=True)
    return [f"{kind} {text}" for kind, text in pairs if kind != "eof"]


@pytest.mark.parametrize(("text", "tokens"), ACTIONS)
def test_lexer_of_an_action_returns_its_tokens(text: str, tokens: str) -> None:
    assert ", ".join(_list(text)[1:-1]) == tokens


@pytest.mark.parametrize(("text", "position", "message"), BAD)
def test_lexer_of_a_bad_text_ends_in_gos_error(text: str, position: int, message: str) -> None:
    tokens = tokenize(text, "{{", "}}")
    assert (tokens.texts[-1], tokens.positions[-1]) == (message, position)
    assert tokens.kinds[-1] == "error"


@pytest.mark.parametrize(("text", "left", "right", "tokens"), DELIMS)
def test_lexer_reads_delimiters_of_any_characters(
    text: str, left: str, right: str, tokens: str
) -> None:
    assert ", ".join(_list(text, left, right)) == tokens


def test_lexer_trims_blanks_at_the_sign_of_either_side() -> None:
    text = "a \n{{- .x -}}\n b {{/* c */ -}} d {{- /* e */}} f"
    assert [each for each in _list(text) if each.startswith("text")] == [
        "text a",
        "text b ",
        "text d",
        "text  f",
    ]


def test_lexer_notes_blanks_in_front_of_a_token_as_its_gap() -> None:
    tokens = tokenize("{{- $x.a .b}}", "{{", "}}")
    gaps = dict(zip(tokens.texts, tokens.gaps, strict=True))
    assert (gaps["$x"], gaps[".a"], gaps[".b"]) == (False, False, True)
    assert tokens.positions == [0, 4, 6, 9, 11, 13]
