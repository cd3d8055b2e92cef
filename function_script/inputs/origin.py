"""Where an input's program stands: in the input itself, or in a directory.

Exactly one of the two, so that a reader of a Composition never has to guess which text runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from function_script.fields import nearest
from function_script.program import Program
from function_script.source import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.fields import Fields
    from function_script.inputs.step import Sources

INLINE = "Inline"
FILE_SYSTEM = "FileSystem"
MODULE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
MAX_MODULES = 100

_SOURCES = {INLINE: INLINE, FILE_SYSTEM: FILE_SYSTEM}
_BLANKS = " \t\r\n"
# Stands for a program with a problem; the step is refused before anything can run it.
_NO_PROGRAM = Program(main=Source(name="", text=""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a kind names its program: the field with the text, and the file it defaults to."""

    text: str
    main: str


def program(fields: Fields, form: Form, sources: Sources) -> Program:
    """The program of an input of ours."""
    if fields.value.get("source") is None:
        source: str | None = INLINE
    else:
        source = fields.choice("source", _SOURCES)
    if source == INLINE:
        refuse(fields, "fileSystem", beside=INLINE)
        return _inline(fields, form)
    if source == FILE_SYSTEM:
        refuse(fields, form.text, "modules", beside=FILE_SYSTEM)
        return _from_directory(fields, form, sources)
    return _NO_PROGRAM


def refuse(fields: Fields, *keys: str, beside: str) -> None:
    """Note every one of ``keys`` that is set although ``source`` says otherwise."""
    for key in keys:
        if fields.value.get(key) is not None:
            fields.problems.add(fields.at(key), f"must not be set when source is {beside}")


def text(fields: Fields, key: str, *, beside: str) -> str:
    """A program's text, which must be more than blanks; "" when a problem was noted."""
    if fields.value.get(key) is None:
        fields.problems.add(fields.at(key), f"is required when source is {beside}")
        return ""
    found = fields.text(key)
    if found is not None and not found.strip(_BLANKS):
        fields.problems.add(fields.at(key), "must not be empty")
    return found or ""


def section(fields: Fields, key: str, *, beside: str) -> Fields | None:
    """The object that goes with a ``source``; None when a problem was noted."""
    if fields.value.get(key) is None:
        fields.problems.add(fields.at(key), f"is required when source is {beside}")
        return None
    return fields.object(key)


def read_directory(found: Fields, sources: Sources) -> Mapping[str, str] | None:
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


def _inline(fields: Fields, form: Form) -> Program:
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


def _from_directory(fields: Fields, form: Form, sources: Sources) -> Program:
    found = section(fields, "fileSystem", beside=FILE_SYSTEM)
    if found is None:
        return _NO_PROGRAM
    found.refuse_unknown("dirPath", "main")
    stated = found.value.get("main") is not None
    main = found.text("main", required=True) if stated else form.main
    files = read_directory(found, sources)
    if not main or files is None:
        return _NO_PROGRAM
    return _select(files, main, found)


def _select(files: Mapping[str, str], main: str, found: Fields) -> Program:
    """The program that begins in the file ``main``; the other files are its modules."""
    path = found.at("main")
    if main not in files:
        near = nearest(main, files)
        hint = f'did you mean "{near}"?' if near else None
        directory = found.value["dirPath"]
        found.problems.add(path, f'cannot find file "{main}" in "{directory}"', hint=hint)
        return _NO_PROGRAM
    if not files[main].strip(_BLANKS):
        found.problems.add(path, f'file "{main}" must not be empty')
    named = {name: Source(name=name, text=content) for name, content in files.items()}
    return Program(main=named.pop(main), modules=named)
