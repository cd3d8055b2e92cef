"""The manual of Jinja templates. The library's functions have an entry of their own."""

from collections.abc import Iterator

from function_script.engines import language
from function_script.engines.jinja.calls import Call, LibraryFunction, format_usage
from function_script.engines.jinja.filters import FILTERS
from function_script.engines.jinja.functions import FUNCTIONS
from function_script.engines.language import Entry


def entries() -> Iterator[Entry]:
    """Yield statements, variables, functions, filters, tests and methods."""
    yield from language.read_table(__package__)
    for name, builtin in FUNCTIONS.items():
        yield from _describe(name, builtin.call, "functions", 1)
    for name, call in FILTERS.items():
        yield from _describe(name, call, "filters", 2)


def _describe(name: str, call: Call, section: str, hidden: int) -> Iterator[Entry]:
    """Yield the entry of a callable, unless it is the library's; ``hidden`` arguments are ours."""
    if not isinstance(call, LibraryFunction):
        usage = format_usage(name, call, hidden)
        if section == "filters":
            usage = f"value | {usage.removesuffix('()')}"
        yield Entry(name=name, section=section, summary=call.__doc__ or "", usage=usage)
