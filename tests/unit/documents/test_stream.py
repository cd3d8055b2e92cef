"""Streams of documents: how they are split, their positions, and their limits."""

import pytest
from support.rendered_streams import locate
from support.timing import taking_less

from function_script import documents
from function_script.request.limits import Limits
from function_script.request.objects import Path
from function_script.texts.errors import DocumentError, LimitError
from function_script.texts.source import Source, Span


def values(text: str) -> list[object]:
    """Return the values of the documents of a stream."""
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
    pytest.param("a: |\n  b", [{"a": "b\n"}], id="block-at-the-end"),
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
def test_stream_is_split_into_objects(text: str, expected: list[object]) -> None:
    """Documents end at lines with ---, empty ones are dropped, and JSON needs no separators."""
    assert values(text) == expected


def test_document_has_number_line_and_text() -> None:
    text = "# head\n---\n\n# c\na: 1\n---\nb:\n  c: 2\n"
    first, second = documents.read_stream(text)
    assert (first.number, first.first_line, first.line) == (1, 3, 5)
    assert (second.number, second.first_line, second.line) == (2, 7, 7)
    assert second.text == "b:\n  c: 2\n"


def test_document_of_json_has_line_and_text() -> None:
    first, second = documents.read_stream('\n{"a":\n 1}\n\n{"b": 2}')
    assert (first.line, second.line) == (2, 5)
    assert second.text == '{"b": 2}'


def test_document_with_cached_text_shares_value() -> None:
    text = "kind: ReadOnce\n"
    documents.read_stream(text)
    (first,) = documents.read_stream(text)
    (_, second) = documents.read_stream(f"x: 1\n---\n{text}")
    assert second.value is first.value
    assert (first.line, second.line) == (1, 3)


@pytest.mark.parametrize("text", ["a: remembered", '{"a": "remembered"}'])
def test_derived_part_of_a_document_is_remembered(text: str) -> None:
    """From the second reading on: most texts never come again."""
    _, (first,) = (documents.read_stream(text) for _ in range(2))
    first.remember("key", "part")
    (second,) = documents.read_stream(text)
    assert second.derived == {"key": "part"}


def test_span_of_rendered_document_is_that_of_template() -> None:
    (document,) = documents.read_stream("---\na:\n  b: 1\n", locate=locate)
    assert document.span() == Span(name="inline", line=12)
    assert document.span(("a", "b")) == Span(name="inline", line=13)


def test_span_in_file_has_column() -> None:
    """A field that does not exist has its nearest ancestor's."""
    source = Source(name="xr.yaml", text="---\na:\n- b: 1\n  c: 2\n")
    (document,) = documents.read_source(source)
    assert document.span(("a", 0, "c")) == Span(name="xr.yaml", line=4, column=3)
    assert document.span(("a", 0, "x", "y")) == Span(name="xr.yaml", line=3, column=3)
    assert document.span(("x",)) == Span(name="xr.yaml", line=2, column=1)


def test_document_with_null_labels_is_accepted() -> None:
    """Nulls are dropped later."""
    assert values("metadata:\n  labels:\n  annotations:\n    a:\n") == [
        {"metadata": {"labels": None, "annotations": {"a": None}}}
    ]


def test_stream_with_too_many_documents_is_rejected() -> None:
    with pytest.raises(LimitError, match=r"document 3, line 5.*more than 2 documents"):
        documents.read_stream("a: 1\n---\nb: 1\n---\nc: 1\n", limits=Limits(documents=2))


def test_stream_counts_nodes_of_all_documents() -> None:
    """Those of cached documents, too."""
    text = "a: [1, 2, 3]\n---\nb: [1, 2, 3]\n"
    assert len(documents.read_stream(text, limits=Limits(nodes=10))) == 2
    with pytest.raises(LimitError, match=r"document 2, line 3.*more than 4 values"):
        documents.read_stream(text, limits=Limits(nodes=9))


@pytest.mark.parametrize("text", ["a: {b: {c: 1}}", '{"a": {"b": {"c": 1}}}'])
def test_stream_that_is_too_deep_is_rejected(text: str) -> None:
    """In YAML and JSON, also with a cached text."""
    assert len(documents.read_stream(text, limits=Limits(depth=3))) == 1
    with pytest.raises(LimitError, match="nested more than 2 levels deep"):
        documents.read_stream(text, limits=Limits(depth=2))


def test_read_value_accepts_any_type() -> None:
    """The text has one document at most."""
    assert documents.read_value("- 1") == [1]
    assert documents.read_value("# nothing") is None
    with pytest.raises(DocumentError, match="line 2: more than one document"):
        documents.read_value("a: 1\n---\nb: 2")


def test_positions_of_many_fields_are_those_of_each_in_linear_time() -> None:
    text = "a:\n  b: &x {c: 1}\n  d: *x\nl:\n" + "- 1\n" * 4_000
    (document,) = documents.read_source(Source(name="f", text=text))
    some: list[Path] = [
        (),
        ("a", "b", "c"),
        ("a", "b", "e", "f"),
        ("a", "d", "c"),
        ("x",),
        ("l", 7),
    ]
    assert [*document.span_each(some)] == [document.span(path) for path in some]

    with taking_less(1):
        spans = [*document.span_each([("l", number) for number in range(4_000)])]
    assert len(set(spans)) == len(spans)
