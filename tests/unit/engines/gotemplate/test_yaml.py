import pytest

from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.plain import render_text
from function_script.engines.gotemplate.printing import to_text
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.values import Int, NilList, NilMap, go_type
from function_script.engines.gotemplate.yaml import from_yaml, to_yaml
from function_script.request.limits import Limits

RUN = Run({}, Limits(), "")

WRITTEN = [
    ("scalars", {"a": 1, "b": 1.0, "c": 1e6, "d": None, "e": True, "f": "x"},
     "a: 1\nb: 1\nc: 1e+06\nd: null\ne: true\nf: x\n"),
    ("empty", {"m": {}, "l": [], "s": "", "nm": NilMap(), "nl": NilList()},
     'l: []\nm: {}\nnl: []\nnm: {}\ns: ""\n'),
    ("nested", {"a": {"b": [1, [2, 3], {"c": {"d": 4}}]}},
     "a:\n    b:\n        - 1\n        - - 2\n          - 3\n        - c:\n            d: 4\n"),
    ("list-of-maps", [{"a": 1, "b": [1]}, {"c": 2}], "- a: 1\n  b:\n    - 1\n- c: 2\n"),
    ("natural-order", {"a10": 1, "a9": 2, "9": 3, "10": 4, "B": 5, "_": 6},
     '_: 6\n"9": 3\n"10": 4\nB: 5\na9: 2\na10: 1\n'),
    ("order-of-zeros", {"a10": 5, "a01": 4, "a0³": 3, "a0²": 2, "a1x": 6},
     "a0²: 2\na0³: 3\na1x: 6\na01: 4\na10: 5\n"),
    ("order-of-many-digits", {"a1": 2, "a18446744073709551617": 3, "a9223372036854775808": 1},
     "a1: 2\na9223372036854775808: 1\na18446744073709551617: 3\n"),
    ("dots", [".5", ".5 ", ".٣"], "- \".5\"\n- '.5 '\n- .٣\n"),
    ("words", ["yes", "n", "null", "~"], '- "yes"\n- "n"\n- "null"\n- "~"\n'),
    ("numbers", ["1", "0x1", "1e3", "12:30", "2020-01-01", ".inf"],
     '- "1"\n- "0x1"\n- "1e3"\n- "12:30"\n- "2020-01-01"\n- ".inf"\n'),
    ("plain", ["a b", "a:b", "a#b", "-x", "?x", "it's", "/etc", "+", "1.2.3"],
     "- a b\n- a:b\n- a#b\n- -x\n- ?x\n- it's\n- /etc\n- +\n- 1.2.3\n"),
    ("single-quotes", ["a: b", "a #b", "- a", "{a}", " a", "a:", "*", "#", "'", "---"],
     "- 'a: b'\n- 'a #b'\n- '- a'\n- '{a}'\n- ' a'\n- 'a:'\n- '*'\n- '#'\n- ''''\n- '---'\n"),
    ("double-quotes", ["a\tb", "\x01", "😀", "\ufeffa"],
     '- "a\\tb"\n- "\\x01"\n- "\\U0001F600"\n- "\\uFEFFa"\n'),
    ("separators", {"a": "x\u2028y", "b": "\u2029x\ny\u2029z", "c\u2028": "x \u2028"},
     'a: "x\\Ly"\nb: "\\Px\\ny\\Pz"\n"c\\L": "x \\L"\n'),
    ("blocks", {"a": "x\ny", "b": "x\ny\n", "c": "x\n\n"},
     "a: |-\n    x\n    y\nb: |\n    x\n    y\nc: |+\n    x\n\n"),
    ("no-blocks", {"d": " x\ny", "e": ["x\ny"], "f": "x \ny"},
     'd: |4-\n     x\n    y\ne:\n    - |-\n      x\n      y\nf: "x \\ny"\n'),
    ("keys", {"true": 1, "a: b": 2, "": 3, "x\ny": {"z": 1}},
     '"": 3\n\'a: b\': 2\n"true": 1\n"x\\ny":\n    z: 1\n'),
    ("bytes", b"hi", "- 104\n- 105\n"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), [w[1:] for w in WRITTEN], ids=[w[0] for w in WRITTEN])
def test_values_are_written_as_by_yaml_v3(value: object, text: str) -> None:
    """Four blanks below a map, two below a list's dash; quotes if another type would be read."""
    assert to_yaml(value) == text


def test_text_that_is_not_utf_8_is_not_written() -> None:
    with pytest.raises(CallError, match="not UTF-8"):
        to_yaml("\udcff")


def test_keys_with_thousands_of_digits_are_in_order() -> None:
    keys = [f"a{digit * 5_000}" for digit in "12"]
    assert to_yaml(dict.fromkeys(keys)).startswith("a1")


READ = [
    ("a: 1\nb: [x, 2.5, true, null]", "map[a:1 b:[x 2.5 true <nil>]]"),
    ("yes", "yes"),
    ("True", "true"),
    ("0777", "511"),
    ("0o17", "15"),
    ("08", "8"),
    ("1_000", "1000"),
    ("12:30", "12:30"),
    ("2020-01-02", "2020-01-02 00:00:00 +0000 UTC"),
    ('"2020-01-02"', "2020-01-02"),
    (".inf", "+Inf"),
    ("1: a\nx: b", "map[x:b 1:a]"),
    ("a: &x {b: 1}\nc: *x\nd: {<<: *x, b: 2}", "map[a:map[b:1] c:map[b:1] d:map[b:2]]"),
    ("a: |\n  x\nb: >-\n  x\n  y", "map[a:x\n b:x y]"),
    ("a: !!str 1\nb: !foo bar", "map[a:1 b:bar]"),
    ("a: 1\n---\nb: 2", "map[a:1]"),
    ("", "<nil>"),
    ("# nothing", "<nil>"),
]


@pytest.mark.parametrize(("text", "printed"), READ)
def test_texts_are_read_as_by_yaml_v3(text: str, printed: str) -> None:
    """Booleans of YAML 1.2, octals of 1.1, dates as times, the first document only."""
    assert to_text(from_yaml(RUN, text)) == printed


def test_numbers_have_gos_types() -> None:
    """Integers are int, or uint64 where they must; a map with other keys is a map of any."""
    assert from_yaml(RUN, "5") == Int(5)
    types = [go_type(from_yaml(RUN, text)) for text in ("5", "9223372036854775808", "1.0", "1: a")]
    assert types == ["int", "uint64", "float64", "map[interface {}]interface {}"]


def test_dates_are_times_with_methods() -> None:
    """They have the methods of Go's time.Time, and are written as they were read."""
    assert render_text('{{ (fromYaml "2024-05-06").Year }}', {}) == "2024"
    assert render_text('{{ fromYaml "2024-05-06" | toYaml }}', {}) == "2024-05-06T00:00:00Z\n"


BROKEN = [
    ("a: 1\na: 2", 'line 2: mapping key "a" already defined at line 1'),
    ("a: b: c", "mapping values are not allowed"),
    ("[a, b", "line 1"),
    ("*x", "x"),
    ("a: &x [*x]", "value contains itself"),
    ("a: 1\nb: !!int 2", "line 2: fromYaml knows no tag !!int"),
]


@pytest.mark.parametrize(("text", "cause"), BROKEN)
def test_invalid_yaml_is_an_error(text: str, cause: str) -> None:
    """Also duplicate keys and endless aliases."""
    with pytest.raises(CallError) as caught:
        from_yaml(RUN, text)
    assert cause in caught.value.text
