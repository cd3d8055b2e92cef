"""Cases as Python code: render a Composition in a test and assert on plain data.

The arguments are the keys of a case, and the rendering is that of `function-script test`.
"""

import atexit
import os
import time
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final

from function_script import documents
from function_script.request.salt import SaltFile
from function_script.request.values import Object, Value
from function_script.sandbox.pool import Pool
from function_script.texts import diagnostics
from function_script.texts.errors import FatalError, InputError
from function_script.texts.source import Source
from function_script.tools import bounded, local_pool, watcher
from function_script.tools.cases import comparison, fake_cluster, parser, runner
from function_script.tools.cases.loader import FileCache
from function_script.tools.cases.model import FOLDER_FILE
from function_script.tools.project import Project
from function_script.tools.render import renderer
from function_script.tools.render.runtimes.servers import Servers
from function_script.tools.validate.evaluator import EVALUATOR

__all__ = ["FatalError", "render"]

# Those that a case starts stay for the others, and end with the process.
SERVERS: Final = Servers()
_NOTES: Final[set[str]] = set()
# Two writes of a file within this time may leave the same stamp, on the coarsest file systems.
_MOMENT_NANOSECONDS: Final = 2_000_000_000


class _ParsedFiles:
    """The files that calls have read and parsed, until one of them changes."""

    def __init__(self) -> None:
        self._files: FileCache | None = None
        self._state: watcher.State = {}

    def fresh(self, project: Project) -> FileCache:
        """Return the parsed files as they are now; an empty cache after a change."""
        if self._files is None or watcher.poll(self._files.paths) != self._state:
            return FileCache(project)
        return self._files

    def keep(self, files: FileCache, started: int) -> None:
        """Keep what a call has read since ``started``, unless a file is as young as the call."""
        self._state = watcher.poll(files.paths)
        stamps = watcher.stamps(self._state).values()
        youngest = max((stamp[0] for stamp in stamps if stamp), default=0)
        self._files = files if youngest < started - _MOMENT_NANOSECONDS else None


_parsed: Final[dict[tuple[Path, ...], _ParsedFiles]] = {}


def render(
    directory: str | os.PathLike[str],
    /,
    *,
    seed_file: str | os.PathLike[str] | None = None,
    **keys: Value | os.PathLike[str],
) -> Object:
    """Render one reconcile of an XR, and return the parts that a case's expectations compare.

    Those are ``xr``, ``resources`` by name, ``status``, ``ready``, ``conditions``, ``events``,
    ``requirements`` and ``context``. ``keys`` are those of a case, such as ``xr``, ``patch`` or
    ``observed``, with paths below ``directory``; files in it provide the others, as in the folder
    of a case. ``seed_file`` is that of `function-script test`. Raises FatalError for errors, and
    for a FATAL result.
    """
    if refused := keys.keys() & {"steps", "expect", "request", "redacted"}:
        text = f"render() takes an XR and no {min(refused)}: expectations are your assertions"
        raise TypeError(text)
    if not Path(directory).is_dir():
        raise InputError.of(f'cannot render "{directory}": there is no such directory')
    values: Object = {
        key: os.fspath(value) if isinstance(value, os.PathLike) else value
        for key, value in keys.items()
    }
    # The case is a text, so that diagnostics have positions.
    source = Source(name="the case given", text=documents.to_yaml(values))
    (document,) = bounded.read_documents(source)
    # The test's author names these paths.
    items = chain.from_iterable(
        value if isinstance(value, list) else [value] for value in values.values()
    )
    names = (item for item in items if isinstance(item, str))
    named = [Path(os.path.normpath(Path(directory, name))) for name in names]
    project = Project.of([Path(directory), *named])
    started = time.time_ns()
    # Other paths may be read when others are named.
    parsed = _parsed.setdefault((Path(directory), *named), _ParsedFiles())
    files = parsed.fresh(project)
    case = parser.read(document, Path(directory) / FOLDER_FILE, files)
    parsed.keep(files, started)
    (step,) = case.steps
    cluster = fake_cluster.before_step(fake_cluster.first(case.setup), step)
    salt = None if seed_file is None else Path(seed_file)
    EVALUATOR.begin_report()
    options = renderer.Options(print=print, servers=SERVERS, notes=_NOTES)
    rendering = runner.render_in(
        cluster,
        case,
        pool(salt),
        runner.RunOptions(rendering=options),
        lambda problem, severity: options.print(diagnostics.to_frame(problem, severity)),
    )
    return comparison.to_outcome(rendering)


@cache
def pool(seed_file: Path | None = None) -> Pool:
    """Return the pool that all tests of this process share.

    ``seed_file`` has the salt of random values. Raises InputError if it is invalid.
    """
    options = local_pool.OPTIONS
    if seed_file is not None:
        options = replace(options, derive_seed=SaltFile(seed_file).derive_seed)
    shared = local_pool.open_pool(options=options)
    atexit.register(shared.close)
    return shared
