"""Our own input kinds: the fields of each, and the Step that they become."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from function_script.engines.language import Language
from function_script.inputs import (
    common_fields,
    external_sources,
    program_source,
    readiness_options,
    requirements,
)
from function_script.inputs.step import Step
from function_script.limits import Limits
from function_script.reader import ObjectReader
from function_script.values import type_phrase

if TYPE_CHECKING:
    from function_script.inputs.step import ProgramSources

API_VERSION = "script.fn.crossplane.io/v1beta1"

_COMMON_FIELDS = (
    *("apiVersion", "kind", "metadata"),
    *("source", "fileSystem", "environment", "context", "requiredResource", "remote"),
    *("modules", "modulesFrom", "params", "requirements", "credentials"),
    *("ttl", "limits", "options"),
    *readiness_options.FIELDS,
)
_MAX_CREDENTIALS = 100


def parse(
    language: Language, fields: ObjectReader, ceilings: Limits, sources: ProgramSources
) -> Step:
    """Parse an input of the language's own kind."""
    misplaced = program_source.find_text_elsewhere(fields, language)
    known = (*_COMMON_FIELDS, language.text_field, *language.fields)
    fields.refuse_unknown(*known, *([misplaced] if misplaced else []))
    program = program_source.read_program(fields, language, sources)
    options = fields.object("options") or ObjectReader({}, fields.at("options"), fields.problems)
    options.refuse_unknown("keepManagedFields", *language.options)
    program = replace(program, options=language.parse_options(fields, options))
    fields.object("metadata")
    params = fields.object("params")
    readiness = readiness_options.read(fields)
    if readiness is not None and readiness.defer_missing:
        program = replace(program, options={**program.options, "missing": "Defer"})
    return Step(
        api_version=API_VERSION,
        kind=str(fields.value["kind"]),
        language=language,
        program=program,
        limits=common_fields.limits(fields, ceilings),
        params=params.value if params is not None else {},
        ttl_seconds=common_fields.ttl_seconds(fields),
        keep_managed_fields=bool(options.flag("keepManagedFields")),
        requirements=requirements.parse(fields, external_sources.required_resources(fields)),
        credentials=_credentials(fields),
        readiness=readiness,
    )


def _credentials(fields: ObjectReader) -> tuple[str, ...]:
    """Return the names of the credentials that the program may see."""
    names = fields.value.get("credentials")
    if names is None:
        return ()
    path = fields.at("credentials")
    if not isinstance(names, list):
        fields.problems.add(path, f"must be a list, not {type_phrase(names)}")
        return ()
    if len(names) > _MAX_CREDENTIALS:
        fields.problems.add(path, f"must be at most {_MAX_CREDENTIALS}")
    for index, name in enumerate(names):
        if not isinstance(name, str) or not name:
            actual = "an empty one" if name == "" else type_phrase(name)
            fields.problems.add(f"{path}[{index}]", f"must be a name, not {actual}")
        elif name in names[:index]:
            fields.problems.add(f"{path}[{index}]", f'duplicate name "{name}"')
    return tuple(str(name) for name in names)
