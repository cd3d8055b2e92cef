"""The sandbox pool of commands that run an author's program.

The pool takes as long to start as a command takes to import, so the command line opens it first;
this module must not import anything slow.
"""

from collections.abc import Iterable
from pathlib import Path

from function_script.engines.registry import LANGUAGES
from function_script.limits import Limits
from function_script.sandbox import Pool, PoolOptions


def open_pool(programs: Path | None, file: Path | None = None) -> Pool:
    """Open a pool of one worker; ``programs`` is the directory of programs in files, if any.

    The engines of the languages in ``file``, which holds the steps to run, are preloaded.
    """
    root = None if programs is None else str(programs.resolve())
    preload = () if file is None else engines_of(file)
    return Pool(
        PoolOptions(limits=Limits(program_root=root), workers=1, min_idle=0, preload=preload)
    )


def engines_of(file: Path) -> tuple[str, ...]:
    """Return the engine modules of the languages in ``file``; none if it cannot be read.

    A pipe is not read: its data would be lost to the command.
    """
    try:
        return engines_in([file.read_text(errors="replace")] if file.is_file() else [])
    except OSError:
        return ()


def engines_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the engine modules of the languages that Compositions mention.

    This is a guess without parsing; a wrong one costs a few milliseconds.
    """
    text = "\n".join(texts)
    return tuple(language.engine_module for language in LANGUAGES.values() if language.kind in text)


def programs_beside(path: Path) -> Path | None:
    """Return the default directory of programs in files, ``programs/`` next to a Composition."""
    directory = path.parent / "programs"
    return directory if directory.is_dir() else None
