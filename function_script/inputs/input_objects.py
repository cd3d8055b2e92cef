"""Inputs that are objects of the cluster: a step names one, and its own fields win.

The step's own fields are a JSON merge patch (RFC 7386) on the object's. Crossplane fetches the
object, so that the function needs no permissions, and calls the step again when it changes.
"""

from collections.abc import Sequence
from typing import Final

from function_script import wire
from function_script.engines.language import Language
from function_script.inputs import external_sources, kinds, program_source
from function_script.inputs.step import InputReference
from function_script.request import objects
from function_script.request.reader import ObjectReader
from function_script.request.values import Object, Value
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError
from function_script.texts.problems import Problem, ProblemList

FIELD: Final = "inputRef"
REQUIREMENT: Final = external_sources.requirement_name("input")
"""Name of the requirement for the object."""
_REQUIRED_RESOURCE: Final = "requiredResource"
_HEADER: Final = ("apiVersion", "kind", "metadata", "status")
_GROUP: Final = kinds.API_VERSION.partition("/")[0]


def find(fields: ObjectReader) -> InputReference | None:
    """Return the reference of an input of ours; None for a whole input, or after a problem."""
    if fields.value.get(FIELD) is not None:
        section = fields.object(FIELD)
        if section is None:
            return None
        hint = "the object is of the step's own apiVersion and kind"
        section.refuse_unknown("name", "namespace", hint=hint)
        return _read(fields, section, (FIELD,))
    section = _find_required_input(fields)
    if section is None:
        return None
    section.refuse_unknown("apiVersion", "kind", "name", "namespace")
    for key in ("apiVersion", "kind"):
        if section.value.get(key) != fields.value[key]:
            problem = f'must be {fields.value[key]}, as of the step, not "{section.value.get(key)}"'
            section.problems.add(section.at(key), problem)
    return _read(fields, section, ("source", _REQUIRED_RESOURCE))


def _find_required_input(fields: ObjectReader) -> ObjectReader | None:
    """Return the required resource of an input, if that is an input and no text within one."""
    section = fields.value.get(_REQUIRED_RESOURCE)
    if fields.value.get("source") != external_sources.REQUIRED_RESOURCE:
        return None
    if not isinstance(section, dict) or section.get("fieldPath") or section.get("main"):
        return None
    group = str(section.get("apiVersion")).partition("/")[0]
    return fields.object(_REQUIRED_RESOURCE) if group == _GROUP else None


def _read(fields: ObjectReader, section: ObjectReader, keys: Sequence[str]) -> InputReference:
    name = section.text("name", required=True)
    namespace = section.text("namespace", required=True)
    kind = str(fields.value["kind"])
    selector = wire.Selector(kinds.API_VERSION, kind, name or "", None, namespace or "")
    own_fields = {key: part for key, part in fields.value.items() if key not in (*keys, "metadata")}
    return InputReference(selector, section.path, own_fields)


def merge(reference: InputReference, items: Sequence[Object]) -> Object:
    """Return the whole input of the object and the step. Raises InputError without the object."""
    if not items:
        kind = reference.selector.kind
        hint = f"its CRD must be installed, and the object be a {kind} of {kinds.API_VERSION}"
        problem = Problem(reference.path, f"cannot find {reference.origin}", hint)
        raise InputError(problem.to_diagnostic())
    value = items[0]
    is_reference = value.get(FIELD) is not None
    if is_reference or _find_required_input(ObjectReader(value, "", ProblemList())) is not None:
        field = FIELD if is_reference else _REQUIRED_RESOURCE
        message = f"{reference.origin}: {field}: must not be set in an object that a step names"
        hint = "name the other object in the step"
        raise InputError(Diagnostic(message=message, hint=hint, field=reference.path))
    whole: Object = {
        key: objects.deep_copy(part) for key, part in value.items() if key not in _HEADER
    }
    _apply_patch(whole, reference.own_fields)
    return whole


def _apply_patch(target: Object, patch: Object) -> None:
    """Apply a JSON merge patch: objects merge, null removes, and other values replace."""
    for key, part in patch.items():
        below = target.get(key)
        if part is None:
            target.pop(key, None)
        elif isinstance(part, dict):
            target[key] = below = below if isinstance(below, dict) else {}
            _apply_patch(below, part)
        else:
            target[key] = objects.deep_copy(part)


def complete_own_fields(reference: InputReference, language: Language) -> Object:
    """Return the step's own fields with stand-ins for what they need of the object."""
    own_fields = reference.own_fields
    stand_ins: Object = {"missing": "Defer"} if own_fields.get("onExisting") is not None else {}
    if own_fields.get("source") is None:
        sections = program_source.SECTIONS.items()
        source = next((name for name, key in sections if own_fields.get(key) is not None), None)
        text: Value = {"-": "-"} if language.has_named_texts else "-"
        stand_ins |= {language.text_field: text} if source is None else {"source": source}
    missing = {key: part for key, part in stand_ins.items() if own_fields.get(key) is None}
    return {**own_fields, **missing}
