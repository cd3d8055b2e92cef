"""Compile what every request passes to machine code, where that is possible.

pip calls this through setuptools; pyproject.toml has everything else about the package.
FUNCTION_SCRIPT_COMPILE=1 makes a failure to compile an error, 0 leaves the package plain Python,
and without it a wheel is compiled when mypyc, a C compiler and Python's headers are there.
A wheel has all of its compiled modules or none, and says in build.json why it has none.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext

PACKAGE = Path("function_script")
CODEC = (
    *("fields", "write", "messages", "decode", "encode"),
    *("request", "response", "splice", "identity"),
)
SYNTAX = ("lexer", "literals", "nodes", "parser")
OPERATIONS = ("frame", "expressions", "calls", "shortcuts", "statements", "gaps")
COMPILER = (
    *("values", "constants", "shortcuts", "builder", "pipelines"),
    *("templates", "checking", "deferring"),
)
# No module with dataclasses or NamedTuples whose fields have types that are only imported for
# type checkers: compiled, those look for the types when they are defined.
MODULES = (
    *(Path("wire", name) for name in CODEC),
    *(Path("sandbox", name) for name in ("scheduler", "lane", "history")),
    *(Path("sandbox", name) for name in ("worker_process", "idle_workers")),
    *(Path("sandbox", name) for name in ("shared_memory", "ipc")),
    *(Path("sandbox", name) for name in ("plain", "stream")),
    *(Path("sandbox", name) for name in ("report", "execution", "worker")),
    *(Path("sandbox", "dispatcher"), Path("server", "handler"), Path("server", "request_record")),
    *(Path("documents", name) for name in ("fast_path", "stream")),
    *(Path("contribution", name) for name in ("annotations", "desired_resource", "ordering")),
    *(Path("contribution", name) for name in ("from_documents", "from_response", "sanitize")),
    *(Path("contribution", name) for name in ("__init__", "gotemplating", "lint", "text_fields")),
    Path("engines", "leftovers"),
    Path("engines", "starlark", "analysis", "paths"),
    Path("engines", "jinja", "output"),
    *(Path("engines", "gotemplate", name) for name in ("sites", "run")),
    *(Path("engines", "gotemplate", "syntax", name) for name in SYNTAX),
    *(Path("engines", "gotemplate", "compiler", name) for name in COMPILER),
    *(Path("engines", "gotemplate", "operations", name) for name in OPERATIONS),
    *(Path(name) for name in ("cache", "problems", "reader", "objects", "lazy")),
    *(Path(name) for name in ("request", "desired", "response", "function", "telemetry")),
    *(Path(name) for name in ("moves", "ttl", "warning_condition")),
)
# `make lint` judges types. A build only needs them, and has the libraries in isolation no more
# than pip does: without them everywhere, a wheel is the same wherever it is built.
MYPY = (
    *("--config-file=", f"--cache-dir={os.devnull}", "--no-site-packages"),
    *("--ignore-missing-imports", "--follow-imports=silent"),
)
GROUP = "function_script_wire"
# Information for debuggers would name directories of the build.
NONE = "0"
MAX_REASON = 200
VARIABLE = "FUNCTION_SCRIPT_COMPILE"
SETTING = os.environ.get(VARIABLE, "")
IS_DEMANDED = SETTING == "1"


class Build(build):
    """Builds the package, and records why it stays plain Python."""

    reason = ""

    def run(self) -> None:
        """Build, then write the record."""
        super().run()
        record = Path(self.build_lib, PACKAGE, "build.json")
        record.write_text(json.dumps({"reason": Build.reason}) + "\n", encoding="ascii")


class BuildExt(build_ext):
    """Compiles all modules; removes them all when one cannot be compiled."""

    def run(self) -> None:
        """Compile; where that fails, make the wheel one of plain Python."""
        try:
            super().run()
            self.check_outputs()
        except Exception as error:  # noqa: BLE001 - whatever a compiler or its absence raises
            for path in self.get_outputs():
                Path(path).unlink(missing_ok=True)
            stay_plain(f"the C compiler failed: {summary(error)}")
            self.distribution.ext_modules = []
            wheel = self.distribution.get_command_obj("bdist_wheel", create=False)
            if wheel is not None:
                wheel.root_is_pure = True

    def check_outputs(self) -> None:
        """Raise FileNotFoundError for a compiler that ends well and writes nothing."""
        for path in self.get_outputs():
            if not Path(path).exists():
                raise FileNotFoundError(f"it wrote no {Path(path).name}")


def summary(error: BaseException) -> str:
    """Say in few words why compiling failed; the whole command and its output are above it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, subprocess.CalledProcessError):
            end = f"exit status {cause.returncode}" if cause.returncode > 0 else "a signal"
            return f"{Path(cause.cmd[0]).name} ended with {end}"
        cause = cause.__cause__ or cause.__context__
    return (str(error) or type(error).__name__).splitlines()[0][:MAX_REASON]


