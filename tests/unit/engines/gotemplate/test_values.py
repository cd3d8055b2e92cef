import pytest

from function_script.engines.gotemplate.printing import float_text, quote, to_text
from function_script.engines.gotemplate.values import (
    MISSING,
    AnyMap,
    BytesMap,
    Int,
    NilList,
    NilMap,
    StringMap,
    Strings,
    Uint8,
    byte_length,
    deep_key,
    go_kind,
    go_type,
    is_nil,
    to_bytes,
    to_string,
    wrap_int64,
)

TYPES = [
    ("x", "string", "string"),
    (1, "int64", "int64"),
    (Int(1), "int", "int"),
    (Uint8(1), "uint8", "uint8"),
    (1.0, "float64", "float64"),
    (True, "bool", "bool"),
    ({}, "map[string]interface {}", "map"),
    (NilMap(), "map[string]interface {}", "map"),
    (StringMap(), "map[string]string", "map"),
    (BytesMap(), "map[string][]uint8", "map"),
    (AnyMap(), "map[interface {}]interface {}", "map"),
    ([], "[]interface {}", "slice"),
    (Strings(), "[]string", "slice"),
    (b"x", "[]uint8", "slice"),
    (None, "<nil>", "invalid"),
    (MISSING, "<nil>", "invalid"),
]


@pytest.mark.parametrize(("value", "name", "kind"), TYPES, ids=str)
def test_python_type_decides_go_type(value: object, name: str, kind: str) -> None:
    """Type and kind depend only on the Python type."""
    assert (go_type(value), go_kind(value)) == (name, kind)


TEXTS = [
    ({"b": 1, "a": [None, "x", {"é": True}]}, "map[a:[<nil> x map[é:true]] b:1]"),
    ({"10": 1, "9": 2, "": 3, "B": 4, "_": 5, "a": 6}, "map[:3 10:1 9:2 B:4 _:5 a:6]"),
    (AnyMap({2: "b", 1: "a"}), "map[1:a 2:b]"),
    (AnyMap({"x": 1, 2: "b"}), "map[2:b x:1]"),
    ([1.5, 1e6, None, b"hi"], "[1.5 1e+06 <nil> [104 105]]"),
    (NilMap(), "map[]"),
    (NilList(), "[]"),
    (MISSING, "<nil>"),
]


@pytest.mark.parametrize(("value", "text"), TEXTS, ids=str)
def test_values_print_as_go_prints_them(value: object, text: str) -> None:
    """Maps are sorted by the bytes of their keys; nil inside a container is printed."""
    assert to_text(value) == text


FLOATS = [
    (0.0, "0"),
    (-0.0, "-0"),
    (1.0, "1"),
    (0.0001, "0.0001"),
    (0.00001, "1e-05"),
    (999999.5, "999999.5"),
    (1e6, "1e+06"),
    (1234567.5, "1.2345675e+06"),
    (-1e21, "-1e+21"),
    (5e-324, "5e-324"),
    (float("inf"), "+Inf"),
    (float("-inf"), "-Inf"),
    (float("nan"), "NaN"),
]


@pytest.mark.parametrize(("number", "text"), FLOATS, ids=str)
def test_floats_print_the_shortest_digits(number: float, text: str) -> None:
    """An exponent is written below 1e-4 and from 1e6 on."""
    assert float_text(number) == text


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


def test_integers_wrap_at_64_bits() -> None:
    """Arithmetic overflows as in Go."""
    assert wrap_int64(2**63) == -(2**63)
    assert wrap_int64(-(2**63) - 1) == 2**63 - 1
    assert wrap_int64(7) == 7


def test_nil_has_three_kinds() -> None:
    """No value, null, and typed nil containers; an empty container is not nil."""
    assert all(map(is_nil, (MISSING, None, NilMap(), NilList())))
    assert not any(map(is_nil, ({}, [], "", 0)))
