"""Spawn the interpreter of a zygote or a plain worker, isolated from the user's environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from function_script.sandbox.zygote_config import ZygoteConfig

# Isolated from the environment and the current directory; the path is this process' own.
_MAIN = """\
import sys
sys.path[:] = sys.argv[3:]
from function_script.sandbox import {module}
{module}.main(*map(int, sys.argv[1].split()), sys.argv[2])
"""
# Some builds of Python do not start without these; nothing else of the environment is inherited.
_INHERITED_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
# A backtrace for each Rust panic would cost 70 ms and 55 MB.
_VARIABLES = {"RUST_BACKTRACE": "0"}


def spawn(module: str, descriptors: Sequence[int], config: ZygoteConfig) -> subprocess.Popen[bytes]:
    """Call ``main`` of a module of this folder in a new process; raise OSError."""
    env = {name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ}
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *(path for path in sys.path if path not in {"", root})]
    flags = ["-I", "-S", "-X", "utf8", "-c", _MAIN.format(module=module)]
    return subprocess.Popen(  # noqa: S603 # our own interpreter and program
        [sys.executable, *flags, " ".join(map(str, descriptors)), config.to_literal(), *paths],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=descriptors,
        env=env | _VARIABLES,
        # Ctrl-C does not reach it. In a session of its own, Linux would schedule it against the
        # server's session outside of containers (``sched_autogroup_enabled``), and beside other
        # busy processes its workers got a fifth of their share.
        process_group=0,
    )
