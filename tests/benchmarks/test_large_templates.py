"""Large Go templates, measured for a moment: generated ones, and an author's own."""

import json
import subprocess
from pathlib import Path

import pytest
from support import benchmarks

TEMPLATE = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .observed.composite.resource.metadata.name }}
  annotations:
    gotemplating.fn.crossplane.io/composition-resource-name: one
"""
XR = "apiVersion: example.org/v1\nkind: XApp\nmetadata: {name: app}\n"


def run(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run the benchmark with one program of each template."""
    output = str(folder / "report.json")
    few = ("--programs", "1", "--later", "2", "--output", output)
    return benchmarks.run("large_templates.py", *few, *flags)


@pytest.mark.serial
def test_templates_of_an_author_are_measured_in_place_of_generated_ones(tmp_path: Path) -> None:
    template, xr = tmp_path / "one.gotmpl", tmp_path / "xr.yaml"
    template.write_text(TEMPLATE)
    xr.write_text(XR)
    other = tmp_path / "two.gotmpl"
    other.write_text(f"{TEMPLATE}---\n{TEMPLATE}")

    flags = [*("--template", str(template), str(xr)), *("--template", str(other), str(xr))]
    result = run(tmp_path, *flags)
    assert result.returncode == 0, result.stderr

    one, two = json.loads((tmp_path / "report.json").read_text())
    assert (one["template"], two["template"]) == ("one.gotmpl", "two.gotmpl")
    assert (one["tokens"], two["tokens"]) == (10, 18)
    assert len(one["function-script"]) == len(("first", "later"))


def test_template_that_renders_no_resource_ends_the_run(tmp_path: Path) -> None:
    template, xr = tmp_path / "none.gotmpl", tmp_path / "xr.yaml"
    template.write_text("{{ if false }}x{{ end }}")
    xr.write_text(XR)

    result = run(tmp_path, "--template", str(template), str(xr))
    assert result.returncode == 1
    assert "the response has 0 resources" in result.stderr
