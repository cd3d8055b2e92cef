"""The manual of Go templates."""

from collections.abc import Iterator, Mapping

from function_script.engines import manual
from function_script.engines.gotemplate import registry, sprig
from function_script.engines.gotemplate.function import Function
from function_script.engines.manual import Entry


def entries() -> Iterator[Entry]:
    """Yield actions, variables and functions, and the functions of sprig that are unavailable."""
    yield from manual.read_table(__package__)
    own = registry.OWN_FUNCTIONS
    functions = {**registry.FUNCTIONS, **own}
    for name, function in functions.items():
        reason = registry.unavailable_reason(name) if name not in own else None
        is_new = name in own and name not in registry.FUNCTIONS
        yield Entry(
            name=name,
            section="functions",
            summary=_summary(name, functions),
            usage=f"{name} {function.parameters}".rstrip(),
            details=(
                *((f"Options: {reason}",) if reason else ()),
                *(("Only in templates of script.fn.crossplane.io.",) if is_new else ()),
            ),
        )
    for name, reason in sprig.UNAVAILABLE.items():
        yield Entry(name=name, section="unavailable functions", summary=f"Unavailable: {reason}.")


def _summary(name: str, functions: Mapping[str, Function]) -> str:
    """Return the summary of a function; ``mustX`` is the form of ``X`` that stops with an error."""
    if not name.startswith("must"):
        return functions[name].summary
    base = name.removeprefix("must").removeprefix("_")
    base = f"{base[:1].lower()}{base[1:]}"
    return f"Like {base}, and stop with an error where it fails: {functions[base].summary}"
