"""Our own input kinds: the fields of each, and the Step that they become."""

from dataclasses import replace

from function_script.engines.language import Language
from function_script.inputs import program_source, requirements
from function_script.inputs.step import ProgramSources, ReadinessOptions, ReadinessScope, Step
from function_script.request import quantities
from function_script.request.limits import LIMITS, Limits
from function_script.request.reader import ObjectReader
from function_script.request.values import to_integer, type_phrase
from function_script.step import conditions

API_VERSION = "script.fn.crossplane.io/v1beta1"

_READINESS_FIELDS = ("autoReady", "resourcesCondition", "usages", "missing", "onExisting")
_SCOPES: dict[str, ReadinessScope] = {"Step": "Step", "All": "All"}
_MISSING = {"Error": False, "Defer": True}
_ON_EXISTING = {"Fatal": False, "Keep": True}
_USAGE_VERSIONS = {
    "apiextensions.crossplane.io/v1alpha1": "apiextensions.crossplane.io/v1alpha1",
    "apiextensions.crossplane.io/v1beta1": "apiextensions.crossplane.io/v1beta1",
    "protection.crossplane.io/v1beta1": "protection.crossplane.io/v1beta1",
}
_COMMON_FIELDS = (
    *("apiVersion", "kind", "metadata", "inputRef"),
    *("source", "fileSystem", "environment", "context", "requiredResource", "remote"),
    *("modules", "modulesFrom", "params", "requirements", "credentials"),
    *("ttl", "limits", "options"),
    *_READINESS_FIELDS,
)
_MAX_CREDENTIALS = 100
# Fields of other functions, and of what authors take an input for.
BELOW_SPEC = {"spec": "the fields of an input are its own, not below `spec`"}
_OTHER_FIELDS = {
    **BELOW_SPEC,
    **dict.fromkeys(
        ("parameters", "values", "variables", "vars", "args", "arguments"),
        "values of a program are in `params`",
    ),
    "readiness": "readiness is `autoReady: {}`",
    "timeout": "it is `limits: {timeout: 1s}`",
}
_MAX_NAME_LENGTH = 253


def parse(
    language: Language, fields: ObjectReader, ceilings: Limits, sources: ProgramSources
) -> Step:
    """Parse an input of the language's own kind."""
    misplaced = program_source.find_text_elsewhere(fields, language)
    names = (*_COMMON_FIELDS, language.text_field, *language.fields)
    own_options = ("keepManagedFields", *language.options)
    others = {**_OTHER_FIELDS, **dict.fromkeys(own_options, "it is a field of `options`")}
    fields.refuse_unknown(*names, *([misplaced] if misplaced else []), hints=others)
    program = program_source.read_program(fields, language, sources)
    options = fields.object("options") or ObjectReader({}, fields.at("options"), fields.problems)
    outside = dict.fromkeys(names, "it is a field of the input, beside `options`")
    options.refuse_unknown(*own_options, hints=outside)
    program = replace(program, options=language.parse_options(fields, options))
    fields.object("metadata")
    params = fields.object("params")
    readiness = _readiness(fields)
    if readiness is not None and readiness.defer_missing:
        program = replace(program, options={**program.options, "missing": "Defer"})
    return Step(
        api_version=API_VERSION,
        kind=str(fields.value["kind"]),
        language=language,
        program=program,
        limits=_limits(fields, ceilings),
        params=params.value if params is not None else {},
        ttl_seconds=_seconds(fields, "ttl"),
        keep_managed_fields=bool(options.flag("keepManagedFields")),
        requirements=requirements.parse(fields, sources.selectors),
        credentials=_credentials(fields),
        readiness=readiness,
    )


def _readiness(fields: ObjectReader) -> ReadinessOptions | None:
    """Parse the readiness fields; None if none is set, since such a step costs nothing."""
    if not fields.value.keys() & set(_READINESS_FIELDS):
        return None
    auto = None
    if isinstance(fields.value.get("autoReady"), bool):
        problem = "must be an object, not a boolean"
        fields.problems.add(fields.at("autoReady"), problem, hint="write `autoReady: {}`")
    else:
        auto = fields.object("autoReady")
    if auto is not None:
        auto.refuse_unknown("resources", "overwrite")
    usages = fields.object("usages")
    if usages is not None:
        usages.refuse_unknown("apiVersion")
    return ReadinessOptions(
        auto_ready=None if auto is None else auto.choice("resources", _SCOPES) or "Step",
        overwrite_stated=auto is not None and bool(auto.flag("overwrite")),
        condition=_condition(fields),
        usages=usages is not None,
        usage_version=None if usages is None else usages.choice("apiVersion", _USAGE_VERSIONS),
        defer_missing=bool(fields.choice("missing", _MISSING)),
        keep_existing=_keep_existing(fields),
    )


