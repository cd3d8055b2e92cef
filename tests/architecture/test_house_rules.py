"""The house rules that no linter knows, checked on the package's own sources."""

import ast
import re
import runpy
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from support.paths import ROOT

PACKAGE = ROOT / "function_script"

# Where each third party may be imported. Everything else goes through that room's own words.
ROOMS = {
    "celpy": ("function_script/tools/validate/cel",),
    "click": ("function_script/cli",),
    "cryptography": (
        "function_script/engines/gotemplate/sprig/crypto",
        "function_script/server/certificates",
    ),
    "google": (
        "function_script/request/capture/__init__",
        "function_script/server",
        "function_script/tools",
    ),
    "grpc": ("function_script/server", "function_script/tools/render"),
    "grpc_health": ("function_script/server",),
    "grpc_reflection": ("function_script/server",),
    "h11": ("function_script/server/ops",),
    "jinja2": ("function_script/engines/jinja",),
    "jsonschema": ("function_script/tools/crd_validator", "function_script/tools/input_schema"),
    "lark": ("function_script/tools/validate/cel",),
    "opentelemetry": ("function_script/server/tracing",),
    "orjson": (
        "function_script/contribution",
        "function_script/documents",
        "function_script/engines",
        "function_script/sandbox",
        "function_script/server/log",
    ),
    "prometheus_client": ("function_script/server/metrics",),
    "pytest": ("function_script/testing/plugin",),
    "re2": ("function_script/engines/regular_expressions.py",),
    "starlark": ("function_script/engines/starlark",),
    "uvloop": ("function_script/server/lifecycle",),
    "yaml": ("function_script/documents", "function_script/engines/gotemplate/yaml"),
}


def _sources(folder: Path) -> list[Path]:
    generated = PACKAGE / "proto"
    return sorted(path for path in folder.rglob("*.py") if generated not in path.parents)


# What CPython has on some systems only. The sandbox and the server choose by what there is.
OF_ONE_SYSTEM = {
    "ctypes": {"CDLL", "windll"},
    "mmap": {"MADV_REMOVE"},
    "os": {
        *(
            "WIFSIGNALED",
            "WTERMSIG",
            "chown",
            "eventfd",
            "fdatasync",
            "fork",
            "getgid",
            "getrandom",
        ),
        *("getuid", "killpg", "memfd_create", "mkfifo", "nice", "pidfd_open", "pipe2", "pread"),
        *("sched_getaffinity", "sched_setscheduler", "sendfile", "setpriority", "setsid", "splice"),
        *("sysconf", "uname", "wait4", "waitid", "O_TMPFILE", "O_NOFOLLOW", "O_CLOEXEC"),
    },
    "select": {"epoll", "kqueue", "poll"},
    "signal": {
        "SIGALRM",
        "SIGCHLD",
        "SIGHUP",
        "SIGKILL",
        "SIGUSR1",
        "pidfd_send_signal",
        "setitimer",
    },
    "socket": {"AF_UNIX", "SOCK_SEQPACKET", "recv_fds", "send_fds"},
}
WHOLLY_OF_ONE_SYSTEM = {
    *("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"),
    *("msvcrt", "winreg", "_winapi"),
}
CHOOSING = (
    "function_script/sandbox/",
    "function_script/server/",
    "function_script/tools/processes/",
    "function_script/tools/remote/git.py",
    "function_script/tools/remote/process.py",
)


PACKAGE_FILES = _sources(PACKAGE)
TEST_FILES = _sources(ROOT / "tests")
GENERATOR_FILES = _sources(ROOT / "docs" / "generate")
REASON = re.compile(" - | # ")


IMPORTED = re.compile(r"^\s*(?:from (\w+)[\w.]* import|import (\w+))", re.MULTILINE)
DECORATOR = re.compile(r"^\s*@([\w.]*dataclass\b.*)$", re.MULTILINE)
CLASS_WITH_BASES = re.compile(r"^\s*class \w+\(", re.MULTILINE)


@cache
def read_package() -> dict[Path, str]:
    """Read all modules once; a test that needs their trees parses those that can break its rule."""
    return {path: path.read_text() for path in PACKAGE_FILES}


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_dataclasses_are_frozen_slotted_and_keyword_only() -> None:
    others = {
        (_name(path), decorator)
        for path, text in read_package().items()
        for decorator in DECORATOR.findall(text)
        if decorator != "dataclass(frozen=True, slots=True, kw_only=True)"
    }
    assert others == set()


def test_third_parties_are_imported_in_their_rooms_only() -> None:
    misplaced = {
        (_name(path), package)
        for path, text in read_package().items()
        for package in map("".join, IMPORTED.findall(text))
        if package not in {*sys.stdlib_module_names, "function_script"}
        and not _name(path).startswith(ROOMS.get(package, ()))
    }
    assert misplaced == set(), "a dependency is in pyproject.toml, and its room in ROOMS above"


