"""The manual: every name that programs, inputs, documents and commands can use, in groups.

The entries come from the tables that the reference pages are written from. The fields of inputs are
described by their CRDs. Flags are declared by commands, which hand in their entries.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Final

from function_script.contribution import dialects
from function_script.engines import habits
from function_script.engines.language import Entry, read_table
from function_script.engines.library import FUNCTIONS
from function_script.engines.registry import LANGUAGES
from function_script.request.capture import ANNOTATION as CAPTURE
from function_script.request.values import Object, Value
from function_script.texts.errors import InputError
from function_script.texts.problems import suggest
from function_script.tools import manifests, structural_schema
from function_script.tools.validate import catalog
from function_script.tools.validate.rules import RULES

_LIBRARY: Final = "library"
_INPUTS: Final = "inputs"
_DOCUMENTS: Final = "documents"
_CASES: Final = "cases"
_FLAGS: Final = "flags"
_MARKS: Final = re.compile(r"`+|\]\([^)]*\)|\[(?=[^\[\]]+\]\()")
# Prefixes of the path of a field, and the object of a function, that may be left out.
_PREFIXES: Final = ("spec.", "input.", "options.")
_TYPES: Final = {"object": "object", "array": "list", "boolean": "true or false"}
# Every object of Kubernetes has these fields, so they are omitted.
_OMITTED: Final = ("apiVersion", "kind", "metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of an input: its path, type and default, meaning, and the messages of its rules."""

    path: str
    facts: tuple[str, ...]
    description: str
    rules: str = ""


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
        _CASES: "keys of the files of cases",
        _FLAGS: "flags of commands, and the environment variables that set them",
    }


@cache
def entries(group: str) -> tuple[Entry, ...]:
    """Return the entries of a group; those of flags are not here."""
    if group == _FLAGS:
        return ()
    if group == _LIBRARY:
        return (*_describe_library(),)
    if group == _INPUTS:
        return (*_input_entries(),)
    if group == _DOCUMENTS:
        return (*_document_entries(),)
    if group == _CASES:
        return (*read_table("function_script.tools.cases"),)
    return (*LANGUAGES[group].list_entries(),)


def list_groups() -> str:
    """Return a line for every group."""
    texts = groups()
    width = max(map(len, texts))
    lines = [f"  {name:{width}}  {text}" for name, text in texts.items()]
    return "\n".join(["Print a group, or a name: function-script docs NAME", "", *lines, ""])


def describe(name: str, flags: Sequence[Entry] = ()) -> str:
    """Return the list of a group, or all that there is about a name; raises InputError.

    ``flags`` are the entries of that group.
    """
    manual = {group: entries(group) for group in groups()} | {_FLAGS: tuple(flags)}
    if name in manual:
        return _list(manual[name])
    texts = [_text(group, entry) for group in manual for entry in _matches(name, manual[group])]
    every = [entry for group in manual.values() for entry in group]
    # An object's name, such as rsp, lists its members.
    prefix = f"{name.removesuffix('.')}."
    members = [entry for entry in every if name and entry.name.startswith(prefix)]
    if not texts and members:
        return _list(members)
    is_ours = bool(texts)
    # Templates write Helm's objects with a dot: .Release.Name
    word = name if is_ours or name[:1] != "." else name.split(".")[1]
    if corrections := habits.describe(word):
        lines = [f"  {_plain(line)}\n" for line in corrections]
        title = "The same in each language" if is_ours else f"{word}, a name of another language"
        texts.append(f"{title}\n\n{''.join(lines)}")
    if not is_ours and (others := _find_with(name, every)):
        texts.append(_list(others))
    if texts:
        return "\n".join(texts)
    names = {each for entry in every for each in (entry.name, entry.short_name)}
    otherwise = "function-script docs lists its names; all else is in the pages of docs/"
    hint = suggest(name, tuple(names), otherwise)
    raise InputError.of(f'cannot find "{name}" in the manual', hint=hint)


def _find_with(word: str, every: Sequence[Entry]) -> list[Entry]:
    """Return the entries whose name or else summary has a word, by section."""
    part = word.lower()
    members = [entry for entry in every if part and part in entry.name.lower()]
    if part and not members:
        start = re.compile(rf"\b{re.escape(part)}", re.IGNORECASE)
        members = [entry for entry in every if start.search(entry.summary)]
    by_name = {entry.name: entry for entry in members}
    return sorted(by_name.values(), key=attrgetter("section"))


