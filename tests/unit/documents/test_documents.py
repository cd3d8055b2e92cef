from __future__ import annotations

import pytest

from function_script import documents
from function_script.errors import DocumentError, FatalError, LimitError
from function_script.limits import Limits
from function_script.source import Source, Span


def values(text: str) -> list[object]:
    """What the documents of a stream hold."""
    return [document.value for document in documents.read_stream(text)]


STREAMS = [
    pytest.param("a: 1", [{"a": 1}], id="one"),
    pytest.param("a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}], id="two"),
    pytest.param("---\na: 1\n---\n---\nb: 2\n---\n", [{"a": 1}, {"b": 2}], id="empty-ones"),
    pytest.param("--- # one\na: 1\n---   \nb: 2", [{"a": 1}, {"b": 2}], id="comments-after"),
    pytest.param("# c\n---\n# only\n---\nnull\n---\na: 1", [{"a": 1}], id="comments-and-null"),
    pytest.param("---\r\na: 1\r\n---\r\nb: 2\r\n", [{"a": 1}, {"b": 2}], id="crlf"),
    pytest.param("\ufeffa: 1\n---\nb: 2", [{"a": 1}, {"b": 2}], id="byte-order-mark"),
    pytest.param("a: |\n  ---\n  b\n---\nc: 1", [{"a": "---\nb\n"}, {"c": 1}], id="in-a-block"),
    pytest.param("a: 1\n...\n---\nb: 2", [{"a": 1}, {"b": 2}], id="end-marks"),
    pytest.param("", [], id="nothing"),
    pytest.param('{"a": 1}', [{"a": 1}], id="json"),
    pytest.param('{"a": 1}{"b": [1.0, 2.5]}\n {}', [{"a": 1}, {"b": [1, 2.5]}, {}], id="json-many"),
    pytest.param('{"a": "\\ud83d\\ude00\\/"}', [{"a": "😀/"}], id="json-escapes"),
    pytest.param('{"a": 1}\n---\n{"b": yes}', [{"a": 1}, {"b": True}], id="json-then-yaml"),
    pytest.param("{a: 1, b: [yes]}", [{"a": 1, "b": [True]}], id="flow-is-not-json"),
    pytest.param('{"a": 36893488147419103232}', [{"a": 2.0**65}], id="json-big-integer"),
]


@pytest.mark.parametrize(("text", "expected"), STREAMS)
def test_streams_are_split_into_objects(text: str, expected: list[object]) -> None:
    """Documents end at lines with ---; empty ones are left out; JSON may follow without marks."""
    assert values(text) == expected


def test_documents_know_their_place() -> None:
    """Numbers count objects, lines are those of the stream, keys are the exact texts."""
    text = "# head\n---\n\n# c\na: 1\n---\nb:\n  c: 2\n"
    first, second = documents.read_stream(text)
    assert (first.number, first.first_line, first.line) == (1, 3, 5)
    assert (second.number, second.first_line, second.line) == (2, 7, 7)
    assert second.key == "b:\n  c: 2\n"


def test_json_documents_know_their_place() -> None:
    """Objects that follow each other have their own lines and texts."""
    first, second = documents.read_stream('\n{"a":\n 1}\n\n{"b": 2}')
    assert (first.line, second.line) == (2, 5)
    assert second.key == '{"b": 2}'


def test_equal_texts_are_parsed_twice_at_most() -> None:
    """The value of a text that was read twice is the same object: nobody may change it."""
    text = "kind: ReadOnce\n"
    documents.read_stream(text)
    (first,) = documents.read_stream(text)
    (_, second) = documents.read_stream(f"x: 1\n---\n{text}")
    assert second.value is first.value
    assert (first.line, second.line) == (1, 3)


def template(line: int) -> Span:
    """As an engine would: the template is ten lines longer."""
    return Span(name="inline", line=line + 10)


def test_spans_lead_to_the_template() -> None:
    """The place of a document or of a field is the template's that rendered it."""
    (document,) = documents.read_stream("---\na:\n  b: 1\n", locate=template)
    assert document.span() == Span(name="inline", line=12)
    assert document.span(("a", "b")) == Span(name="inline", line=13)


def test_spans_in_files_have_columns() -> None:
    """A document of a file knows the column of each field, of the nearest one if it is absent."""
    source = Source(name="xr.yaml", text="---\na:\n- b: 1\n  c: 2\n")
    (document,) = documents.read_source(source)
    assert document.span(("a", 0, "c")) == Span(name="xr.yaml", line=4, column=3)
    assert document.span(("a", 0, "x", "y")) == Span(name="xr.yaml", line=3, column=3)
    assert document.span(("x",)) == Span(name="xr.yaml", line=2, column=1)


def problem(text: str) -> FatalError:
    """The error that a rendered stream gives."""
    with pytest.raises(FatalError) as caught:
        documents.read_stream(text, locate=template)
    return caught.value


def test_errors_name_document_line_and_template() -> None:
    """An error has the rendered line in its message and notes, and the template's in its span."""
    (diagnostic,) = problem("a: 1\n---\nb: 2\nc: d: e\nf: 3\n").diagnostics
    assert diagnostic.span == Span(name="inline", line=14)
    assert diagnostic.message == (
        "cannot read document 2, line 4 of the rendered text: "
        "mapping values are not allowed in this context"
    )
    assert diagnostic.hint is not None
    assert diagnostic.hint.startswith('quote a value that holds ": "')
    assert diagnostic.notes == ("rendered 3: b: 2", "rendered 4: c: d: e", "rendered 5: f: 3")


WRITTEN = [
    pytest.param("  c: d: e", Span(name="t", line=9, column=3, width=7), 7, 1, id="as-it-is"),
    pytest.param("  c: d: eff", Span(name="t", line=9, column=3, width=7), 3, 7, id="longer"),
    pytest.param("c: d: e", Span(name="t", line=9, column=3, width=7), 3, 7, id="moved"),
    pytest.param("  c: d: e", Span(name="t", line=9), None, 1, id="unknown"),
]


@pytest.mark.parametrize(("text", "span", "column", "width"), WRITTEN)
def test_errors_have_the_templates_column_where_its_line_was_written_as_it_is(
    text: str, span: Span, column: int | None, width: int
) -> None:
    """Else they are shown at the whole line of the template."""
    with pytest.raises(DocumentError) as caught:
        documents.read_stream(text, locate=lambda _line: span)
    found = caught.value.diagnostics[0].span
    assert found == Span(name="t", line=9, column=column, width=width)


def test_errors_in_files_have_an_excerpt() -> None:
    """The place in a file is exact, and shown."""
    with pytest.raises(DocumentError) as caught:
        documents.read_source(Source(name="xr.yaml", text="a: 1\n---\nb: [\n"))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message.startswith("cannot read document 2: ")
    assert diagnostic.span == Span(name="xr.yaml", line=3, column=5)
    assert diagnostic.excerpt is not None


UNFINISHED = [
    ("a: 1\nb: [1,\n  2\n", 2, 4, "the list that begins here", "close it with ]"),
    ('{"a": {"b": 1}', 1, 1, "the map that begins here", "close it with }"),
    ('a: "b\n\nc: d\n', 1, 4, "the text that begins here", 'close it with "'),
    ("a: 'b", 1, 4, "the text that begins here", "close it with '"),
    ('{"a": \n\n', 1, 6, "the text ends where a value is expected", None),
]


@pytest.mark.parametrize(("text", "line", "column", "message", "hint"), UNFINISHED)
def test_what_does_not_end_is_shown_where_it_begins(
    text: str, line: int, column: int, message: str, hint: str | None
) -> None:
    """The parser notices it at the end of the text, where nothing is to be mended."""
    with pytest.raises(DocumentError) as caught:
        documents.read_source(Source(name="f", text=text))
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    assert (diagnostic.span, diagnostic.hint) == (Span(name="f", line=line, column=column), hint)


MISTAKES = [
    ("a:\n\tb: 1", 2, "a tab in the indentation", "tabs"),
    ("a: 1\nb:2\nc: 3", 3, "could not find expected ':'", "blank after the colon"),
    ("a:1", 1, "must be an object, not a string", "blank after the colon"),
    ("name: {{ x }}", 1, "cannot be a key", "quote a value that begins with"),
    ("name: {% x %}", 1, "", "quote a value"),
    ("a: b: c", 1, "mapping values are not allowed", 'holds ": "'),
    ("a: b\n  c: d", 2, "mapping values are not allowed", "indentation"),
    ("a: @b", 1, "cannot start any token", "begins with '@'"),
    ("a: `b`", 1, "cannot start any token", "begins with '`'"),
    ("a: *.example.org", 1, "scanning an alias", "quote a value that begins with"),
    ("a: *all", 1, "the alias *all has no anchor &all before it", 'begins with "*"'),
    ("a:\n  b: 1\n c: 2", 3, "did not find expected", "same column"),
    ("a: 1\nb: 2\na: 3", 3, "duplicate key 'a', first 2 lines above", "take one"),
    ("a: {b: 1, b: 2}", 1, "duplicate key 'b', first on the same line", "take one"),
    ('{"a": 1,\n "a": 2}', 2, "duplicate key 'a', first 1 line above", "take one"),
    ("x: &x {a: 1}\ny:\n  <<: *x\n  <<: *x", 4, "a second << in one map", "[*one, *other]"),
    ("a: .inf", 1, ".inf has no place in JSON", "quote it"),
    ("a: !!binary x", 1, "the tag !!binary is not supported", "leave it out"),
    ("a: !!int x", 1, "'x' is no !!int", None),
    ("? [a]\n: b", 1, "a map or a list cannot be a key", None),
    ("null: a", 1, "a key must be a string, not null", "quote it"),
    ("<<: 1", 1, "<< takes a map or a list of maps", None),
    ("- a", 1, "must be an object, not a list", None),
    ("a: 1\n--- b: 2", 2, "begins with ---", None),
    ("a: |\n-----BEGIN CERTIFICATE-----", 2, "begins with ---", "indent it"),
    ("a: 1\nb: x\x01", 2, "the character U+0001 is not allowed", "escape"),
    ("a: 1\n...\nb: 2", 3, "did not find expected <document start>", None),
    ("metadata:\n  annotations:\n    b: 1", 3, 'metadata.annotations["b"] must be', "quote"),
    ("metadata:\n  labels:\n    a: x\n    b: on", 4, 'metadata.labels["b"] must be', "quote"),
    ("metadata:\n  labels: [a]", 2, "metadata.labels must be an object, not a list", "dash"),
]


@pytest.mark.parametrize(("text", "line", "message", "hint"), MISTAKES)
def test_classic_mistakes_are_explained(
    text: str, line: int, message: str, hint: str | None
) -> None:
    """Every mistake has its line, says what it is and, if it is a classic, how to mend it."""
    (diagnostic,) = problem(f"first: 1\n---\n{text}").diagnostics
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
def test_mistakes_in_json_are_refused(text: str, line: int, message: str) -> None:
    """What JSON's grammar allows and Kubernetes does not is an error with its line."""
    (diagnostic,) = problem(f"\n{text}").diagnostics
    assert message in diagnostic.message
    assert diagnostic.span == Span(name="inline", line=line + 11)


def test_null_labels_are_absent_ones() -> None:
    """A null among labels and annotations is left to be removed, like all nulls."""
    assert values("metadata:\n  labels:\n  annotations:\n    a:\n") == [
        {"metadata": {"labels": None, "annotations": {"a": None}}}
    ]


def test_too_many_documents_are_refused() -> None:
    """The number of documents is limited."""
    with pytest.raises(LimitError, match=r"document 3, line 5.*more than 2 documents"):
        documents.read_stream("a: 1\n---\nb: 1\n---\nc: 1\n", limits=Limits(documents=2))


def test_nodes_are_counted_over_the_whole_stream() -> None:
    """Documents share one allowance, also those that were read before."""
    text = "a: [1, 2, 3]\n---\nb: [1, 2, 3]\n"
    assert len(documents.read_stream(text, limits=Limits(nodes=10))) == 2
    with pytest.raises(LimitError, match=r"document 2, line 3.*more than 4 values"):
        documents.read_stream(text, limits=Limits(nodes=9))


@pytest.mark.parametrize("text", ["a: {b: {c: 1}}", '{"a": {"b": {"c": 1}}}'])
def test_depth_is_limited(text: str) -> None:
    """Levels are counted in YAML and JSON alike, also of texts that were read before."""
    assert len(documents.read_stream(text, limits=Limits(depth=3))) == 1
    with pytest.raises(LimitError, match="nested more than 2 levels deep"):
        documents.read_stream(text, limits=Limits(depth=2))


def test_one_value_may_be_of_any_type() -> None:
    """A single document need not be an object, but must be the only one."""
    assert documents.read_value("- 1") == [1]
    assert documents.read_value("# nothing") is None
    with pytest.raises(DocumentError, match="line 2: more than one document"):
        documents.read_value("a: 1\n---\nb: 2")
