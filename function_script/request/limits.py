"""What a step may use. The operator sets ceilings; an input may only narrow them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple, Self

from function_script.texts.errors import FatalError, LimitName

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Ceilings for one run of one step; the defaults are an operator's defaults."""

    # CPU time.
    timeout_seconds: float = 2.0
    memory_bytes: int = 256 * MIB
    # Crossplane refuses a response over 4 MiB; below it the error can still be reported.
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
    # TTL of a response where neither the program nor the input sets one, and nothing is waited for:
    # the interval at which Crossplane lists all objects again.
    default_ttl_seconds: float = 3600.0

    def with_root(self, directory: Path | None) -> Self:
        """Return the limits with the directory of programs, a path without links, or with none."""
        return replace(self, program_root=None if directory is None else str(directory))


class Limit(NamedTuple):
    """One limit: its name, its field in Limits and path in an input (empty: it has none).

    ``unit`` is that of the flag's values: seconds, bytes or none. ``minimum`` is the least value
    with which a program runs. ``other_flag`` is an older name of the flag.
    """

    name: LimitName
    field: str
    path: str
    meaning: str
    unit: Literal["seconds", "bytes", "count"] = "count"
    minimum: float = 0
    other_flag: str = ""

    @property
    def flag(self) -> str:
        """The flag of commands that run programs."""
        return f"--{self.name}-limit"


LIMITS: dict[LimitName, Limit] = {
    limit.name: limit
    for limit in (
        Limit(
            "time",
            "timeout_seconds",
            "limits.timeout",
            "CPU time of a step.",
            unit="seconds",
            minimum=0.001,
            other_flag="--timeout",
        ),
        Limit("memory", "memory_bytes", "limits.memory", "Memory of a step.", "bytes", MIB),
        Limit(
            "output",
            "output_bytes",
            "limits.output",
            "Largest response. Crossplane accepts up to 4Mi.",
            unit="bytes",
        ),
        Limit("steps", "steps", "limits.steps", "Steps of work of a template."),
        Limit(
            "documents", "documents", "limits.documents", "Documents that a template may produce."
        ),
        Limit("nodes", "nodes", "limits.nodes", "Values in the output of a step."),
        Limit("depth", "depth", "limits.depth", "Nesting depth of a step's output."),
        Limit("source", "source_bytes", "", "Largest program, with its modules.", unit="bytes"),
    )
}
"""Limits that can be set, by the names that logs and metrics use, in the order of --help.

Every command that runs programs has their flags.
"""

PRINTED, BUILT_IN = "printed", "built-in"
"""Names of bounds that cannot be set: printed text, and an engine's bounds for one value."""


class EffectiveLimits:
    """The limits in force for one run: the operator's ceilings, until the input narrows them."""

    def __init__(
        self, ceilings: Limits, on_limits: Callable[[Limits], None] = lambda _: None
    ) -> None:
        self._ceilings = ceilings
        self.in_force = ceilings
        self._on_limits = on_limits

    def narrow(self, narrowed: Limits) -> None:
        """Apply ``narrowed`` from now on, and pass it to the callback."""
        self.in_force = narrowed
        self._on_limits(narrowed)

    def attribute(self, error: FatalError) -> FatalError:
        """Return the error with a hint that says who set its limit, if anybody can set it."""
        if error.limit is None:
            return error
        limit = LIMITS[error.limit]
        ceiling = getattr(self._ceilings, limit.field)
        # The input can only lower a limit, so a lower one is its own.
        is_narrowed = getattr(self.in_force, limit.field) < ceiling
        setter = f"set by {limit.path if is_narrowed else limit.flag}"
        return error.with_diagnostics(
            *(
                replace(problem, hint=f"{problem.hint}; {setter}" if problem.hint else setter)
                for problem in error.diagnostics
            )
        )