def _matches(name: str, candidates: Sequence[Entry]) -> list[Entry]:
    """Return the entries of this very name, or else those whose short name it is."""
    exact = [entry for entry in candidates if entry.name == name]
    if exact or not name:
        return exact
    own = f"{dialects.PREFIX}/"
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            return _matches(name.removeprefix(prefix), candidates)
    return [
        entry
        for entry in candidates
        if name in (entry.short_name, entry.name.removeprefix(own).strip("{} "), *entry.aliases)
    ]


def _list(members: Sequence[Entry]) -> str:
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
    kinds: dict[Field, list[str]] = {}
    schemas: Mapping[str, Object] = {
        kind: schema for (_, kind), schema in catalog.read_schemas(catalog.INPUTS).items()
    }
    for kind, schema in schemas.items():
        yield Entry(
            name=kind,
            section="kinds",
            summary=str(schema["description"]),
            details=tuple(field.path for field in find_fields(schema)),
        )
        for field in find_fields(schema):
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
    for annotation in dialects.ANNOTATIONS:
        yield Entry(
            name=f"{dialects.PREFIX}/{annotation.name}",
            section="annotations",
            summary=f"{annotation.meaning[:1].upper()}{annotation.meaning[1:]}.",
            details=(_plain(f"Values: {annotation.values}"),),
            # A script's response has the same, as Python writes names.
            aliases=(annotation.name.replace("-", "_"),),
        )
    yield Entry(
        name=CAPTURE,
        section="annotations of the XR",
        summary="Record the requests of this XR in the directory of --capture-dir.",
        details=('Values: "true"',),
    )
    for meta in dialects.META_KINDS:
        yield Entry(
            name=meta.kind,
            section="meta documents",
            summary=_plain(f"A document with {meta.fields}."),
            usage=f"{meta.kind}, of {dialects.META_API_VERSION}",
            details=(_plain(f"In a script's response: {meta.response_field}"),),
        )


def find_fields(schema: Object, path: str = "") -> Iterator[Field]:
    """Yield the fields of an object, each before the fields below it."""
    required = structural_schema.required(schema)
    for name, field in structural_schema.properties(schema).items():
        if path or name not in _OMITTED:
            at = structural_schema.at(path, name) if path else name
            yield from _describe_field(at, field, is_required=name in required)


def find_rules(schema: Object) -> str:
    """Return the messages of a schema's rules as one text; empty if it has none."""
    return "; ".join(str(rule["message"]) for rule in manifests.objects_at(schema, RULES))


def code(value: Value) -> str:
    """Return a value as code."""
    return f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value)}`"


def _describe_field(path: str, field: Object, *, is_required: bool) -> Iterator[Field]:
    facts = [_type(field)]
    if is_required:
        facts.append("required")
    if "default" in field:
        facts.append(f"default {code(field['default'])}")
    yield Field(
        path=path,
        facts=tuple(facts),
        description=str(field["description"]),
        rules=find_rules(field),
    )
    yield from find_fields(field, path)
    members, items = structural_schema.additional(field), structural_schema.items(field)
    if members is not None and "properties" in members:
        yield from _describe_field(f"{path}.*", members, is_required=False)
    if items is not None and "properties" in items:
        yield from _describe_field(f"{path}[]", items, is_required=False)


def _type(field: Object) -> str:
    choices = field.get("enum")
    if isinstance(choices, list):
        return " or ".join(map(code, choices))
    members, items = structural_schema.additional(field), structural_schema.items(field)
    if members is not None:
        return f"object of {_type(members)}s"
    if items is not None:
        return f"list of {_type(items)}s"
    if "type" not in field:
        return "string or integer"
    name = str(field["type"])
    return _TYPES.get(name, name)


def _describe_library() -> Iterator[Entry]:
    """Yield an entry for each function of the library, by group."""
    for function in FUNCTIONS:
        details = []
        for each in function.parameters:
            usage = "required" if each.rule.is_required else f"default {json.dumps(each.default)}"
            details.append(f"{each.rule.name}: {each.type.name}, {usage}")
        result = json.dumps(function.result, ensure_ascii=False)
        details += ["", function.example, f"gives {result}"]
        if function.is_filter:
            details += ["", f"In Jinja, also as a filter: value | {function.name}"]
        yield Entry(
            name=function.name,
            section=function.group.name,
            summary=function.summary.replace("``", ""),
            usage=f"{function.signature.usage} -> {function.signature.result}",
            details=tuple(details),
        )