def stay_plain(reason: str) -> None:
    """Record why nothing is compiled; end the build when compiling was demanded."""
    if IS_DEMANDED:
        sys.exit(f"error: cannot compile as {VARIABLE}=1 demands: {reason}")
    Build.reason = reason.encode("ascii", "replace").decode()
    print(f"function-script stays plain Python: {reason}")  # noqa: T201 - pip -v shows it


def extensions(directory: str | None) -> list[Extension]:
    """List the modules to compile, whose C code is in a directory; none where that cannot be.

    Without a directory, it is in build/.
    """
    reason = obstacle()
    if reason:
        stay_plain(reason)
        return []
    from mypyc.build import mypycify  # noqa: PLC0415 - it need not be installed

    paths = [str(PACKAGE / f"{module}.py") for module in MODULES]
    try:
        modules = mypycify(
            [*MYPY, *paths], group_name=GROUP, debug_level=NONE, target_dir=directory
        )
    except SystemExit:
        stay_plain("mypyc refuses the sources; the build's output says why")
        return []
    except Exception as error:  # noqa: BLE001 - whatever a fault of mypyc raises
        stay_plain(f"mypyc failed: {summary(error)}")
        return []
    if os.name == "posix":
        for module in modules:
            # mypyc adds -Werror, and the next compiler has warnings that this one does not have.
            module.extra_compile_args = [*module.extra_compile_args, "-Wno-error"]
    return list(modules)


def obstacle() -> str:
    """Tell why not to compile; empty when nothing is in the way."""
    if SETTING == "0":
        return f"{VARIABLE} is 0"
    if "editable_wheel" in sys.argv and not IS_DEMANDED:
        return "the installation is editable"
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "mypyc is for CPython with the global interpreter lock"
    if importlib.util.find_spec("mypyc") is None:
        return "mypyc is not installed"
    name = compiler()
    if shutil.which(name) is None:
        return f"there is no C compiler ({name})"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "Python's headers are not installed"
    return ""


def compiler() -> str:
    """Name the C compiler that setuptools calls: CC, or the one that made this Python.

    Where that one is not installed, cc becomes CC.
    """
    if not os.environ.get("CC", "").strip():
        name = first_word(sysconfig.get_config_var("CC") or "cc")
        if shutil.which(name) is not None or shutil.which("cc") is None:
            return name
        os.environ["CC"] = "cc"
    return first_word(os.environ["CC"])


def first_word(command: str) -> str:
    """Name the program of a command."""
    return shlex.split(command)[0]


def main() -> None:
    """Run the commands of the command line."""
    if SETTING not in {"", "0", "1"}:
        sys.exit(f'error: {VARIABLE} is "{SETTING}": 1, 0, or not set')
    commands = {"build": Build, "build_ext": BuildExt}
    if "bdist_wheel" not in sys.argv:
        is_building = {"build", "build_ext", "editable_wheel"} & set(sys.argv)
        setup(cmdclass=commands, ext_modules=extensions(None) if is_building else [])
        return
    # A wheel is made in an empty directory: nothing of an earlier build gets into it.
    with tempfile.TemporaryDirectory(prefix="function-script-") as directory:
        options = {"build": {"build_base": directory}}
        setup(cmdclass=commands, ext_modules=extensions(directory), options=options)


main()
