"""The sandbox of commands that run a program of the author's.

It takes as long to get ready as the rest of a command takes to import, so the command line opens it
first; nothing slow may be imported here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.engines.registry import LANGUAGES
from function_script.limits import Limits
from function_script.sandbox import Pool, PoolOptions

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def open_pool(programs: Path | None, file: Path | None = None) -> Pool:
    """A pool of one worker; ``programs`` is the directory of programs in files, if there is one.

    ``file`` holds the steps to run, if that is known: their languages are warm when they come.
    """
    root = None if programs is None else str(programs.resolve())
    preload = () if file is None else engines_of(file)
    return Pool(
        PoolOptions(limits=Limits(program_root=root), workers=1, min_idle=0, preload=preload)
    )


def engines_of(file: Path) -> tuple[str, ...]:
    """The modules of the languages that ``file`` mentions; none when it cannot be read.

    A pipe is left to its reader.
    """
    try:
        return engines_in([file.read_text(errors="replace")] if file.is_file() else [])
    except OSError:
        return ()


def engines_in(texts: Iterable[str]) -> tuple[str, ...]:
    """The modules of the languages that Compositions mention.

    A guess: nothing is parsed yet, and a wrong one costs a moment.
    """
    text = "\n".join(texts)
    return tuple(language.engine_module for language in LANGUAGES.values() if language.kind in text)


def programs_beside(path: Path) -> Path | None:
    """Where programs in files are, unless said otherwise: ``programs/`` beside a Composition."""
    beside = path.parent / "programs"
    return beside if beside.is_dir() else None
