"""How long `render` takes, from start to exit: CPU time, processes of the sandbox included.

On two CPUs the clock may show less of it, for the sandbox starts beside the command.
"""

import subprocess
import sys
from pathlib import Path
from subprocess import DEVNULL

import pytest
from support import one_step
from support.commands import Run
from support.timing import takes_less

from function_script.cli import execute
from function_script.tools import local_pool

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
def test_render_is_quick(tmp_path: Path, kind: str, run: Run) -> None:
    """A composition of 500 resources, in every language; tests/unit/cli/test_cli.py has few."""
    count = 500
    field, program = PROGRAMS[kind]
    (tmp_path / "xr.yaml").write_text(f"{one_step.XR}spec: {{count: {count}}}\n")
    text = one_step.composition(kind, program, field=field)
    (tmp_path / "composition.yaml").write_text(text)
    assert run("render", tmp_path).out.count("\nkind: Bucket\n") == count
    assert takes_less(("-m", "function_script.cli", "render", str(tmp_path)), 0.6)


_COUNT_OF_COMMAND = """
import atexit, sys
def show():
    print(*sorted(sys.modules), file=sys.stderr)
atexit.register(show)
from function_script.__main__ import main
main()
"""
_COUNT_OF_WORKER = """
import sys
from pathlib import Path
from function_script.request.limits import Limits
from function_script.sandbox import zygote, zygote_config
from function_script.sandbox.zygote_config import ZygoteConfig
preload, request = sys.argv[1].split(), Path(sys.argv[2]).read_bytes()
config = ZygoteConfig(
    module="function_script.step.function",
    preload=tuple(preload),
    warmup_requests=(request,),
    limits=Limits(),
    max_runs=1,
    capacity_bytes=1,
)
zygote_config.load_handler(config)
print(*sorted(sys.modules), file=sys.stderr)
"""


def modules_of(*command: str | Path) -> set[str]:
    """The modules that a process lists as the last line of stderr."""
    process = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=True, stdin=DEVNULL
    )
    return set(process.stderr.splitlines()[-1].split())


def test_render_of_the_starter_imports_what_it_needs(tmp_path: Path) -> None:
    """An import is most of the time that `render` of a small project takes."""
    starter = tmp_path / "starter"
    assert execute(["init", str(starter)]) == 0
    modules = modules_of("-c", _COUNT_OF_COMMAND, "render", starter)
    for name in ("celpy", "grpc", "jinja2", "starlark"):
        assert name not in modules
    ours = {name for name in modules if name.startswith("function_script.")}
    commands = {name for name in ours if name.startswith("function_script.cli.")}
    assert "function_script.cli.serve" not in commands
    assert not {name for name in ours if name.startswith("function_script.engines.library")}
    assert not {name for name in ours if name.startswith("function_script.contribution")}
    assert len(ours) <= 170
    assert len(modules) <= 480


@pytest.mark.linux
def test_worker_of_the_starter_imports_one_language(tmp_path: Path) -> None:
    from function_script.server import lifecycle  # noqa: PLC0415 - the server runs on Linux alone

    starter = tmp_path / "starter"
    assert execute(["init", str(starter)]) == 0
    (request,) = lifecycle.build_warmup_requests()[:1]
    (tmp_path / "request").write_bytes(request)
    engines = local_pool.engines_in([(starter / "composition.yaml").read_text()])
    modules = modules_of("-c", _COUNT_OF_WORKER, " ".join(engines), tmp_path / "request")
    for name in ("google.protobuf", "jinja2", "jsonschema", "click", "importlib.resources"):
        assert name not in modules
    assert len(modules) <= 330
