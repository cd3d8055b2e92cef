"""Values whose type or text no vector of Go shows; those that one shows are in sprig/vectors."""

import pytest

from function_script.engines.gotemplate.printing import quote, to_text
from function_script.engines.gotemplate.values import (
    MISSING,
    AnyMap,
    BytesMap,
    Int,
    NilList,
    NilMap,
    Strings,
    Uint8,
    byte_length,
    deep_key,
    go_kind,
    go_type,
    to_bytes,
    to_string,
)

TYPES = [
    (Uint8(1), "uint8", "uint8"),
    (NilMap(), "map[string]interface {}", "map"),
    (BytesMap(), "map[string][]uint8", "map"),
    (AnyMap(), "map[interface {}]interface {}", "map"),
    (NilList(), "[]interface {}", "slice"),
    (b"x", "[]uint8", "slice"),
    (MISSING, "<nil>", "invalid"),
]


@pytest.mark.parametrize(("value", "name", "kind"), TYPES, ids=str)
def test_python_type_decides_go_type(value: object, name: str, kind: str) -> None:
    assert (go_type(value), go_kind(value)) == (name, kind)


TEXTS = [
    (AnyMap({2: "b", 1: "a"}), "map[1:a 2:b]"),
    (AnyMap({2: "b", "x": 1}), "map[x:1 2:b]"),
    (MISSING, "<nil>"),
]


@pytest.mark.parametrize(("value", "text"), TEXTS, ids=str)
def test_values_print_as_go_prints_them(value: object, text: str) -> None:
    """Maps with keys of several types are sorted by type, then by key."""
    assert to_text(value) == text


def test_quoting_is_gos_and_not_jsons() -> None:
    """Printable Unicode stays; other characters are escaped by code, stray bytes by value."""
    assert quote('a"b\\\n\té\x01😀\x7f\xa0\udcff') == r'"a\"b\\\n\té\x01😀\x7f\u00a0\xff"'


def test_equality_needs_the_same_types() -> None:
    """An int64 is not an int, a nil map is not an empty one, at any depth."""
    assert deep_key({"a": [1]}) == deep_key({"a": [1]})
    assert deep_key({"a": [1]}) != deep_key({"a": [Int(1)]})
    assert deep_key(1) != deep_key(1.0)
    assert deep_key([1]) != deep_key([True])
    assert deep_key({}) != deep_key(NilMap())
    assert deep_key([]) != deep_key(Strings())


def test_lengths_and_cuts_of_strings_count_bytes() -> None:
    """A character cut in two survives until it is joined again."""
    assert byte_length("é😀a") == 7
    halves = to_string("é".encode()[:1]), to_string("é".encode()[1:])
    assert to_bytes("".join(halves)).decode() == "é"
