"""A folder on the page renders as `render` does, and its waiting resources are known."""

import json
import shutil
import socket
import time
from collections.abc import Iterator
from concurrent import futures
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from support import one_step
from support.commands import Run
from support.paths import ROOT

from function_script.request.limits import Limits
from function_script.texts.errors import InputError
from function_script.tools import local_pool
from function_script.tools.playground.server import Playground
from function_script.tools.render import remote
from function_script.tools.validate.evaluator import EVALUATOR

EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def playground() -> Iterator[Playground]:
    """A playground of all examples."""
    with Playground(EXAMPLES, 0) as served:
        yield served


def render(playground: Playground, folder: str, files: dict[str, str] | None = None) -> Any:
    """Render a folder with texts over its files."""
    return playground.handle("/api/render", {"folder": folder, "files": {**(files or {})}})


@pytest.mark.parametrize(
    "name", ["program-in-context", "required-resources", "credentials", "filesystem-source"]
)
def test_folder_renders_as_the_command_does(playground: Playground, name: str, run: Run) -> None:
    result = render(playground, name)
    rendered = run("render", EXAMPLES / name, "-x").out
    assert "".join(f"---\n{item['yaml']}" for item in result["documents"]) == rendered
    assert result["problems"] == []


XRD = one_step.xrd(
    """\
spec:
  type: object
  properties: {region: {type: string, default: from-the-xrd}}
  x-kubernetes-preserve-unknown-fields: true""",
    "App",
    "platform.example.org",
)


