"""A folder that somebody hands over: it reads, writes and calls nothing outside of itself.

Every place where a file of the folder can name a path leads to a secret, as a link and, where the
place is a text, as a path. The command refuses it and names the path, the target and the flag.
"""

import os
import threading
import time
from pathlib import Path
from typing import NamedTuple

import grpc
import pytest
from support import function_servers, one_step
from support.commands import Run
from support.timing import PATIENCE_SECONDS

from function_script import cli
from function_script.inputs import beneath
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.texts.errors import InputError
from function_script.tools.playground import folders
from function_script.tools.playground.server import Playground
from function_script.tools.project import Project

MARK = "of-the-machine-alone"
SECRET = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: machine}}\nstringData: {{a: {MARK}}}\n"
XR = f"{one_step.XR}spec: {{size: 1}}\n"
PROGRAM = """\
apiVersion: v1
kind: ConfigMap
metadata: {annotations: {script.fn.crossplane.io/composition-resource-name: a}}
data: {all: {{ [xr, observed, context] | tojson | tojson }}}
"""
COMPOSITION = one_step.composition("JinjaTemplate", PROGRAM, fields="autoReady: {}\n")
FILES = """\
    input:
      apiVersion: script.fn.crossplane.io/v1beta1
      kind: StarlarkScript
      source: FileSystem
      fileSystem: {dirPath: d}
"""


class Stranger(NamedTuple):
    """A folder with an XR and a Composition, and a secret beside it."""

    folder: Path
    secret: Path

    def link(self, name: str) -> None:
        """Put a link to the secret into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(self.secret)

    def write(self, name: str, text: str) -> None:
        """Put a file into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stranger:
    folder, machine = tmp_path / "stranger", tmp_path / "machine"
    folder.mkdir()
    machine.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    result = Stranger(folder, machine / "secret.yaml")
    result.secret.write_text(SECRET)
    result.write("xr.yaml", XR)
    result.write("composition.yaml", COMPOSITION)
    return result


def assert_refused(text: str, target: Path) -> None:
    """Assert that a command named the target and the flag, and not the secret."""
    assert MARK not in text
    assert f'"{target}", which is outside of' in text or "it is outside of" in text
    assert f"--allow-outside {target} allows it" in text, text


# The files that each command reads.
LINKS = {
    "render": "composition.yaml xr.yaml observed.yaml required.yaml credentials.yaml"
    " functions.yaml xrd.yaml context/key.yaml schemas/core.json",
    "check": "composition.yaml xr.yaml other.yaml",
    "validate": "other.yaml",
    "vendor": "composition.yaml other.yaml",
    "package": "other.yaml",
    "test": "case.yaml composition.yaml xr.yaml observed.yaml required.yaml credentials.yaml"
    " functions.yaml xrd.yaml context.yaml schemas/core.json expected.yaml",
}
ARGUMENTS = {
    "render": ("render", "stranger"),
    "check": ("check", "stranger"),
    "validate": ("validate", "stranger", "stranger"),
    "vendor": ("vendor", "stranger"),
    "package": ("package", "build", "--package-root", "stranger"),
    "test": ("test", "stranger"),
}


@pytest.mark.parametrize(
    ("command", "name"), [(each, name) for each in LINKS for name in LINKS[each].split()]
)
def test_link_to_a_file_outside_is_refused(
    stranger: Stranger, run: Run, command: str, name: str
) -> None:
    if command == "test":
        stranger.write("case.yaml", "description: all\n")
    stranger.link(name)
    assert_refused(run(*ARGUMENTS[command], code=1).text, stranger.secret)


@pytest.mark.parametrize("name", ["schemas", "context", "programs"])
def test_link_to_a_directory_outside_is_refused(stranger: Stranger, run: Run, name: str) -> None:
    stranger.secret.with_name("secret.json").write_text(f'{{"a": "{MARK}"}}')
    (stranger.folder / name).symlink_to(stranger.secret.parent)
    stranger.write("case.yaml", "description: all\n")
    assert_refused(run("render", "stranger", code=1).text, stranger.secret.parent)
    if name != "context":
        assert_refused(run("test", "stranger", code=1).text, stranger.secret.parent)


KEYS = {
    "xr": "xr: {}",
    "composition": "composition: {}",
    "input": "input: {}",
    "observed": "observed: {}",
    "observed-list": "observed: [{}]",
    "required": "required: {}",
    "credentials": "credentials: {}",
    "functions": "functions: {}",
    "schemas": "schemas: {}",
    "xrd": "xrd: {}",
    "context": "context: {}",
    "documents": "expect: {{documents: {}}}",
    "step": "steps: [{{observed: {0}, expect: {{documents: e.yaml}}}}, {{required: {0}}}]",
}


