"""Validation of an XR against its XRD, as the API server does when the XR is created.

The schema's defaults apply first. The status is left out: the API server drops it on creation, and
functions write it.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, lru_cache
from itertools import islice
from typing import Final, NamedTuple

from function_script.request import objects
from function_script.request.objects import SUBDOMAIN
from function_script.request.reader import format_path
from function_script.request.values import Object
from function_script.texts import field_names
from function_script.texts.diagnostics import Code, Diagnostic
from function_script.texts.problems import Problem, suggest
from function_script.tools import manifests, structural_schema, xrds
from function_script.tools.validate import builtin, openapi, report, rules, wording
from function_script.tools.validate.catalog import MAX_HINTS, Catalog, suggest_field

# In the words of the API server.
_NAME_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
    "'-' or '.', and must start and end with an alphanumeric character"
)
_ANY: Final[Object] = {structural_schema.PRESERVE: True}
_TEXT: Final[Object] = {"type": "string"}
_SCHEMA: Final = ("schema", "openAPIV3Schema")
_TEXTS: Final = ("defaultCompositeDeletePolicy", "defaultCompositionUpdatePolicy", "group")
_SCOPES: Final = (xrds.NAMESPACED, "Cluster")
_OBJECTS: Final = (
    *("conversion", "defaultCompositionRef", "defaultCompositionRevisionSelector"),
    *("enforcedCompositionRef", "metadata"),
)


class Verdict(NamedTuple):
    """Diagnostics whose fields are paths in the XR.

    ``errors`` are what the API server refuses. ``warnings`` are fields that it drops. ``notes`` are
    rules that could not be evaluated.
    """

    errors: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    notes: tuple[Diagnostic, ...] = ()


def validate(xr: Object, xrd: Object) -> Verdict:
    """Validate ``xr`` against the schema of its version; without such a version, nothing is wrong.

    A rule that has failed itself, as for an absent field, is an error.
    """
    parts: Object = {key: part for key, part in xr.items() if key != "status"}
    # The caches need a key that can be hashed, which an object cannot.
    xrd_text = json.dumps(xrd)
    comparison = _load_catalog(xrd_text).compare(parts)
    if comparison is None:
        return Verdict()
    value, schema, problems, patterns = comparison
    unknown = [problem for problem in problems if problem.type == "unknownField"]
    violations, skipped = rules.check(value, schema)
    name = manifests.name(xr)
    # A name that Kubernetes refuses; its length is the schema's business.
    refusals = [problem for problem in problems if problem not in unknown]
    if refusals:
        # A value of a wrong type is why a rule could not be evaluated.
        skipped = []
    refusals += violations
    if name and not SUBDOMAIN.fullmatch(name):
        path = "metadata.name"
        text = f"{path}: Invalid value: {wording.format_value(name)}: {_NAME_RULE}"
        refusals.insert(0, report.Problem(type="schema", field=path, path=path, message=text))
    # The code is that of a misspelt field.
    mistake = next((each for each in find_mistakes(xrd) if each.code), None) if unknown else None
    claim = manifests.text_at(xrd, "spec", "claimNames", "kind")
    word = "claim" if manifests.text_at(xr, "kind") == claim else "XR"
    warnings = _describe_unknown(unknown, schema, xrd, word)
    if mistake is not None:
        # The XRD drops what is below a misspelt keyword: one field shows it.
        notes = (_origin(xrd), mistake.message)
        warnings = (replace(each, notes=notes, hint=mistake.hint) for each in islice(warnings, 1))
    return Verdict(
        errors=tuple(
            Diagnostic(
                message=f"invalid {word}: {problem.message.removeprefix(f'{wording.NO_FIELD}: ')}",
                field=problem.path,
                notes=(_origin(xrd),),
                hint=_blame_schema(problem.path, value, schema) or problem.hint,
            )
            for problem in refusals
        ),
        warnings=tuple(warnings),
        notes=tuple(
            Diagnostic(
                message=f"not evaluated for the XR: {rule.rule} ({rule.reason})", field=rule.field
            )
            for rule in (*patterns, *skipped)
        ),
    )


def _object(required: str, fields: Object) -> Object:
    return {"type": "object", "required": [*required.split()], "properties": fields}


@cache
def _read_schemas() -> tuple[Object, dict[str, Object]]:
    """Return the schema of an XRD in any version of Crossplane, and those of a schema's keywords.

    Names, versions and schemas are as in a CRD, and ``examples`` is a keyword of JSON Schema.
    """
    crd = builtin.find_schema("apiextensions.k8s.io/v1", "CustomResourceDefinition") or {}
    names, version, schema = (
        structural_schema.find(crd, ("spec", *path)) or {}
        for path in (("names",), ("versions", 0), ("versions", 0, *_SCHEMA))
    )
    fields: Object = {
        **structural_schema.properties(version),
        "referenceable": {"type": "boolean"},
        _SCHEMA[0]: _object("", {_SCHEMA[1]: {"type": "object", **_ANY}}),
    }
    spec: Object = {
        **dict.fromkeys(_TEXTS, _TEXT),
        **dict.fromkeys(_OBJECTS, _ANY),
        **dict.fromkeys(("claimNames", "names"), names),
        "connectionSecretKeys": {"type": "array", "items": _ANY},
        "scope": {**_TEXT, "enum": [*_SCOPES, xrds.LEGACY]},
        "versions": {"type": "array", "items": _object("name served referenceable", fields)},
    }
    root: Object = {**dict.fromkeys(field_names.ROOTS, _ANY), "apiVersion": _TEXT, "kind": _TEXT}
    xrd = _object("", {**root, "spec": _object("group names versions", spec)})
    keywords = structural_schema.properties(schema).items()
    return xrd, {**{key: part for key, part in keywords if key[0] != "$"}, "examples": _ANY}


def find_mistakes(xrd: Object) -> tuple[Diagnostic, ...]:
    """Return what is refused in an XRD and its schemas, and words of an enum that no value is."""
    return _load_mistakes(json.dumps(xrd))


@lru_cache(maxsize=32)
def _load_mistakes(xrd_text: str) -> tuple[Diagnostic, ...]:
    """Find the mistakes of an XRD once, however many XRs and Compositions it has."""
    return (*_find_mistakes(json.loads(xrd_text)),)


def _find_mistakes(xrd: Object) -> Iterator[Diagnostic]:
    group = manifests.text_at(xrd, "spec", "group")
    plural = manifests.text_at(xrd, "spec", "names", "plural")
    # A placeholder of another tool is no name yet.
    lower = plural.lower() if plural.isalnum() else plural
    if plural != lower:
        message = f"invalid XRD: spec.names.plural must be in lower case: {lower}"
        yield Diagnostic(message=message, field="spec.names.plural")
    if group and plural and manifests.name(xrd) != (name := f"{lower}.{group}"):
        message = f"invalid XRD: metadata.name must be {name}, the plural and the group"
        yield Diagnostic(message=message, field="metadata.name")
    xrd_schema, _ = _read_schemas()
    whole = structural_schema.complete(xrd, xrd_schema)
    # A patch of an XRD, and what a test expects of one, have any part of it.
    is_whole = {"group", "names", "versions"} <= manifests.object_at(xrd, "spec").keys()
    for problem in openapi.check(whole, xrd_schema)[0] if is_whole else ():
        message = f"invalid XRD: {problem.message.removeprefix(f'{wording.NO_FIELD}: ')}"
        yield Diagnostic(message=message, field=problem.path, hint=problem.hint)
    scope = xrds.scope_of(xrd) if is_whole else xrds.LEGACY
    for name in ("claimNames", "connectionSecretKeys") if scope in _SCOPES else ():
        if manifests.object_at(xrd, "spec").get(name):
            refusal = Problem(f"spec.{name}", "only XRs of scope LegacyCluster have it")
            yield refusal.to_diagnostic("invalid XRD: ")
    for path, name in structural_schema.unknown_fields(xrd, xrd_schema):
        keys = objects.read_path(path)
        fields = structural_schema.properties(structural_schema.find(xrd_schema, keys[:-1]) or {})
        yield from _find_typo(name, tuple(fields), path)
    versions = list(manifests.objects_at(xrd, "spec", "versions"))
    flags = [version.get("referenceable") for version in versions]
    # An unfinished XRD does not say it yet.
    if flags and None not in flags and flags.count(True) != 1:
        index = len(flags) - 1 - flags[::-1].index(True) if True in flags else 0
        field = f"spec.versions[{index}].referenceable"
        yield Problem(field, "must be true for exactly one version").to_diagnostic()
    for index, version in enumerate(versions):
        schema = manifests.object_at(version, *_SCHEMA)
        yield from _find_schema_mistakes(schema, ("spec", "versions", index, *_SCHEMA))


def _find_typo(name: str, names: tuple[str, ...], path: str) -> Iterator[Diagnostic]:
    """Yield the problem of an unknown field that is one of ``names`` but for a typo.

    The API server drops it.
    """
    if hint := suggest(name, names):
        message, code = f"invalid XRD: unknown field {path}", Code("unknown-field", name)
        yield Diagnostic(message=message, field=path, hint=hint, code=code)


def _find_schema_mistakes(schema: Object, path: objects.Path) -> Iterator[Diagnostic]:
    type_ = schema.get("type")
    valid_type = type_ if type_ in structural_schema.TYPES else None
    keywords: Object = {
        **_read_schemas()[1],
        "type": {"enum": [*structural_schema.TYPES]},
        "enum": {"type": "array", "items": {"type": valid_type, "nullable": True}},
        "properties": {"type": "object", "additionalProperties": {"type": "object"}},
        "default": {**schema, "type": valid_type},
    }
    for keyword in schema:
        if keyword not in keywords:
            # Anybody may have keywords with x-.
            is_extension = keyword.startswith("x-")
            names = (each for each in keywords if each.startswith("x-") is is_extension)
            yield from _find_typo(keyword, tuple(names), format_path((*path, keyword)))
    whole = structural_schema.complete(schema, {"properties": keywords})
    for each in openapi.check(whole, {"properties": keywords})[0]:
        field, message = f"{format_path(path)}.{each.path}", f"invalid XRD: {each.message}"
        hints = {
            "type": suggest(str(type_), structural_schema.TYPES),
            "properties.required": "`required` belongs beside `properties`",
        }
        yield Diagnostic(message=message, field=field, hint=hints.get(each.path) or each.hint)
    for index, rule in enumerate(manifests.objects_at(schema, rules.RULES)):
        field = format_path((*path, rules.RULES, index, "rule"))
        for name, hint in rules.find_unknown_fields(manifests.text_at(rule, "rule"), schema):
            # Crossplane, and the API server, add fields to an author's.
            if path[-1] != "openAPIV3Schema" and not xrds.is_crossplane_field(str(path[-1]), name):
                message = f"invalid XRD: the rule reads self.{name}, and there is no such field"
                yield Diagnostic(message=message, field=field, hint=hint)
    for name, part in structural_schema.properties(schema).items():
        yield from _find_schema_mistakes(part, (*path, "properties", name))
    for key in ("items", "additionalProperties"):
        if isinstance(below := schema.get(key), dict):
            yield from _find_schema_mistakes(below, (*path, key))


def find_refusals(value: Object, old: Object | None, schema: Object) -> tuple[list[str], list[str]]:
    """Return why the API server refuses that an object becomes another, by rules in CEL.

    Without ``old``, the rules are those that do not compare with a former object. The second list
    has the reasons for which rules could not be evaluated.
    """
    problems, skipped = rules.check(value, schema, old)
    return [each.message for each in problems], [f"{each.rule} ({each.reason})" for each in skipped]


@lru_cache(maxsize=32)
def _load_catalog(xrd: str) -> Catalog:
    """Return the schemas of an XRD; the evaluator is sent each one that it does not have once."""
    return Catalog([json.loads(xrd)])


def _blame_schema(path: str, xr: Object, schema: Object) -> str | None:
    """Return the hint for a problem whose cause is in the XRD and not in the XR."""
    keys = objects.read_path(path)
    part = structural_schema.find(schema, keys) or {}
    kind = part.get("type")
    if isinstance(kind, str) and kind not in structural_schema.TYPES:
        return f'the XRD has type "{kind}" here: types are {", ".join(structural_schema.TYPES)}'
    if "default" in part and objects.find_path(xr, keys) == part["default"]:
        return "the value is the default in the XRD"
    names = structural_schema.properties(structural_schema.find(schema, keys[:-1]) or {})
    if names and keys[-1] not in names and objects.find_path(xr, keys) is None:
        return "the XRD requires it, and defines no such field"
    return None


def _origin(xrd: Object) -> str:
    return f'the schema is that of XRD "{manifests.name(xrd)}"'


def _describe_unknown(
    problems: Iterable[report.Problem], schema: Object, xrd: Object, word: str
) -> Iterator[Diagnostic]:
    own = xrds.crossplane_fields(xrds.scope_of(xrd))
    for number, problem in enumerate(problems):
        path, name = problem.path, str(problem.value)
        *parent, _ = objects.read_path(path)
        part = str(parent[0]) if len(parent) == 1 else ""
        # These are fields of other versions of Crossplane, any of which may run the program.
        if name in own.get(part, ()):
            continue
        hint = xrds.advise_field(part, name)
        if hint is None and number < MAX_HINTS:
            fields = structural_schema.properties(structural_schema.find(schema, parent) or {})
            names = tuple(field for field in fields if not xrds.is_crossplane_field(part, field))
            elsewhere = structural_schema.find_elsewhere(schema, (*parent, name))
            hint = suggest_field(name, names, elsewhere)
        yield Diagnostic(
            message=f"unknown field of the {word}: {path}: the API server drops it",
            field=path,
            notes=(_origin(xrd),),
            hint=hint,
        )
