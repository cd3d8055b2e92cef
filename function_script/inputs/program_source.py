"""Where an input's program stands: in the input itself, in a directory, or in a place of places.py.

Exactly one of them, so that a reader of a Composition never has to guess which text runs;
modules may come from others besides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from function_script.fields import nearest
from function_script.inputs import external_sources
from function_script.program import Program
from function_script.source import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.fields import ObjectReader
    from function_script.inputs.step import ProgramSources

INLINE = "Inline"
FILE_SYSTEM = "FileSystem"
MODULE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
MAX_MODULES = 100
MAX_PLACES = 20

_SOURCES = {source: source for source in (INLINE, FILE_SYSTEM, *external_sources.SECTIONS)}
# The field that goes with each source.
_SECTIONS = {
    FILE_SYSTEM: "fileSystem",
    **{s: key for s, (key, _) in external_sources.SECTIONS.items()},
}
_BLANKS = " \t\r\n"
# Stands for a program with a problem; the step is refused before anything can run it.
_NO_PROGRAM = Program(main=Source(name="", text=""))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFields:
    """How a kind names its program: the field with the text, and the file it defaults to."""

    text: str
    main: str


def read_program(fields: ObjectReader, form: SourceFields, sources: ProgramSources) -> Program:
    """The program of an input of ours."""
    if fields.value.get("source") is None:
        source: str | None = INLINE
    else:
        source = fields.choice("source", _SOURCES)
    if source is None:
        return _NO_PROGRAM
    reject_keys(
        fields, *(key for key in _SECTIONS.values() if key != _SECTIONS.get(source)), beside=source
    )
    if source == INLINE:
        found = _inline(fields, form)
    else:
        reject_keys(fields, form.text, "modules", beside=source)
        found = _from_elsewhere(fields, form, sources, source)
    return _with_modules(fields, found, sources)


def reject_keys(fields: ObjectReader, *keys: str, beside: str) -> None:
    """Note every one of ``keys`` that is set although ``source`` says otherwise."""
    for key in keys:
        if fields.value.get(key) is not None:
            fields.problems.add(fields.at(key), f"must not be set when source is {beside}")


def text(fields: ObjectReader, key: str, *, beside: str) -> str:
    """A program's text, which must be more than blanks; "" when a problem was noted."""
    if fields.value.get(key) is None:
        fields.problems.add(fields.at(key), f"is required when source is {beside}")
        return ""
    found = fields.text(key)
    if found is not None and not found.strip(_BLANKS):
        fields.problems.add(fields.at(key), "must not be empty")
    return found or ""


def section(fields: ObjectReader, key: str, *, beside: str) -> ObjectReader | None:
    """The object that goes with a ``source``; None when a problem was noted."""
    if fields.value.get(key) is None:
        fields.problems.add(fields.at(key), f"is required when source is {beside}")
        return None
    return fields.object(key)


def read_directory(found: ObjectReader, sources: ProgramSources) -> Mapping[str, str] | None:
    """The files of ``dirPath`` by relative path; None when not looked at, or with a problem."""
    dir_path = found.text("dirPath", required=True)
    if not dir_path or sources.files is None:
        return None
    try:
        return sources.files.read(dir_path)
    except ValueError as error:
        hint = None if sources.files.root else "start the function with --program-root DIRECTORY"
        found.problems.add(found.at("dirPath"), str(error), hint=hint)
        return None


def _inline(fields: ObjectReader, form: SourceFields) -> Program:
    main = Source(name=form.text, text=text(fields, form.text, beside=INLINE))
    modules = fields.texts("modules") or {}
    if len(modules) > MAX_MODULES:
        fields.problems.add(fields.at("modules"), f"must be at most {MAX_MODULES}")
    for name in modules:
        if not MODULE_NAME.fullmatch(name):
            path = f'{fields.at("modules")}["{name}"]'
            hint = 'write a relative path such as "lib/net.star"'
            fields.problems.add(path, "must not be the name of a module", hint=hint)
    named = {name: Source(name=f"modules[{name}]", text=modules[name]) for name in sorted(modules)}
    return Program(main=main, modules=named)


