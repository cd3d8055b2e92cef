"""`render` from files to text: the real sandbox, positions in the author's files."""

import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import grpc
import pytest
from support.case_projects import COMPOSITION, XR
from support.docker_command import DockerCommand
from support.function_servers import serving

from function_script import documents
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.objects import find_path
from function_script.request.values import Object
from function_script.texts import diagnostics
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, InputError, ProgramError
from function_script.texts.source import Source
from function_script.tools import local_pool
from function_script.tools.render import command, loading, renderer
from function_script.tools.render.output import OutputOptions
from function_script.tools.render.runtimes.servers import Servers

HEAD = f"# A comment, so that lines differ.\n---\n{COMPOSITION}"

STEP = """\
  - step: things
    functionRef:
      name: function-script
    input:
      apiVersion: script.fn.crossplane.io/v1beta1
      kind: StarlarkScript
"""

SCRIPT = """\
      script: |
        def main(req):
            print("made by hand")
            thing = {"apiVersion": "v1", "kind": "Thing", "text": "a\\nb\\n"}
            return {
                "desired": {"resources": {"thing": {"resource": thing}}},
                "context": {"seen": req["context"]},
            }
"""


def example(path: Path, step: str = STEP + SCRIPT, **files: str) -> loading.RenderPaths:
    """An example's directory with these files beside XR and Composition."""
    texts = {"xr.yaml": XR, "composition.yaml": HEAD + step}
    texts |= {f"{name}.yaml": text for name, text in files.items()}
    for name, text in texts.items():
        (path / name).write_text(text)
    return loading.find_render_paths(path)


def render(paths: loading.RenderPaths, **options: object) -> str:
    """The text that `render` prints, with all extras."""
    sections = OutputOptions(full_xr=True, results=True, context=True)
    own = {field.name for field in fields(command.Options)}
    parts = {"output": sections, **{key: each for key, each in options.items() if key in own}}
    rendering = renderer.Options(**{key: options[key] for key in options.keys() - own})

    def report(problem: Diagnostic, severity: str) -> None:
        rendering.print(f"{diagnostics.to_frame(problem, severity)}\n")

    programs = paths.programs or local_pool.programs_beside(paths.composition)
    with local_pool.open_pool(programs) as pool:
        run_options = command.Options(report=report, rendering=rendering, **parts)
        blame = command.render_composition(paths, run_options, pool)
        return documents.to_yaml_stream(blame.documents)


def objects_in(text: str) -> list[Object]:
    """The documents of a stream."""
    return [document.value for document in documents.read_source(Source(name="", text=text))]


def test_directory_is_rendered(tmp_path: Path) -> None:
    printed: list[str] = []
    text = render(example(tmp_path), print=printed.append)
    assert [document["kind"] for document in objects_in(text)] == [
        "XThing",
        "Thing",
        "Result",
        "Result",
        "Context",
    ]
    assert text.startswith("---\napiVersion: example.org/v1\nkind: XThing\nmetadata:\n")
    assert "text: |\n  a\n  b\n" in text
    assert "".join(printed).strip() == "made by hand"


def test_our_own_output_may_be_fed_again(tmp_path: Path) -> None:
    """What was rendered stands for what exists: the XR, results and context are left out."""
    text = render(example(tmp_path))
    again = render(example(tmp_path, observed=text))
    assert find_path(objects_in(again)[1], "metadata.name") == find_path(
        objects_in(text)[1], "metadata.name"
    )
    assert "generateName: demo-" in again


def test_context_is_given_by_files_and_values(tmp_path: Path) -> None:
    """A directory's files are named by their keys, whose parts may be directories."""
    paths = example(tmp_path)
    for key, text in (("plain", "[1, two]"), ("example.org/zone", "a: b")):
        path = tmp_path / "context" / f"{key}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    paths = loading.find_render_paths(tmp_path)
    context = objects_in(render(paths))[-1]
    assert find_path(context, "fields.seen") == {
        "plain": [1, "two"],
        "example.org/zone": {"a": "b"},
    }


def problems(paths: loading.RenderPaths) -> list[str]:
    """Where the problems are, relative to the example's directory."""
    with pytest.raises(FatalError) as caught:
        render(paths)
    base = f"{paths.composition.parent}/"
    return [str(problem.span).removeprefix(base) for problem in caught.value.diagnostics]