def _condition(fields: ObjectReader) -> str | None:
    if fields.value.get("resourcesCondition") is None:
        return None
    kind = fields.text("resourcesCondition", required=True)
    conditions.check_type(fields, "resourcesCondition", kind or "")
    return kind


def _keep_existing(fields: ObjectReader) -> bool:
    keep = fields.choice("onExisting", _ON_EXISTING)
    if keep and fields.value.get("missing") != "Defer":
        fields.problems.add(fields.at("onExisting"), "Keep needs `missing: Defer` beside it")
    return bool(keep)


def _credentials(fields: ObjectReader) -> tuple[str, ...]:
    """Return the names of the credentials that the program may see."""
    names = fields.value.get("credentials")
    if names is None:
        return ()
    path = fields.at("credentials")
    if not isinstance(names, list):
        hint = "it is a list of names: [NAME]"
        fields.problems.add(path, f"must be a list, not {type_phrase(names)}", hint=hint)
        return ()
    if len(names) > _MAX_CREDENTIALS:
        fields.problems.add(path, f"must be at most {_MAX_CREDENTIALS}")
    for index, name in enumerate(names):
        if not isinstance(name, str) or not name:
            actual = "an empty one" if name == "" else type_phrase(name)
            own_name = name.get("name") if isinstance(name, dict) else None
            advice = f"write the name alone: {own_name}" if isinstance(own_name, str) else None
            fields.problems.add(f"{path}[{index}]", f"must be a name, not {actual}", hint=advice)
        elif len(name) > _MAX_NAME_LENGTH:
            fields.problems.add(
                f"{path}[{index}]", f"must have at most {_MAX_NAME_LENGTH} characters"
            )
        elif name in names[:index]:
            fields.problems.add(f"{path}[{index}]", f'duplicate name "{name}"')
    return tuple(str(name) for name in names)


def _limits(fields: ObjectReader, ceilings: Limits) -> Limits:
    """Return the ceilings, narrowed by ``limits``; a value above its ceiling changes nothing."""
    section = fields.object("limits")
    if section is None:
        return ceilings
    limits = {limit.path.partition(".")[2]: limit for limit in LIMITS.values() if limit.path}
    section.refuse_unknown(*limits)
    readers = {"seconds": _seconds, "bytes": _size, "count": _whole_number}
    narrowed: dict[str, float] = {}
    for key, limit in limits.items():
        number = readers[limit.unit](section, key)
        if number is not None and number <= 0:
            section.problems.add(section.at(key), "must be greater than zero")
        elif number is not None:
            narrowed[limit.field] = min(number, getattr(ceilings, limit.field))
    return replace(ceilings, **narrowed)  # type: ignore[arg-type] # of each field's type


def _seconds(fields: ObjectReader, key: str) -> float | None:
    """Return a duration in seconds; 0 is allowed."""
    value = fields.value.get(key)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        hint = f'write it with its unit, as in "{value}s"'
        fields.problems.add(fields.at(key), f"must be a duration, not {value}", hint=hint)
        return None
    return fields.parsed(key, quantities.parse_duration)


def _size(fields: ObjectReader, key: str) -> int | None:
    """Return a number of bytes from a quantity or a whole number."""
    if isinstance(fields.value.get(key), str):
        return fields.parsed(key, quantities.parse_size)
    return _whole_number(fields, key, 'a size such as "128Mi"')


def _whole_number(fields: ObjectReader, key: str, expected: str = "a whole number") -> int | None:
    value = fields.value.get(key)
    if isinstance(value, float):
        value = to_integer(value)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    actual = str(value) if isinstance(value, float) else type_phrase(value)
    fields.problems.add(fields.at(key), f"must be {expected}, not {actual}")
    return None
