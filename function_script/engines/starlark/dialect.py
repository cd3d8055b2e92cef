"""The Starlark that scripts are written in: syntax, predeclared names, depth of calls.

Called by everything that hands text to the interpreter; knows nothing of requests or errors.
"""

from __future__ import annotations

import time
from itertools import count
from typing import TYPE_CHECKING

import starlark
from starlark import LibraryExtension

if TYPE_CHECKING:
    from function_script.limits import Limits

# Frames of the interpreter, its own included. Its default of 50 is too few to walk a tree; each
# frame takes native stack, of which 8 MB hold 22,000.
MAX_CALLS = 300

# The error that stops a script should come from here, with a position, and not from the end of
# its process. So a script has a little less time than the process that runs it.
_TIME_MARGIN = 0.05

# What a run may take that only finds out where another one failed: about 50 ms.
_BRIEF_THOUSANDS = 500


def _dialect() -> starlark.Dialect:
    dialect = starlark.Dialect.standard()
    dialect.enable_keyword_only_arguments = True
    dialect.enable_positional_only_arguments = True
    dialect.enable_types = starlark.DialectTypes.ENABLE
    dialect.enable_top_level_stmt = True
    dialect.enable_f_strings = True
    return dialect


DIALECT = _dialect()
# Debug, Internal, Breakpoint and CallStack stay out: they look into the interpreter.
GLOBALS = starlark.Globals.extended_by(
    [
        LibraryExtension.StructType,
        LibraryExtension.Json,
        LibraryExtension.Print,
        LibraryExtension.Map,
        LibraryExtension.Filter,
        LibraryExtension.Partial,
        LibraryExtension.Typing,
    ]
)


def brief(options: starlark.EvalOptions) -> starlark.EvalOptions:
    """Evaluation that also stops after a number of turns or calls, the same on every machine."""
    asked = count(1)
    is_over = options.check_cancelled or (lambda: False)
    return starlark.EvalOptions(
        max_callstack_size=MAX_CALLS,
        check_cancelled=lambda: next(asked) > _BRIEF_THOUSANDS or is_over(),
    )


def options(limits: Limits) -> starlark.EvalOptions:
    """Evaluation that stops when the step's CPU time, counted from now, is nearly used up.

    The interpreter asks once in 1,000 loop turns or calls, and never inside one long operation:
    this serves the error message, the bound is the end of the worker process.
    """
    end = time.thread_time() + limits.timeout_seconds * (1 - _TIME_MARGIN)
    return starlark.EvalOptions(
        max_callstack_size=MAX_CALLS, check_cancelled=lambda: time.thread_time() > end
    )
