"""Leavings of a language in a rendered text, and texts that only look like them."""

import pytest

from function_script.engines import leftovers

LEAVINGS = [
    ("replicas: %!d(string=three)", "printf wrote an error"),
    ("name: a-%!s(<nil>)-b", "printf wrote an error"),
    ("name: %!v(MISSING)", "printf wrote an error"),
    ("name: a%!(EXTRA string=b)", "printf wrote an error"),
    ("username: <nil>", "<nil> was written"),
    ("- <nil>", "<nil> was written"),
    ("tags: map[env:prod tier:gold]", "a map was written as Go prints it"),
    ('tags: "map[env:prod]"', "a map was written as Go prints it"),
    ("owner: [object Object]", "an object was written as JavaScript prints it"),
    ("size: { .spec.size }", "in one pair of braces"),
]
NO_LEAVINGS = [
    "url: https://example.org/a%20b%!",
    "code: func f(m map[string]string) {}",
    "text: the result was <nil> again",
    "name: a # %!d(string=b)",
    "selector: {app: web}",
    "args: { }",
    "annotations: { example.org/a: b }",
    'query: sum(rate(x{a="b"}[5m]))',
]


@pytest.mark.parametrize(("line", "message"), LEAVINGS)
def test_leaving_is_one(line: str, message: str) -> None:
    ((leftover, number),) = leftovers.find(f"kind: Bucket\n  {line}\n")
    assert leftover.message.startswith(message)
    assert number == 2


@pytest.mark.parametrize("line", NO_LEAVINGS)
def test_text_that_looks_like_a_leaving_is_none(line: str) -> None:
    assert [*leftovers.find(f"  {line}\n")] == []
