"""Problems of fields: their text, their diagnostic, and the nearest name."""

from function_script.texts import diagnostics
from function_script.texts.diagnostics import Diagnostic, Note
from function_script.texts.problems import Problem, suggest
from function_script.texts.source import Span

SPAN = Span(name="inline", line=3)


def test_problem_of_the_whole_object_has_no_path() -> None:
    """Its text stands alone, and another position follows it on one line."""
    problem = Problem("", "used twice", note=Note("first at", SPAN, is_cause=True))
    diagnostic = problem.to_diagnostic()
    assert (diagnostic.message, diagnostic.field) == ("used twice", "")
    assert diagnostics.to_line((diagnostic,)) == "used twice; first at inline:3"


def test_nearest_name_is_suggested_or_the_other_hint_given() -> None:
    assert suggest("scirpt", ("script", "inline")) == 'did you mean "script"?'
    assert suggest("zzz", ("script",)) is None
    assert suggest("zzz", ("script",), "there is script") == "there is script"


def test_note_is_printed_with_its_position() -> None:
    """A note may be a text alone."""
    problem = Diagnostic(message="m", notes=(Note("called from main at", SPAN), "text"))
    assert diagnostics.to_frame(problem) == ("error: m\n  = called from main at inline:3\n  = text")
