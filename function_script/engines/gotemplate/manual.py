"""The manual of Go templates."""

from collections.abc import Iterator

from function_script.engines import manual
from function_script.engines.gotemplate import registry
from function_script.engines.manual import Entry

_FUNCTIONS = "functions"


def entries() -> Iterator[Entry]:
    """Yield actions, variables and functions, and the functions of sprig that are unavailable."""
    summaries: dict[str, str] = {}
    for entry in manual.read_table(__package__):
        if entry.section == _FUNCTIONS:
            summaries[entry.name] = entry.summary
        else:
            yield entry
    own = registry.OWN_FUNCTIONS
    for name, function in {**registry.FUNCTIONS, **own}.items():
        reason = registry.unavailable_reason(name) if name not in own else None
        is_new = name in own and name not in registry.FUNCTIONS
        yield Entry(
            name=name,
            section=_FUNCTIONS,
            summary=_summary(name, summaries),
            usage=f"{name} {function.parameters}".rstrip(),
            details=(
                *((f"Options: {reason}",) if reason else ()),
                *(("Only in templates of script.fn.crossplane.io.",) if is_new else ()),
            ),
        )
    for name, reason in registry.UNAVAILABLE.items():
        yield Entry(name=name, section="unavailable functions", summary=f"Unavailable: {reason}.")


def _summary(name: str, summaries: dict[str, str]) -> str:
    """Return the summary of a function; ``mustX`` is the form of ``X`` that stops with an error."""
    if name in summaries:
        return summaries[name]
    base = name.removeprefix("must").removeprefix("_")
    base = base if base in summaries else base[:1].lower() + base[1:]
    return f"Like {base}, and stop with an error where it fails: {summaries[base]}"
