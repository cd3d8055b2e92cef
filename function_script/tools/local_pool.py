"""The sandbox pool of commands that run an author's program.

The pool takes as long to start as a command takes to import, so the command line opens it first;
this module must not import anything slow.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from function_script.engines.registry import LANGUAGES
from function_script.sandbox.outcome import RETRIED, Failed, Reply
from function_script.sandbox.pool import Pool, PoolOptions
from function_script.step.telemetry import Answered
from function_script.texts.errors import FatalError, InputError
from function_script.tools import worker_marks
from function_script.tools.processes.options import PackageOptions
from function_script.tools.project import SUFFIXES, Project

OPTIONS: Final = PoolOptions(workers=1, min_idle=0, module="function_script.tools.local_worker")
"""The options of a pool of the tools, where no operator sets others."""
_MAX_GUESSED: Final = 200
BUSY: Final = "this machine is busy: try again"


def open_pool(preload: tuple[str, ...] = (), options: PoolOptions = OPTIONS) -> Pool:
    """Open a pool; the engine modules ``preload`` are imported at once."""
    return Pool(replace(options, preload=preload))


@dataclass(frozen=True, slots=True, kw_only=True)
class RootedPool:
    """A pool of the tools whose requests have their programs in files below ``root``."""

    pool: Pool
    root: Path

    def run(self, data: bytes, timeout_seconds: float | None = None) -> Reply:
        """Evaluate a request, as `Pool.run`."""
        return self.pool.run(worker_marks.add_root(data, self.root), timeout_seconds)


Sandbox: TypeAlias = Pool | RootedPool


def bind_programs(pool: Pool, programs: Path | None, project: Project) -> Sandbox:
    """Return the pool for a Composition; ``programs`` is its directory of programs in files.

    Raises InputError for one that leads out of the project.
    """
    if programs is None:
        return pool
    return RootedPool(pool=pool, root=project.resolve(programs))


def evaluate(data: bytes, run: Callable[[bytes], Reply], packages: PackageOptions) -> Reply:
    """Evaluate a request by ``run``, and again with the remote programs that it lacks.

    Raises InputError.
    """
    reply = run(data)
    if not isinstance(reply, Answered) or not reply.missing:
        return reply
    from function_script.tools.remote import local  # noqa: PLC0415 - slow to import

    return run(local.attach(data, reply.missing, local.source_of(packages)))


def error_of(reply: Failed, hint: str = BUSY) -> FatalError:
    """Return the error of a reply, with ``hint`` in place of advice about a server's flags."""
    if reply.cause not in RETRIED:
        return reply.error
    problems = (replace(problem, hint=hint) for problem in reply.error.diagnostics)
    return reply.error.with_diagnostics(*problems)


def engines_of(paths: Iterable[Path], project: Project) -> tuple[str, ...]:
    """Return the engine modules of the languages in files, and in files below directories.

    What cannot be read has none. A pipe is not read: its data would be lost to the command.
    """
    texts: list[str] = []
    for path in paths:
        with suppress(InputError):
            files = project.find_files(path, SUFFIXES) if path.is_dir() else [path]
            # A pool that waits for thousands of files begins too late to be ready for the first.
            texts.extend(
                project.read(file).decode("utf-8", "replace")
                for file in files[:_MAX_GUESSED]
                if file.is_file()
            )
    return engines_in(texts)


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