# Each key by a path, and each way to read what it names by every form of a path.
LEADING_OUT = [
    *((key, "absolute") for key in KEYS),
    *(
        (key, form)
        for key in ("observed", "schemas", "documents")
        for form in ("relative", "winding", "chain")
    ),
]


@pytest.mark.parametrize(("key", "form"), LEADING_OUT)
def test_path_in_a_case_that_leads_out_is_refused(
    stranger: Stranger, run: Run, key: str, form: str
) -> None:
    first, second = stranger.folder / "first.yaml", stranger.folder / "second.yaml"
    first.symlink_to(second.name)
    second.symlink_to(os.path.relpath(stranger.secret, stranger.folder))
    path = {
        "absolute": str(stranger.secret),
        "relative": "../machine/secret.yaml",
        "winding": "../stranger/../machine/./secret.yaml",
        "chain": "first.yaml",
    }[form]
    stranger.write("one.case.yaml", KEYS[key].format(path))
    assert_refused(run("test", "stranger", code=1).text, stranger.secret)


def test_flag_allows_a_target(stranger: Stranger, run: Run) -> None:
    stranger.link("required.yaml")
    for target in (stranger.secret, stranger.secret.parent):
        run("render", "stranger", "--allow-outside", str(target))
    other = stranger.secret.parent.parent / "machine-too"
    other.mkdir()
    assert_refused(
        run("render", "stranger", "--allow-outside", str(other), code=1).text, stranger.secret
    )


def test_paths_of_the_command_line_are_read(stranger: Stranger, run: Run) -> None:
    """A link, too; and a pipe."""
    stranger.link("link.yaml")
    run("render", "stranger", "-e", "stranger/link.yaml")
    run("render", "stranger", "-e", str(stranger.secret.parent))
    read, write = os.pipe()
    os.write(write, XR.encode())
    os.close(write)
    run("render", f"/dev/fd/{read}", "stranger/composition.yaml")
    os.close(read)


def test_links_that_stay_below_are_followed(stranger: Stranger, run: Run) -> None:
    """Relative and absolute ones, to files and directories; and those of a mounted ConfigMap."""
    stranger.write("farm/xr.yaml", (stranger.folder / "xr.yaml").read_text())
    (stranger.folder / "xr.yaml").unlink()
    (stranger.folder / "xr.yaml").symlink_to("farm/xr.yaml")
    stranger.write("..2024/key.yaml", "a: 1\n")
    (stranger.folder / "..data").symlink_to("..2024")
    (stranger.folder / "context").mkdir()
    (stranger.folder / "context" / "key.yaml").symlink_to("../..data/key.yaml")
    stranger.write("farm/d/main.star", "def main(req):\n    return {}\n")
    (stranger.folder / "programs").symlink_to(stranger.folder / "farm")
    stranger.write("composition.yaml", COMPOSITION[: COMPOSITION.index("    input:")] + FILES)
    text = run("render", "stranger", "-c").text
    assert "a: 1" in text


@pytest.mark.parametrize("command", ["render", "test", "check", "validate"])
def test_pipes_and_devices_do_not_hang(stranger: Stranger, command: str) -> None:
    os.mkfifo(stranger.folder / "observed.yaml")
    os.mkfifo(stranger.folder / "other.yaml")
    (stranger.folder / "required.yaml").symlink_to("/dev/zero")
    (stranger.folder / "xrd.yaml").symlink_to("/proc/self/fd/0")
    stranger.write("case.yaml", "expect: {ready: true}\n")
    began = time.monotonic()
    cli.execute([*ARGUMENTS[command]])
    assert time.monotonic() - began < PATIENCE_SECONDS