def test_xrd_beside_the_composition_is_that_of_the_command(tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "app"
    shutil.copytree(EXAMPLES / "starlark-status", folder)
    (folder / "definition.yaml").write_text(XRD)
    rendered = run("render", folder, "-x").out
    assert "region: from-the-xrd" in rendered
    with Playground(folder, 0) as playground:
        result = render(playground, folder.name)
    assert "".join(f"---\n{item['yaml']}" for item in result["documents"]) == rendered


def test_schemas_are_those_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "app"
    shutil.copytree(EXAMPLES / "starlark-status", folder)
    gvk = {"group": "example.org", "version": "v1", "kind": "Thing"}
    schema = {"type": "object", "x-kubernetes-group-version-kind": [gvk], "description": "Seen."}
    (folder / "schemas").mkdir()
    text = json.dumps({"components": {"schemas": {"thing": schema}}})
    (folder / "schemas" / "openapi.json").write_text(text)
    head = (folder / "composition.yaml").read_text().partition("script: |\n")[0]
    script = """
        def main(req):
            rsp = response()
            rsp.require_schema("thing", "example.org/v1", "Thing")
            print(req["required_schemas"] if "required_schemas" in req else "none")
            return rsp.build()
"""
    (folder / "composition.yaml").write_text(f"{head}script: |{script}")
    with Playground(tmp_path, 0) as served:
        assert "Seen." in render(served, "app")["printed"]


def test_waiting_resources_have_their_reason(playground: Playground) -> None:
    EVALUATOR._slow_seconds = 99
    result = render(playground, "starlark-order")
    assert result["waiting"] == [{"name": "instance", "reason": "for subnets"}]
    (node,) = [node for node in result["graph"]["nodes"] if node["state"] == "waiting"]
    assert node == {
        "id": "resource/instance",
        "name": "instance",
        "kind": "",
        "state": "waiting",
        "note": "for subnets",
    }
    assert ["resource/instance", "resource/subnets"] in result["graph"]["edges"]
    assert not EVALUATOR._slow_seconds


def test_findings_of_check_are_in_the_files_of_the_page(playground: Playground) -> None:
    files: Any = playground.handle("/api/folder", {"folder": "starlark-status"})
    text = files["files"]["composition.yaml"]["text"]
    text = text.replace("      script: |", "      modules: {a.star: b = 1}\n      script: |")
    (finding,) = render(playground, "starlark-status", {"composition.yaml": text})["problems"]
    assert (finding["severity"], finding["rule"]) == ("warning", "unused-module")
    assert finding["file"] == "composition.yaml"


def test_paths_of_the_copy_are_not_shown(playground: Playground) -> None:
    result = render(playground, "starlark-status", {"xr.yaml": "# nothing\n"})
    assert [problem["message"] for problem in result["problems"]] == [
        'cannot load an XR from "xr.yaml": it holds 0 objects instead of one'
    ]


def test_case_has_the_context(playground: Playground) -> None:
    answer: Any = playground.handle("/api/case", {"folder": "program-in-context", "files": {}})
    assert "example.org/modules" in answer["case"]
    assert "name: bucket" in answer["case"] or "bucket:" in answer["case"]


def test_case_of_saved_files_is_of_the_composition_in_the_folder(playground: Playground) -> None:
    """A copy would stay as it is when the Composition changes."""
    text = (EXAMPLES / "starlark-status" / "xr.yaml").read_text()
    for edit, keys in (("", set()), ("# edited\n", {"composition", "functions"})):
        query = {"folder": "starlark-status", "files": {"xr.yaml": text + edit}}
        answer: Any = playground.handle("/api/case", query)
        case = yaml.safe_load(answer["case"])
        assert case.keys() & {"composition", "functions"} == keys
        assert {"xr", "expect"} < case.keys()


def test_steps_that_are_left_out_are_told_beside_the_error_of_another(
    playground: Playground,
) -> None:
    text = (EXAMPLES / "error-jinja" / "composition.yaml").read_text()
    text += "  - step: elsewhere\n    functionRef:\n      name: function-elsewhere\n"
    files = {"composition.yaml": text}
    problems = render(playground, "error-jinja", files)["problems"]
    assert ["elsewhere" in problem["message"] for problem in problems] == [True, False]
    with pytest.raises(InputError, match="elsewhere"):
        playground.handle("/api/case", {"folder": "error-jinja", "files": files})


def test_port_is_the_same_for_a_directory(tmp_path: Path) -> None:
    """Drafts, which browsers keep by address, are there after a new start."""
    with Playground(tmp_path) as first, Playground(tmp_path) as second:
        address = first.authority
        assert second.authority != address
    with Playground(tmp_path) as third:
        assert third.authority == address


def test_address_that_refuses_is_known_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    started = time.monotonic()
    assert not remote.is_answering(f"127.0.0.1:{port}", 20)
    assert time.monotonic() - started < 10


def test_address_that_accepts_and_is_silent_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert not remote.is_answering(address, 0.3)


ENDLESS = """\
        def main(req):
            for i in range(1000000000):
                pass
"""


def test_cancelled_rendering_ends_at_once(tmp_path: Path) -> None:
    """The next one is not cancelled."""
    folder = tmp_path / "app"
    shutil.copytree(EXAMPLES / "starlark-status", folder)
    text = (folder / "composition.yaml").read_text()
    head = text.partition("script: |\n")[0]
    patient = replace(local_pool.OPTIONS, limits=Limits(timeout_seconds=60))
    with Playground(tmp_path, 0, pool=patient) as served:
        endless = {"composition.yaml": f"{head}script: |\n{ENDLESS}"}
        with futures.ThreadPoolExecutor() as executor:
            run = executor.submit(render, served, "app", endless)
            with pytest.raises(TimeoutError):
                run.result(timeout=1)
            started = time.monotonic()
            assert served.handle("/api/cancel", {}) == {}
            result = run.result(timeout=20)
            assert time.monotonic() - started < 10
        assert result["documents"] == []
        assert "the run was cancelled" in result["problems"][0]["message"]
        assert render(served, "app")["documents"]


def test_deferred_document_about_the_xr_is_a_note_at_the_xr(playground: Playground) -> None:
    """It is no composed resource that waits."""
    text = one_step.composition("JinjaTemplate", DEFERRED, fields="missing: Defer\n")
    files = {"composition.yaml": text, "xr.yaml": one_step.XR}
    result = render(playground, "jinja-defer", files)
    assert [each["name"] for each in result["waiting"]] == ["XThing"], result["problems"]
    (node,) = result["graph"]["nodes"]
    assert (node["id"], node["kind"]) == ("xr", "XThing")
    assert node["note"].startswith("because ")
    assert result["graph"]["edges"] == []


DEFERRED = "apiVersion: example.org/v1\nkind: XThing\nstatus: {a: {{ xr.status.unknown.place }}}\n"


def test_writers_of_a_run_are_the_lines_of_its_files(playground: Playground) -> None:
    result = render(playground, "pipeline-pass-through")
    query = {"run": result["run"]}
    answer: Any = playground.handle("/api/writers", query)
    lines = (EXAMPLES / "pipeline-pass-through" / "composition.yaml").read_text().splitlines()
    writers = {
        text.strip(): writer and (writer["step"], lines[writer["line"] - 1].strip())
        for document, each in zip(result["documents"], answer["writers"], strict=True)
        for text, writer in zip(document["yaml"].splitlines(), each, strict=True)
    }
    assert writers["allocatedStorage: 20"] == ("database", "allocatedStorage: {{ spec.size }}")
    assert writers["team: checkout"][0] == "label-everything"
    assert writers["generateName: orders-"] is None
    render(playground, "pipeline-pass-through")
    assert playground.handle("/api/writers", query) == {"writers": None}
