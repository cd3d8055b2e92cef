"""`check` points to the lines that an editor shows."""

from pathlib import Path
from textwrap import indent

import pytest
from support.check_helpers import found, ours, peer, told

# What `str.splitlines` also splits at.
SEPARATORS = ["\u2028", "\u2029", "\x85", "\x0c", "\x1c"]
SCRIPT = """\
def main(req):
    text = "%s"
    name = req["observd"]
    return {
        "desired": {"resources": {"a": {"resource": {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "same"},
        }, "depends_on": ["absent"]}}},
        "results": [{"severity": "Normal", "message": "always"}],
    }
"""
JINJA = """\
# %s {{ observed.composite.resuorce }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: same
  annotations:
    script.fn.crossplane.io/composition-resource-name: a
    script.fn.crossplane.io/depends-on: absent
---
apiVersion: meta.script.fn.crossplane.io/v1beta1
kind: Results
results:
- {severity: Normal, message: always}
"""
GO = JINJA.replace("{{ observed.", "{{ .observed.")
LANGUAGES = [
    pytest.param("StarlarkScript", "main.star", SCRIPT, id="starlark"),
    pytest.param("JinjaTemplate", "main.j2", JINJA, id="jinja"),
    pytest.param("GoTemplate", "main.gotmpl", GO, id="gotemplate"),
]


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize(("kind", "name", "program"), LANGUAGES)
def test_lines_end_at_line_feeds_only(
    tmp_path: Path, kind: str, name: str, program: str, separator: str
) -> None:
    """Every rule points to the line that an editor shows, whatever stands in a text before it."""
    directory = tmp_path / "programs" / "site"
    directory.mkdir(parents=True)
    text = ours(kind, "source: FileSystem", "fileSystem: {dirPath: site}")

    def places(mark: str) -> list[tuple[str, str]]:
        (directory / name).write_text(program % mark, encoding="utf-8")
        return [(each.rule, str(each.diagnostic.span)) for each in found(tmp_path, text).findings]

    assert places(separator) == places("é")
    rules = {rule for rule, _ in places(separator)}
    assert {"constant-name", "constant-event", "unknown-dependency"} < rules


ONE = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  annotations: {gotemplating.fn.crossplane.io/composition-resource-name: one}
data: {no: "1"}
"""
TWO = ONE.replace("name: one", "name: two")


def test_finding_in_one_of_several_templates_is_at_its_line(tmp_path: Path) -> None:
    """They are read as one text, and no author has a file of that text."""
    lines = [line for text in (ONE, TWO) for line in ("  - |", *indent(text, " " * 4).splitlines())]
    report = found(tmp_path, peer("source: Inline", "inline:", "  templates:", *lines))
    assert [told(finding)[1] for finding in report.findings if finding.rule != "program"] == [
        "10:13",
        "17:13",
        "12:12",
        "19:12",
    ]


def test_finding_in_one_of_several_files_names_the_file(tmp_path: Path) -> None:
    directory = tmp_path / "programs" / "templates"
    directory.mkdir(parents=True)
    (directory / "a.tmpl").write_text(ONE)
    (directory / "b.tmpl").write_text(TWO)
    step = peer("source: FileSystem", "fileSystem: {dirPath: /templates}")
    report = found(tmp_path, step, programs=tmp_path / "programs")
    spans = [str(finding.diagnostic.span) for finding in report.findings]
    places = ["a.tmpl:4:9", "b.tmpl:4:9", "a.tmpl:6:8", "b.tmpl:6:8"]
    assert spans == [str(directory / place) for place in places]
