"""Names of other languages, and what is written for each in Starlark, Jinja and Go templates.

An author who comes from Helm, Ansible, Terraform, Python, Go or JavaScript writes names that are
right there. A name of one kind has one meaning, so a hint that takes it from here is certain.

The table is `habits.tsv`. A row has names of one kind and one meaning, and a hint for each
language: ``=`` is that of Starlark, ``-`` is none, where the name exists or nothing replaces it.
"""

from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

from function_script.engines.tables import read_rows

_OfNames: TypeAlias = Literal[
    "name",
    "call",
    "text",
    "list",
    "object",
    "json",
    "filter",
    "test",
    "tag",
    "word",
    "function",
    "alias",
]
_OfSyntax: TypeAlias = Literal["keyword", "statement", "operator", "mark"]
_OfStarlark: TypeAlias = Literal["response", "type"]
Kind: TypeAlias = _OfNames | _OfSyntax | _OfStarlark
"""A kind of name: a function or variable, a method of a type, a part of Jinja, a word of a tag.

A ``call`` is the name of a function that may also be one of a variable: a hint is for its call.
A ``function`` is where a Go template calls one, and may be a keyword of another language. An
``alias`` is one with the same order of arguments, and what is written is its name alone. In
Starlark, a ``keyword`` is reserved, and a ``statement`` begins one elsewhere. In Jinja, an
``operator`` stands between two values. A ``mark`` is no name at all: what no source of the language
may have. A ``response`` is a function of a response, whose name here is its hint, and a ``type``
the name of a type of values.
"""
_Language: TypeAlias = Literal["starlark", "jinja", "gotemplate"]
_Hints: TypeAlias = Mapping[str, str]

# The words of a description, in this order. Who asks for a name does not mean a statement.
_PLACES: Final[Mapping[_OfNames, str]] = {
    "name": "",
    "call": "",
    "text": " for a text",
    "list": " for a list",
    "object": " for an object",
    "filter": " as a filter",
    "test": " as a test",
    "tag": " as a tag",
    "word": " as a tag",
    "function": "",
}


def _read() -> Iterator[tuple[tuple[str, str], _Hints]]:
    """Yield the hints of each name by its kind and itself."""
    for kind, names, starlark, jinja, gotemplate in read_rows("habits"):
        hints = {
            "starlark": starlark,
            "jinja": starlark if jinja == "=" else jinja,
            "gotemplate": gotemplate,
        }
        hints = {language: hint for language, hint in hints.items() if hint != "-"}
        yield from (((kind, name), hints) for name in names.split())


# Read when the module is imported: a worker opens no files.
_HABITS: Final[Mapping[tuple[str, str], _Hints]] = dict(_read())


def find(language: _Language, name: str, *kinds: Kind) -> str | None:
    """Return what is written for a name, as the first of ``kinds`` that it has; else None."""
    rows = (_HABITS[kind, name] for kind in kinds if (kind, name) in _HABITS)
    return next((row[language] for row in rows if language in row), None)


def of_name(*, is_called: bool) -> tuple[Kind, ...]:
    """Return the kinds of a name that nothing defines."""
    return ("name", "call") if is_called else ("name",)


def marks(language: _Language) -> dict[str, str]:
    """Return the hints for marks of other languages: a mark that is longer comes first."""
    rows = ((name, row) for (kind, name), row in _HABITS.items() if kind == "mark")
    hints = {name: row[language] for name, row in rows if language in row}
    return dict(sorted(hints.items(), key=lambda entry: -len(entry[0])))


def describe(name: str) -> list[str]:
    """Return a line for each language and each meaning that a name of another language has."""
    rows = [
        (place, _HABITS[kind, name]) for kind, place in _PLACES.items() if (kind, name) in _HABITS
    ]
    lines = [
        *(f"in Starlark{place}: {row['starlark']}" for place, row in rows if "starlark" in row),
        *(f"in Jinja{place}: {row['jinja']}" for place, row in rows if "jinja" in row),
        *(f"in Go templates: {row['gotemplate']}" for _, row in rows if "gotemplate" in row),
    ]
    return [*dict.fromkeys(lines)]
