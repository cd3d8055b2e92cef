"""Compile the codec, and what every request passes, to machine code where that is possible.

pip calls this through setuptools; everything else about the package stands in pyproject.toml.
FUNCTION_SCRIPT_COMPILE=1 makes a failure to compile an error, 0 leaves the codec plain Python,
and without it a wheel is compiled when mypyc, a C compiler and Python's headers are there.
An editable installation is compiled on demand only: it would go on running the old code when
the source changes.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

PACKAGE = Path("function_script")
CODEC = (
    *("fields", "write", "messages", "decode", "encode"),
    *("request", "response", "splice", "identity"),
)
# No module with dataclasses or NamedTuples whose fields have types that are only imported for
# type checkers: compiled, those look for the types when they are defined.
MODULES = (
    *(Path("wire", name) for name in CODEC),
    *(Path("sandbox", name) for name in ("pace", "places", "turns", "suspects", "child", "crew")),
    *(Path("sandbox", name) for name in ("frames", "report", "run", "worker")),
    *(Path("sandbox", "switchboard"), Path("server", "answering"), Path("server", "records")),
    *(Path("documents", name) for name in ("simple", "memo", "stream")),
    *(Path("contribution", name) for name in ("names", "order", "sanitize")),
    *(Path("contribution", name) for name in ("annotations", "composed", "rendered", "returned")),
    Path("engines", "starlark", "parts"),
    *(Path(name) for name in ("fields", "objects", "request", "desired", "response")),
)
SETTING = os.environ.get("FUNCTION_SCRIPT_COMPILE", "")


def extensions() -> list[Extension]:
    """What to compile; nothing when it is not wanted, or when it cannot be done."""
    if not {"build", "build_ext", "bdist_wheel", "editable_wheel"} & set(sys.argv):
        return []
    reason = obstacle()
    if reason:
        print(f"the codec stays plain Python: {reason}")  # noqa: T201 - pip -v shows it
        return []
    from mypyc.build import mypycify  # noqa: PLC0415 - it need not be installed

    paths = [str(PACKAGE / f"{module}.py") for module in MODULES]
    # Without a configuration file: that one checks the whole package, and this is one corner.
    # Silently: what these modules import may import what has no types here.
    flags = ["--config-file=", "--strict", "--allow-any-generics", "--follow-imports=silent"]
    made = mypycify([*flags, *paths], group_name="function_script_wire")
    for extension in made:
        extension.optional = SETTING != "1"
    return list(made)


def obstacle() -> str:
    """Why not to compile; empty when nothing is in the way."""
    if SETTING == "1":
        return ""
    if SETTING == "0":
        return "FUNCTION_SCRIPT_COMPILE is 0"
    if "editable_wheel" in sys.argv:
        return "the installation is editable"
    if importlib.util.find_spec("mypyc") is None:
        return "mypyc is not installed"
    if shutil.which(os.environ.get("CC", "cc").split()[0]) is None:
        return "there is no C compiler"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "Python's headers are not installed"
    return ""


setup(ext_modules=extensions())