def _from_elsewhere(
    fields: ObjectReader, form: SourceFields, sources: ProgramSources, source: str
) -> Program:
    found = section(fields, _SECTIONS[source], beside=source)
    if found is None:
        return _NO_PROGRAM
    stated = found.value.get("main") is not None
    main = found.text("main", required=True) if stated else form.main
    texts = _texts(found, sources, source, "program", "main")
    if texts is None or not main:
        return _NO_PROGRAM
    if isinstance(texts, Source):
        if stated:
            found.problems.add(found.at("main"), f"must not be set, for {texts.name} is a text")
        return _select({main: texts}, main, found)
    return _select(texts, main, found)


def _texts(
    found: ObjectReader, sources: ProgramSources, source: str, name: str, *more: str
) -> external_sources.Texts | None:
    """The texts of a source; None when a problem was noted, or it was not looked at."""
    if source == FILE_SYSTEM:
        found.refuse_unknown("dirPath", *more)
        files = read_directory(found, sources)
        if files is None:
            return None
        return {path: Source(name=path, text=text) for path, text in files.items()}
    found.refuse_unknown(*external_sources.SECTIONS[source][1], *more)
    return external_sources.read(source, found, sources, external_sources.requirement_name(name))


def _select(texts: Mapping[str, Source], main: str, found: ObjectReader) -> Program:
    """The program that begins with the text ``main``; the others are its modules."""
    path = found.at("main")
    noun = "file " if "dirPath" in found.value else ""
    if main not in texts:
        near = nearest(main, texts)
        hint = f'did you mean "{near}"?' if near else None
        found.problems.add(path, f'cannot find {noun}"{main}" {_there(found)}', hint=hint)
        return _NO_PROGRAM
    if not texts[main].text.strip(_BLANKS):
        found.problems.add(path, f'{noun}"{texts[main].name}" must not be empty')
    modules = {name: source for name, source in texts.items() if name != main}
    return Program(main=texts[main], modules=modules)


def _there(found: ObjectReader) -> str:
    """Where a text was looked for: what names the directory, key or object."""
    named = next(found.value[key] for key in ("dirPath", "key", "name") if key in found.value)
    return f'in "{named}"'


def _with_modules(fields: ObjectReader, program: Program, sources: ProgramSources) -> Program:
    """The program with the modules of ``modulesFrom``; a name may be there only once.

    Without those that cannot be looked at yet there is no program.
    """
    modules = dict(program.modules)
    found = fields.value.get("modulesFrom")
    if isinstance(found, list) and len(found) > MAX_PLACES:
        fields.problems.add(fields.at("modulesFrom"), f"must be at most {MAX_PLACES}")
    for index, item in enumerate(fields.objects("modulesFrom")):
        texts = _modules(item, sources, f"modules-{index}")
        for name in sorted((texts or {}).keys() & modules.keys()):
            item.problems.add(item.path, f'duplicate module "{name}"')
        program = program if texts is not None else _NO_PROGRAM
        modules |= texts or {}
    return replace(program, modules=modules)


def _modules(item: ObjectReader, sources: ProgramSources, name: str) -> dict[str, Source] | None:
    """The texts of one entry; None when a problem was noted, or they were not looked at."""
    item.refuse_unknown(*_SECTIONS.values())
    stated = [source for source, key in _SECTIONS.items() if item.value.get(key) is not None]
    if len(stated) != 1:
        choices = ", ".join(_SECTIONS.values())
        item.problems.add(item.path, f"needs exactly one of {choices}")
        return None
    found = item.object(_SECTIONS[stated[0]])
    texts = None if found is None else _texts(found, sources, stated[0], name)
    if isinstance(texts, Source):
        item.problems.add(item.path, f"must be an object of texts, but {texts.name} is a text")
        return None
    return texts
