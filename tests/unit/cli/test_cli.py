"""The command line: dispatch, environment, exit codes, and a reference page that is true."""

import os
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from operator import attrgetter
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace

import click
import pytest
from generate import cli_page
from support import generated
from support.commands import Run
from support.paths import ROOT
from support.timing import takes_less

from function_script import __version__, cli
from function_script.cli import exit_codes, options
from function_script.request.limits import MIB, Limits
from function_script.texts.errors import InputError


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[SimpleNamespace]:
    """The flags and the limits of every server that would have been started."""
    from function_script import server  # noqa: PLC0415 - it can be imported on Linux alone

    starts: list[SimpleNamespace] = []

    def serve(flags: Mapping[str, object], limits: Limits) -> None:
        starts.append(SimpleNamespace(**flags, limits=limits))

    monkeypatch.setattr(server, "serve", serve)
    for name in list(os.environ):
        if name.startswith(("FUNCTION_SCRIPT_", "TLS_")):
            monkeypatch.delenv(name)
    return starts


ENTRY = "from function_script.__main__ import main; main()"
Completed = subprocess.CompletedProcess[str]


def start(*words: str, **settings: object) -> Completed:
    """Run the command in a process of its own, with all that it prints as text."""
    settings = {"stdout": PIPE, "stderr": PIPE, "text": True, "timeout": 120, **settings}
    return subprocess.run([sys.executable, "-P", "-c", ENTRY, *words], check=False, **settings)


@pytest.mark.linux
def test_bare_command_prints_help_at_a_terminal() -> None:
    """The bare command lists the others for a person."""
    import pty  # noqa: PLC0415 - Windows has no such module

    ours, theirs = pty.openpty()
    try:
        process = start(stdin=theirs, env={})
    finally:
        os.close(ours)
        os.close(theirs)
    assert process.returncode == exit_codes.USAGE
    assert "render" in process.stderr


@pytest.mark.linux
def test_bare_command_names_what_is_missing_in_a_container() -> None:
    """No certificates are mounted, and nobody looks at a terminal."""
    process = start(stdin=subprocess.DEVNULL, env={})
    assert process.returncode == exit_codes.USAGE
    assert process.stdout == ""
    for word in ("TLS_SERVER_CERTS_DIR", "--tls-certs-dir", "--insecure", "--help"):
        assert word in process.stderr
    assert "Crossplane composition function and the tools" not in process.stderr


@pytest.mark.parametrize(
    ("arguments", "closed"),
    [("check app -", "<&-"), ("render app", ">&-"), ("render app", "<&- >&- 2>&-")],
)
def test_closed_streams_are_as_empty_ones(tmp_path: Path, arguments: str, closed: str) -> None:
    """A program whose streams are closed by its parent runs programs and ends as it would."""
    assert cli.execute(["init", "-q", str(tmp_path / "app")]) == 0
    shell = ["/bin/sh", "-c", f'"$0" -P -c "{ENTRY}" {arguments} {closed}', sys.executable]
    process = subprocess.run(
        shell, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    # A system without Linux's sandbox has a note.
    lines = [line for line in process.stderr.splitlines() if not line.startswith("note: ")]
    assert (process.returncode, lines) == (0, [])


@pytest.mark.linux
def test_locale_without_utf_8_changes_nothing(tmp_path: Path) -> None:
    """Files of ours and of the author are UTF-8, whatever the locale's encoding is."""
    assert cli.execute(["init", "-q", str(tmp_path / "app")]) == 0
    composition = tmp_path / "app" / "composition.yaml"
    text = composition.read_text(encoding="utf-8").replace("return rsp", "return rps # \u00c4")
    composition.write_text(text, encoding="utf-8")
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for words in (("check", "app"), ("docs", "merge")):
        process = start(*words, cwd=tmp_path, env={**os.environ, **locale})
        assert process.returncode != exit_codes.BUG, process.stderr
        assert words[0] == "docs" or 'name "rps" is not defined' in process.stdout + process.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("init", ""), id="init"),
        pytest.param(("render", ""), id="render"),
        pytest.param(("check", ""), id="check"),
        pytest.param(("test", ""), id="test"),
        pytest.param(("validate", "", ""), id="validate"),
    ],
)
def test_empty_argument_is_no_directory(arguments: tuple[str, ...], here: Path, run: Run) -> None:
    """A shell's variable without a value must not mean the current directory."""
    assert "it is empty" in run(*arguments, code=exit_codes.USAGE).err
    assert [*here.iterdir()] == []


