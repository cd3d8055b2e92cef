"""A fourth language is one folder, its name in the registry and a CRD: every part works with it.

The package is copied, and the copy has the toy language of ``support`` besides. A program of that
language is several texts: the resources' names with an expression each.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from e2e.serving import Server, call
from generate import input_crds
from support import builders, one_step
from support.paths import ROOT

import function_script
from function_script.inputs.kinds import API_VERSION
from function_script.request.values import Object, Value

PACKAGE = Path(function_script.__file__).parent
TOY = ROOT / "tests" / "support" / "toy_language"
# Each line on stdin is the arguments of a command. All share their zygotes, as tests do.
COMMANDS = """\
import contextlib, io, json, sys
from support.shared_zygotes import Zygotes
from function_script import cli
zygotes = Zygotes()
with zygotes.sharing():
    for line in sys.stdin:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = cli.execute(json.loads(line))
        print(json.dumps([code, printed.getvalue()]), flush=True)
zygotes.close()
"""
PROGRAM: dict[str, Value] = {
    "config": "name=$observed.composite.resource.metadata.name size=Small",
    "other": "size=Large",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with the copy: one folder and one line more, and a CRD."""
    root = tmp_path_factory.mktemp("four")
    package = root / "function_script"
    # Compiled files are copied, too: they hold for a source of the same time and size.
    shutil.copytree(PACKAGE, package)
    # What mypyc compiles shares a module beside the package.
    for shared in PACKAGE.parent.glob("*__mypyc*"):
        shutil.copy(shared, root)
    shutil.copytree(TOY, package / "engines" / "toy", ignore=shutil.ignore_patterns("crd.yaml"))
    registry = package / "engines" / "__init__.py"
    registry.write_text(registry.read_text().replace('    "starlark",', '    "starlark", "toy",'))
    for name, text in input_crds.texts((TOY / "crd.yaml").read_text()).items():
        (package / "input_crds" / name).write_text(text)
    return root


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with an XR and a Composition of one step in the toy language."""
    (tmp_path / "xr.yaml").write_text(one_step.XR)
    write(tmp_path, PROGRAM)
    return tmp_path


def write(project: Path, program: Mapping[str, Value]) -> None:
    """Write the Composition with an expression for each resource, on lines 12, 13 and so on."""
    lines = [f"{name}: {expression}\n" for name, expression in program.items()]
    text = one_step.composition("ToySheet", "".join(lines), field="resources")
    (project / "composition.yaml").write_text(text.replace("resources: |", "resources:"))


@pytest.fixture(scope="module")
def command(root: Path) -> Iterator[Callable[..., str]]:
    """Runs a command of the copy, and returns what it prints; one process runs them all."""
    with subprocess.Popen(
        [sys.executable, "-P", "-c", COMMANDS],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(ROOT / "tests")])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        requests, answers = process.stdin, process.stdout

        def run(*arguments: object, code: int = 0) -> str:
            print(json.dumps([*map(str, arguments)]), file=requests, flush=True)
            done, printed = json.loads(answers.readline())
            assert done == code, printed
            return str(printed)

        yield run
        requests.close()


def step_input(**fields: object) -> Object:
    """Return an input with the program."""
    return {"apiVersion": API_VERSION, "kind": "ToySheet", "resources": PROGRAM, **fields}  # type: ignore[dict-item] # plain values


def test_fourth_language_is_served(root: Path) -> None:
    """A server renders a program in a worker, and its log has the language's name."""
    request = builders.request(step_input(options={"case": "Upper"}))
    flags = ("--insecure", "--workers", "1")
    with Server(*flags, env={"PYTHONPATH": str(root)}) as server, server.channel() as channel:
        response = call(channel, request)
        server.stop()
    config = builders.to_dict(response)["desired"]["resources"]["config"]["resource"]
    assert config["data"] == {"name": "DEMO", "size": "SMALL"}
    (line,) = server.lines("answered")
    assert (line["input"], line["language"]) == ("ToySheet", "toy")


def test_mistakes_are_errors(command: Callable[..., str], tmp_path: Path) -> None:
    mistakes: list[tuple[dict[str, object], str]] = [
        ({"resources": {"config": "name"}}, "cannot read name: it is no KEY=VALUE"),
        ({"resources": {"config": " "}}, 'input.resources["config"]: must not be empty'),
        ({"resources": {"a b": "a=b"}}, 'input.resources["a b"]: must not be the name of a text'),
        ({"resources": {}}, "input.resources: must not be empty"),
        ({"resources": None}, "input.resources: is required when source is Inline"),
        ({"resources": None, "inline": "a=b"}, "write `resources: {NAME: TEXT}`"),
        ({"modules": {"config": "a=b"}}, 'input.modules: duplicate module "config"'),
        ({"options": {"case": "None"}}, "input.options.case: "),
        ({"kind": "ToySheets"}, 'did you mean "ToySheet"?'),
    ]
    file = tmp_path / "inputs.yaml"
    file.write_text("---\n".join(json.dumps(step_input(**fields)) + "\n" for fields, _ in mistakes))
    output = command("check", file, code=1)
    assert [error for _, error in mistakes if error not in output] == []


