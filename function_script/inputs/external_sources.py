"""Programs in files, the pipeline's context, required resources, or registries and repositories.

An external source holds one text, or an object of texts, whose keys are names of modules. The
name of each Source leads its author to the text.
"""

from collections.abc import Callable
from typing import TypeAlias

from function_script import wire
from function_script.inputs.requirements import field_path
from function_script.inputs.step import ProgramSources
from function_script.request import objects
from function_script.request.program import OWN_REQUIREMENTS
from function_script.request.reader import ObjectReader
from function_script.request.remote import parsing
from function_script.request.values import Readable, type_phrase
from function_script.texts.problems import suggest
from function_script.texts.source import Source

FILE_SYSTEM = "FileSystem"
CONTEXT = "Context"
ENVIRONMENT = "Environment"
REQUIRED_RESOURCE = "RequiredResource"
REMOTE = parsing.SOURCE
# The field of each source, and that field's keys without `main`.
SECTIONS = {
    FILE_SYSTEM: ("fileSystem", ("dirPath",)),
    ENVIRONMENT: ("environment", ("key",)),
    CONTEXT: ("context", ("key", "fieldPath")),
    REQUIRED_RESOURCE: (
        "requiredResource",
        ("apiVersion", "kind", "name", "namespace", "fieldPath"),
    ),
    REMOTE: (parsing.FIELD, parsing.KEYS),
}
_DATA = "data"

# One text, or texts by name.
Texts: TypeAlias = Source | dict[str, Source]


def read(
    source: str, section: ObjectReader, sources: ProgramSources, requirement: str
) -> Texts | None:
    """Return the texts of a source; None after a problem, or if it cannot be read yet.

    ``requirement`` is the name of the requirement for a required resource.
    """
    if source == FILE_SYSTEM:
        return _read_directory(section, sources)
    if source == REQUIRED_RESOURCE:
        return _read_resource(section, sources, requirement)
    if source == ENVIRONMENT:
        return _read_environment(section, sources)
    if source == REMOTE:
        return _read_remote(section, sources)
    key = section.text("key", required=True)
    path = field_path(section, "fieldPath")
    if not key or sources.context is None:
        return None
    value = objects.find_path(sources.context(key), path or "")
    origin = f"context[{key}]" + (f"[{path}]" if path else "")
    if value is None:
        section.problems.add(section.at("key"), f"cannot find a program: there is no {origin}")
        return None
    return _to_sources(value, section, lambda name: origin + _member(name))


def requirement_name(suffix: str) -> str:
    """Return the name of one of the function's own requirements; programs cannot use it."""
    return f"{OWN_REQUIREMENTS}{suffix}"


def _selector(section: ObjectReader) -> wire.Selector:
    return wire.Selector(
        section.text("apiVersion", required=True) or "",
        section.text("kind", required=True) or "",
        section.text("name", required=True) or "",
        None,
        section.text("namespace") or None,
    )


def _read_directory(section: ObjectReader, sources: ProgramSources) -> Texts | None:
    dir_path = section.text("dirPath", required=True)
    if not dir_path or sources.files is None:
        return None
    try:
        files = sources.files.read(dir_path)
    except ValueError as error:
        hint = None if sources.files.root else "--program-root DIRECTORY allows what is below it"
        section.problems.add(section.at("dirPath"), str(error), hint=hint)
        return None
    return {path: Source(name=path, text=text) for path, text in files.items()}


def _read_environment(section: ObjectReader, sources: ProgramSources) -> Texts | None:
    key = section.text("key", required=True)
    if not key or sources.context is None:
        return None
    environment = sources.context(objects.ENVIRONMENT)
    value = environment.get(key) if isinstance(environment, dict) else None
    if value is None:
        cause = f'cannot find a program: "{key}" is not in the environment'
        keys = tuple(environment) if isinstance(environment, dict) else ()
        hint = suggest(key, keys, "function-environment-configs fills it")
        section.problems.add(section.at("key"), cause, hint=hint)
        return None
    return _to_sources(value, section, lambda name: f"environment[{key}]{_member(name)}")


def _read_resource(
    section: ObjectReader, sources: ProgramSources, requirement: str
) -> Texts | None:
    selector = _selector(section)
    sources.selectors[requirement] = selector
    path = field_path(section, "fieldPath") or _DATA
    items = None if sources.required is None else sources.required(requirement, selector)
    if items is None:
        return None
    identity = "/".join(filter(None, (selector.namespace, selector.match_name)))
    if not items:
        cause = f"cannot find {selector.kind} {identity}"
        hint = f"correct its name, or create it with apiVersion: {selector.api_version}"
        section.problems.add(section.path, cause, hint=hint)
        return None
    value = objects.find_path(items[0], path)
    origin = f"{selector.kind.lower()}/{identity}"
    if value is None:
        cause = f'cannot find a program: {origin} has no "{path}"'
        section.problems.add(section.at("fieldPath"), cause)
        return None
    return _to_sources(value, section, lambda name: f"{origin}[{path}{f'.{name}' if name else ''}]")


def _read_remote(section: ObjectReader, sources: ProgramSources) -> Texts | None:
    reference = parsing.read(section)
    if reference is None or sources.remote is None:
        return None
    content = sources.remote(reference)
    sources.remote_contents[section.path, reference] = content is not None
    if content is None:
        return None
    if content.is_file:
        ((_, text),) = content.texts.items()
        return Source(name=reference.name_of(""), text=text)
    return {
        name: Source(name=reference.name_of(name), text=text)
        for name, text in sorted(content.texts.items())
    }


def _member(name: str) -> str:
    return f"[{name}]" if name else ""


def _to_sources(
    value: Readable, section: ObjectReader, to_name: Callable[[str], str]
) -> Texts | None:
    """Return a text, or the texts among the members of an object; other members are ignored."""
    if isinstance(value, str):
        return Source(name=to_name(""), text=value)
    if isinstance(value, dict):
        return {
            name: Source(name=to_name(name), text=text)
            for name, text in sorted(value.items())
            if isinstance(text, str)
        }
    section.problems.add(
        section.path, f"cannot read a program: {to_name('')} is {type_phrase(value)}"
    )
    return None
