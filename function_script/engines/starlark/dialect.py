"""The dialect of Starlark: syntax, predeclared names, depth of calls, limits of evaluation."""

import time
from itertools import count

import starlark
from starlark import LibraryExtension

from function_script.request.limits import Limits

# Frames of the interpreter, its own included. Its default of 50 is too few to walk a tree; each
# frame takes native stack, of which 8 MB hold 22,000.
MAX_CALLS = 300

# A script has a little less time than its process: the interpreter's error has a position, the
# end of the process has none.
_TIME_MARGIN = 0.05

# For a run that only finds the position of an error: about 50 ms.
_BRIEF_THOUSANDS = 500


DIALECT = starlark.Dialect.standard()
DIALECT.enable_keyword_only_arguments = True
DIALECT.enable_positional_only_arguments = True
DIALECT.enable_types = starlark.DialectTypes.ENABLE
DIALECT.enable_top_level_stmt = True
DIALECT.enable_f_strings = True
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
    """Return options that also stop after a number of turns or calls, equal on every machine."""
    checks = count(1)
    is_over = options.check_cancelled or (lambda: False)
    return starlark.EvalOptions(
        max_callstack_size=MAX_CALLS,
        check_cancelled=lambda: next(checks) > _BRIEF_THOUSANDS or is_over(),
    )


def options(limits: Limits) -> starlark.EvalOptions:
    """Return options that stop when the step's CPU time, from now on, is nearly used up.

    The interpreter checks once in 1,000 loop turns or calls, and never inside one long operation.
    So this is only for a better error; the end of the worker process is the bound.
    """
    end = time.thread_time() + limits.timeout_seconds * (1 - _TIME_MARGIN)
    return starlark.EvalOptions(
        max_callstack_size=MAX_CALLS, check_cancelled=lambda: time.thread_time() > end
    )
