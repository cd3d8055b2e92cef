"""Errors in documents: their messages, positions and hints."""

import pytest
from support.rendered_streams import stream_error

from function_script import documents
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import DocumentError
from function_script.texts.source import Source, Span


def test_error_names_document_and_rendered_line() -> None:
    """The rendered lines are notes, and the span is in the template."""
    (diagnostic,) = stream_error("a: 1\n---\nb: 2\nc: d: e\nf: 3\n").diagnostics
    assert diagnostic.span == Span(name="inline", line=14)
    assert diagnostic.message == (
        "cannot read document 2, line 4 of the rendered text: "
        "mapping values are not allowed in this context"
    )
    assert diagnostic.hint is not None
    assert diagnostic.hint.startswith('quote a value that holds ": "')
    assert diagnostic.notes == ("rendered 3: b: 2", "rendered 4: c: d: e", "rendered 5: f: 3")


LITERAL = [
    pytest.param("  c: d: e", Span(name="t", line=9, column=3, width=7), 7, 1, id="as-it-is"),
    pytest.param("  c: d: eff", Span(name="t", line=9, column=3, width=7), 3, 7, id="longer"),
    pytest.param("c: d: e", Span(name="t", line=9, column=3, width=7), 3, 7, id="moved"),
    pytest.param("  c: d: e", Span(name="t", line=9), None, 1, id="unknown"),
]


@pytest.mark.parametrize(("text", "span", "column", "width"), LITERAL)
def test_error_in_literal_line_has_column_of_template(
    text: str, span: Span, column: int | None, width: int
) -> None:
    """Otherwise the whole line of the template is shown."""
    with pytest.raises(DocumentError) as caught:
        documents.read_stream(text, locate=lambda _line: span)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.span == Span(name="t", line=9, column=column, width=width)


def problem_of(text: str) -> Diagnostic:
    """The only problem of a file."""
    with pytest.raises(DocumentError) as caught:
        documents.read_source(Source(name="a.yaml", text=text))
    (problem,) = caught.value.diagnostics
    return problem


def test_error_in_file_has_exact_span_and_excerpt() -> None:
    diagnostic = problem_of("a: 1\n---\nb: [\n")
    assert diagnostic.message.startswith("cannot read document 2: ")
    assert diagnostic.span == Span(name="a.yaml", line=3, column=5)
    assert diagnostic.excerpt is not None


UNFINISHED = [
    ("a: 1\nb: [1,\n  2\n", 2, 4, "the list that begins here", "close it with ]"),
    ('{"a": {"b": 1}', 1, 1, "the map that begins here", "close it with }"),
    ('a: "b\n\nc: d\n', 1, 4, "the text that begins here", 'close it with "'),
    ("a: 'b", 1, 4, "the text that begins here", "close it with '"),
    ('{"a": \n\n', 1, 6, "the text ends where a value is expected", None),
]


@pytest.mark.parametrize(("text", "line", "column", "message", "hint"), UNFINISHED)
def test_error_of_unfinished_value_is_at_its_begin(
    text: str, line: int, column: int, message: str, hint: str | None
) -> None:
    """The parser reports the end of the text, where nothing can be corrected."""
    with pytest.raises(DocumentError) as caught:
        documents.read_source(Source(name="f", text=text))
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    assert (diagnostic.span, diagnostic.hint) == (Span(name="f", line=line, column=column), hint)


