"""`render` from files to text: the real sandbox, positions in the author's files."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from support import one_step
from support.case_projects import COMPOSITION, XR
from support.commands import Run
from support.docker_command import DockerCommand
from support.function_servers import serving

from function_script import documents
from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.objects import find_path
from function_script.request.values import Object
from function_script.texts.source import Source

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


# With all extras.
RENDER = ("render", "--include-full-xr", "--include-function-results", "--include-context")


def example(path: Path, step: str = STEP + SCRIPT, **files: str) -> Path:
    """An example's directory with these files beside XR and Composition."""
    for name, text in {"xr": XR, "composition": HEAD + step, **files}.items():
        (path / f"{name}.yaml").write_text(text)
    return path


def objects_in(text: str) -> list[Object]:
    """The documents of a stream."""
    return [document.value for document in documents.read_source(Source(name="", text=text))]


def test_directory_is_rendered(tmp_path: Path, run: Run) -> None:
    text, printed = run(*RENDER, example(tmp_path))
    assert [document["kind"] for document in objects_in(text)] == [
        "XThing",
        "Thing",
        "Result",
        "Result",
        "Context",
    ]
    assert text.startswith("---\napiVersion: example.org/v1\nkind: XThing\nmetadata:\n")
    assert "text: |\n  a\n  b\n" in text
    assert "made by hand\n" in printed


def test_our_own_output_may_be_fed_again(tmp_path: Path, run: Run) -> None:
    """What was rendered stands for what exists: the XR, results and context are left out."""
    text = run(*RENDER, example(tmp_path)).out
    again = run(*RENDER, example(tmp_path, observed=text)).out
    assert find_path(objects_in(again)[1], "metadata.name") == find_path(
        objects_in(text)[1], "metadata.name"
    )
    assert "generateName: demo-" in again
    (tmp_path / "observed.yaml").rename(tmp_path / "live.yaml")
    assert run(*RENDER, tmp_path, "--observed-resources", tmp_path / "live.yaml").out == again


def test_context_is_given_by_files_and_values(tmp_path: Path, run: Run) -> None:
    """Files are named by their keys, whose parts may be directories; hidden ones are not read."""
    for key, text in (("plain", "[1, two]"), ("example.org/zone", "a: b")):
        path = tmp_path / "context" / f"{key}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "context" / ".DS_Store").write_bytes(b"\xff")
    context = objects_in(run(*RENDER, example(tmp_path)).out)[-1]
    assert find_path(context, "fields.seen") == {
        "plain": [1, "two"],
        "example.org/zone": {"a": "b"},
    }


# A script's text in the Composition, and where its mistake is there; others are in the catalogue.
MISTAKES = {
    "one-line": ('      script: "def main(req): return req[1]"\n', "composition.yaml:19:38"),
    # The position comes from the field's path and not from the text of the problem.
    "unknown-field-that-looks-like-a-message": (
        "      script: |\n        def main(req):\n          return {}\n      'a: b': 3\n",
        "composition.yaml:22:7",
    ),
    "fatal-of-the-script-is-at-its-step": (
        (
            "      script: |\n        def main(req):\n"
            "          return {'results': [{'severity': 'Fatal', 'message': 'no'}]}\n"
        ),
        "composition.yaml:13:5",
    ),
    "number-that-a-double-cannot-hold": (
        '      params: {a: [1, 9007199254740993]}\n      script: "def main(req): return {}"\n',
        "composition.yaml:19:23",
    ),
}


@pytest.mark.parametrize(("script", "place"), MISTAKES.values(), ids=MISTAKES)
def test_positions_are_in_the_composition(
    tmp_path: Path, script: str, place: str, run: Run
) -> None:
    err = run(*RENDER, example(tmp_path, STEP + script), code=1).err
    assert re.findall(r"--> (.*)", err) == [f"{tmp_path}/{place}"]


DOCUMENT = """\
        ---
        apiVersion: v1
        kind: Thing
        metadata: {annotations: {script.fn.crossplane.io/composition-resource-name: one}}
"""
OTHER_PLACES = {
    "call": (
        "StarlarkScript",
        (
            "      script: |\n        def f(x):\n          fail(x)\n"
            "        def main(req):\n          f(1)\n"
        ),
        "called from main at {}:23",
    ),
    "same-name": ("JinjaTemplate", f"      inline: |\n{DOCUMENT * 2}", "first at {}:23:34"),
}


