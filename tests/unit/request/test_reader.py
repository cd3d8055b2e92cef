"""Reading untrusted objects: what is accepted, what is noted, and where."""

import pytest

from function_script.request.objects import parse_path
from function_script.request.quantities import parse_duration, parse_size
from function_script.request.reader import ObjectReader, child
from function_script.texts.problems import ProblemList


def test_paths_quote_what_is_no_plain_word() -> None:
    """A path can be read back: keys with dots or blanks are quoted."""
    assert child("a", "b-c") == "a.b-c"
    assert child("a", "b.c/d") == 'a["b.c/d"]'
    for key in ('b"\nc', "C:\\x", '["', ""):
        assert parse_path(child("a", key)) == ("a", key)


def test_problem_is_kept_with_its_path() -> None:
    """Getters go on after a problem, so that one look finds them all."""
    problems = ProblemList()
    fields = ObjectReader({"a": 1, "b": [1, {"c": 2}], "x": True}, "in", problems)
    fields.text("a")
    for item in fields.objects("b"):
        item.text("c")
    fields.refuse_unknown("a", "b")
    assert [str(problem) for problem in problems] == [
        "in.a: must be a string, not an integer",
        "in.b[0]: must be an object, not an integer",
        "in.b[1].c: must be a string, not an integer",
        "in.x: unknown field",
    ]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("1m30s", 90), ("250ms", 0.25), ("0", 0), ("1.5h", 5400), ("0s", 0)],
)
def test_durations_are_go_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "60", "1d", "s", "-5s", "1m 30s", "5S"])
def test_other_durations_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match='as in "90s"'):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("256Mi", 256 << 20), ("1G", 10**9), ("500k", 500_000), ("12", 12), ("1.5Ki", 1536)],
)
def test_sizes_are_kubernetes_quantities(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "1MB", "-1Mi", "1ki", "Mi", "1 Mi"])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match='as in "256Mi"'):
        parse_size(text)
