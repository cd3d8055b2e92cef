"""The reader of YAML: aliases, merge keys, and texts that would take much memory or time."""

import tracemalloc
from contextlib import suppress

import pytest
import yaml
from support.timing import taking_less

from function_script import documents
from function_script.documents import errors, kubernetes_yaml
from function_script.texts.errors import DocumentError, FatalError, LimitError

MANY = "more than 200,000 values"


def _bomb(levels: int) -> str:
    """Return nested lists of nine aliases each."""
    first = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
    return first + "".join(
        f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, levels)
    )


BOMBS = [
    pytest.param(_bomb(10), f"{MANY} with aliases expanded", id="aliases"),
    pytest.param("a: &a " + "x" * 100_000 + "\nb: [" + "*a," * 10_000 + "]", "16 MiB", id="text"),
    pytest.param("a: " + "[" * 100_000, "nested more than 100 levels", id="lists"),
    pytest.param("- " * 3_000, "nested more than 100 levels", id="lists-on-a-line"),
    pytest.param("".join(" " * i + "a:\n" for i in range(2_000)), "nested more", id="maps"),
    pytest.param('{"a":' * 100_000, "nested more than 100 levels", id="json"),
    pytest.param('{"a":' * 900 + "1" + "}" * 900, "nested more", id="json-that-ends"),
    pytest.param("a: [" + "a," * 300_000 + "]", MANY, id="list"),
    pytest.param('{"a": [' + "1," * 300_000 + "1]}", MANY, id="json-list"),
]


@pytest.mark.parametrize(("text", "message"), BOMBS)
def test_bomb_is_rejected_at_once(text: str, message: str) -> None:
    """A text whose value would be huge or deep takes less than a second."""
    with taking_less(1), pytest.raises(LimitError, match=message):
        documents.read_stream(text)


def test_alias_counts_levels_of_its_value() -> None:
    text = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 150))
    with pytest.raises(LimitError, match="nested more than 100 levels"):
        documents.read_stream(text)


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "a: &a {<<: *a}"])
def test_alias_within_its_anchor_is_rejected(text: str) -> None:
    with pytest.raises(DocumentError, match="the value of the anchor &a holds itself"):
        documents.read_stream(text)


def test_alias_is_a_copy() -> None:
    value = documents.read_value("a: &a {b: [1]}\nc: *a")
    assert isinstance(value, dict)
    assert value["a"] == value["c"]
    assert value["a"] is not value["c"]


SLOW = [
    pytest.param("a: " + "1" * 200_000, id="digits"),
    pytest.param("".join(f"k{i}: v\n" for i in range(50_000)), id="keys"),
    pytest.param("a: " + "x " * 500_000, id="plain-scalar"),
    pytest.param("".join(f"k{i}: &a{i} v\n" for i in range(20_000)), id="anchors"),
    pytest.param("a: {" + "? " * 20_000 + "}", id="question-marks"),
    pytest.param("# " + "x" * 2_000_000 + "\na: 1", id="comment"),
    pytest.param("---\n" * 500_000, id="separators"),
    pytest.param('{"a": 1} ' * 4_000, id="json-objects"),
    pytest.param("{" * 500_000, id="braces"),
    pytest.param(" " * 100_000 + "}", id="indentation"),
    pytest.param("".join(f"k{i}: v\n" for i in range(50_000)) + "k0: v", id="late-duplicate"),
]


@pytest.mark.parametrize("text", SLOW)
def test_text_that_makes_parsers_quadratic_takes_no_time(text: str) -> None:
    """It is read or rejected within two seconds."""
    with taking_less(2), suppress(FatalError):
        documents.read_stream(text)


