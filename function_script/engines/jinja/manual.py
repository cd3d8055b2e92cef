"""The manual of Jinja templates. The library's functions have an entry of their own."""

from collections.abc import Iterator

from function_script.engines import language
from function_script.engines.jinja.calls import Call, LibraryFunction, signature_of
from function_script.engines.jinja.filters import FILTERS
from function_script.engines.jinja.functions import FUNCTIONS
from function_script.engines.language import Entry


def entries() -> Iterator[Entry]:
    """Yield statements, variables, functions, filters, tests and methods."""
    yield from language.read_table(__package__)
    for name, builtin in FUNCTIONS.items():
        yield from _describe(name, builtin.call, is_filter=False)
    for name, call in FILTERS.items():
        yield from _describe(name, call, is_filter=True)


def _describe(name: str, call: Call, *, is_filter: bool) -> Iterator[Entry]:
    """Yield the entry of a callable, unless it is the library's."""
    if not isinstance(call, LibraryFunction):
        usage = signature_of(name, call, is_filter=is_filter).usage
        if is_filter:
            usage = f"value | {usage.removesuffix('()')}"
        section = "filters" if is_filter else "functions"
        yield Entry(name=name, section=section, summary=call.__doc__ or "", usage=usage)
