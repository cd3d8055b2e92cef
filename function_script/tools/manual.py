"""The manual: every name that programs, inputs and documents can use, in groups.

The entries come from the tables that the reference pages are written from.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from typing import Final

from function_script.capture import ANNOTATION as CAPTURE
from function_script.contribution import manual as documents_manual
from function_script.engines.library import manual as library_manual
from function_script.engines.manual import Entry
from function_script.engines.registry import LANGUAGES
from function_script.errors import InputError
from function_script.problems import suggest
from function_script.tools import input_fields, input_schema
from function_script.values import Object

_LIBRARY: Final = "library"
_INPUTS: Final = "inputs"
_DOCUMENTS: Final = "documents"
_MARKS: Final = re.compile(r"`+|\]\([^)]*\)|\[(?=\w)")
# Prefixes of the path of a field, and the object of a function, that may be left out.
_PREFIXES: Final = ("spec.", "input.", "options.")


def groups() -> dict[str, str]:
    """Return the groups with what they hold."""
    languages = {
        name: f"other names of {language.kind} programs" for name, language in LANGUAGES.items()
    }
    return {
        _LIBRARY: "functions of Starlark and Jinja",
        **languages,
        _INPUTS: "fields of a step's input",
        _DOCUMENTS: "annotations of documents, and meta documents",
    }


def entries(group: str) -> list[Entry]:
    """Return the entries of a group."""
    if group == _LIBRARY:
        return [*library_manual.entries()]
    if group == _INPUTS:
        return [*_input_entries()]
    if group == _DOCUMENTS:
        return [*_document_entries()]
    return [*LANGUAGES[group].manual.entries()]


def list_groups() -> str:
    """Return a line for every group."""
    texts = groups()
    width = max(map(len, texts))
    lines = [f"  {name:{width}}  {text}" for name, text in texts.items()]
    return "\n".join(["Print a group, or a name: function-script docs NAME", "", *lines, ""])


def describe(name: str) -> str:
    """Return the list of a group, or all that there is about a name; raises InputError."""
    if name in groups():
        return _list(entries(name))
    texts = [_text(group, entry) for group in groups() for entry in _matches(name, entries(group))]
    # An object's name, such as rsp, lists its members.
    prefix = f"{name.removesuffix('.')}."
    members = [
        entry
        for group in groups()
        for entry in entries(group)
        if name and entry.name.startswith(prefix)
    ]
    if not texts and members:
        return _list(members)
    if not texts:
        names = {each.name: each for group in groups() for each in entries(group)}
        names |= {entry.short_name: entry for entry in names.values()}
        otherwise = "list the groups of names with: function-script docs"
        raise InputError.of(
            f'cannot find "{name}" in the manual', hint=suggest(name, names, otherwise)
        )
    return "\n".join(texts)


def _matches(name: str, candidates: list[Entry]) -> list[Entry]:
    """Return the entries of this very name, or else those whose short name it is."""
    exact = [entry for entry in candidates if entry.name == name]
    if exact or not name:
        return exact
    own = f"{documents_manual.PREFIX}/"
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            return _matches(name.removeprefix(prefix), candidates)
    return [
        entry
        for entry in candidates
        if name in (entry.short_name, entry.name.removeprefix(own).strip("{} "))
    ]


def _list(members: list[Entry]) -> str:
    width = max(len(entry.name) for entry in members)
    parts = []
    for section, group in groupby(members, key=attrgetter("section")):
        lines = [f"  {entry.name:{width}}  {_plain(entry.summary)}\n" for entry in group]
        parts.append(f"{section[:1].upper()}{section[1:]}\n{''.join(lines)}")
    return "\n".join(parts)


def _text(group: str, entry: Entry) -> str:
    lines = [entry.title, "", f"  {_plain(entry.summary)}"]
    if entry.details:
        lines += ["", *(f"  {line}".rstrip() for line in entry.details)]
    return "\n".join([*lines, "", f"  ({group}: {entry.section})", ""])


def _plain(text: str) -> str:
    """Return the text without marks of code and links, which only pages show."""
    return _MARKS.sub("", text)


def _input_entries() -> Iterator[Entry]:
    """Yield the kinds, and each field once, with the kinds that have it."""
    kinds: dict[input_fields.Field, list[str]] = {}
    schemas: Mapping[str, Object] = {
        kind: schema for (_, kind), schema in input_schema.schemas().items()
    }
    for kind, schema in schemas.items():
        yield Entry(
            name=kind,
            section="kinds",
            summary=str(schema["description"]),
            details=tuple(field.path for field in input_fields.find_fields(schema)),
        )
        for field in input_fields.find_fields(schema):
            kinds.setdefault(field, []).append(kind)
    for field, owners in kinds.items():
        below = [
            f"{other.path}: {_plain(other.description)}"
            for other in kinds
            if other.path.startswith((f"{field.path}.", f"{field.path}["))
            and kinds[other] == owners
        ]
        is_common = len(owners) == len(schemas)
        yield Entry(
            name=field.path,
            section="fields of every kind" if is_common else f"fields of {' and '.join(owners)}",
            summary=field.description,
            usage=_plain(f"{field.path}: {', '.join(field.facts)}"),
            details=(*([f"Rules: {field.rules}."] if field.rules else []), *below),
        )


def _document_entries() -> Iterator[Entry]:
    for annotation in documents_manual.ANNOTATIONS:
        yield Entry(
            name=f"{documents_manual.PREFIX}/{annotation.name}",
            section="annotations",
            summary=f"{annotation.meaning[:1].upper()}{annotation.meaning[1:]}.",
            details=(_plain(f"Values: {annotation.values}"),),
        )
    yield Entry(
        name=CAPTURE,
        section="annotations of the XR",
        summary="Record the requests of this XR in the directory of --capture-dir.",
        details=('Values: "true"',),
    )
    for meta in documents_manual.META_KINDS:
        yield Entry(
            name=meta.kind,
            section="meta documents",
            summary=_plain(f"A document with {meta.fields}."),
            usage=f"{meta.kind}, of {documents_manual.META_API_VERSION}",
            details=(_plain(f"In a script's response: {meta.response_field}"),),
        )
