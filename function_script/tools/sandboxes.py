"""The sandbox of commands that run a program of the author's.

It takes as long to get ready as the rest of a command takes to import, so the command line opens it
first; nothing slow may be imported here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.limits import Limits
from function_script.sandbox import Pool, PoolOptions

if TYPE_CHECKING:
    from pathlib import Path


def open_pool(programs: Path | None) -> Pool:
    """A pool of one worker; ``programs`` is the directory of programs in files, if there is one."""
    root = None if programs is None else str(programs.resolve())
    return Pool(PoolOptions(limits=Limits(program_root=root), workers=1, spare=0))


def programs_beside(path: Path) -> Path | None:
    """Where programs in files are, unless said otherwise: ``programs/`` beside a Composition."""
    beside = path.parent / "programs"
    return beside if beside.is_dir() else None
