"""Leftovers of a language in a rendered text, and texts that only look like them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function_script.engines import leftovers

LEAVINGS = [
    ("replicas: %!d(string=three)", "printf wrote an error"),
    ("name: a-%!s(<nil>)-b", "printf wrote an error"),
    ("name: %!v(MISSING)", "printf wrote an error"),
    ("name: a%!(EXTRA string=b)", "printf wrote an error"),
    ("username: <nil>", "<nil> was written"),
    ("- <nil>", "<nil> was written"),
    ("tags: map[env:prod tier:gold]", "a map was written as Go prints it"),
    ("zones: [map[name:a] map[name:b]]", "a map was written as Go prints it"),
    ('tags: "map[env:prod]"', "a map was written as Go prints it"),
    ("owner: [object Object]", "an object was written as JavaScript prints it"),
    ("size: { .spec.size }", "in one pair of braces"),
    ("- { spec.size }", "in one pair of braces"),
    ("size: { spec.size }}", "an expression has two braces at both ends"),
    ("size: { $.spec.size }}", "an expression has two braces at both ends"),
]
NO_LEAVINGS = [
    "url: https://example.org/a%20b%!",
    "text: illegal base64 data at input byte 3 means that nobody encoded it",
    "code: func f(m map[string]string) {}",
    "text: the result was <nil> again",
    "name: a # %!d(string=b)",
    "selector: {app: web}",
    "selector: { spec }",
    "methods: { update }}",
    "args: { }",
    "annotations: { example.org/a: b }",
    'query: sum(rate(x{a="b"}[5m]))',
    "app.js: |\n    on: { handler() }\n    path: { spec.size }\n    url: ${spec.host}",
]


@pytest.mark.parametrize(("line", "message"), LEAVINGS)
def test_leftover_is_one(line: str, message: str) -> None:
    ((leftover, number, _),) = leftovers.find(f"kind: Bucket\n  {line}\n")
    assert leftover.message.startswith(message)
    assert number == 2


@pytest.mark.parametrize("line", NO_LEAVINGS)
def test_text_that_looks_like_a_leftover_is_none(line: str) -> None:
    assert [*leftovers.find(f"  {line}\n")] == []


VALUES = [
    ("{{ .observed.composite.resource.spec.region }}", "an expression of a template"),
    ("a-{{ getCompositeResource . }}", "an expression of a template"),
    ("${spec.region}", "no expression here"),
    ("${{ xr.spec.region }}", "no expression here"),
    ("<no value>-logs", "Go templates write"),
    ("undefined", "JavaScript writes"),
    ("%!s(MISSING)", "printf"),
    ("[object Object]", "JavaScript prints"),
    ("map[env:prod]", "Go prints"),
]
# Texts that other controllers, shells and clouds read.
MEANT = [
    "{{ .Values.name }}",
    "{{name}}-guestbook",
    "{{ .password }}",
    "{{ $labels.instance }}",
    "${schema.spec.name}",
    "${aws:username}",
    "${REGION}",
    "${var.region}",
    "an undefined behaviour",
    "100%!",
    "first line\n{{ .observed.composite.resource.spec.region }}",
]


@pytest.mark.parametrize(("text", "message"), VALUES)
def test_leftover_in_a_value_is_found(text: str, message: str) -> None:
    leftover = leftovers.of_value(text)
    assert leftover is not None
    assert message in leftover.message
    assert leftovers.may_be_in(f'"value": "{text}"')


@pytest.mark.parametrize("text", MEANT)
def test_value_that_others_read_is_left_alone(text: str) -> None:
    assert leftovers.of_value(text) is None


@given(st.text("%!<nil>map[objectO]{$ undefinedNoe", max_size=40))
def test_search_by_one_character_finds_what_a_search_by_the_whole_leftover_finds(text: str) -> None:
    parts = [each.part for each in leftovers._FOR_VALUES]
    assert leftovers.may_be_in(text) is any(part in text for part in (*parts, "None"))


def test_ordinary_data_need_not_be_decoded() -> None:
    """All data has objects and lists; decoding each resource again costs a third of a request."""
    assert not leftovers.may_be_in('"a":{"apiVersion":"e.org/v1","spec":{"v":[{"x":"y"}]}}')
    assert leftovers.may_be_in('"a":{"spec":{"v":"${spec.size}"}}')
