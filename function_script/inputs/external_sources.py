"""Programs that stand neither in the input nor in files: in the context, or in fetched objects.

Called by origin.py for ``source`` and ``modulesFrom``. A place holds one text, or an object of
texts, whose keys are names of modules. Every text is named so that its author finds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from function_script import objects, wire
from function_script.inputs.requirements import field_path
from function_script.problems import ProblemList, suggest
from function_script.program import OWN_REQUIREMENTS
from function_script.reader import ObjectReader
from function_script.source import Source
from function_script.values import type_phrase

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.inputs.step import ProgramSources
    from function_script.values import Readable

CONTEXT = "Context"
ENVIRONMENT = "Environment"
REQUIRED_RESOURCE = "RequiredResource"
# The field of each source that says where exactly; its fields beside `main`.
SECTIONS = {
    ENVIRONMENT: ("environment", ("key",)),
    CONTEXT: ("context", ("key", "fieldPath")),
    REQUIRED_RESOURCE: (
        "requiredResource",
        ("apiVersion", "kind", "name", "namespace", "fieldPath"),
    ),
}
_DATA = "data"

# One text, or texts by name.
Texts: TypeAlias = Source | dict[str, Source]


def read(
    source: str, section: ObjectReader, sources: ProgramSources, requirement: str
) -> Texts | None:
    """What stands at the place; None when a problem was noted, or it cannot be looked at yet.

    ``requirement`` is the name under which a required resource is asked for.
    """
    if source == REQUIRED_RESOURCE:
        return _of_resource(section, sources, requirement)
    if source == ENVIRONMENT:
        return _of_environment(section, sources)
    return _of_context(section, sources)


def required_resources(fields: ObjectReader) -> dict[str, wire.Selector]:
    """What an input's programs are fetched by; notes no problem, for `read` does."""
    quiet = ObjectReader(fields.value, fields.path, ProblemList())
    named = [("program", quiet)] if quiet.value.get("source") == REQUIRED_RESOURCE else []
    named += [(f"modules-{i}", item) for i, item in enumerate(quiet.objects("modulesFrom"))]
    return {
        requirement_name(suffix): _selector(section)
        for suffix, holder in named
        if (section := holder.object("requiredResource")) is not None
    }


def requirement_name(suffix: str) -> str:
    """What a required resource of ours is asked for by: no program's name looks so."""
    return f"{OWN_REQUIREMENTS}{suffix}"


def _selector(section: ObjectReader) -> wire.Selector:
    return wire.Selector(
        section.text("apiVersion", required=True) or "",
        section.text("kind", required=True) or "",
        section.text("name", required=True) or "",
        None,
        section.text("namespace") or None,
    )


def _of_environment(section: ObjectReader, sources: ProgramSources) -> Texts | None:
    key = section.text("key", required=True)
    if not key or sources.outside is None:
        return None
    environment = sources.outside.context(objects.ENVIRONMENT)
    found = environment.get(key) if isinstance(environment, dict) else None
    if found is None:
        cause = f'cannot find a program: "{key}" is not in the environment'
        keys = tuple(environment) if isinstance(environment, dict) else ()
        hint = suggest(key, keys, "function-environment-configs fills it")
        section.problems.add(section.at("key"), cause, hint=hint)
        return None
    return _texts(found, section, lambda name: f"environment[{key}]{_member(name)}")


def _of_context(section: ObjectReader, sources: ProgramSources) -> Texts | None:
    key = section.text("key", required=True)
    path = field_path(section, "fieldPath")
    if not key or sources.outside is None:
        return None
    found = objects.find_path(sources.outside.context(key), path or "")
    place = f"context[{key}]" + (f"[{path}]" if path else "")
    if found is None:
        section.problems.add(section.at("key"), f"cannot find a program: there is no {place}")
        return None
    return _texts(found, section, lambda name: place + _member(name))


def _of_resource(section: ObjectReader, sources: ProgramSources, requirement: str) -> Texts | None:
    wanted = _selector(section)
    path = field_path(section, "fieldPath") or _DATA
    found = sources.outside.required(requirement, wanted) if sources.outside is not None else None
    if found is None:
        return None
    identity = "/".join(filter(None, (wanted.namespace, wanted.match_name)))
    if not found:
        cause = f"cannot find {wanted.kind} {identity}"
        section.problems.add(section.path, cause, hint=f"it must be there as {wanted.api_version}")
        return None
    value = objects.find_path(found[0], path)
    place = f"{wanted.kind.lower()}/{identity}"
    if value is None:
        cause = f'cannot find a program: {place} has no "{path}"'
        section.problems.add(section.at("fieldPath"), cause)
        return None
    return _texts(value, section, lambda name: f"{place}[{path}{f'.{name}' if name else ''}]")


def _member(name: str) -> str:
    return f"[{name}]" if name else ""


def _texts(value: Readable, section: ObjectReader, named: Callable[[str], str]) -> Texts | None:
    """The texts of ``value``; what else an object holds is not for us."""
    if isinstance(value, str):
        return Source(name=named(""), text=value)
    if isinstance(value, dict):
        return {
            name: Source(name=named(name), text=text)
            for name, text in sorted(value.items())
            if isinstance(text, str)
        }
    section.problems.add(
        section.path, f"cannot read a program: {named('')} is {type_phrase(value)}"
    )
    return None