@pytest.mark.parametrize(("kind", "program", "note"), OTHER_PLACES.values(), ids=OTHER_PLACES)
def test_other_places_that_a_problem_mentions_are_in_the_composition_too(
    tmp_path: Path, kind: str, program: str, note: str, run: Run
) -> None:
    step = STEP.replace("StarlarkScript", kind) + program
    err = run(*RENDER, example(tmp_path, step), code=1).err
    assert f"= {note.format(tmp_path / 'composition.yaml')}\n" in err


def test_positions_in_an_author_s_own_text_stay_as_they_are(tmp_path: Path, run: Run) -> None:
    """A script's message is its author's, also where it looks like one of our positions."""
    text = "read the runbook at script:2 and inline:1"
    script = f"      script: |\n        def main(req):\n          fail('{text}')\n"
    err = run(*RENDER, example(tmp_path, STEP + script), code=1).err
    assert f"error: {text}\n" in err


def test_positions_in_program_files(tmp_path: Path, run: Run) -> None:
    programs = tmp_path / "programs" / "thing"
    programs.mkdir(parents=True)
    (programs / "main.star").write_text("def main(req):\n    return req[1]\n")
    step = f"{STEP}      source: FileSystem\n      fileSystem: {{dirPath: thing}}\n"
    err = run(*RENDER, example(tmp_path, step), code=1).err
    assert f"--> {programs}/main.star:2:12\n" in err


XRD_OF_ANOTHER = "apiVersion: apiextensions.crossplane.io/v2\nkind: CompositeResourceDefinition\n"
UNREADABLE = {
    "empty": ("xr", "", 'cannot load an XR from ".*xr.yaml": it holds 0 objects'),
    "two": ("xr", f"{XR}---\n{XR}", "it holds 2 objects instead of one"),
    "number": ("xr", f"{XR}  n: 9007199254740993\n", r"cannot hold exactly\n  --> .*xr.yaml:8:3"),
    "namespace": ("xr", XR.replace("here", "y"), r"not a boolean\n  --> .*xr.yaml:5:3"),
    "list": ("xr", "apiVersion: v1\nkind: List\n", r"it is a List\n  --> .*xr.yaml:2:1"),
    "composition": ("xr", COMPOSITION, 'Composition "things": it is no XR'),
    "xrd": ("xr", XRD_OF_ANOTHER, r"it is no XR\n  --> .*xr.yaml:2:1"),
    "no-xrd": ("xrd", XRD_OF_ANOTHER.replace("/v2", "/v3"), r"as XRD.*\n  --> .*xrd.yaml:1:1"),
    "no-function": (
        "functions",
        XR,
        'cannot use XThing "demo" as a function\n  --> .*functions.yaml:2',
    ),
}


@pytest.mark.parametrize(("name", "text", "message"), UNREADABLE.values(), ids=UNREADABLE)
def test_wrong_files_are_told(tmp_path: Path, name: str, text: str, message: str, run: Run) -> None:
    folder = example(tmp_path, **{name: text})
    assert re.search(message, run(*RENDER, folder, code=1).err)


def test_functions_in_place_of_a_composition_are_not_to_be_split(tmp_path: Path, run: Run) -> None:
    function = "apiVersion: pkg.crossplane.io/v1\nkind: Function\nmetadata: {name: a}\n"
    folder = example(tmp_path, composition=f"{function}---\n{function}")
    assert "hint" not in run(*RENDER, folder, code=1).err


def test_list_of_definitions_is_refused(tmp_path: Path, run: Run) -> None:
    """`kubectl get crds` writes one, with which nothing would be compared."""
    folder = example(tmp_path)
    (folder / "crds").mkdir()
    (folder / "crds" / "all.yaml").write_text("apiVersion: v1\nkind: List\nitems: []\n")
    assert "all.yaml:2:1" in run(*RENDER, folder, code=1).err


def test_folder_in_place_of_a_composition_is_told_to_name_a_file(tmp_path: Path, run: Run) -> None:
    folder = example(tmp_path)
    err = run(*RENDER, folder / "xr.yaml", folder, code=1).err
    assert "hint: name one of its files\n" in err


TYPE = '"x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "A"}]'
REQUIRED = {
    "--extra-resources": (
        "resources: {a: {api_version: v1, kind: A, match_name: canary}}",
        "{apiVersion: v1, kind: A, metadata: {name: canary}}",
    ),
    "--required-schemas": (
        "schemas: {a: {api_version: v1, kind: A}}",
        f'{{"components": {{"schemas": {{"a": {{"description": "canary", {TYPE}}}}}}}}}',
    ),
}


