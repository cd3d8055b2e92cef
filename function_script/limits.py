"""What a step may use. The operator sets ceilings; an input may only narrow them."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Ceilings for one run of one step; the defaults are an operator's defaults."""

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
