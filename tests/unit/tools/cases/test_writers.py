"""A case that fails names its own line, and the line of the program that wrote the value."""

from pathlib import Path

import pytest
from support import one_step
from support.commands import Run

COMPOSITION = one_step.composition(
    "JinjaTemplate",
    """\
apiVersion: v1
kind: ConfigMap
metadata:
  annotations: {script.fn.crossplane.io/composition-resource-name: map}
data:
  zone: north
  size: "{{ spec.size }}"
---
apiVersion: example.org/v1
kind: XThing
status:
  zone: north
""",
)
CASE = """\
xr:
  apiVersion: example.org/v1
  kind: XThing
  metadata: {name: demo, namespace: here}
  spec: {size: 2}
composition: composition.yaml
"""
CASES = {
    "value": ("resources: {map: {data: {zone: south}}}", "written at {}:19:11"),
    "field": ("resources: {map: {data: {other: x}}}", "data is written at {}:18:9"),
    "no-field": ("resources: {map: {other: x}}", "map is written at {}:14:9"),
    "resource": ("absent: [map]", "written at {}:14:9"),
    "status": ("status: {zone: south}", "written at {}:25:11"),
    "xr": ("xr: {status: {zone: south}}", "written at {}:25:11"),
    "check": ("checks: [{path: resources.map.data.size, equals: '3'}]", "written at {}:20:11"),
    "documents": ("documents: expected.yaml", "written at {}:19:11"),
}
EXPECTED = """\
apiVersion: v1
kind: ConfigMap
metadata:
  annotations: {crossplane.io/composition-resource-name: map}
data: {zone: south, size: "2"}
"""


@pytest.mark.parametrize(("expectation", "note"), CASES.values(), ids=CASES)
def test_failure_names_the_line_that_wrote_the_value(
    expectation: str, note: str, tmp_path: Path, run: Run
) -> None:
    (tmp_path / "composition.yaml").write_text(COMPOSITION)
    (tmp_path / "case.yaml").write_text(f"{CASE}expect:\n  {expectation}\n")
    (tmp_path / "expected.yaml").write_text(EXPECTED)
    text = run("test", tmp_path, code=1).out
    assert f"--> {tmp_path}/case.yaml:8:" in text
    assert f"  = {note.format(tmp_path / 'composition.yaml')}\n" in text
