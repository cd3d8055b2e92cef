"""Values to YAML text, and back."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from support.example_counts import examples

from function_script.documents import read_stream, read_value, to_yaml, to_yaml_stream

WORDS = "unready resources " * 6
WRITTEN = [
    pytest.param({}, "{}\n", id="empty-object"),
    pytest.param([], "[]\n", id="empty-list"),
    pytest.param("text", "text\n", id="scalar"),
    pytest.param("a\nb", "|-\n  a\n  b\n", id="block"),
    pytest.param(
        {"kind": "A", "apiVersion": "v1", "spec": {}, "x": None, "y": [], "z": True},
        'apiVersion: v1\nkind: A\nspec: {}\nx: null\n"y": []\nz: true\n',
        id="sorted-and-empty",
    ),
    pytest.param(
        {"a": {"b": [{"c": 1, "d": [2, [3, 4]]}, "e", [{"f": 1}]]}},
        "a:\n  b:\n  - c: 1\n    d:\n    - 2\n    - - 3\n      - 4\n  - e\n  - - f: 1\n",
        id="lists-are-not-indented",
    ),
    pytest.param(
        {"a": "x\ny\n", "b": "x\ny", "c": "x\n\n", "d": " x\ny", "e": "\nx", "f": "\n"},
        "a: |\n  x\n  y\nb: |-\n  x\n  y\nc: |+\n  x\n\nd: |2-\n   x\n  y\n"
        "e: |2-\n\n  x\nf: |2+\n\n",
        id="blocks",
    ),
    pytest.param(
        ["a\n\n  b\n", {"c": "d\ne"}],
        "- |\n  a\n\n    b\n- c: |-\n    d\n    e\n",
        id="blocks-in-lists",
    ),
    pytest.param(
        ["a\tb", "a \nb", "\r\n", "\u2028", "😀", "\x01", "\ufeff", "a\n\x01"],
        '- "a\\tb"\n- "a \\nb"\n- "\\r\\n"\n- "\\L"\n- "\\U0001F600"\n- "\\x01"\n'
        '- "\\uFEFF"\n- "a\\n\\x01"\n',
        id="escapes",
    ),
    pytest.param(
        ["é", "日本", "10.0.0.0/16", "1.2.3", "a:b", "a#b", "-x", "1Gi", "v1", "None", "tRue"],
        "- é\n- 日本\n- 10.0.0.0/16\n- 1.2.3\n- a:b\n- a#b\n- -x\n- 1Gi\n- v1\n- None\n- tRue\n",
        id="plain",
    ),
    pytest.param(
        ["- a", "a: b", "a #b", "@a", "a:", " a", "a ", "it's: x", "{a}", "*a", "%a", "--- a"],
        "- '- a'\n- 'a: b'\n- 'a #b'\n- '@a'\n- 'a:'\n- ' a'\n- 'a '\n- 'it''s: x'\n- '{a}'\n"
        "- '*a'\n- '%a'\n- '--- a'\n",
        id="single-quotes",
    ),
    pytest.param(
        [1, -1, 1.5, 1.0, 1e6, 1234567.5, 1e-7, 0.0001, -0.0, 2**63, 1e21, 123456.5],
        "- 1\n- -1\n- 1.5\n- 1\n- 1e+06\n- 1.2345675e+06\n- 1e-07\n- 0.0001\n- -0\n"
        "- 9223372036854775808\n- 1e+21\n- 123456.5\n",
        id="numbers",
    ),
    pytest.param(
        {"a10": 1, "a9": 1, "B": 1, "b": 1, "_": 1, "1": 1, "a-b": 1, "a": 1, "a.b": 1},
        '_: 1\n"1": 1\nB: 1\na: 1\na-b: 1\na.b: 1\na9: 1\na10: 1\nb: 1\n',
        id="keys-in-the-order-of-go",
    ),
    pytest.param({"a: b": {"c\nd": [1]}}, "'a: b':\n  \"c\\nd\":\n  - 1\n", id="quoted-keys"),
    pytest.param(
        {"k" * 130: {"a": 1}, "l" * 130: 1},
        f"? {'k' * 130}\n:\n  a: 1\n? {'l' * 130}\n: 1\n",
        id="long-keys",
    ),
    pytest.param(
        {"message": f"{WORDS}end"},
        f"message: {WORDS[:79].rstrip()}\n  resources unready resources end\n",
        id="long-scalar-is-broken-at-the-first-blank-beyond-column-80",
    ),
    pytest.param(
        {"a": [{"message": f"x: {WORDS}end"}]},
        f"a:\n- message: 'x: {WORDS[:72].rstrip()}\n    unready resources unready resources end'\n",
        id="long-quoted-scalar-in-a-list",
    ),
    pytest.param({"a": "x" * 100}, f"a: {'x' * 100}\n", id="long-scalar-without-a-blank"),
]


@pytest.mark.parametrize(("value", "expected"), WRITTEN)
def test_to_yaml_has_style_of_kubernetes(value: object, expected: str) -> None:
    assert to_yaml(value) == expected  # type: ignore[arg-type] # literals of plain values


AMBIGUOUS = (
    ". y Y yes Yes n No on OFF true True FALSE null Null ~ 0 1 -1 +1 0777 0o7 0x1F 0b1 08 1_000 1e3"
    " 1.5 .5 1. 1e400 .inf -.Inf .nan 12:30:00 1:30 2020-01-01 2020-1-1 2020-01-01T10:00:00Z = <<"
)


@pytest.mark.parametrize("text", ["", *AMBIGUOUS.split()[1:]])
def test_to_yaml_quotes_ambiguous_string(text: str) -> None:
    """YAML 1.1 or 1.2 would read it as another type, as a value or as a key."""
    assert to_yaml({"a": text}) == f'a: "{text}"\n'
    assert to_yaml({text: 1}) == f'"{text}": 1\n'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {"a": ["\ud800\n"]}])
def test_to_yaml_of_value_that_json_lacks_is_rejected(value: object) -> None:
    with pytest.raises(ValueError, match=r"no place in YAML|surrogates not allowed"):
        to_yaml(value)  # type: ignore[arg-type] # wrong on purpose


def test_to_yaml_stream_has_separator_before_each_document() -> None:
    stream = to_yaml_stream([{"a": "x\n"}, {"b": 1}])
    assert stream == "---\na: |\n  x\n---\nb: 1\n"
    assert [document.value for document in read_stream(stream)] == [{"a": "x\n"}, {"b": 1}]


NASTY = [
    *AMBIGUOUS.split(), "", " ", "\n", "\n\n", "a\n", "a\n\n", "\na", " a\nb", "a \nb",
    "a\n b\n  c", "a\n---\nb", "--- a", "...",
    "#\n#", "- a", "-", "?", ": ", "'", '"', "\\", "{", "[", "!!str",
    "\x85", "\u2028", "\ufeff", "\x00", "\r", "a\r\nb", "\xa0", "😀", "x" * 2000, "k: " * 50,
    "9" * 400, "\t", "a\n\tb",
]  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=12),
    st.text("ab \n:#-'\"{}[]0123.e_", max_size=12),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), TEXTS)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def _values(scalars: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
        max_leaves=15,
    )


def _exact(value: object) -> str:
    return json.dumps(value, sort_keys=True)


@examples(150)
@given(_values(SCALARS))
def test_to_yaml_reads_back(value: object) -> None:
    text = to_yaml(value)  # type: ignore[arg-type] # made of plain values
    assert _exact(read_value(text)) == _exact(value)
    assert _exact(yaml.safe_load(text)) == _exact(value)


@examples(50)
@given(st.dictionaries(TEXTS, FLOATS))
def test_to_yaml_of_double_reads_back_exactly(value: dict[str, float]) -> None:
    assert read_value(to_yaml(dict(value))) == value


@examples(30)
@given(st.lists(st.dictionaries(TEXTS, _values(SCALARS), max_size=3), max_size=4))
def test_to_yaml_stream_reads_back(value: list[dict[str, object]]) -> None:
    named = [{"a": item} for item in value]
    stream = to_yaml_stream(named)  # type: ignore[arg-type] # made of plain values
    assert _exact([document.value for document in read_stream(stream)]) == _exact(named)


@given(st.text(alphabet="ab '\"\\:\n\tÄ#", max_size=400))
def test_to_yaml_of_long_scalar_reads_back(text: str) -> None:
    value = {"key": [{"inner": text}, text]}
    assert read_value(to_yaml(value)) == value  # type: ignore[arg-type] # plain values


@pytest.mark.parametrize("code", [0x202A, 0x202E, 0x2066, 0x2069])
def test_characters_that_override_the_direction_are_escaped(code: int) -> None:
    """A text with them looks like another one, also in a block of several lines."""
    for text in (f"a{chr(code)}b", f"a\n{chr(code)}b\n"):
        written = to_yaml({"key": text})
        assert chr(code) not in written
        assert read_value(written) == {"key": text}
