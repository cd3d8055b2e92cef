"""Cases as Python code: render a Composition in a test and look at plain data.

Called by authors' own tests; takes the keys of a case and the way of `function-script test`.
"""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from function_script import documents
from function_script.errors import FatalError
from function_script.sandbox import Pool
from function_script.source import Source
from function_script.tools import sources
from function_script.tools.cases import fake_cluster, outcome, parser, runner, session
from function_script.tools.cases.discovery import FOLDER_FILE, CaseFile
from function_script.tools.cases.loader import FileCache
from function_script.tools.render.runners import FunctionCaller

if TYPE_CHECKING:
    import os

    from function_script.tools.cases.model import Case
    from function_script.values import Object, Value

__all__ = ["FatalError", "render"]

_WORKERS: Final = 1


def render(directory: str | os.PathLike[str], /, **given: Value) -> Object:
    """What one reconcile makes of an XR, with the parts that a case's checks look at.

    Those are ``xr``, ``resources`` by name, ``status``, ``ready``, ``conditions``, ``events``,
    ``requirements`` and ``context``. ``given`` are the keys of a case, such as ``xr``, ``patch`` or
    ``observed``, with paths below ``directory``; what is not given is found there, as in the folder
    of a case. Raises FatalError for what cannot be rendered, and for a FATAL result.
    """
    case = _case(Path(directory), given)
    (step,) = case.steps
    cluster = fake_cluster.before_step(fake_cluster.FakeCluster(xr=case.setup.xr), step)
    caller = FunctionCaller(pool=pool(case.setup.program.root), print=print)
    rendered = runner.render_in(cluster, case.setup, caller, runner.RunOptions())
    return outcome.to_object(rendered.result, rendered.responses)


def _case(directory: Path, given: dict[str, Value]) -> Case:
    """The case that says ``given``, as text, so that problems have a place in it."""
    if "steps" in given or "expect" in given:
        raise TypeError("render() takes what is given: a step's expectations are your assertions")
    source = Source(name="the case given", text=documents.to_yaml(given))
    file = CaseFile(path=directory / FOLDER_FILE)
    (document,) = sources.read(source)
    return parser.read(document, file, FileCache())


@cache
def pool(root: Path | None) -> Pool:
    """The sandbox that all tests of this process share, with programs in files below ``root``."""
    made = Pool(session.pool_options(root, _WORKERS))
    atexit.register(made.close)
    return made
