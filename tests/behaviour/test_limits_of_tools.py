"""The operator's limits hold in every command that runs programs, by the same names."""

import json
from dataclasses import replace
from pathlib import Path
from textwrap import indent

import click
import pytest
from support import one_step
from support.commands import Run

from function_script import documents
from function_script.cli import commands
from function_script.cli.options import list_commands
from function_script.request.limits import LIMITS, Limits
from function_script.tools import local_pool
from function_script.tools.playground.folders import Folder, Mirror
from function_script.tools.playground.workbench import RenderSession
from function_script.tools.render import renderer

COMMANDS = (
    *("serve", "run", "template", "render", "render operation", "test", "playground", "krm"),
)
LOOP = """\
apiVersion: script.fn.crossplane.io/v1beta1
kind: StarlarkScript
script: |
  def main(req):
      for i in range(1000000000):
          pass
"""
TEMPLATE = """\
apiVersion: script.fn.crossplane.io/v1beta1
kind: JinjaTemplate
inline: |
  {% for i in range(900) %}{% endfor %}
"""


def project(path: Path, step_input: str) -> Path:
    """Write a directory that `render` takes, with a case."""
    (path / "composition.yaml").write_text(one_step.HEAD + indent(step_input, " " * 6))
    (path / "xr.yaml").write_text(one_step.XR)
    (path / "one.case.yaml").write_text("expect: {}\n")
    (path / "input.yaml").write_text(step_input)
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_command_has_the_operators_flags_and_their_variables(name: str) -> None:
    options = {
        flag: option
        for (command, *_), each in list_commands(commands)
        for option in (each.params if command == name else ())
        if isinstance(option, click.Option)
        for flag in option.opts
    }
    for limit in LIMITS.values():
        variable = f"FUNCTION_SCRIPT_{limit.flag[2:].replace('-', '_').upper()}"
        assert variable in options[limit.flag].envvar
    assert "FUNCTION_SCRIPT_TIMEOUT" in options["--time-limit"].envvar
    assert {"--seed-file", "--default-ttl"} <= {*options}


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["render", "."], id="render"),
        pytest.param(["test", "."], id="test"),
        pytest.param(["template", "input.yaml"], id="template"),
    ],
)
def test_limit_names_its_flag_in_the_tools(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(project(tmp_path, TEMPLATE))
    assert "set by --steps-limit" in run(*arguments, "--steps-limit", "500", code=1).text


def test_flag_of_all_steps_is_not_blamed_for_the_limit_of_one(tmp_path: Path, run: Run) -> None:
    flags = ("--timeout", "30s", "--time-limit", "100ms")
    text = run("render", project(tmp_path, LOOP), *flags, code=1).text
    assert "CPU time than its limit of 0.1 s" in text
    assert "set by --time-limit" in text
    assert "--timeout" not in text


def test_limit_of_a_step_is_not_blamed_for_the_time_of_all(tmp_path: Path, run: Run) -> None:
    flags = ("--timeout", "700ms", "--time-limit", "30s")
    text = run("render", project(tmp_path, LOOP), *flags, code=1).text
    assert "all steps together have 0.7 s, set by --timeout" in text
    assert "--workers" not in text


def test_variable_of_a_server_holds_in_render(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(tmp_path, LOOP)
    monkeypatch.setenv("FUNCTION_SCRIPT_TIMEOUT", "100ms")
    assert "its limit of 0.1 s" in run("render", tmp_path, code=1).text
    monkeypatch.setenv("FUNCTION_SCRIPT_TIME_LIMIT", "50ms")
    assert "its limit of 0.05 s" in run("render", tmp_path, code=1).text


@pytest.mark.parametrize("flag", ["--timeout", "--time-limit"])
def test_run_takes_both_names_of_the_limit(flag: str, run: Run) -> None:
    request = json.dumps({"input": documents.read_value(LOOP)})
    assert "its limit of 0.1 s" in run("run", flag, "100ms", stdin=request, code=1).text


# The limits of a step and of all steps, and the hint; no flag sets the latter.
PLAYGROUND = {
    "step": (0.1, 20.0, "set by --time-limit"),
    "all-steps": (20.0, 0.7, "all steps together have 0.7 s"),
}


@pytest.mark.parametrize(("step", "all_steps", "hint"), PLAYGROUND.values(), ids=PLAYGROUND)
def test_playground_has_limits_too(
    step: float, all_steps: float, hint: str, tmp_path: Path
) -> None:
    files = {"composition.yaml": project(tmp_path, LOOP).joinpath("composition.yaml").read_text()}
    limits = Limits(timeout_seconds=step)
    with local_pool.open_pool(options=replace(local_pool.OPTIONS, limits=limits)) as pool:
        session = RenderSession(
            pool, Mirror(tmp_path / "page"), renderer.Options(timeout_seconds=all_steps)
        )
        page = session.render({**files, "xr.yaml": one_step.XR}, Folder(None))
    assert page["problems"][0]["hint"].endswith(hint)
