"""The table of filters: those of Jinja that are harmless, and those of the shared library.

Called through the environment. A name of Jinja keeps Jinja's meaning; where the library has the
same name, the differences are in the reference.
"""

from __future__ import annotations

from function_script.engines.jinja import lists, numerals, texts
from function_script.engines.jinja.calls import table
from function_script.engines.jinja.shared import SHARED, SHARED_FILTERS

_FILTERS: dict[str, object] = {
    **SHARED_FILTERS,
    "abs": numerals.absolute,
    "capitalize": texts.capitalize,
    "count": lists.length,
    "d": texts.default,
    "default": texts.default,
    "dictsort": lists.dictsort,
    "dig": SHARED["get"],
    "first": lists.first,
    "float": numerals.floating,
    "groupby": lists.groupby,
    "indent": texts.indent,
    "int": numerals.integer,
    "items": lists.pairs,
    "join": lists.join,
    "last": lists.last,
    "length": lists.length,
    "list": lists.items_of,
    "lower": texts.lower,
    "map": lists.mapped,
    "max": lists.maximum,
    "min": lists.minimum,
    "reject": lists.reject,
    "rejectattr": lists.rejectattr,
    "replace": texts.replace,
    "required": texts.required,
    "reverse": lists.reverse,
    "round": numerals.rounded,
    "select": lists.select,
    "selectattr": lists.selectattr,
    "sort": lists.sort,
    "split": texts.split,
    "string": texts.string,
    "sum": lists.total,
    "title": texts.title,
    "tojson": SHARED["to_json"],
    "trim": texts.trim,
    "unique": lists.unique,
    "upper": texts.upper,
}
FILTERS = table(_FILTERS)
