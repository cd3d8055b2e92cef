"""How long `render` takes, from start to exit: CPU time, processes of the sandbox included.

On two CPUs the clock may show less of it, for the sandbox starts beside the command.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from support import one_step
from support.timing import takes_less

SCRIPT = """\
          def thing(i):
              return {
                  "apiVersion": "s3.example.org/v1",
                  "kind": "Bucket",
                  "metadata": {"labels": {"n": str(i)}},
                  "spec": {"region": "eu", "tags": {"a": "b", "i": str(i)}, "list": [1, {"x": i}]},
              }

          def main(req):
              count = req["observed"]["composite"]["resource"]["spec"]["count"]
              things = {"thing-%d" % i: {"resource": thing(i)} for i in range(count)}
              return {"desired": {"resources": things}}
"""
DOCUMENT = """\
          ---
          apiVersion: s3.example.org/v1
          kind: Bucket
          metadata:
            annotations: {script.fn.crossplane.io/composition-resource-name: "thing-@"}
            labels: {n: "@"}
          spec:
            region: eu
            tags: {a: b, i: "@"}
            list:
              - 1
              - x: @
"""
JINJA = "          {% for i in range(xr.spec.count) %}\n" + DOCUMENT.replace("@", "{{ i }}")
GO = "          {{ range $i := until (int .xr.spec.count) }}\n" + DOCUMENT.replace("@", "{{ $i }}")
PROGRAMS = {
    "StarlarkScript": ("script", SCRIPT),
    "JinjaTemplate": ("inline", JINJA + "          {% endfor %}\n"),
    "GoTemplate": (
        "inline",
        GO.replace(".xr.", ".observed.composite.resource.") + "          {{ end }}\n",
    ),
}


@pytest.mark.serial
@pytest.mark.parametrize("kind", PROGRAMS)
@pytest.mark.parametrize(("count", "limit_seconds"), [(50, 0.45), (500, 0.6)])
def test_render_is_quick(tmp_path: Path, kind: str, count: int, limit_seconds: float) -> None:
    """A composition of 50 resources, and of 500, in every language."""
    field, program = PROGRAMS[kind]
    (tmp_path / "xr.yaml").write_text(f"{one_step.XR}spec: {{count: {count}}}\n")
    text = one_step.composition(kind, program, field=field)
    (tmp_path / "composition.yaml").write_text(text)
    command = ("-m", "function_script.cli", "render", str(tmp_path))
    process = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True)
    assert process.stdout.count("\nkind: Bucket\n") == count
    assert takes_less(command, limit_seconds)
