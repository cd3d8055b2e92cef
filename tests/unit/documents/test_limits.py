from __future__ import annotations

import time
from contextlib import suppress

import pytest
import yaml
from support.timing import stretched

from function_script import documents
from function_script.documents import kubernetes_yaml
from function_script.errors import DocumentError, FatalError, LimitError

MANY = "more than 200,000 values"


def _bomb(levels: int) -> str:
    """Nine aliases on each level to the level before."""
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
def test_bombs_are_refused_at_once(text: str, message: str) -> None:
    """A text whose value would be huge or deep is refused within a second, by name."""
    begin = time.process_time()
    with pytest.raises(LimitError, match=message):
        documents.read_stream(text)
    assert time.process_time() - begin < stretched(1)


def test_deep_aliases_count_as_written_out() -> None:
    """Depth cannot be hidden in aliases."""
    text = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 150))
    with pytest.raises(LimitError, match="nested more than 100 levels"):
        documents.read_stream(text)


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "a: &a {<<: *a}"])
def test_values_cannot_hold_themselves(text: str) -> None:
    """An alias within its own anchor is an error."""
    with pytest.raises(DocumentError, match="the value of the anchor &a holds itself"):
        documents.read_stream(text)


def test_aliases_share_nothing() -> None:
    """What an alias stands for is a copy: a change of one leaves the other."""
    value = documents.read_value("a: &a {b: [1]}\nc: *a")
    assert isinstance(value, dict)
    assert value["a"] == value["c"]
    assert value["a"] is not value["c"]


SLOW = [
    pytest.param("a: " + "1" * 1_000_000, id="digits"),
    pytest.param("".join(f"k{i}: v\n" for i in range(50_000)), id="keys"),
    pytest.param("a: " + "x " * 500_000, id="plain-scalar"),
    pytest.param("".join(f"k{i}: &a{i} v\n" for i in range(20_000)), id="anchors"),
    pytest.param("a: {" + "? " * 20_000 + "}", id="question-marks"),
    pytest.param("# " + "x" * 2_000_000 + "\na: 1", id="comment"),
    pytest.param("---\n" * 500_000, id="separators"),
    pytest.param('{"a": 1} ' * 4_000, id="json-objects"),
    pytest.param("{" * 500_000, id="braces"),
    pytest.param("".join(f"k{i}: v\n" for i in range(50_000)) + "k0: v", id="late-duplicate"),
]


@pytest.mark.parametrize("text", SLOW)
def test_odd_texts_take_no_time(text: str) -> None:
    """Texts that make some parsers quadratic are read or refused within two seconds."""
    begin = time.process_time()
    with suppress(FatalError):
        documents.read_stream(text)
    assert time.process_time() - begin < stretched(2)


def test_without_libyaml_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML's own parser gives the same values and places, should libyaml be missing."""
    text = "# c\na: [yes, 0777, *b]\n".replace("*b", "'q'") + "b: &b |\n  text\nc: *b\n"
    quick = kubernetes_yaml.parse(text, nodes=100, depth=10)
    monkeypatch.setattr(kubernetes_yaml, "Parser", yaml.SafeLoader)
    assert kubernetes_yaml.parse(text, nodes=100, depth=10) == quick
    with pytest.raises(FatalError, match="line 2: mapping values are not allowed here"):
        documents.read_value("a: 1\nb: c: d")
