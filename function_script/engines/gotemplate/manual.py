"""The manual of Go templates."""

from collections.abc import Iterator

from function_script.engines import language
from function_script.engines.gotemplate import registry
from function_script.engines.language import Entry


def entries() -> Iterator[Entry]:
    """Yield actions, variables and functions, and the functions of sprig that are unavailable."""
    yield from language.read_table(__package__)
    own = registry.OWN_FUNCTIONS
    functions = {**registry.FUNCTIONS, **own}
    for name, function in functions.items():
        reason = registry.unavailable_reason(name) if name not in own else None
        is_new = name in own and name not in registry.FUNCTIONS
        summary = function.summary
        if name.startswith("must"):
            # The form that stops with an error where another function does not.
            base = name.removeprefix("must").removeprefix("_")
            base = f"{base[:1].lower()}{base[1:]}"
            summary = (
                f"Like {base}, and stop with an error where it fails: {functions[base].summary}"
            )
        yield Entry(
            name=name,
            section="functions",
            summary=summary,
            usage=f"{name} {function.takes or function.parameters}".rstrip(),
            details=(
                *((f"Options: {reason}",) if reason else ()),
                *(("Only in templates of script.fn.crossplane.io.",) if is_new else ()),
            ),
        )
    for name, reason in registry.UNAVAILABLE.items():
        yield Entry(name=name, section="unavailable functions", summary=f"Unavailable: {reason}.")
