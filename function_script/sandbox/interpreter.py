"""Start an interpreter for a zygote or a plain worker, isolated from the user's environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from function_script.sandbox.zygote_config import ZygoteConfig

# Isolated from the environment and the current directory; modules come from where ours came from.
_BOOT = """\
import sys
sys.path[:] = sys.argv[3:]
from function_script.sandbox import {module}
{module}.main(*map(int, sys.argv[1].split()), sys.argv[2])
"""
# Without these some builds of Python do not start; nothing else of the environment is handed on.
_KEPT_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
# A backtrace for each Rust panic would cost 70 ms and 55 MB.
_VARIABLES = {"RUST_BACKTRACE": "0"}


def start(
    module: str, descriptors: Sequence[int], settings: ZygoteConfig
) -> subprocess.Popen[bytes]:
    """Call ``main`` of a module beside this one, in a new process; raises OSError."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    ours = str(Path(__file__).resolve().parents[2])
    paths = [ours, *(path for path in sys.path if path not in {"", ours})]
    numbers = " ".join(map(str, descriptors))
    flags = ["-I", "-S", "-X", "utf8", "-c", _BOOT.format(module=module)]
    return subprocess.Popen(  # noqa: S603 # our own interpreter, our own words
        [sys.executable, *flags, numbers, settings.to_json(), *paths],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=descriptors,
        env=kept | _VARIABLES,
        start_new_session=True,
    )