@pytest.mark.parametrize("flags", [(), ("--update",)], ids=["plain", "update"])
@pytest.mark.parametrize(
    "path",
    [
        *("../.bash_profile", "../new.yaml", "{machine}/new.yaml", "profile", "link.yaml"),
        *("out/new.yaml", "in/new.yaml", ".github/workflows/ci.yaml", "dangling.yaml", "a\0.yaml"),
    ],
)
def test_nothing_is_written_elsewhere(
    stranger: Stranger, run: Run, path: str, flags: tuple[str, ...]
) -> None:
    """Outside of the project, through links, under other endings and into hidden directories."""
    (stranger.folder / "out").symlink_to(stranger.secret.parent)
    (stranger.folder / "inner").mkdir()
    (stranger.folder / "in").symlink_to("inner")
    (stranger.folder / ".github" / "workflows").mkdir(parents=True)
    stranger.link("link.yaml")
    (stranger.folder / "dangling.yaml").symlink_to(stranger.secret.parent / "new.yaml")
    path = path.format(machine=stranger.secret.parent).replace("\0", "\\0")
    stranger.write("one.case.yaml", f'expect: {{documents: "{path}"}}\n')
    top = stranger.folder.parent
    before = {each: each.stat().st_mtime_ns for each in top.rglob("*") if each.is_file()}
    text = run("test", "stranger", *flags, code=1).text
    assert "our mistake" not in text
    assert {each: each.stat().st_mtime_ns for each in top.rglob("*") if each.is_file()} == before


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/evil"])
def test_package_is_written_into_the_current_directory(
    stranger: Stranger, run: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Its metadata cannot name another one."""
    meta = "apiVersion: meta.pkg.crossplane.io/v1\nkind: Configuration\nmetadata: {name: %s}\n"
    stranger.write("crossplane.yaml", meta % name)
    (stranger.folder / "xr.yaml").unlink()
    monkeypatch.chdir(stranger.folder)
    text = run("package", "build", code=1).text
    assert "it is outside of" in text
    assert not [*stranger.folder.parent.rglob("*.xpkg")]


def test_new_file_needs_the_flag(stranger: Stranger, run: Run) -> None:
    stranger.write("tests/one.case.yaml", "expect: {documents: new.yaml}\n")
    assert "write it with `function-script test --update`" in run("test", "stranger", code=1).text
    assert not (stranger.folder / "tests" / "new.yaml").exists()
    assert "SEED" in run("test", "stranger", "--update", code=1).text
    run("test", "stranger")


@pytest.mark.parametrize(
    "path",
    [
        *("composition.yaml", "xr.yaml", "seen.yaml", "objects/seen.yaml", "objects/new.yaml"),
        *("functions.yaml", "programs/d/main.yaml", "programs/new.yaml", "one.case.yaml"),
        *("two.case.yaml", "other.yaml", "a/../other.yaml", "copy.yaml", "new.case.yaml"),
        *("b/xr.yaml", "b/Observed.yaml", "openapi/a.json"),
    ],
)
def test_expected_documents_are_no_file_that_a_case_reads(
    stranger: Stranger, run: Run, path: str
) -> None:
    """Neither one of this case nor of another one, nor one that a later run would read."""
    for name in ("a", "b"):
        (stranger.folder / name).mkdir()
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    for name in ("seen.yaml", "other.yaml", "objects/seen.yaml"):
        stranger.write(name, config)
    if path.startswith("programs"):
        # Workers of a folder with programs come from a zygote of their own.
        stranger.write("programs/d/main.yaml", config)
    (stranger.folder / "copy.yaml").hardlink_to(stranger.folder / "other.yaml")
    stranger.write("functions.yaml", FUNCTION.format("localhost:1"))
    stranger.write("openapi/a.json", "{}")
    inputs = "required: [seen.yaml, objects]\nschemas: openapi"
    stranger.write("one.case.yaml", f'{inputs}\nexpect: {{documents: "{path}"}}\n')
    stranger.write("two.case.yaml", "required: other.yaml\nexpect: {ready: false}\n")
    before = {each: each.read_bytes() for each in stranger.folder.rglob("*") if each.is_file()}
    plain, update = (run("test", "stranger", *flags, code=1) for flags in ((), ("--update",)))
    assert "with `function-script test --update`" not in plain.text
    assert ": a case reads it" in update.text
    assert "expected documents are a file of their own" in update.text
    report = run("test", "stranger", "--output-file", f"stranger/{path}", code=1)
    assert ": a case reads it" in report.text
    after = {each: each.read_bytes() for each in stranger.folder.rglob("*") if each.is_file()}
    assert after == before


def test_report_does_not_replace_expected_documents(stranger: Stranger, run: Run) -> None:
    stranger.write("one.case.yaml", "description: one\n")
    run("test", "stranger", "--update", code=1)
    report = run("test", "stranger", "--output-file", "stranger/one.expected.yaml", code=1)
    assert ": a case reads it" in report.text


@pytest.mark.parametrize("item", ["../x.yaml", "1"], ids=["refused", "wrong"])
def test_positions_of_the_first_problems_of_a_case_are_looked_up(
    stranger: Stranger, run: Run, item: str
) -> None:
    """Each costs the time of reading the case up to there."""
    stranger.write("one.case.yaml", f"required: [{', '.join([item] * 400)}]\n")
    text = run("test", "stranger", code=1).text
    assert text.count("--> ") == 100, text[:2_000]
    assert "300 more problems are not shown" in text


def test_playground_shows_and_renders_nothing_of_the_machine(stranger: Stranger) -> None:
    """Neither in the list of files, nor in the copy that is rendered."""
    stranger.link("observed.yaml")
    stranger.link("programs/d/leak.txt")
    project = Project([stranger.folder])
    folder = folders.find(stranger.folder, project)["stranger"]
    loaded, unfit = folder.load()
    assert unfit.keys() == {"observed.yaml", "programs/d/leak.txt"}
    assert "which is outside of" in unfit["observed.yaml"]
    assert not unfit.keys() & folder.compute_digests().keys()
    with Playground(stranger.folder, 0) as served:
        files = {name: file.text for name, file in loaded.items()}
        result = served.handle("/api/render", {"folder": "stranger", "files": files})
    assert MARK not in str(result)
    assert "which is outside of" in str(result)


FUNCTION = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata:
  name: function-else
  annotations:
    render.crossplane.io/runtime: Development
    render.crossplane.io/runtime-development-target: "{}"
spec: {{package: example.org/function-else:v1}}
"""


def test_address_in_a_file_is_called_on_this_machine_alone(stranger: Stranger, run: Run) -> None:
    calls: list[int] = []

    def answer(
        request: fnv1.RunFunctionRequest, _: grpc.ServicerContext
    ) -> fnv1.RunFunctionResponse:
        calls.append(1)
        return fnv1.RunFunctionResponse(desired=request.desired)

    stranger.write("composition.yaml", COMPOSITION.replace("function-script}", "function-else}"))
    with function_servers.serving(answer) as own:
        port = own.rpartition(":")[2]
        # All reach this machine, and only some say so for certain.
        addresses = [f"0.0.0.0:{port}", f"dns:///localhost:{port}", f"ipv4:127.0.0.1:{port}"]
        # The first one is a name, which a resolver is asked for.
        for address in (f"127.0.0.999:{port}", *addresses):
            stranger.write("functions.yaml", FUNCTION.format(address))
            text = run("render", "stranger", code=1).text
            assert f'a file names the address "{address}"' in text
            assert "--allow-addresses allows it" in text
        stranger.write("one.case.yaml", "expect: {ready: false}\n")
        assert "a file names the address" in run("test", "stranger", code=1).text
        with Playground(stranger.folder, 0) as served:
            assert "a file names the address" in str(
                served.handle("/api/render", {"folder": "stranger", "files": {}})
            )
        assert not calls
        run("render", "stranger", "--allow-addresses")
        annotation = f"render.crossplane.io/runtime-development-target=0.0.0.0:{port}"
        run("render", "stranger", "--function-annotations", annotation)
        run("render", "stranger", "--function", f"function-else=0.0.0.0:{port}")
        for host in ("localhost", "127.0.0.1", "passthrough:///127.0.0.1"):
            stranger.write("functions.yaml", FUNCTION.format(f"{host}:{port}"))
            run("render", "stranger")
        assert len(calls) == 6


def test_link_that_is_swapped_in_meanwhile_is_not_followed(tmp_path: Path) -> None:
    """A file, and a directory above it, become links and back while they are read."""
    (tmp_path / "outside" / "d").mkdir(parents=True)
    (tmp_path / "outside" / "d" / "file").write_bytes(MARK.encode())
    root = tmp_path / "root"
    (root / "d").mkdir(parents=True)
    (root / "d" / "file").write_bytes(b"own")
    is_over = threading.Event()

    def swap() -> None:
        while not is_over.is_set():
            (root / "d").rename(root / "e")
            (root / "d").symlink_to(tmp_path / "outside" / "d")
            (root / "d").unlink()
            (root / "e").rename(root / "d")
            (root / "d" / "file").unlink()
            (root / "d" / "file").symlink_to(tmp_path / "outside" / "d" / "file")
            (root / "d" / "file").unlink()
            (root / "d" / "file").write_bytes(b"own")

    thread = threading.Thread(target=swap)
    thread.start()
    texts: set[bytes] = set()
    try:
        for _ in range(4_000):
            try:
                texts.add(beneath.read([root], root / "d" / "file"))
            except (OSError, beneath.OutsideError):
                continue
    finally:
        is_over.set()
        thread.join()
    assert texts <= {b"own", b""}
    assert b"own" in texts


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("xr.yaml", "stranger"),
        ("observed.yaml", "stranger/xr.yaml stranger/composition.yaml -o stranger/observed.yaml"),
    ],
    ids=["folder", "files"],
)
def test_file_without_an_end_is_not_read(
    stranger: Stranger, run: Run, name: str, arguments: str
) -> None:
    path = stranger.folder / name
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        # A hole, which takes no space.
        file.truncate(1 << 40)
    text = run("render", *arguments.split(), code=1).text
    assert f'{name}": it is larger than 256 megabytes' in text