@pytest.mark.parametrize(("flag", "texts"), REQUIRED.items(), ids=REQUIRED)
def test_flag_has_what_a_step_requires(
    tmp_path: Path, flag: str, texts: tuple[str, str], run: Run
) -> None:
    requirement, text = texts
    (tmp_path / "required.json").write_text(text)
    script = f"""\
      script: |
        def main(req):
            texts = str([req["required_resources"], req["required_schemas"]])
            requirements = from_yaml("{requirement}")
            return {{"requirements": requirements, "context": {{"seen": "canary" in texts}}}}
"""
    folder = example(tmp_path, STEP + script)
    assert "seen: true" in run(*RENDER, folder, flag, tmp_path / "required.json").out


@pytest.mark.parametrize(
    ("text", "slip", "place"),
    [("runtime: Docker", "runtme: Docker", "7:5"), ("package", "pakage", "8:8")],
    ids=["annotation", "field"],
)
@pytest.mark.parametrize("command", ["render", "check"])
def test_misspelt_key_of_a_function_is_a_warning(
    tmp_path: Path, command: str, text: str, slip: str, place: str, run: Run
) -> None:
    """One that is like no known name may be of a newer command."""
    lines = "    render.crossplane.io/other: a\n    render.crossplane.io/runtime: Docker\n"
    head = "apiVersion: pkg.crossplane.io/v1\nkind: Function\nmetadata:\n  name: function-script\n"
    function = f"{head}  annotations:\n{lines}spec: {{package: example.org/function-script:v1}}\n"
    folder = example(tmp_path, STEP + SCRIPT, functions=function.replace(text, slip))
    printed = run(command, folder)
    (warning,) = re.findall("warning: .*\n.*", printed.out + printed.err)
    assert f"functions.yaml:{place}" in warning
    assert f'{text.partition(":")[0]}"?' in printed.out + printed.err


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


def test_other_functions_are_called_at_their_address(
    tmp_path: Path, address: str, run: Run
) -> None:
    folder = example(tmp_path, STEP + SCRIPT + REMOTE)
    text = run(*RENDER, folder, f"--function=function-other={address}").out
    kinds = [document["kind"] for document in objects_in(text)]
    assert kinds[1:3] == ["Other", "Thing"]


FUNCTION = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-other}
spec: {package: "registry.example.org/team/function-other:v1.0.0"}
"""
DOCKER = "--function=function-other=docker"


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for docker is a script")
def test_container_is_called_and_removed(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    (commands := tmp_path / "bin").mkdir()
    docker = DockerCommand.install(commands, monkeypatch)
    docker.set_answers((["port"], 0, address, ""))
    folder = example(tmp_path, STEP + SCRIPT + REMOTE, functions=FUNCTION)
    text = run(*RENDER, folder, DOCKER).out
    assert [document["kind"] for document in objects_in(text)][1:3] == ["Other", "Thing"]
    words = [line.split()[0] for line in docker.read_calls()]
    assert words == ["image", "run", "port", "rm"]


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for docker is a script")
def test_container_that_does_not_answer_shows_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    (commands := tmp_path / "bin").mkdir()
    docker = DockerCommand.install(commands, monkeypatch)
    docker.set_answers((["port"], 0, "127.0.0.1:1", ""), (["logs"], 0, "panic: no\n", ""))
    folder = example(tmp_path, REMOTE, functions=FUNCTION)
    assert "= panic: no\n" in run(*RENDER, folder, DOCKER, "--timeout=300ms", code=1).err
    assert docker.read_calls()[-1] == "rm --force NAME"


def test_function_that_is_not_there_is_told(tmp_path: Path, run: Run) -> None:
    """It is waited for, and after a second of silence that is said: it may be starting."""
    flags = ("--function=function-other=127.0.0.1:1", "--timeout=1200ms")
    err = run(*RENDER, example(tmp_path, REMOTE), *flags, code=1).err
    assert "waiting for function-other at 127.0.0.1:1\n" in err
    assert "no function answers at" in err
    assert re.search(r"name: function-other\n +\| +\^+\n", err)


SKIP = "--function=function-other=skip"


def test_place_for_a_function_that_no_step_calls_is_noted(tmp_path: Path, run: Run) -> None:
    """One list of flags may serve many Compositions, but a misspelt name is told."""
    folder = example(tmp_path, STEP + SCRIPT + REMOTE)
    flags = (folder, SKIP, "--function=function-othr=skip", "-a", "render.crossplane.io/runtme=x")
    err = run(*RENDER, *flags).err
    assert '"render.crossplane.io/runtme": did you mean "render.crossplane.io/runtime"?\n' in err
    note = 'no step calls function "function-othr" of --function: did you mean "function-other"?'
    assert err.count(f"note: {note}\n") == 1
    assert note in run(*RENDER, *flags, "--explain-functions").err
    assert "note: " not in run(*RENDER, *flags, "--quiet").err


PAUSED = 'annotations: {crossplane.io/paused: "true"}'
OBSERVED = """\
apiVersion: v1
kind: Thing
metadata:
  name: demo-gone
  namespace: here
  annotations: {crossplane.io/composition-resource-name: gone}
