"""The house rules that no linter knows, checked on the package's own syntax trees."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
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
        "function_script/capture/__init__",
        "function_script/server",
        "function_script/tools",
    ),
    "grpc": ("function_script/server", "function_script/tools/render"),
    "grpc_health": ("function_script/server",),
    "grpc_reflection": ("function_script/server",),
    "h11": ("function_script/server/ops_http",),
    "jinja2": ("function_script/engines/jinja",),
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
    "re2": ("function_script/engines/library",),
    "starlark": ("function_script/engines/starlark",),
    "yaml": ("function_script/documents",),
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
CHOOSING = ("function_script/sandbox/", "function_script/server/")


PACKAGE_FILES = _sources(PACKAGE)
TEST_FILES = _sources(ROOT / "tests")
GENERATOR_FILES = _sources(ROOT / "docs" / "generate")


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", PACKAGE_FILES + GENERATOR_FILES, ids=_name)
def test_modules_say_what_they_are(path: Path) -> None:
    """Every module has a docstring."""
    assert ast.get_docstring(_tree(path))


@pytest.mark.parametrize("path", PACKAGE_FILES, ids=_name)
def test_data_is_frozen(path: Path) -> None:
    """Every dataclass is frozen, slotted and keyword-only."""
    for node in ast.walk(_tree(path)):
        for decorator in getattr(node, "decorator_list", []):
            text = ast.unparse(decorator)
            if "dataclass" in text:
                assert text == "dataclass(frozen=True, slots=True, kw_only=True)"


def _imported(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("path", PACKAGE_FILES, ids=_name)
def test_third_parties_stay_in_their_rooms(path: Path) -> None:
    """A third-party package is imported in its room only, and none without a room."""
    outside = _imported(_tree(path)) - set(sys.stdlib_module_names) - {"function_script"}
    for package in outside:
        assert package in ROOMS, f"{package} has no room"
        assert _name(path).startswith(ROOMS[package]), f"{package} is not for this room"


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


@pytest.mark.parametrize("path", PACKAGE_FILES, ids=_name)
def test_names_of_one_system_stay_where_one_is_chosen(path: Path) -> None:
    """The tools run wherever Python does, so they are written without any of them."""
    if not _name(path).startswith(CHOOSING):
        assert set[str]().union(*map(_of_one_system, _walk_unguarded(_tree(path)))) == set()


@pytest.mark.parametrize(
    "name", ["os.fork()", "import fcntl", "from os import mkfifo", "select.epoll"]
)
def test_a_name_of_one_system_is_seen(name: str) -> None:
    """Called, read or imported."""
    assert any(map(_of_one_system, ast.walk(ast.parse(name))))


def test_fatal_is_decided_in_one_place() -> None:
    """Exactly one module builds a FATAL result of its own; programs' own results are read."""
    built = re.compile(r"Result\(\s*(severity=)?[\w.]*FATAL")
    builders = [_name(path) for path in PACKAGE_FILES if built.search(path.read_text())]
    assert builders == ["function_script/response.py"]


@pytest.mark.parametrize("path", PACKAGE_FILES + TEST_FILES + GENERATOR_FILES, ids=_name)
def test_suppressions_have_reasons(path: Path) -> None:
    """Every silenced check names its code and says why."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for mark in ("# no" + "qa", "# type" + ": ignore"):
            if mark in line:
                said = line.split(mark, 1)[1]
                assert " - " in said or " # " in said, f"{_name(path)}:{number} gives no reason"