MISTAKES = [
    ('a: "b\nc:\n- e: "f"\n', 3, "did not find expected key", 'the text of `a` with "'),
    ("a:\n\tb: 1", 2, "a tab in the indentation", "tabs"),
    ("a: 1\nb:2\nc: 3", 2, "could not find expected ':'", "blank after the colon"),
    ("a: 1\nb = 2\nc: 3", 2, "could not find expected ':'", "a colon is missing"),
    ("a: 1\nb 2\nc: 3", 2, "could not find expected ':'", None),
    ("a:\n  b: 1\n  ---\nc: 3", 3, "could not find expected ':'", "at the margin"),
    ("a:\n  b: |\n  c = 1\n    d\n", 3, "could not find expected ':'", "deeper than it"),
    ("a:\n  - b\n    c: 1", 3, "mapping values are not allowed", None),
    ("a:\n  b: |\n  c\n  d\ne: 1", 3, "could not find expected ':'", "deeper than it"),
    ("a:\n  b: |\n  - c: 1\ne: 1", 3, "did not find expected key", "deeper than it"),
    ("a:\n  -b: 1\n    c: 1\nd: 2", 2, "mapping values are not allowed", "after the dash"),
    ("a:1", 1, "must be an object, not a string", "blank after the colon"),
    ("a:\n  b:c\n    d: 1\ne: 2", 2, "mapping values are not allowed", None),
    ("a:\n  - b:c\n\n      d: 1", 2, "mapping values are not allowed", None),
    ("a:\n  b:1\n  c: 2\n  d: 3", 2, "mapping values are not allowed", "blank after the colon"),
    ("a:\n  -b: 1\n   c: 2\n  -d: 3", 2, "mapping values are not allowed", "after the dash"),
    ("a: 1\n b: 2\n c: 3", 2, "mapping values are not allowed", "same column"),
    ("a: b: c\nd: e: f", 1, "mapping values are not allowed", 'holds ": "'),
    ("name: {{ x }}", 1, "cannot be a key", "quote a value that begins with"),
    ("name: {% x %}", 1, "", "quote a value"),
    ("a: b: c", 1, "mapping values are not allowed", "begins a line of its own"),
    ("a: b: c d", 1, "mapping values are not allowed", 'holds ": "'),
    ("a:\n  b\n    c: d", 2, "mapping values are not allowed", "a colon is missing"),
    ("a:\n  b c\n  d: e", 2, "mapping values are not allowed", None),
    ("a: - b", 1, "block sequence entries are not allowed", None),
    ("a: {b: c},", 1, "did not find expected", None),
    ("a:\n  - b 1\n    c: 2", 2, "mapping values are not allowed", None),
    ("a:\n  b:/c\n  d: 1", 2, "mapping values are not allowed", "blank after the colon"),
    ("a: { $x | b }}", 1, "did not find expected", None),
    ("a: 1\n----\nb: 2", 2, "begins with ---", "write three dashes"),
    ("x:\n  a:\n  -b\n  -c", 3, "could not find expected ':'", "after the dash"),
    ("a:\n  b: 1\n  c d\n", 3, "could not find expected ':'", None),
    ("a:\n  b 1\n  c:\n    d: 1", 2, "mapping values are not allowed", None),
    ("a:\n  b: |\n    x\n  c |\n    y", 4, "could not find expected ':'", "a colon is missing"),
    ("a:\n- b: 1\nc: 2\n- d: 1", 4, "did not find expected", None),
    ("a:\n  - b: 1\n  c: 2", 3, "did not find expected '-'", "and the dashes"),
    ("a: - b: 1", 1, "block sequence entries are not allowed", None),
    ("a: | b", 1, "did not find expected comment", None),
    ("a: 'b', 'c'", 1, "did not find expected key", None),
    ("a: b\n  c: d", 2, "mapping values are not allowed", "indentation"),
    ("a: @b", 1, "cannot start any token", "begins with '@'"),
    ("a: `b`", 1, "cannot start any token", "begins with '`'"),
    (r'a: "\d+"', 1, "found unknown escape character", r"begins an escape: write \\"),
    (r'a: "C:\users"', 1, "did not find expected hexdecimal", r"begins an escape: write \\"),
    ("a: *.example.org", 1, "scanning an alias", "quote a value that begins with"),
    ("a: *all", 1, "the alias *all has no anchor &all before it", 'begins with "*"'),
    ("a:\n  b: 1\n c: 2", 3, "did not find expected", "same column"),
    ("a: 1\nb: 2\na: 3", 3, "duplicate key 'a', first 2 lines above", "take one"),
    ("a: {b: 1, b: 2}", 1, "duplicate key 'b', first on the same line", "take one"),
    ('{"a": 1,\n "a": 2}', 2, "duplicate key 'a', first 1 line above", "take one"),
    ('{"a": {"b": 1,\n "b": 2},}', 2, "duplicate key 'b', first 1 line above", "take one"),
    ("x: &x {a: 1}\ny:\n  <<: *x\n  <<: *x", 4, "a second << in one map", "[*one, *other]"),
    ("a: .inf", 1, ".inf has no place in JSON", "quote it"),
    ("a: !!binary x", 1, "the tag !!binary is not supported", "leave it out"),
    ("a: !b", 1, "the tag !b is not supported", "quote the text"),
    ("a: !!int x", 1, "'x' is no !!int", None),
    ("? [a]\n: b", 1, "a map or a list cannot be a key", None),
    ("null: a", 1, "a key must be a string, not null", "quote it"),
    ("<<: 1", 1, "<< takes a map or a list of maps", None),
    ("- a", 1, "must be an object, not a list", None),
    ("- a: 1", 1, "must be an object, not a list", None),
    ("a: 1\n--- b: 2", 2, "begins with ---", None),
    ("a: 1\n----\nb: 2", 2, "begins with ---", "write three dashes"),
    ("a: |\n-----BEGIN CERTIFICATE-----", 2, "begins with ---", "indent"),
    ("a: 1\nb: x\x01", 2, "the character U+0001 is not allowed", "escape"),
    ("a: 1\n...\nb: 2", 3, "did not find expected <document start>", None),
    ("metadata:\n  annotations:\n    b: 1", 3, 'metadata.annotations["b"] must be', "quote"),
    ("metadata:\n  labels:\n    a: x\n    b: on", 4, 'metadata.labels["b"] must be', "quote"),
    ("metadata:\n  annotations:\n    labels: {b: c}", 3, "must be a string, not an object", None),
    ("metadata:\n  labels: [a]", 2, "metadata.labels must be an object, not a list", "dash"),
]