# A script's text in the Composition, and where its mistake is there; others are in the catalogue.
MISTAKES = [
    pytest.param(
        '      script: "def main(req): return req[1]"\n', "composition.yaml:19:38", id="one-line"
    ),
    # The position comes from the field's path and not from the text of the problem.
    pytest.param(
        "      script: |\n        def main(req):\n          return {}\n      'a: b': 3\n",
        "composition.yaml:22:7",
        id="unknown-field-that-looks-like-a-message",
    ),
    pytest.param(
        "      script: |\n        def main(req):\n"
        "          return {'results': [{'severity': 'Fatal', 'message': 'no'}]}\n",
        "composition.yaml:13:5",
        id="fatal-of-the-script-is-at-its-step",
    ),
]


@pytest.mark.parametrize(("script", "place"), MISTAKES)
def test_positions_are_in_the_composition(tmp_path: Path, script: str, place: str) -> None:
    assert problems(example(tmp_path, STEP + script)) == [place]


def only_problem(paths: loading.RenderPaths) -> Diagnostic:
    with pytest.raises(FatalError) as caught:
        render(paths)
    (problem,) = caught.value.diagnostics
    return problem


DOCUMENT = """\
        ---
        apiVersion: v1
        kind: Thing
        metadata: {annotations: {script.fn.crossplane.io/composition-resource-name: one}}
"""
OTHER_PLACES = [
    pytest.param(
        "StarlarkScript",
        "      script: |\n        def f(x):\n          fail(x)\n"
        "        def main(req):\n          f(1)\n",
        "called from main at {}:23",
        id="call",
    ),
    pytest.param(
        "JinjaTemplate", f"      inline: |\n{DOCUMENT * 2}", "first at {}:21:9", id="same-name"
    ),
]


@pytest.mark.parametrize(("kind", "program", "note"), OTHER_PLACES)
def test_other_places_that_a_problem_mentions_are_in_the_composition_too(
    tmp_path: Path, kind: str, program: str, note: str
) -> None:
    step = STEP.replace("StarlarkScript", kind) + program
    notes = only_problem(example(tmp_path, step)).notes
    assert [str(each) for each in notes] == [note.format(tmp_path / "composition.yaml")]


def test_positions_in_an_author_s_own_text_stay_as_they_are(tmp_path: Path) -> None:
    """A script's message is its author's, also where it looks like one of our positions."""
    text = "read the runbook at script:2 and inline:1"
    script = f"      script: |\n        def main(req):\n          fail('{text}')\n"
    assert only_problem(example(tmp_path, STEP + script)).message == text


def test_positions_in_program_files(tmp_path: Path) -> None:
    programs = tmp_path / "programs" / "thing"
    programs.mkdir(parents=True)
    (programs / "main.star").write_text("def main(req):\n    return req[1]\n")
    step = f"{STEP}      source: FileSystem\n      fileSystem: {{dirPath: thing}}\n"
    assert problems(example(tmp_path, step)) == ["programs/thing/main.star:2:12"]


UNREADABLE = [
    pytest.param("xr", "", 'cannot load an XR from ".*xr.yaml": it holds 0 objects', id="empty"),
    pytest.param("xr", f"{XR}---\n{XR}", "it holds 2 objects instead of one", id="two"),
    pytest.param("xr", COMPOSITION, 'Composition "things": it is no XR', id="composition"),
    pytest.param("functions", XR, 'cannot use XThing "demo" as a function', id="no-function"),
]


@pytest.mark.parametrize(("name", "text", "message"), UNREADABLE)
def test_wrong_files_are_told(tmp_path: Path, name: str, text: str, message: str) -> None:
    paths = example(tmp_path, **{name: text})
    with pytest.raises(InputError, match=message):
        render(paths)


REMOTE = """\
  - step: remote
    functionRef:
      name: function-other
"""


@pytest.fixture
def address() -> Iterator[str]:
    """A function that speaks v1beta1 only, as old ones do, and makes one resource."""

    def answer(request: pb.RunFunctionRequest, _: grpc.ServicerContext) -> pb.RunFunctionResponse:
        response = pb.RunFunctionResponse(desired=request.desired)
        response.desired.resources["other"].resource.update({"apiVersion": "v1", "kind": "Other"})
        return response

    with serving(answer, "v1beta1") as served_at:
        yield served_at


