"""The rule `plain-scalar`: keys, texts and numbers that YAML 1.1 reads as another type."""

from pathlib import Path
from textwrap import indent

import pytest
from support.check_helpers import found, ours, peer, told

RULE = "plain-scalar"
PARAMS = {
    "key": ("no: 1", "4:3", 'the key no is read as "false"'),
    "key-of-one-letter": ("n: 1", "4:3", 'the key n is read as "false"'),
    "key-of-a-map": ("On: {a: 1}", "4:3", 'the key On is read as "true"'),
    "word": ("country: no", "4:12", "no is read as false"),
    "item": ("list: [se, no]", "4:14", "no is read as false"),
    "underscore": ("size: 1_000", "4:9", "1_000 is read as the number 1000"),
    "version": ("kubernetesVersion: 1.30", "4:22", "1.30 is read as the number 1.3"),
    "base-60": (
        "at: 12:30",
        "4:7",
        "12:30 is text here, and a number of base 60 to other readers of YAML 1.1",
    ),
}
SILENT = [
    '"no": "on"',
    "a: true",
    "a: FALSE",
    "a: null",
    "a: 1000",
    "a: 1.5",
    "a: 1.50",
    "version: 1.31",
    "version: 30",
    "a: nope",
    "a: 12:75",
    "a: 2024-01-01",
    "a: 12:30:aa",
    "a: !!str no",
    "a: |\n  no: 1_000",
    "a: _1_0",
]


@pytest.mark.parametrize(("line", "place", "message"), PARAMS.values(), ids=PARAMS)
def test_plain_scalar_in_an_input_of_ours_is_found(
    tmp_path: Path, line: str, place: str, message: str
) -> None:
    text = ours("StarlarkScript", "params:", f"  {line}", "script: 'def main(req): return {}'")
    report = found(tmp_path, text)
    assert [told(finding) for finding in report.findings] == [(RULE, place, message)]
    (finding,) = report.findings
    assert finding.severity == "warning"
    assert finding.diagnostic.hint.startswith('write "')


@pytest.mark.parametrize("line", SILENT)
def test_plain_scalar_that_is_what_it_seems_is_silent(tmp_path: Path, line: str) -> None:
    lines = indent(line, "  ")
    text = ours("StarlarkScript", "params:", lines, "script: 'def main(req): return {}'")
    assert not found(tmp_path, text).findings


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("enabled: no", 0),
        ("size: 1_000", 1),
        ("at: 12:30", 1),
        ("version: 1.10", 1),
        ("version: {{ 1.10 }}", 0),
        ("no: 1", 1),
        ("labels: {a: no}", 1),
        ("labels: {a: {{ xr.spec.a }}}", 0),
        ("env: [{name: DEBUG, value: on}]", 1),
        ("codes: [se, no]", 1),
        ("flags: [no, yes]", 0),
        ("text: '{{ 1 }}'", 0),
        ("{{ xr.metadata.name }}: {{ 'no' }}", 0),
        ("{% if xr.spec.a %}\n  no: 1\n  {% endif %}", 1),
        ("text: |\n    no: 1_000", 0),
        ("text: {{ 1 }}no", 0),
        ("broken: [", 0),
    ],
)
@pytest.mark.parametrize("kind", ["JinjaTemplate", "GoTemplate"])
def test_plain_scalar_in_a_template_is_found_where_it_is_certain(
    tmp_path: Path, line: str, count: int, kind: str
) -> None:
    if kind == "GoTemplate":
        line = line.replace("xr.", ".xr.").replace("{% ", "{{ ").replace(" %}", " }}")
        line = line.replace("endif", "end").replace("'no'", '"no"')
    document = f"apiVersion: v1\nkind: ConfigMap\ndata:\n  {line}\n"
    report = found(tmp_path, ours(kind, "inline: |", indent(document, "  ")))
    scalars = [finding for finding in report.findings if finding.rule == RULE]
    assert len(scalars) == count, report.findings


def test_plain_scalar_in_a_template_of_another_function_is_found_where_it_is_certain(
    tmp_path: Path,
) -> None:
    lines = ["    enabled: no", "    size: 1_000", "    n: 1", "    list: {{ 1 }}"]
    text = peer("source: Inline", "inline:", "  template: |", *lines)
    assert [told(each) for each in found(tmp_path, text).findings] == [
        (RULE, "8:5", 'the key n is read as "false"')
    ]


def test_plain_scalar_in_an_input_of_another_function_is_found_where_it_is_certain(
    tmp_path: Path,
) -> None:
    text = peer("source: Inline", "inline:", "  template: |", "    enabled: no")
    other = "apiVersion: other.fn.crossplane.io/v1beta1\nkind: Resources\nresources:\n"
    other += "- {name: a, enabled: no, size: 1_000, at: '1', labels: {a: no}, on: 1}"
    report = found(tmp_path, text, other)
    messages = [finding.diagnostic.message for finding in report.findings]
    assert messages == ["no is read as false", 'the key on is read as "true"']