@pytest.mark.parametrize(("text", "line", "message", "hint"), MISTAKES)
def test_error_of_classic_mistake_has_line_and_hint(
    text: str, line: int, message: str, hint: str | None
) -> None:
    (diagnostic,) = stream_error(f"first: 1\n---\n{text}").diagnostics
    if not text.startswith("{"):
        assert f", line {line + 2} of the rendered text: " in diagnostic.message
    assert message in diagnostic.message
    assert hint in (diagnostic.hint or "") if hint else diagnostic.hint is None
    assert diagnostic.span == Span(name="inline", line=line + 12)


JSON_MISTAKES = [
    ('{"a": 1,\n "b": {"c": 1,\n "c": 2}}', 3, "duplicate key 'c'"),
    ('{"a": NaN}', 1, "NaN has no place in JSON"),
    ('{"a": 1e999}', 1, "the number 1e999 is too large"),
    ('{"a": "\\ud800"}', 1, "half of a surrogate pair"),
    ('{"a": 1}, {"b": 2}', 1, "did not find expected"),
    ('{"metadata":\n {"labels": {"a": 1}}}', 2, 'metadata.labels["a"] must be a string'),
]


@pytest.mark.parametrize(("text", "line", "message"), JSON_MISTAKES)
def test_error_in_json_has_line(text: str, line: int, message: str) -> None:
    """JSON that Kubernetes does not accept is rejected."""
    (diagnostic,) = stream_error(f"\n{text}").diagnostics
    assert message in diagnostic.message
    assert diagnostic.span == Span(name="inline", line=line + 11)


_BLOCK = "spec:\n  script: |\n    def main(req):\n"
EARLY_END = [
    pytest.param(f"{_BLOCK}  x = 1\n    y = 2\n", 4, 3, id="text-goes-on"),
    pytest.param(f"{_BLOCK}      a: {{{{ .b }}}}\n  c: {{{{ .d }}}}\n", 5, 3, id="template"),
]
SIBLINGS = [
    pytest.param(f"{_BLOCK}  script: |\n    x\n", id="duplicate-key"),
    pytest.param(f"{_BLOCK}  modules: x\n    y: z\n", id="bad-sibling"),
    pytest.param(f"{_BLOCK}  other: a\n  c: d: e\n", id="later-mistake"),
    pytest.param("spec:\n  a: {{ .b }}\n", id="no-block"),
]


@pytest.mark.parametrize(("text", "line", "column"), EARLY_END)
def test_less_indented_line_of_a_block_is_named(text: str, line: int, column: int) -> None:
    problem = problem_of(text)
    assert problem.message.endswith("this line ends the text of `script`: it is less indented")
    assert problem.span == Span(name="a.yaml", line=line, column=column)
    assert problem.hint == "indent it by 4 blanks or more, as the lines of the text"


def test_tab_that_ends_a_block_is_named() -> None:
    problem = problem_of(f"{_BLOCK}\t    x = 1\n        y = 2\n")
    assert problem.message == "cannot read document 1: a tab in the indentation"
    assert problem.span == Span(name="a.yaml", line=4, column=1)


@pytest.mark.parametrize("text", SIBLINGS)
def test_sibling_of_a_block_is_no_part_of_it(text: str) -> None:
    assert "ends the text" not in problem_of(text).message
