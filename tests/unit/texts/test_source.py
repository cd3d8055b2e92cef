"""Excerpts show the lines an editor shows."""

from support.timing import taking_less

from function_script.texts.source import Source, Span, excerpt


def test_excerpts_of_every_line_take_time_that_is_linear() -> None:
    """Each of thousands of lines may have an unknown field."""
    source = Source(name="script", text="a: 1\n" * 5000)
    with taking_less(0.1):
        assert all(excerpt(source, Span(name="script", line=line)) for line in range(1, 5001))


def test_lines_end_at_line_feeds_only() -> None:
    """A form feed or a Unicode line separator within a string does not shift the excerpt."""
    text = "a = '\u2028'\r\nb = '\x0c'\nc = 3\n"
    around = excerpt(Source(name="script", text=text), Span(name="script", line=3))
    assert around is not None
    assert around.lines[around.first_line + 1] == "c = 3"


def test_place_outside_the_text_has_no_excerpt() -> None:
    """A line that does not exist is shown without its surroundings."""
    source = Source(name="script", text="a\n")
    assert excerpt(source, Span(name="script", line=9)) is None
    assert excerpt(source, Span(name="script", line=0)) is None


def test_last_line_end_begins_no_line_to_show() -> None:
    """The empty line after it is shown only when it is the place itself."""
    source = Source(name="script", text="a\n")
    cut_excerpt = excerpt(source, Span(name="script", line=1))
    assert cut_excerpt is not None
    assert cut_excerpt.lines == ("a",)
    at_the_end = excerpt(source, Span(name="script", line=2))
    assert at_the_end is not None
    assert at_the_end.lines == ("a", "")