def test_fourth_language_is_rendered(command: Callable[..., str], project: Path) -> None:
    assert "name: demo\n" in command("render", project)
    assert '  size: "Large"' in command(
        "template", project / "composition.yaml", "--data", project / "xr.yaml"
    )


def test_program_is_in_files_or_in_an_object(command: Callable[..., str], project: Path) -> None:
    """All texts of a place are a program's, and a step's own texts win over the object's."""
    (project / "b.toy").write_text("size=1 name\n")
    file = project / "input.yaml"
    in_files = step_input(source="FileSystem", fileSystem={"dirPath": "."}, resources=None)
    file.write_text(json.dumps(in_files))
    assert "b.toy:1:8" in command("check", file, "--program-root", project, code=1)
    file.write_text(json.dumps(step_input(inputRef={"name": "a", "namespace": "b"})))
    command("check", "--strict", file)


def test_fourth_language_is_tested(command: Callable[..., str], project: Path) -> None:
    case = project / "tests" / "toy.case.yaml"
    case.parent.mkdir()
    case.write_text("expect:\n  resources:\n    config: {data: {name: demo, size: Small}}\n")
    command("test", project)
    case.write_text("expect:\n  resources:\n    config: {data: {name: other}}\n")
    command("test", project, code=1)


def test_fourth_language_is_checked(command: Callable[..., str], project: Path) -> None:
    """`check` has positions in the author's file, of the compiler's problems and of the rules'."""
    command("check", "--strict", project)
    write(project, {"config": "size=1", "other": "name"})
    assert "composition.yaml:15" in command("check", project, code=1)
    write(project, {"config": "size=1", "other": "|\n  size=1\n  name"})
    assert "composition.yaml:17:11\n" in command("check", project, code=1)
    write(project, {"config": "size=1", "other": "name=$observed.composit"})
    output = command("check", project, code=1)
    assert "observed.composit does not exist" in output
    assert "composition.yaml:15" in output


def test_project_is_begun(command: Callable[..., str], tmp_path: Path) -> None:
    """`init` knows the language, and what it writes passes."""
    directory = tmp_path / "project"
    command("init", directory, "--language", "toy")
    command("check", "--strict", directory)
    files = f"{directory / 'xr.yaml'},{directory / 'composition.yaml'}"
    command("validate", directory / "xrd.yaml", files)
    assert "image: nginx:1.29" in command("render", directory)


def test_editors_know_it(command: Callable[..., str], tmp_path: Path) -> None:
    """`editor` writes its snippet, its kind and its files' type."""
    command("editor", tmp_path)
    folder = tmp_path / ".vscode"
    snippets = json.loads((folder / "function-script.code-snippets").read_text())
    assert "step-toy" in {snippet["prefix"] for snippet in snippets.values()}
    settings = json.loads((folder / "settings.json").read_text())
    assert settings["files.associations"]["*.toy"] == "properties"
    assert '"const": "ToySheet"' in (folder / "function-script.schema.json").read_text()


# The starter of the language is a folder of the page.
PLAYGROUND = """\
import json, sys
from pathlib import Path
from urllib import request
from function_script.tools.playground.server import Playground
with Playground(Path(sys.argv[1]), 0) as playground:
    browser = request.build_opener(request.HTTPCookieProcessor())
    browser.open(playground.address).read()
    languages = browser.open(f"http://{playground.authority}/languages.js").read().decode()
    files = playground.handle("/api/folder", {"folder": "starter: toy"})["files"]
    texts = {name: each["text"] for name, each in files.items()}
    page = playground.handle("/api/render", {"folder": "starter: toy", "files": texts})
print(json.dumps([languages, page["problems"], page["documents"]]))
"""


def test_playground_knows_it(root: Path, project: Path) -> None:
    """The page colours its programs, offers its starter, and renders."""
    printed = subprocess.check_output(
        [sys.executable, "-P", "-c", PLAYGROUND, project],
        env=os.environ | {"PYTHONPATH": str(root)},
        text=True,
    )
    languages, problems, documents = json.loads(printed)
    assert '"extensions": [".toy"]' in languages
    assert problems == []
    assert "image: nginx" in json.dumps(documents)