def test_long_word_takes_little_memory() -> None:
    """A regular expression that could go back at each character would hold a state for each."""
    text = "a: " + "x" * 100_000
    tracemalloc.start()
    documents.read_stream(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * len(text)


def test_parser_without_libyaml_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML's own parser has the same values and positions."""
    text = "# c\na: [yes, 0777, *b]\n".replace("*b", "'q'") + "b: &b |\n  text\nc: *b\n"
    expected = kubernetes_yaml.parse(text, nodes=100, depth=10)
    monkeypatch.setattr(errors, "Parser", yaml.SafeLoader)
    assert kubernetes_yaml.parse(text, nodes=100, depth=10) == expected
    with pytest.raises(FatalError, match="line 2: mapping values are not allowed here"):
        documents.read_value("a: 1\nb: c: d")


# Merge keys as the YAML library of Kubernetes reads them: what comes later in a map counts. The
# lenient results were compared with function-go-templating, which reads with that library.
ANCHORS = "x: &x {a: merged, c: 1, e: null}\nz: &z {a: other, d: 2}\n"
X, XZ = {"a": "merged", "c": 1, "e": None}, {"a": "merged", "c": 1, "d": 2, "e": None}
BEFORE = "the key 'a' is before the << that has it, too: the merged value counts"
TWO = "a second << in one map: both are merged, and the later one counts"

# The map `m`, its value, and its warnings.
MAPS = [
    pytest.param("{<<: *x, a: own}", {**X, "a": "own"}, [], id="before"),
    pytest.param("{a: own, <<: *x}", X, [BEFORE], id="after"),
    pytest.param("{a: merged, <<: *x}", X, [], id="after-and-equal"),
    pytest.param("{b: own, <<: *x}", {"b": "own", **X}, [], id="after-another"),
    pytest.param("{<<: *x, <<: *z}", {**XZ, "a": "other"}, [TWO], id="two"),
    pytest.param(
        "{<<: *z, a: own, <<: *x, b: 1}", {**XZ, "b": 1}, [TWO, BEFORE], id="two-around-a-key"
    ),
    pytest.param("{<<: [*x, *z]}", XZ, [], id="list"),
    pytest.param("{a: own, <<: [*x, *z], d: 9}", {**XZ, "d": 9}, [BEFORE], id="list-between"),
    pytest.param("{<<: [*x, {a: 4, b: 4}]}", {**X, "b": 4}, [], id="list-with-a-map"),
    pytest.param("{<<: []}", {}, [], id="empty-list"),
    pytest.param("{'<<': *x}", {"<<": X}, [], id="quoted"),
    pytest.param("{a: {deep: 1}, <<: {a: {b: 2}}}", {"a": {"b": 2}}, [BEFORE], id="no-deep-merge"),
    pytest.param("{<<: &w {a: 1}, v: *w}", {"a": 1, "v": {"a": 1}}, [], id="anchor-inside"),
    pytest.param("[{<<: *x, a: 1}, {a: 1}]", [{**X, "a": 1}, {"a": 1}], [], id="in-a-list"),
]


@pytest.mark.parametrize(("text", "value", "warnings"), MAPS)
def test_merge_key_overrides_earlier_keys(text: str, value: object, warnings: list[str]) -> None:
    """A lenient reader warns where the rule of YAML itself differs."""
    (document,) = documents.read_stream(f"{ANCHORS}m: {text}", lenient=True)
    assert document.value["m"] == value
    assert [warning.message for warning in document.warnings] == warnings


@pytest.mark.parametrize(("text", "value", "warnings"), MAPS)
def test_merge_key_that_is_ambiguous_is_rejected(
    text: str, value: object, warnings: list[str]
) -> None:
    """Also after a lenient reader of the same text; other maps are read the same."""
    text = f"{ANCHORS}m: {text}"
    for _ in range(3):
        documents.read_stream(text, lenient=True)
    if not warnings:
        assert documents.read_stream(text)[0].value["m"] == value
        return
    with pytest.raises(DocumentError) as caught:
        documents.read_stream(text)
    (problem,) = caught.value.diagnostics
    assert warnings[0].partition(": ")[0] in problem.message
    assert problem.hint in ("write << before the other keys", "write <<: [*one, *other]")


@pytest.mark.parametrize("text", ["1", "null", "", "[*x, 1]", "[[*x]]", "*list", "*text"])
def test_merge_key_with_other_value_is_rejected(text: str) -> None:
    """An alias of a list of maps is none, either."""
    with pytest.raises(DocumentError, match="<< takes a map or a list of maps"):
        documents.read_value(f"{ANCHORS}list: &list [*x]\ntext: &text x\nm: {{<<: {text}}}")
