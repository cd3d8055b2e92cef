"""The input of function-go-templating, in its own apiVersion and schema.

What that function lets pass silently though nobody can want it is refused here: one delimiter
without the other, `template` beside `templates`, a source beside the one chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from function_script.fields import a_type
from function_script.inputs import origin, settings
from function_script.inputs.files import files_below
from function_script.inputs.step import Step
from function_script.objects import ENVIRONMENT
from function_script.program import Program
from function_script.source import Source

if TYPE_CHECKING:
    from function_script.fields import Fields
    from function_script.inputs.step import Sources
    from function_script.limits import Limits
    from function_script.values import Object, Value

API_VERSION = "gotemplating.fn.crossplane.io/v1beta1"

_SECTIONS = {"Inline": "inline", "FileSystem": "fileSystem", "Environment": "environment"}
_FIELDS = {
    "inline": "inline.template, or inline.templates with a list of them",
    "fileSystem": "fileSystem.dirPath",
    "environment": "environment.key",
}
_SOURCES = {source: source for source in _SECTIONS}
_MISSING_KEY = {
    "missingkey=default": "default",
    "missingkey=invalid": "default",
    "missingkey=zero": "zero",
    "missingkey=error": "error",
}
_SEPARATOR = "\n---\n"

# A template and the name its author knows it by.
Part = tuple[str, str]


def parse_go_template(fields: Fields, ceilings: Limits, sources: Sources) -> Step:
    """A GoTemplate of function-go-templating."""
    fields.refuse_unknown(
        "apiVersion", "kind", "metadata", "source", *_SECTIONS.values(), "delims", "options", "ttl"
    )
    fields.object("metadata")
    program = _program(fields, ceilings, sources)
    # Draws and the clock exist there without asking, so templates written for it need them here.
    options: Object = {"dialect": "gotemplating", "stable_values": True, "crypto": True}
    options |= {"delims": settings.delims(fields), "missingkey": _missing_key(fields, ceilings)}
    return Step(
        api_version=API_VERSION,
        kind="GoTemplate",
        language="gotemplate",
        dialect="gotemplating",
        program=Program(main=program.main, options={**program.options, **options}),
        limits=ceilings,
        ttl_seconds=settings.ttl_seconds(fields),
        credentials=None,
    )


def _program(fields: Fields, ceilings: Limits, sources: Sources) -> Program:
    if ceilings.default_source and not fields.value.get("source"):
        return _join(_default_files(fields, ceilings.default_source))
    source = fields.choice("source", _SOURCES, required=True)
    if source is None:
        return _join([])
    others = (key for name, key in _SECTIONS.items() if name != source)
    origin.refuse(fields, *others, beside=source)
    key = _SECTIONS[source]
    if fields.value.get(key) is None:
        fields.problems.add(
            fields.at(key), f"is required when source is {source}", hint=f"write {_FIELDS[key]}"
        )
    section = fields.object(key)
    if section is None:
        return _join([])
    if source == "Inline":
        return _join(_inline(section))
    if source == "FileSystem":
        return _join(_files(section, sources))
    return _join(_environment(section, sources))


def _default_files(fields: Fields, directory: str) -> list[Part]:
    """The operator's own directory, so it may be any; see Limits."""
    try:
        files = files_below(directory).read(".")
    except ValueError as error:
        cause = str(error).replace('"."', f'"{directory}"')
        fields.problems.add(fields.at("source"), f"the default source {cause}")
        return []
    if not files:
        fields.problems.add(fields.at("source"), f'the default source "{directory}" is empty')
    return list(files.items())


def _inline(section: Fields) -> list[Part]:
    section.refuse_unknown("template", "templates")
    template = section.text("template")
    templates = section.value.get("templates")
    if template and templates is not None:
        section.problems.add(section.at("templates"), "must not be set beside template")
    if template:
        return [("inline.template", template)]
    if templates is None:
        section.problems.add(section.path, "template or templates is required")
        return []
    return _list(section, "templates")


def _list(section: Fields, key: str) -> list[Part]:
    """The texts of a list that must have some."""
    found = section.value.get(key)
    if not isinstance(found, list) or not found:
        expected = "must be a list of strings" if found != [] else "must not be empty"
        section.problems.add(section.at(key), expected)
        return []
    for index, item in enumerate(found):
        if not isinstance(item, str):
            path = f"{section.at(key)}[{index}]"
            section.problems.add(path, f"must be a string, not {a_type(item)}")
    return [(f"inline.{key}[{index}]", str(item)) for index, item in enumerate(found)]


def _files(section: Fields, sources: Sources) -> list[Part]:
    """Every file is a template, as there: whatever its name ends in, in the order of the walk."""
    section.refuse_unknown("dirPath")
    files = origin.read_directory(section, sources)
    if files is not None and not files:
        section.problems.add(section.at("dirPath"), "holds no template")
    return list((files or {}).items())


def _environment(section: Fields, sources: Sources) -> list[Part]:
    section.refuse_unknown("key")
    key = section.text("key", required=True)
    if not key or sources.outside is None:
        return []
    environment = sources.outside.context(ENVIRONMENT)
    found = environment.get(key) if isinstance(environment, Mapping) else None
    if isinstance(found, str):
        return [(f"environment[{key}]", found)]
    cause = "is not in the environment" if found is None else f"is not text but {a_type(found)}"
    section.problems.add(section.at("key"), f'cannot read a template: "{key}" {cause}')
    return []


def _join(parts: list[Part]) -> Program:
    """One text of all parts, for they share their named templates; ``parts`` tell them apart."""
    line = 1
    places: list[Value] = []
    for name, text in parts:
        places.append([name, line])
        line += (text + _SEPARATOR).count("\n")
    joined = _SEPARATOR.join(text for _, text in parts)
    name = parts[0][0] if len(parts) == 1 else "templates"
    return Program(main=Source(name=name, text=joined), options={"parts": places})


def _missing_key(fields: Fields, ceilings: Limits) -> str:
    """What the last of Go's template options says; an empty list beats the operator's default."""
    found = fields.value.get("options")
    path = fields.at("options")
    if found is None and ceilings.default_options:
        found, path = [*ceilings.default_options.split(",")], "default options"
    chosen = "default"
    if found is not None and not isinstance(found, list):
        fields.problems.add(path, f"must be a list, not {a_type(found)}")
    for index, item in enumerate(found if isinstance(found, list) else ()):
        if isinstance(item, str) and item in _MISSING_KEY:
            chosen = _MISSING_KEY[item]
        else:
            shown = f'"{item}"' if isinstance(item, str) else a_type(item)
            allowed = ", ".join(_MISSING_KEY)
            fields.problems.add(f"{path}[{index}]", f"must be one of {allowed}, not {shown}")
    return chosen