def test_other_functions_are_called_at_their_address(tmp_path: Path, address: str) -> None:
    paths = example(tmp_path, STEP + SCRIPT + REMOTE)
    text = render(paths, runtimes={"function-other": address})
    kinds = [document["kind"] for document in objects_in(text)]
    assert kinds[1:3] == ["Other", "Thing"]


FUNCTION = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-other}
spec: {package: "registry.example.org/team/function-other:v1.0.0"}
"""
DOCKER = {"function-other": "docker"}


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for docker is a script")
def test_container_is_called_and_removed(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "bin").mkdir()
    docker = DockerCommand.install(folder, monkeypatch)
    docker.set_answers((["port"], 0, address, ""))
    paths = example(tmp_path, STEP + SCRIPT + REMOTE, functions=FUNCTION)
    with Servers() as servers:
        for _ in range(2):
            text = render(paths, runtimes=DOCKER, servers=servers)
            assert [document["kind"] for document in objects_in(text)][1:3] == ["Other", "Thing"]
    words = [line.split()[0] for line in docker.read_calls()]
    assert words == ["image", "run", "port", "rm"]


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for docker is a script")
def test_container_that_does_not_answer_shows_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "bin").mkdir()
    docker = DockerCommand.install(folder, monkeypatch)
    docker.set_answers((["port"], 0, "127.0.0.1:1", ""), (["logs"], 0, "panic: no\n", ""))
    paths = example(tmp_path, REMOTE, functions=FUNCTION)
    with Servers() as servers, pytest.raises(ProgramError) as caught:
        render(paths, runtimes=DOCKER, servers=servers, timeout_seconds=0.3)
    assert "panic: no" in caught.value.diagnostics[0].notes
    assert docker.read_calls()[-1] == "rm --force NAME"


def test_function_that_is_not_there_is_told(tmp_path: Path) -> None:
    """It is waited for, and after a second of silence that is said: it may be starting."""
    notes: list[str] = []
    nobody = {"function-other": "127.0.0.1:1"}
    with pytest.raises(ProgramError, match="no function answers at"):
        render(example(tmp_path, REMOTE), runtimes=nobody, timeout_seconds=1.2, print=notes.append)
    assert notes == ["waiting for function-other at 127.0.0.1:1"]


def test_place_for_a_function_that_no_step_calls_is_noted(tmp_path: Path) -> None:
    """One list of flags may serve many Compositions, but a misspelt name is told."""
    notes: list[str] = []
    paths = example(tmp_path, STEP + SCRIPT + REMOTE)
    skip = "skip"
    places = {"function-other": skip, "function-othr": skip}
    render(paths, runtimes=places, print=notes.append)
    (note,) = [note for note in notes if note.startswith("note:")]
    assert note == (
        'note: no step calls function "function-othr" of --function: did you mean "function-other"?'
    )


CLOCK = """\
  - step: clock
    functionRef:
      name: function-script
    input:
      apiVersion: gotemplating.fn.crossplane.io/v1beta1
      kind: GoTemplate
      source: Inline
      inline:
        template: |
          {{/* now is not a call here */}}
          {{ $x := .now }}{{ if true }}# {{ now | date "2006" }}{{ end }}
"""


@pytest.mark.parametrize("created", [False, True])
def test_clock_that_stands_still_is_noted(created: bool, tmp_path: Path) -> None:
    """In a cluster the XR always has a creation time."""
    notes: list[str] = []
    paths = example(tmp_path, CLOCK)
    if created:
        time = "creationTimestamp: 2026-01-02T03:04:05Z"
        paths.xr.write_text(XR.replace("metadata:\n", f"metadata:\n  {time}\n"))
    render(paths, print=notes.append)
    clock = [note for note in notes if "1970" in note]
    assert len(clock) == (0 if created else 1)
    assert created or f"now is 1970-01-01T00:00:00Z at {paths.composition}:" in clock[0]


def test_step_may_be_skipped(tmp_path: Path) -> None:
    skip = {"function-other": "skip"}
    text = render(example(tmp_path, STEP + SCRIPT + REMOTE), runtimes=skip)
    assert text == render(example(tmp_path, STEP + SCRIPT))
