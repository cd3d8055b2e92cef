"""Cases as Python code: render a Composition in a test and assert on plain data.

The arguments are the keys of a case, and the rendering is that of `function-script test`.
"""

import atexit
import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from function_script import documents
from function_script.errors import FatalError
from function_script.salt import SaltFile
from function_script.sandbox import Pool
from function_script.source import Source
from function_script.tools import sources
from function_script.tools.cases import command, fake_cluster, outcome, parser, runner
from function_script.tools.cases.discovery import FOLDER_FILE, CaseFile
from function_script.tools.cases.loader import FileCache
from function_script.tools.render.runtimes.model import FunctionCaller
from function_script.tools.render.runtimes.servers import Servers
from function_script.values import Object, Value

__all__ = ["FatalError", "render"]

_WORKERS: Final = 1
# Those that a case starts stay for the others, and end with the process.
SERVERS: Final = Servers()


def render(
    directory: str | os.PathLike[str],
    /,
    *,
    seed_file: str | os.PathLike[str] | None = None,
    **keys: Value,
) -> Object:
    """Render one reconcile of an XR, and return the parts that a case's expectations compare.

    Those are ``xr``, ``resources`` by name, ``status``, ``ready``, ``conditions``, ``events``,
    ``requirements`` and ``context``. ``keys`` are those of a case, such as ``xr``, ``patch`` or
    ``observed``, with paths below ``directory``; files in it provide the others, as in the folder
    of a case. ``seed_file`` is that of `function-script test`. Raises FatalError for errors, and
    for a FATAL result.
    """
    if "steps" in keys or "expect" in keys:
        raise TypeError("render() takes what is given: a step's expectations are your assertions")
    # The case is a text, so that diagnostics have positions.
    source = Source(name="the case given", text=documents.to_yaml(keys))
    (document,) = sources.read(source)
    case = parser.read(document, CaseFile(path=Path(directory) / FOLDER_FILE), FileCache())
    (step,) = case.steps
    cluster = fake_cluster.before_step(fake_cluster.first(case.setup), step)
    salt = None if seed_file is None else Path(seed_file)
    caller = FunctionCaller(pool=pool(case.setup.program.root, salt), print=print, servers=SERVERS)
    rendering = runner.render_in(cluster, case.setup, caller, runner.RunOptions(), print)
    return outcome.to_object(rendering.result, rendering.responses)


@cache
def pool(root: Path | None, seed_file: Path | None = None) -> Pool:
    """Return the pool that all tests of this process share, with program files below ``root``.

    ``seed_file`` has the salt of random values. Raises InputError if it is invalid.
    """
    options = command.pool_options(root, _WORKERS)
    if seed_file is not None:
        options = replace(options, derive_seed=SaltFile(seed_file).derive_seed)
    shared = Pool(options)
    atexit.register(shared.close)
    return shared
