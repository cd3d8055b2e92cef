"""What a step may use. The operator sets ceilings; an input may only narrow them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from function_script.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.diagnostics import Diagnostic
    from function_script.errors import FatalError

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Ceilings for one run of one step; the defaults are an operator's defaults."""

    # CPU time.
    timeout_seconds: float = 2.0
    memory_bytes: int = 256 * MIB
    # Crossplane refuses a response over 4 MiB; below it the error can still be told.
    output_bytes: int = 4 * MIB - 64 * 1024
    source_bytes: int = 256 * 1024
    steps: int = 1_000_000
    documents: int = 5_000
    nodes: int = 200_000
    depth: int = 100
    # The directory FileSystem sources are read below; None: a step may not read files.
    program_root: str | None = None
    # What inputs of function-go-templating leave out, as that function's own flags say it: the
    # directory of templates for those without a source, and options, separated by commas.
    default_source: str = ""
    default_options: str = ""


class Limit(NamedTuple):
    """One limit: its field in Limits, flag and path in an input (empty: it has none).

    ``signs`` is what an error at this limit says, and no error at any limit after it in LIMITS.
    """

    field: str
    flag: str
    path: str
    signs: re.Pattern[str]


LIMITS: dict[str, Limit] = {
    "time": Limit(
        "timeout_seconds", "--timeout", "limits.timeout", re.compile("more CPU time than")
    ),
    "memory": Limit("memory_bytes", "--memory-limit", "limits.memory", re.compile("more memory")),
    "documents": Limit(
        "documents",
        "--documents-limit",
        "limits.documents",
        re.compile(r"more than [\d,]+ documents"),
    ),
    "depth": Limit(
        "depth",
        "--depth-limit",
        "limits.depth",
        # How deep templates use one another is built in.
        re.compile(r"(?<!templates are )nested (more than|\d+ deep)"),
    ),
    "nodes": Limit(
        "nodes",
        "--nodes-limit",
        "limits.nodes",
        re.compile(r"more than [\d,]+ (values|nodes)|one value too many"),
    ),
    "steps": Limit("steps", "--steps-limit", "limits.steps", re.compile(r"\d steps")),
    "source": Limit(
        "source_bytes",
        "--source-limit",
        "",
        re.compile("bytes of source|a source of"),
    ),
    "output": Limit(
        "output_bytes",
        "--output-limit",
        "limits.output",
        re.compile("bytes of JSON|(bytes|characters) of output|output of|return a response of"),
    ),
}
"""By the names that logs and metrics use."""

PRINTED, BUILT_IN = "printed", "built-in"
"""Those that nobody sets: what a program prints; and all that an engine has for one value."""


class EffectiveLimits:
    """The limits of one run: the operator's ceilings, until the input has narrowed them."""

    def __init__(self, ceilings: Limits, on_limits: Callable[[Limits], None]) -> None:
        self._ceilings = ceilings
        self._in_force = ceilings
        self._on_limits = on_limits

    def narrow(self, narrowed: Limits) -> None:
        """Have these in force from now on, and pass them on."""
        self._in_force = narrowed
        self._on_limits(narrowed)

    def attributed(self, error: FatalError, facts: dict[str, str]) -> FatalError:
        """The same error; if it is one at a limit, it says who set that. Notes which it was."""
        if not isinstance(error, LimitError):
            return error
        facts["limit"] = name = name_of(error)
        setter = self._set_by(name)
        return LimitError(*(_hinted(problem, setter) for problem in error.diagnostics))

    def _set_by(self, name: str) -> str:
        limit = LIMITS.get(name)
        if limit is None:
            return ""
        ceiling, in_force = (
            getattr(each, limit.field) for each in (self._ceilings, self._in_force)
        )
        if in_force < ceiling:
            return f"set by {limit.path}"
        return f"set by {limit.flag}"


def name_of(error: LimitError) -> str:
    """Which limit was reached: one of LIMITS, or BUILT_IN."""
    text = str(error)
    return next((name for name, limit in LIMITS.items() if limit.signs.search(text)), BUILT_IN)


def _hinted(problem: Diagnostic, text: str) -> Diagnostic:
    hint = "; ".join(filter(None, (problem.hint, text)))
    return replace(problem, hint=hint or None)
