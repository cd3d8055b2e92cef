"""The program of an input: inline, from a directory, or from an external source.

An input has exactly one source, so that a reader of a Composition knows which text runs; modules
may come from further sources.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace

from function_script.engines.language import Language
from function_script.inputs import external_sources
from function_script.inputs.step import ProgramSources
from function_script.request.program import Program
from function_script.request.reader import ObjectReader
from function_script.request.remote import parsing
from function_script.request.values import type_phrase
from function_script.texts.problems import suggest
from function_script.texts.source import Source

INLINE = "Inline"
MODULE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
MAX_MODULES = 100
MAX_PLACES = 20

_SOURCES = {source: source for source in (INLINE, *external_sources.SECTIONS)}
# The field of each source.
SECTIONS = {source: field for source, (field, _) in external_sources.SECTIONS.items()}
# The field of a source that names the directory, the key or the object.
_CONTAINER_KEYS = ("dirPath", "key", "name", "oci", "git")
# A script defines functions.
_DEFINITION = re.compile(r"^def ", re.MULTILINE)
# Where authors write a program: the fields of our kinds, and what else it is called.
_TEXT_FIELDS = ("inline", "script", "template", "program", "code")
_BLANKS = " \t\r\n"
# Placeholder for a program with a problem: the step is refused before anything runs it.
NO_PROGRAM = Program(main=Source(name="", text=""))


def read_program(fields: ObjectReader, language: Language, sources: ProgramSources) -> Program:
    """Return the program of one of our kinds, with all its modules, each name only once.

    The program is empty while one of its modules cannot be read.
    """
    if fields.value.get("source") is None:
        source: str | None = INLINE
    else:
        source = fields.choice("source", _SOURCES)
    if source is None:
        return NO_PROGRAM
    _reject_keys(
        fields, *(key for key in SECTIONS.values() if key != SECTIONS.get(source)), beside=source
    )
    if source == INLINE:
        program = _read_inline(fields, language)
    else:
        _reject_keys(fields, language.text_field, "modules", beside=source)
        program = _read_from_source(fields, language, sources, source)
    entries = fields.value.get("modulesFrom")
    if isinstance(entries, list) and len(entries) > MAX_PLACES:
        fields.problems.add(fields.at("modulesFrom"), f"must be at most {MAX_PLACES}")
    modules = dict(program.modules)
    for index, item in enumerate(fields.objects("modulesFrom")):
        texts = _read_modules(item, sources, f"modules-{index}")
        if texts is None:
            program, texts = NO_PROGRAM, {}
        for name in sorted(texts.keys() & modules.keys()):
            item.problems.add(item.path, f'duplicate module "{name}"')
        modules.update(texts)
    return replace(program, modules=modules)


def _reject_keys(fields: ObjectReader, *keys: str, beside: str) -> None:
    """Add a problem for each of ``keys`` that is set, as the source is ``beside``."""
    for key in keys:
        if fields.value.get(key) is not None:
            fields.problems.add(fields.at(key), f"must not be set when source is {beside}")


def _read_text(fields: ObjectReader, key: str) -> str:
    """Return a program's text, which must be more than blanks; "" after a problem."""
    if fields.value.get(key) is None:
        fields.problems.add(fields.at(key), f"is required when source is {INLINE}")
        return ""
    value = fields.text(key)
    if value is not None and not value.strip(_BLANKS):
        fields.problems.add(fields.at(key), "must not be empty")
    return value or ""


def _section(fields: ObjectReader, source: str) -> ObjectReader | None:
    """Return the object of a source; None after a problem."""
    key = SECTIONS[source]
    if fields.value.get(key) is None:
        hint = parsing.FORMS if key == parsing.FIELD else None
        fields.problems.add(fields.at(key), f"is required when source is {source}", hint=hint)
        return None
    return _open(fields, key)


def _open(fields: ObjectReader, key: str) -> ObjectReader | None:
    if key == parsing.FIELD and parsing.refuse_text(fields):
        return None
    return fields.object(key)


def find_text_elsewhere(fields: ObjectReader, language: Language) -> str | None:
    """Return the field that holds the program under the name of another kind's text."""
    if fields.value.get(language.text_field) is not None:
        return None
    return next((key for key in _TEXT_FIELDS if isinstance(fields.value.get(key), str)), None)


def _read_inline(fields: ObjectReader, language: Language) -> Program:
    key = language.text_field
    elsewhere = find_text_elsewhere(fields, language)
    if elsewhere is not None:
        problem = f"is no field of {language.kind}, which has its text in `{key}`"
        form = f"{key}: {{NAME: TEXT}}" if language.has_named_texts else f"{key}: |"
        # Of a script in the kind of a template, and the other way round, the kind may be wrong.
        is_script = _DEFINITION.search(str(fields.value[elsewhere])) is not None
        hint = f"write `{form}`" if is_script is not language.is_template else None
        fields.problems.add(fields.at(elsewhere), problem, hint=hint)
        return NO_PROGRAM
    if language.has_named_texts:
        return _read_inline_texts(fields, key)
    if isinstance(fields.value.get(key), (dict, list)):
        problem = f"must be a string, not {type_phrase(fields.value[key])}"
        fields.problems.add(fields.at(key), problem, hint=f"write the program below `{key}: |`")
        return NO_PROGRAM
    main = Source(name=key, text=_read_text(fields, key))
    return Program(main=main, modules=_read_named_texts(fields, "modules"))