"""


@pytest.mark.parametrize(
    ("steps", "flags", "count"),
    [
        pytest.param(STEP + SCRIPT, (), 1, id="desired-no-longer"),
        pytest.param(STEP + SCRIPT, ("--quiet",), 0, id="quiet"),
        pytest.param(STEP + SCRIPT + REMOTE, (SKIP,), 0, id="a-step-left-out-may-desire-it"),
    ],
)
def test_observed_resource_that_no_step_desires_is_noted(
    tmp_path: Path, run: Run, steps: str, flags: tuple[str, ...], count: int
) -> None:
    """A loop over nothing gives no error, and deletes what is there."""
    err = run(*RENDER, example(tmp_path, steps, observed=OBSERVED), *flags).err
    note = 'Crossplane would delete Thing "demo-gone": no step desires the resource "gone"'
    assert err.count(f"note: {note}\n") == count


@pytest.mark.parametrize("mark", ["deletionTimestamp: 2020-01-01T00:00:00Z", PAUSED])
def test_nothing_is_desired_of_an_xr_whose_steps_do_not_run(
    tmp_path: Path, run: Run, mark: str
) -> None:
    xr = XR.replace("metadata:\n", f"metadata:\n  {mark}\n")
    assert "would delete" not in run(*RENDER, example(tmp_path, xr=xr, observed=OBSERVED)).err


DETAILS = """\
      script: |
        def main(req):
            return {"desired": {"composite": {"connection_details": {"user": "a", "key": "b"}}}}
"""
LEGACY = one_step.xrd("spec: {}").replace("crossplane.io/v2", "crossplane.io/v1", 1)
CLUSTER_SCOPED = XR.replace("  namespace: here\n", "")


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        pytest.param({}, "note", id="a-namespace"),
        pytest.param({"xrd": one_step.xrd("spec: {}")}, "warning", id="namespaced"),
        pytest.param({"xr": CLUSTER_SCOPED}, "", id="it-may-be-a-legacy-one"),
        pytest.param({"xr": CLUSTER_SCOPED, "xrd": LEGACY}, "", id="legacy"),
    ],
)
def test_connection_details_that_nobody_gets_are_reported(
    tmp_path: Path, run: Run, files: dict[str, str], severity: str
) -> None:
    err = run("render", example(tmp_path, STEP + DETAILS, **files)).err
    assert (f"{severity}: Crossplane drops the connection details" in err) == bool(severity)


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
def test_clock_that_stands_still_is_noted(created: bool, tmp_path: Path, run: Run) -> None:
    """The XR of a cluster always has a creation time."""
    time = "creationTimestamp: 2026-01-02T03:04:05Z"
    xr = XR.replace("metadata:\n", f"metadata:\n  {time}\n") if created else XR
    err = run(*RENDER, example(tmp_path, CLOCK, xr=xr)).err
    note = f"now is 1970-01-01T00:00:00Z at {tmp_path / 'composition.yaml'}:"
    assert err.count(note) == (0 if created else 1)


def test_step_may_be_skipped(tmp_path: Path, run: Run) -> None:
    text = run(*RENDER, example(tmp_path, STEP + SCRIPT + REMOTE), SKIP).out
    assert text == run(*RENDER, example(tmp_path)).out


def test_objects_are_as_deep_as_the_schema_of_a_crd(tmp_path: Path, run: Run) -> None:
    deep = '{"properties": ' * 60 + "{}" + "}" * 60
    observed = """{"apiVersion": "v1", "kind": "Custom", "metadata": {"name": "a", "annotations":
        {"crossplane.io/composition-resource-name": "thing"}}, "spec": %s}"""
    (tmp_path / "xr.yaml").write_text(f"{one_step.XR}spec: {deep}\n")
    (tmp_path / "observed.yaml").write_text(observed % deep)
    program = """\
        def main(req):
            rsp = response()
            rsp.resource("thing", {"apiVersion": "v1", "kind": "A", "spec": get_xr(req, "spec")})
            return rsp
        """
    text = one_step.composition("StarlarkScript", program, field="script")
    (tmp_path / "composition.yaml").write_text(text)
    assert run(*RENDER, tmp_path).out.count("properties:") == 2 * 60