def _of_one_system(node: ast.AST) -> set[str]:
    """Return the names in a node that some systems do not have."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names} & WHOLLY_OF_ONE_SYSTEM
    if isinstance(node, ast.ImportFrom):
        names = {alias.name for alias in node.names} & OF_ONE_SYSTEM.get(node.module or "", set())
        return names | ({node.module or ""} & WHOLLY_OF_ONE_SYSTEM)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return {node.attr} & OF_ONE_SYSTEM.get(node.value.id, set())
    return set()


def _walk_unguarded(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree, but not where it is left open whether a module can be imported."""
    yield node
    for child in ast.iter_child_nodes(node):
        is_guarded = isinstance(child, ast.With) and "ImportError" in ast.unparse(child.items[0])
        if not is_guarded:
            yield from _walk_unguarded(child)


def test_tools_use_no_name_of_one_operating_system() -> None:
    """Only the sandbox and the server choose by operating system; the tools run everywhere."""
    names = WHOLLY_OF_ONE_SYSTEM.union(*OF_ONE_SYSTEM.values())
    suspicious = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
    platform_names = {
        (_name(path), name)
        for path, text in read_package().items()
        if not _name(path).startswith(CHOOSING) and suspicious.search(text)
        for node in _walk_unguarded(ast.parse(text))
        for name in _of_one_system(node)
    }
    assert platform_names == set()


@pytest.mark.parametrize(
    "name", ["os.fork()", "import fcntl", "from os import mkfifo", "select.epoll"]
)
def test_name_of_one_operating_system_is_recognized(name: str) -> None:
    assert any(map(_of_one_system, ast.walk(ast.parse(name))))


def test_fatal_results_are_built_in_one_module() -> None:
    built = re.compile(r"Result\(\s*(severity=)?[\w.]*FATAL")
    builders = [_name(path) for path, text in read_package().items() if built.search(text)]
    assert builders == ["function_script/step/response.py"]


# These run as programs, outside of pytest: the folder of the tests is not on their path yet.
PROGRAMS = ("tests/hostile/attacker.py", "tests/fuzz/run.py")


def test_tests_share_one_root() -> None:
    own = {
        _name(path)
        for path in TEST_FILES
        if re.search(r"__file__\)(\.resolve\(\))?\.parents\[", path.read_text())
    }
    assert own - {*PROGRAMS} == {"tests/support/paths.py"}


def test_test_names_have_their_subject_first() -> None:
    misnamed = {
        (_name(path), name)
        for path in TEST_FILES
        for name in re.findall(r"def (test_(?:an?|the|every|each|what|it)_\w+)", path.read_text())
    }
    assert misnamed == set()


def test_suppressions_have_reasons() -> None:
    """Every suppressed check names its code and says why."""
    unexplained = [
        f"{_name(path)}:{number}"
        for path in [*PACKAGE_FILES, *TEST_FILES, *GENERATOR_FILES]
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for mark in ("# no" + "qa", "# type" + ": ignore")
        if mark in line and not REASON.search(line.split(mark, 1)[1])
    ]
    assert unexplained == []


def test_modules_have_a_layer() -> None:
    """The contract of layers names each module of the top and of the rooms that it divides."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = contract["contracts"][0]["layers"]
    names = [name.strip() for row in layers for name in row.split("|")]
    named = {name.removeprefix("function_script.") for name in names}
    divided = {name.partition(".")[0] for name in named if "." in name}
    modules = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for folder in (PACKAGE, *(PACKAGE / name for name in divided))
        for path in folder.iterdir()
        if (path.suffix == ".py" and path.stem != "__init__") or (path / "__init__.py").exists()
    }
    assert modules - divided == named


def _bases(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each base that a class has from another module."""
    nodes = [*ast.walk(tree)]
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    names = {
        it.asname or it.name: f"{each.module}.{it.name}" for each in imports for it in each.names
    }
    for base in (base for node in nodes if isinstance(node, ast.ClassDef) for base in node.bases):
        name, dot, rest = ast.unparse(base).partition(".")
        module, _, name = f"{names.get(name, '')}{dot}{rest}".rpartition(".")
        yield module, name


def test_base_of_an_interpreted_class_is_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPython refuses the others where an object is made: in a build that is compiled."""
    monkeypatch.setattr("setuptools.setup", lambda **_: None)
    modules = runpy.run_path(str(ROOT / "setup.py"))["MODULES"]
    compiled = {PACKAGE / path.with_suffix(".py") for path in modules}
    names = {
        _name(path.with_suffix("")).replace("/", ".").removesuffix(".__init__") for path in compiled
    }
    refused = {
        (_name(path), name)
        for path, text in read_package().items()
        if path not in compiled and CLASS_WITH_BASES.search(text)
        for module, name in _bases(ast.parse(text))
        if module in names
    }
    assert refused == set()
