import json
import re

import pytest
from support.paths import ROOT

from function_script import documents
from function_script.texts.errors import FatalError

CORPUS = ROOT.parent / "shared" / "corpus" / "yaml"

# Texts that Kubernetes accepts and this reader rejects, with its message.
REFUSED = {
    # By YAML's own rule the explicit key counts.
    "yaml/047": "the key 'b' is before the << that has it, too",
    "yaml/049": "duplicate key 'a'",
    "yaml/050": "the tag !!binary is not supported",
    "yaml/054": "the tag !foo is not supported",
    "yaml/055": "the tag !!timestamp is not supported",
    "yaml/056": "the tag !!set is not supported",
    "yaml/057": "the tag !!omap is not supported",
    "yaml/107": "more than one document",
    "yaml/109": "did not find expected <document start>",
    "yaml/112": "more than one document",
    "yaml/117": "duplicate key 'a'",
    "yaml/157": "duplicate key '1'",
    "yaml/173": "more than one document",
}
# Texts that Kubernetes rejects and this reader accepts, with the value.
ACCEPTED = {
    # libyaml knows the escape \/ of JSON; Go's parser does not.
    "yaml/075": {"a": "xéA/"},
    "yaml/208": {"a": "/"},
    # The version of YAML is announced, nothing in it is read differently.
    "yaml/108": {"a": True},
}


def _rows() -> list[dict[str, str]]:
    path = CORPUS / "resolver-cases.jsonl"
    lines = path.read_text().split("\n") if path.exists() else []
    return [json.loads(line) for line in lines if line]


ROWS = _rows()


def _read(text: str) -> object:
    return documents.read_value(text.removeprefix("\ufeff"))


def _exact(value: object) -> str:
    """Return a text that differs for 1, 1.0 and true, which are equal in Python."""
    return json.dumps(value, sort_keys=True)


def _number(digits: str) -> float:
    """Parse a number; Go prints doubles beyond 64 bits like integers."""
    number = int(digits)
    return number if -(2**63) <= number < 2**64 else float(number)


@pytest.mark.skipif(not ROWS, reason="the corpus is not there")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_text_is_read_as_kubernetes_reads_it(row: dict[str, str]) -> None:
    """Value for value and error for error, except for the differences listed above."""
    if row["id"] in REFUSED:
        with pytest.raises(FatalError, match=re.escape(REFUSED[row["id"]])):
            _read(row["text"])
    elif row["id"] in ACCEPTED:
        assert _read(row["text"]) == ACCEPTED[row["id"]]
    elif "error" in row:
        with pytest.raises(FatalError):
            _read(row["text"])
    else:
        expected = json.loads(row["json"], parse_int=_number)
        assert _exact(_read(row["text"])) == _exact(expected)


@pytest.mark.skipif(not ROWS, reason="the corpus is not there")
def test_listed_difference_differs() -> None:
    rows = {row["id"]: row for row in ROWS}
    assert all("json" in rows[name] for name in REFUSED)
    assert all("error" in rows[name] for name in ACCEPTED)


# Rows for each rule of the resolver: the corpus may be absent.
OWN = [
    ("a: yes", {"a": True}),
    ("a: Off", {"a": False}),
    ("a: y1", {"a": "y1"}),
    ("a: ~", {"a": None}),
    ("a: nULL", {"a": "nULL"}),
    ("a: 0777", {"a": 511}),
    ("a: 0o17", {"a": 15}),
    ("a: 0B11", {"a": 3}),
    ("a: 08", {"a": 8}),
    ("a: -0x1F", {"a": -31}),
    ("a: 1_000", {"a": 1000}),
    ("a: _1", {"a": "_1"}),
    ("a: 1e3", {"a": 1000}),
    ("a: .5", {"a": 0.5}),
    ("a: 1e400", {"a": "1e400"}),
    ("a: 12:30:00", {"a": "12:30:00"}),
    ("a: 2020-01-01", {"a": "2020-01-01"}),
    ("a: 18446744073709551615", {"a": 2**64 - 1}),
    ("a: 18446744073709551616", {"a": 2.0**64}),
    ("a: +9223372036854775808", {"a": 2.0**63}),
    ("a: -9223372036854775809", {"a": -(2.0**63)}),
    ("a: 0x10000000000000000", {"a": "0x10000000000000000"}),
    (f"a: {'1' * 5000}", {"a": "1" * 5000}),
    (f"a: 0x{'0' * 5000}1", {"a": 1}),
    ("on: 1", {"true": 1}),
    ("0x10: a", {"16": "a"}),
    ("1.50: a", {"1.5": "a"}),
    ("1e30: a", {"1e+30": "a"}),
    ("0.00001: a", {"1e-05": "a"}),
    ("a: !!str 1", {"a": "1"}),
    ('a: !!int "3"', {"a": 3}),
    ("a: !!float 3", {"a": 3}),
    ("a: !!bool 'no'", {"a": False}),
    ("a: !!null ''", {"a": None}),
    ("a: ! 1", {"a": "1"}),
    ("a: !!map {b: !!seq [1]}", {"a": {"b": [1]}}),
    ("a: '1'", {"a": "1"}),
    ('"on": 1', {"on": 1}),
    ("a: <<", {"a": "<<"}),
    ("'<<': 1", {"<<": 1}),
    ("&k a: 1\nb: *k", {"a": 1, "b": "a"}),
    ("x: &k a\n*k : 1", {"x": "a", "a": 1}),
    ("x: &x {b: 1}\nz: {<<: *x, b: 2, c: 3}", {"x": {"b": 1}, "z": {"b": 2, "c": 3}}),
    ("x: &x {b: 1}\nz: {<<: [*x, {b: 2, d: 4}]}", {"x": {"b": 1}, "z": {"b": 1, "d": 4}}),
    ("- a\n- 1", ["a", 1]),
    ("text", "text"),
    ("# only a comment", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "expected"), OWN)
def test_rule_of_resolver(text: str, expected: object) -> None:
    """Tags, keys and merges, each by an example."""
    assert _exact(_read(text)) == _exact(expected)
