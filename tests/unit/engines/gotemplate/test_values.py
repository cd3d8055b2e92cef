"""Equality and quoting where no vector of Go shows them; the others are in sprig/vectors."""

from function_script.engines.gotemplate.printing import quote
from function_script.engines.gotemplate.values import Int, NilMap, Strings, deep_key


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
