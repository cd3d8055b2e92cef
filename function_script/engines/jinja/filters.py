"""The table of filters: the harmless ones of Jinja, and those of the shared library.

A filter with a name of Jinja's has Jinja's meaning; where the library has the same name, the
reference lists the differences.
"""

from function_script.engines.jinja import list_filters, number_filters, string_filters
from function_script.engines.jinja.calls import build_table
from function_script.engines.jinja.library_adapter import LIBRARY, LIBRARY_FILTERS, LibraryFunction

_FILTERS: dict[str, object] = {
    **LIBRARY_FILTERS,
    "abs": number_filters.absolute,
    "capitalize": string_filters.capitalize,
    "count": list_filters.length,
    "d": string_filters.default,
    "default": string_filters.default,
    "dictsort": list_filters.dictsort,
    "dig": LibraryFunction(LIBRARY["get"].function, "dig"),
    "first": list_filters.first,
    "float": number_filters.floating,
    "groupby": list_filters.groupby,
    "indent": string_filters.indent,
    "int": number_filters.integer,
    "items": list_filters.pairs,
    "join": list_filters.join,
    "last": list_filters.last,
    "length": list_filters.length,
    "list": list_filters.items_of,
    "lower": string_filters.lower,
    "map": list_filters.mapped,
    "max": list_filters.maximum,
    "min": list_filters.minimum,
    "reject": list_filters.reject,
    "rejectattr": list_filters.rejectattr,
    "replace": string_filters.replace,
    "required": string_filters.required,
    "reverse": list_filters.reverse,
    "round": number_filters.rounded,
    "select": list_filters.select,
    "selectattr": list_filters.selectattr,
    "sort": list_filters.sort,
    "split": string_filters.split,
    "string": string_filters.string,
    "sum": list_filters.total,
    "title": string_filters.title,
    "tojson": LibraryFunction(LIBRARY["to_json"].function, "tojson"),
    "trim": string_filters.trim,
    "unique": list_filters.unique,
    "upper": string_filters.upper,
}
FILTERS = build_table(_FILTERS)