@pytest.mark.parametrize(
    "command", ["init", "render", "check", "test", "validate a.yaml", "editor", "vendor"]
)
def test_name_that_is_too_long_is_told(command: str, here: Path, run: Run) -> None:
    (here / "a.yaml").write_text("")
    assert "file name too long\n" in run(*command.split(), "a" * 300, code=exit_codes.PROBLEM).err


@pytest.mark.linux
@pytest.mark.parametrize("arguments", [("init", "x"), ("check",), ("render",)])
def test_removed_directory_is_told(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    directory = tmp_path / "gone"
    directory.mkdir()
    monkeypatch.chdir(directory)
    directory.rmdir()
    assert run(*arguments, code=exit_codes.PROBLEM).err.startswith("error: cannot ")


def test_file_of_another_encoding_is_told(tmp_path: Path, run: Run) -> None:
    (tmp_path / "a.yaml").write_text("a: b\n", encoding="utf-16")
    assert "it is UTF-16" in run("check", tmp_path / "a.yaml", code=exit_codes.PROBLEM).err
    (tmp_path / "a.yaml").write_bytes(b"a: \xe4\n")
    err = run("check", tmp_path / "a.yaml", code=exit_codes.PROBLEM).err
    assert err.endswith("it is not UTF-8 text\n")


OURS = "FUNCTION_SCRIPT_"
PEERS = "FUNCTION_GO_TEMPLATING_"
# Words, variables, and the options of the server that is started by them.
SERVED = {
    "command": (["serve", "--insecure"], {}, {"insecure": True, "debug": False}),
    # An image is started with the single argument --insecure.
    "flag-alone": (["--insecure"], {}, {"insecure": True, "debug": False}),
    "flags": (["--insecure", "--debug"], {}, {"insecure": True, "debug": True}),
    # In a cluster there are no arguments, but a directory with certificates.
    "bare-command": ([], {"TLS_SERVER_CERTS_DIR": "/tls"}, {"tls_certs_dir": Path("/tls")}),
    "flag-over-the-contract's-variable": (
        ["serve", "--tls-certs-dir", "/flag"],
        {"TLS_SERVER_CERTS_DIR": "/variable"},
        {"tls_certs_dir": Path("/flag")},
    ),
    "flag-over-our-variable": (
        ["serve", "--tls-certs-dir", "/flag"],
        {f"{OURS}TLS_CERTS_DIR": "/variable"},
        {"tls_certs_dir": Path("/flag")},
    ),
    "the-sdk's-flag": (
        ["serve", "--tls-server-certs-dir", "/flag"],
        {"TLS_SERVER_CERTS_DIR": "/variable"},
        {"tls_certs_dir": Path("/flag")},
    ),
    # Without a host every one is meant, as in functions in Go.
    **{
        f"address-{address}": (
            ["serve", "--address", address, "--health-address", ""],
            {},
            {"address": served_at, "health_address": ""},
        )
        for address, served_at in ((":9", "[::]:9"), ("[::]:9", "[::]:9"), ("a:0", "a:0"))
    },
    # Where function-go-templating is replaced, its settings stay; the directory is that of now.
    "variables-of-function-go-templating": (
        ["serve"],
        {
            f"{PEERS}MAX_RECV_MESSAGE_SIZE": "9",
            f"{PEERS}DEFAULT_SOURCE": "templates",
            f"{PEERS}DEFAULT_OPTIONS": "missingkey=error",
        },
        {
            "max_recv_message_size": 9,
            "limits.default_source": str(Path("templates").resolve()),
            "limits.default_options": "missingkey=error",
        },
    ),
    "settings-of-function-go-templating": (
        ["serve", "--default-source", "templates", "--default-options", "missingkey=error"],
        {},
        {
            "limits.default_source": str(Path("templates").resolve()),
            "limits.default_options": "missingkey=error",
        },
    ),
    "variables": (
        ["serve"],
        {
            f"{OURS}ADDRESS": "127.0.0.1:1",
            f"{OURS}HEALTH_ADDRESS": "127.0.0.1:2",
            f"{OURS}INSECURE": "true",
            f"{OURS}REQUIRE_SANDBOX": "true",
            f"{OURS}TLS_CERTS_DIR": "/certs",
            f"{OURS}DEBUG": "1",
            f"{OURS}MAX_RECV_MESSAGE_SIZE": "9",
            f"{OURS}WORKERS": "3",
            f"{OURS}TIMEOUT": "1m30s",
            f"{OURS}MEMORY_LIMIT": "1Gi",
            f"{OURS}OUTPUT_LIMIT": "1Mi",
            f"{OURS}PROGRAM_ROOT": str(ROOT),
        },
        {
            "address": "127.0.0.1:1",
            "health_address": "127.0.0.1:2",
            "insecure": True,
            "require_sandbox": True,
            "tls_certs_dir": Path("/certs"),
            "debug": True,
            "max_recv_message_size": 9,
            "workers": 3,
            "limits.timeout_seconds": 90,
            "limits.memory_bytes": 1024 * MIB,
            "limits.output_bytes": MIB,
            "program_root": ROOT,
        },
    ),
}


@pytest.mark.linux
@pytest.mark.parametrize(("words", "variables", "expected"), SERVED.values(), ids=SERVED)
def test_server_has_the_options_of_flags_and_variables(
    served: list[SimpleNamespace],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    variables: dict[str, str],
    expected: dict[str, object],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cli.execute(words) == 0
    (start_,) = served
    assert {name: attrgetter(name)(start_) for name in expected} == expected


@pytest.mark.linux
def test_limits_are_by_default_those_of_programs(served: list[SimpleNamespace]) -> None:
    assert cli.execute(["serve"]) == 0
    assert served[0].limits == Limits()


USAGE = {
    "flag": (["serve", "--no-such-flag"], "No such option"),
    "command": (["rendr"], "Did you mean 'render'?"),
    "argument": (["validate"], "Missing argument 'EXTENSIONS'"),
    "composition": (["render", __file__], "COMPOSITION is missing"),
    "no-port": (["serve", "--address", "127.0.0.1"], "form HOST:PORT"),
    "port": (["serve", "--health-address", "a:65536"], "65535 at most"),
    "socket": (["serve", "--address", "unix:/a:1"], "form HOST:PORT"),
    "no-brackets": (["serve", "--address", "::1:80"], "form HOST:PORT"),
    "bracket": (["serve", "--address", "[::1:80"], "form HOST:PORT"),
    "url": (["serve", "--address", "http://a:80"], "form HOST:PORT"),
    "space": (["serve", "--metrics-address", "a b:80"], "form HOST:PORT"),
    "label": (["serve", "--metrics-address", f"{'a' * 64}:80"], "form HOST:PORT"),
    "digits": (["serve", "--metrics-address", "a:" + "9" * 5_000], "at most"),
    "other digits": (["serve", "--address", "a:\u0661"], "form HOST:PORT"),
    "root": (["run", "--program-root", "/no/such"], "does not exist"),
    "duration": (["serve", "--timeout", "2"], "a number and a unit"),
    "no-time": (["serve", "--timeout", "0s"], "must be more than 0"),
    "size": (["serve", "--memory-limit", "x"], "a number and a unit"),
    "range": (["serve", "--workers", "0"], "is not in the range"),
    "mebibytes": (["serve", "--max-recv-message-size", "2048"], "'FUNCTION_SCRIPT_MAX_RECV"),
    "workers": (["serve", "--workers", "100000"], "'FUNCTION_SCRIPT_WORKERS'"),
    "unit": (["serve", "--memory-limit", "1000"], "'FUNCTION_SCRIPT_MEM"),
    "memory": (["serve", "--memory-limit", "100Ki"], "'--memory-limit'"),
    "time": (["serve", "--time-limit", "1us"], "'FUNCTION_SCRIPT_TIME"),
    "time-by-its-old-name": (["serve", "--timeout", "1us"], "'--timeout'"),
    "unlike": (["lint"], "No such command 'lint'.\n"),
    "begun": (["render", "--context", "x"], "of: '--context-files', '--context-values'?"),
    "pair": (["render", "a", "b", "--context-values", "x"], "KEY=VALUE"),
    "runtime": (["render", "a", "b", "--function", "x"], "NAME=RUNTIME"),
}


@pytest.mark.parametrize(("args", "message"), USAGE.values(), ids=USAGE)
def test_wrong_usage(args: list[str], message: str, run: Run) -> None:
    output = run(*args, code=exit_codes.USAGE)
    assert message in output.err
    assert output.out == ""


def fail(error: BaseException) -> int:
    """A command that does nothing else."""
    raise error


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param({"debug": False}, id="without"),
        pytest.param({"debug": True}, id="with"),
        pytest.param({}, id="no-such-flag"),
    ],
)
def test_bugs_are_told_as_bugs(
    flags: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3; the traceback is printed when it is asked for, and named where it can be."""
    error = ZeroDivisionError("one by none")
    assert exit_codes.guard(lambda: fail(error), flags) == exit_codes.BUG
    errors = capsys.readouterr().err
    assert f"bug: function-script {__version__}" in errors
    assert "ZeroDivisionError: one by none" in errors
    assert "please report it" in errors
    assert ("Traceback" in errors) is (flags.get("debug") is True)
    assert ("--debug" in errors) is (flags.get("debug") is False)


@pytest.mark.linux
@pytest.mark.parametrize(
    "args", [("docs", "get"), ("--help",), ("render", "examples/starlark-robots")]
)
def test_full_disk_is_no_bug(args: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        result = start(*args, stdout=full, cwd=ROOT)
    assert result.returncode == exit_codes.PROBLEM
    assert "error: cannot write the output: no space left on device\n" in result.stderr
    assert "bug" not in result.stderr


def test_failure_has_its_code() -> None:
    """The codes differ, so that scripts can tell them apart."""
    assert exit_codes.guard(lambda: fail(InputError.of("x")), {}) == 1
    assert exit_codes.guard(lambda: fail(click.UsageError("x")), {}) == 2
    for interruption in (KeyboardInterrupt(), click.Abort()):
        assert exit_codes.guard(partial(fail, interruption), {}) == exit_codes.INTERRUPTED
    assert exit_codes.guard(lambda: 0, {}) == 0


@pytest.mark.linux
def test_debug_is_remembered_for_bugs(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    from function_script import server  # noqa: PLC0415 - it can be imported on Linux alone

    monkeypatch.setattr(server, "serve", lambda *_: 1 // 0)
    monkeypatch.setenv("FUNCTION_SCRIPT_DEBUG", "1")
    assert "Traceback" in run("serve", code=exit_codes.BUG).err


@pytest.mark.parametrize("args", [["version"], ["--version"]])
def test_version(args: list[str], run: Run) -> None:
    assert run(*args).out.startswith(f"function-script {__version__}")


def test_variables_are_unambiguous() -> None:
    """Two flags share a variable only where commands run the function itself."""
    commands: dict[str, set[str]] = {}
    for (name, *_), command in options.list_commands(cli.commands):
        for option in command.params:
            if isinstance(option, click.Option) and isinstance(option.envvar, str):
                commands.setdefault(option.envvar, set()).add(name)
    assert all(names <= {"serve", "run"} for names in commands.values() if len(names) > 1)
    assert "FUNCTION_SCRIPT_RENDER_TIMEOUT" in commands
    assert options.PREFIX == "FUNCTION_SCRIPT"


def test_reference_page_is_fresh(update_goldens: bool) -> None:
    """docs/reference/cli.md is what the commands say of themselves."""
    page = ROOT / "docs" / "reference" / "cli.md"
    generated.check(page, cli_page.build(), update=update_goldens)


def test_help_needs_nothing_heavy() -> None:
    """No command's own imports are paid for by the others."""
    heavy = {"grpc", "google.protobuf", "jinja2", "starlark", "yaml", "re2"}
    code = (
        "import sys; from function_script import cli; cli.execute(['--help']);"
        f"print([name for name in {sorted(heavy)} if name in sys.modules])"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert process.stdout.splitlines()[-1] == "[]"


@pytest.mark.serial
def test_help_is_quick() -> None:
    """It takes less than 100 ms of CPU time more than Python itself, which takes 30."""
    assert takes_less(("-m", "function_script.cli", "--help"), 0.13)


@pytest.mark.serial
@pytest.mark.parametrize(
    "args",
    [
        ("render", "examples/starlark-robots"),
        ("validate", "input_crds", "examples/starlark-robots"),
    ],
    ids=lambda args: args[0],
)
def test_command_is_quick(args: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """A small example takes less than 0.45 s of CPU time, its sandbox included."""
    monkeypatch.chdir(ROOT)
    assert takes_less(("-m", "function_script.cli", *args), 0.45)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("render", 'cannot render ".": it has no composition.yaml'),
        ("package build", 'there is no crossplane.yaml in "."'),
    ],
)
@pytest.mark.usefixtures("here")
def test_command_in_another_directory_than_the_projects_says_so(
    command: str, message: str, run: Run
) -> None:
    text = run(*command.split(), code=exit_codes.PROBLEM).err
    assert message in text
    assert "hint:" in text


def test_flag_of_validation_alone_is_wrong_usage(run: Run) -> None:
    err = run("render", "--output=json", ROOT / "examples" / "starlark-robots", code=2).err
    assert "is for --validate" in err


def test_render_of_an_operation_names_the_other_command(run: Run) -> None:
    err = run("render", ROOT / "examples" / "operation-report", code=1).err
    assert "hint: it has an Operation: function-script render operation " in err