@pytest.mark.parametrize("command", ["render", "check"])
def test_file_that_may_be_an_xrd_is_read_within_bounds(
    stranger: Stranger, run: Run, command: str
) -> None:
    """Its name alone has it searched for the kind."""
    with (stranger.folder / "own-xrd.yaml").open("wb") as file:
        file.truncate(1 << 40)
    run(command, "stranger")


def test_package_in_a_case_that_is_a_pipe_does_not_hang(stranger: Stranger, run: Run) -> None:
    os.mkfifo(stranger.folder / "x.xpkg")
    stranger.write("case.yaml", "required: x.xpkg\nexpect: {ready: false}\n")
    text = run("test", "stranger", code=1).text
    assert "it is no regular file" in text


@pytest.mark.parametrize("name", ["package", "input_crds"])
def test_usual_directory_of_a_package_that_is_a_link_is_refused(
    stranger: Stranger,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    meta = "apiVersion: meta.pkg.crossplane.io/v1\nkind: Function\nmetadata: {name: function-x}\n"
    kind = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
    stranger.write("package/crossplane.yaml", meta)
    stranger.write("input_crds/x.yaml", f"{kind}metadata: {{name: x}}\n")
    target = stranger.secret.parent / name
    (stranger.folder / name).rename(target)
    (stranger.folder / name).symlink_to(target)
    monkeypatch.chdir(stranger.folder)
    assert_refused(run("package", "build", code=1).text, target)
    flag = "--package-root" if name == "package" else "--input-crds"
    run("package", "build", flag, name)


def test_files_for_editors_are_not_written_through_links(stranger: Stranger, run: Run) -> None:
    (stranger.folder / ".vscode").mkdir()
    for name, target in {
        "settings.json": stranger.secret.with_name("new"),
        "function-script.schema.json": stranger.secret,
    }.items():
        (stranger.folder / ".vscode" / name).symlink_to(target)
    text = run("editor", "stranger", code=1).text
    assert 'function-script.schema.json": it is a link' in text
    assert stranger.secret.read_text() == SECRET
    assert [*stranger.secret.parent.iterdir()] == [stranger.secret]


def test_starter_is_not_written_through_links(here: Path, run: Run) -> None:
    (here / "machine").mkdir()
    (here / "file").mkdir()
    (here / "file" / "xr.yaml").symlink_to(here / "machine" / "new")
    text = run("init", "file", code=1).text
    assert '"xr.yaml" is there already' in text
    (here / "directory").mkdir()
    (here / "directory" / "tests").symlink_to(here / "machine")
    run("init", "directory", code=1)
    assert not [*(here / "machine").iterdir()]


def test_copies_of_programs_are_not_written_through_a_link(
    stranger: Stranger, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(stranger.folder)
    (stranger.folder / "vendor").symlink_to(stranger.secret.parent)
    text = run("vendor", "--output", "vendor", code=1).text
    assert 'cannot write "vendor/index.json": ' in text
    assert [*stranger.secret.parent.iterdir()] == [stranger.secret]
    run("vendor", "--output", "other")
    run("vendor", "--output", "../elsewhere")


def test_names_of_all_kinds_are_read_or_refused(tmp_path: Path) -> None:
    """Those of Windows and of shells are names; one that no system has is an error."""
    names = ["C:\\a.yaml", "~", "$HOME", "a\nb", "\u202e.yaml", "-", "a" * 200]
    for name in names:
        (tmp_path / name).write_text("own")
    project = Project([tmp_path])
    assert {project.load(tmp_path / name).text for name in names} == {"own"}
    for name in ("a\0b", "a" * 300, "/".join(["a"] * 5_000)):
        with pytest.raises(InputError):
            project.load(tmp_path / name)
    with pytest.raises(InputError, match=r"is outside of"):
        project.load(Path("/proc", "self", "root", "etc", "passwd"))
