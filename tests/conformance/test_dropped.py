"""`check` says what Crossplane does not take from a pipeline, of an XR that is no legacy one."""

from pathlib import Path

import pytest
from support import one_step
from support.commands import Run

LINES = (
    'rsp.resource("a", {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "b"}})',
    'rsp.connection_details({"a": "b"})',
)


@pytest.mark.parametrize("scope", ["LegacyCluster", "Namespaced"])
@pytest.mark.parametrize("line", LINES, ids=["namespace", "details"])
def test_value_that_crossplane_drops_is_a_warning(
    line: str, scope: str, tmp_path: Path, run: Run
) -> None:
    script = f"def main(req):\n    rsp = response()\n    {line}\n    return rsp\n"
    text = one_step.composition("StarlarkScript", script, field="script")
    (tmp_path / "composition.yaml").write_text(text)
    xrd = one_step.xrd("spec: {type: object, properties: {a: {type: string}}}")
    (tmp_path / "xrd.yaml").write_text(xrd.replace("  group:", f"  scope: {scope}\n  group:", 1))
    assert ("warning: Crossplane" in run("check", tmp_path).out) == (scope == "Namespaced")
