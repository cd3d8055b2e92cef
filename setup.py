"""Compile what every request passes to machine code, where FUNCTION_SCRIPT_COMPILE=1 asks for it.

pip calls this through setuptools; pyproject.toml has everything else about the package.
Compiling takes minutes and pays where the function is served: an author's tools gain nothing.
A wheel has all of its compiled modules or none, and a failure to compile is an error.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PACKAGE = Path("function_script")
CODEC = ("fields", "messages", "decode", "encode", "request", "response", "identity")
SYNTAX = ("lexer", "nodes", "parser")
OPERATIONS = ("expressions", "statements")
COMPILER = ("values", "missing_values", "pipelines", "templates")
# No module with dataclasses or NamedTuples whose fields have types that are only imported for
# type checkers: compiled, those look for the types when they are defined.
MODULES = (
    *(Path("wire", name) for name in CODEC),
    *(Path("sandbox", name) for name in ("batch", "scheduler", "history")),
    *(Path("sandbox", name) for name in ("worker_process", "idle_workers")),
    *(Path("sandbox", name) for name in ("shared_memory", "ipc")),
    Path("sandbox", "plain"),
    *(Path("sandbox", name) for name in ("report", "execution", "worker")),
    *(Path("sandbox", "dispatcher"), Path("server", "handler"), Path("server", "request_record")),
    *(Path("documents", name) for name in ("fast_path", "stream")),
    *(Path("contribution", name) for name in ("__init__", "desired_resource")),
    *(Path("contribution", name) for name in ("from_documents", "from_response", "sanitize")),
    *(Path("contribution", name) for name in ("gotemplating", "lint")),
    Path("engines", "leftovers"),
    Path("engines", "starlark", "analysis", "paths"),
    Path("engines", "jinja", "output"),
    Path("engines", "gotemplate", "run"),
    *(Path("engines", "gotemplate", "syntax", name) for name in SYNTAX),
    *(Path("engines", "gotemplate", "compiler", name) for name in COMPILER),
    *(Path("engines", "gotemplate", "operations", name) for name in OPERATIONS),
    *(Path("request", name) for name in ("cache", "fair_queue", "lazy", "objects")),
    *(Path("request", name) for name in ("reader", "request")),
    *(Path("step", name) for name in ("desired", "function", "moves", "response")),
    *(Path("step", name) for name in ("telemetry", "warning_condition")),
    Path("texts", "problems"),
)
# `make lint` judges types. A build only needs them, and has the libraries in isolation no more
# than pip does: without them everywhere, a wheel is the same wherever it is built.
MYPY = (
    *("--config-file=", f"--cache-dir={os.devnull}", "--no-site-packages"),
    *("--ignore-missing-imports", "--follow-imports=silent"),
)
GROUP = "function_script_wire"
# mypyc comes with it; the version is that of the locked requirements.
MYPY_REQUIREMENT = "mypy==2.4.1"
# Information for debuggers would name directories of the build.
NONE = "0"
# The third level takes a third more time to compile, and gives what cannot be measured.
OPTIMISATION = "2"
VARIABLE = "FUNCTION_SCRIPT_COMPILE"
SETTING = os.environ.get(VARIABLE, "")
IS_COMPILED = SETTING == "1"


def extensions(directory: str | None) -> list[Extension]:
    """List the modules to compile, whose C code is in a directory; without one, it is in build/."""
    if not IS_COMPILED:
        return []
    if reason := find_obstacle():
        sys.exit(f"error: cannot compile as {VARIABLE}=1 demands: {reason}")
    from mypyc.build import mypycify  # noqa: PLC0415 - it need not be installed

    paths = [str(PACKAGE / f"{module}.py") for module in MODULES]
    modules = mypycify(
        [*MYPY, *paths],
        group_name=GROUP,
        debug_level=NONE,
        opt_level=OPTIMISATION,
        # One file for each module: a compiler needs a fraction of the memory, and several run.
        multi_file=True,
        target_dir=directory,
    )
    if os.name == "posix":
        for module in modules:
            # mypyc adds -Werror, and the next compiler has warnings that this one does not have.
            module.extra_compile_args = [*module.extra_compile_args, "-Wno-error"]
    return list(modules)


def find_obstacle() -> str:
    """Return what is in the way of compiling; empty when nothing is."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "mypyc is for CPython with the global interpreter lock"
    if importlib.util.find_spec("mypyc") is None:
        return "mypyc is not installed"
    name = find_compiler()
    if shutil.which(name) is None:
        return f"there is no C compiler ({name})"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "Python's headers are not installed"
    return ""


def find_compiler() -> str:
    """Return the C compiler that setuptools calls: CC, or the one that made this Python.

    Where that one is not installed, cc becomes CC.
    """
    if not os.environ.get("CC", "").strip():
        name = shlex.split(sysconfig.get_config_var("CC") or "cc")[0]
        if shutil.which(name) is not None or shutil.which("cc") is None:
            return name
        os.environ["CC"] = "cc"
    return shlex.split(os.environ["CC"])[0]


class ParallelBuild(build_ext):
    """Runs as many C compilers at once as there are processors; setuptools runs one."""

    def build_extensions(self) -> None:
        """Compile and link all extensions."""
        compiler: Any = self.compiler
        compile_files = compiler.compile

        def compile_in_parallel(sources: list[str], **options: Any) -> list[str]:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                compiled = pool.map(lambda source: compile_files([source], **options), sources)
                return [name for names in compiled for name in names]

        compiler.compile = compile_in_parallel
        super().build_extensions()


def main() -> None:
    """Run the commands of the command line."""
    if SETTING not in {"", "0", "1"}:
        sys.exit(f'error: {VARIABLE} is "{SETTING}": 1, 0, or not set')
    if "bdist_wheel" not in sys.argv:
        is_building = {"build", "build_ext", "editable_wheel"} & set(sys.argv)
        # setuptools tells pip what a build in isolation needs: the compiler only to compile.
        needs = [MYPY_REQUIREMENT] if IS_COMPILED and not is_building else []
        setup(
            ext_modules=extensions(None) if is_building else [],
            setup_requires=needs,
            cmdclass={"build_ext": ParallelBuild},
        )
        return
    # A wheel is made in an empty directory: nothing of an earlier build gets into it.
    with tempfile.TemporaryDirectory(prefix="function-script-") as directory:
        options = {"build": {"build_base": directory}}
        setup(
            ext_modules=extensions(directory),
            options=options,
            cmdclass={"build_ext": ParallelBuild},
        )


main()