def _read_inline_texts(fields: ObjectReader, key: str) -> Program:
    """Return a program of several texts, of which none may be empty."""
    texts = _read_named_texts(fields, key)
    if fields.value.get(key) is None:
        fields.problems.add(fields.at(key), f"is required when source is {INLINE}")
    elif fields.value[key] == {}:
        fields.problems.add(fields.at(key), "must not be empty")
    for name, source in texts.items():
        if not source.text.strip(_BLANKS):
            fields.problems.add(f'{fields.at(key)}["{name}"]', "must not be empty")
    modules = _read_named_texts(fields, "modules")
    for name in sorted(texts.keys() & modules.keys()):
        fields.problems.add(fields.at("modules"), f'duplicate module "{name}"')
    program = _join(key, texts)
    return replace(program, modules={**modules, **program.modules})


def _join(key: str, texts: Mapping[str, Source]) -> Program:
    """Return the program of several texts."""
    main = json.dumps({name: source.text for name, source in texts.items()})
    return Program(main=Source(name=key, text=main), modules=texts)


def _read_named_texts(fields: ObjectReader, key: str) -> dict[str, Source]:
    """Return the texts of an object by name, in the order of their names."""
    texts = fields.texts(key) or {}
    if len(texts) > MAX_MODULES:
        fields.problems.add(fields.at(key), f"must be at most {MAX_MODULES}")
    noun, example = ("module", "lib/net.star") if key == "modules" else ("text", "main/network")
    for name in texts:
        if not MODULE_NAME.fullmatch(name):
            path = f'{fields.at(key)}["{name}"]'
            hint = f'write a relative path such as "{example}"'
            fields.problems.add(path, f"must not be the name of a {noun}", hint=hint)
    return {name: Source(name=f"{key}[{name}]", text=texts[name]) for name in sorted(texts)}


def _read_from_source(
    fields: ObjectReader, language: Language, sources: ProgramSources, source: str
) -> Program:
    holder = _section(fields, source)
    if holder is None:
        return NO_PROGRAM
    if language.has_named_texts:
        several = _read_several(holder, sources, source, "program", holder.path)
        return _join(language.text_field, several) if several else NO_PROGRAM
    has_main = holder.value.get("main") is not None
    main = holder.text("main", required=True) if has_main else language.default_file
    texts = _read_texts(holder, sources, source, "program", "main")
    if texts is None or not main:
        return NO_PROGRAM
    if isinstance(texts, Source):
        if has_main:
            holder.problems.add(holder.at("main"), f"must not be set, for {texts.name} is a text")
        return _select_main({main: texts}, main, holder)
    return _select_main(texts, main, holder)


def _read_texts(
    holder: ObjectReader, sources: ProgramSources, source: str, name: str, *more: str
) -> external_sources.Texts | None:
    """Return the texts of a source; None if it was not read, or after a problem."""
    holder.refuse_unknown(*external_sources.SECTIONS[source][1], *more)
    return external_sources.read(source, holder, sources, external_sources.requirement_name(name))


def _select_main(texts: Mapping[str, Source], main: str, holder: ObjectReader) -> Program:
    """Return the program that begins with the text ``main``; the others are its modules."""
    path = holder.at("main")
    noun = "file " if "dirPath" in holder.value else ""
    if main not in texts:
        container = next(holder.value[key] for key in _CONTAINER_KEYS if key in holder.value)
        if isinstance(container, dict):
            container = container.get("ref") or container.get("url")
        problem = f'cannot find {noun}"{main}" in "{container}"'
        holder.problems.add(path, problem, hint=suggest(main, texts))
        return NO_PROGRAM
    if not texts[main].text.strip(_BLANKS):
        holder.problems.add(path, f'{noun}"{texts[main].name}" must not be empty')
    modules = {name: source for name, source in texts.items() if name != main}
    return Program(main=texts[main], modules=modules)


def _read_modules(
    item: ObjectReader, sources: ProgramSources, name: str
) -> Mapping[str, Source] | None:
    """Return the texts of one entry; None if they were not read, or after a problem."""
    item.refuse_unknown(*SECTIONS.values())
    used_sources = [source for source, key in SECTIONS.items() if item.value.get(key) is not None]
    if len(used_sources) != 1:
        choices = ", ".join(SECTIONS.values())
        item.problems.add(item.path, f"needs exactly one of {choices}")
        return None
    (source,) = used_sources
    holder = _open(item, SECTIONS[source])
    return None if holder is None else _read_several(holder, sources, source, name, item.path)


def _read_several(
    holder: ObjectReader, sources: ProgramSources, source: str, name: str, path: str
) -> Mapping[str, Source] | None:
    """Return the texts of a place, which must have several; the problem of one is at ``path``."""
    texts = _read_texts(holder, sources, source, name)
    if isinstance(texts, Source):
        if source == external_sources.REMOTE:
            return {texts.name.rpartition("/")[2]: texts}
        holder.problems.add(path, f"must be an object of texts, but {texts.name} is a text")
        return None
    return texts
