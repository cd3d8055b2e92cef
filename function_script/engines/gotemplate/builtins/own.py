"""Functions that templates of our own kind have in addition, or that differ there.

Getters need no request: ``getComposedResource "bucket"`` is ``getComposedResource . "bucket"`` also
where the dot is not the request. Names of the library are in Go's spelling. Bytes are base64, as
everywhere in Go templates.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, cast

from function_script import documents
from function_script.engines import library
from function_script.engines.gotemplate import values, yaml
from function_script.engines.gotemplate.builtins import core, function_go_templating
from function_script.engines.gotemplate.data import find_at
from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import (
    Accepts,
    AnyCall,
    Function,
    FunctionTable,
    Injects,
)
from function_script.engines.gotemplate.run import Run
from function_script.engines.gotemplate.sprig import defaults, dicts
from function_script.engines.library import resources
from function_script.request.objects import EXTERNAL_NAME, RESOURCE_NAME, WATCHED
from function_script.request.values import Object, Readable, type_phrase

FUNCTIONS: Final = FunctionTable()

# Go's types by the names in the reference; the library checks values of others.
_GO_TYPES: Final = {"boolean": "bool", "string": "string"}
_MAX_NAMES: Final = len(("name", "namespace"))


# Getters and annotations


def _with_optional_request(function: Function) -> Function:
    """Return a getter of the request whose first argument is optional."""
    getter = function.call
    count = len(function.parameter_types)

    def call(run: Run, *arguments: object) -> object:
        if len(arguments) not in {count - 1, count}:
            raise CallError(f"wants {count - 1} or {count} arguments, got {len(arguments)}")
        request, *names = arguments if len(arguments) == count else (run.root, *arguments)
        if not isinstance(request, dict):
            raise CallError(f"wants the request first, got {type_phrase(request)}")
        if not all(isinstance(name, str) for name in names):
            raise CallError(f"wants a name, got {type_phrase(names[0])}")
        if function.injects is Injects.RUN:
            return getter(run, request, *names)
        return getter(request, *names)

    # Go's types cannot say that the first of two arguments is optional, so `call` checks them.
    takes = " ".join(("request?", *("name" for _ in range(count - 1))))
    run_call = cast("AnyCall", call)
    return replace(function, parameters="any...", takes=takes, call=run_call, injects=Injects.RUN)


GETTERS: Final = tuple(
    _with_optional_request(function)
    for function in function_go_templating.FUNCTIONS
    if function.parameter_types[0] == "map" and function.name.startswith("get")
)


@FUNCTIONS.add("setResourceNameAnnotation")
def name_annotation(name: str) -> str:
    """The annotation that names a composed resource, as a line of YAML."""
    return f"{RESOURCE_NAME}: {function_go_templating.name_text(name)}"


# The library's functions


@FUNCTIONS.add(
    "connectionSecret",
    summary="The document of a Secret with connection details: resource name, data, and perhaps "
    "name and namespace.",
)
def connection_secret(resource_name: str, data: dict[str, object], *names: str) -> str:
    """Return a Secret's document as JSON on one line, which is valid YAML at any indent."""
    if len(names) > _MAX_NAMES:
        raise CallError("wants a resource name, data, and perhaps a name and a namespace")
    encoded: Object = {key: {"base64": _encode(key, item)} for key, item in data.items()}
    secret = resources.connection_secret(encoded, *names, resource_name=resource_name)
    return documents.to_flow_yaml(json.dumps(secret, sort_keys=True, ensure_ascii=False))


def _encode(key: str, item: object) -> str:
    if not isinstance(item, str):
        raise CallError(f'data: "{key}" must be base64, not {type_phrase(item)}')
    try:
        return resources.checked_base64(key, item)
    except ValueError as error:
        raise CallError(f"{error}, write it through b64enc") from error


def _add_row(row: library.Function) -> None:
    """Add a function of the library that has a name in Go, with the parameters it requires."""

    def call(*arguments: object) -> object:
        read = (None if values.is_nil(each) else cast("Readable", each) for each in arguments)
        try:
            return row.call(*read)
        except ValueError as error:
            # The library's error begins with its own name of the function.
            raise CallError(str(error.__cause__ or error)) from error

    required = [each for each in row.parameters if each.rule.is_required]
    takes_resources = all(each.type.name == "resource" for each in required)
    FUNCTIONS.add(
        row.go_name,
        parameters=" ".join(_GO_TYPES.get(each.type.name, "any") for each in required),
        returns=_GO_TYPES.get(row.signature.result, "any"),
        takes=" ".join(each.rule.name for each in required),
        accepts=Accepts.MISSING if takes_resources else Accepts.VALUES,
        # Without a default, null says that there is no such value.
        is_lookup="default" in {each.rule.name for each in row.parameters},
        summary=row.summary,
    )(call)


for _row in library.FUNCTIONS:
    if _row.go_name:
        _add_row(_row)


@FUNCTIONS.add("hasCapability")
def has_capability(run: Run, name: str) -> bool:
    """True if Crossplane advertises the capability."""
    capabilities = find_at(run.root, "meta", "capabilities")
    return (
        isinstance(capabilities, list)
        and f"CAPABILITY_{name.removeprefix('CAPABILITY_')}" in capabilities
    )


@FUNCTIONS.add("getWatchedResource", allocates=False, is_lookup=True)
def watched_resource(run: Run) -> object:
    """The resource that a WatchOperation watches."""
    items = find_at(run.root, "requiredResources", WATCHED, "items")
    entry = items[0] if isinstance(items, list) and items else None
    return function_go_templating.map_at(run, entry, "resource")


@FUNCTIONS.add("setExternalNameAnnotation")
def external_name_annotation(name: str) -> str:
    """The annotation of an external name, as a line of YAML."""
    return f"{EXTERNAL_NAME}: {yaml.write_key(name)}"


# Functions that return a missing value when they find nothing. In Go they return an empty text, a
# nil map or nil. Functions that chain keys read through missing values, as chains of fields do.

_OVERRIDES: Final = FunctionTable()


def override_lookups(functions: Mapping[str, Function]) -> dict[str, Function]:
    """Return the functions that differ where using a missing value is an error."""
    lookups = {
        name: _with_nothing(function, values.MISSING)
        for name, function in functions.items()
        if function.is_lookup
    }
    slicing = {
        name: _with_nothing(functions[name], values.NilList()) for name in ("slice", "mustSlice")
    }
    overrides = {
        each.name: replace(functions[each.name], parameters=each.parameters, call=each.call)
        for each in _OVERRIDES
    }
    return lookups | slicing | overrides


def _with_nothing(function: Function, nothing: object) -> Function:
    """Return the same function, which gives ``nothing`` for nil."""

    def call(*arguments: object) -> object:
        value = function.call(*arguments)
        return nothing if values.is_nil(value) else value

    return replace(function, call=call)


_OVERRIDES.add("default", parameters="value value...")(defaults.default)
_OVERRIDES.add("include", parameters="string value")(core.include)


@_OVERRIDES.add("dig", parameters="value...")
def _dig(*arguments: object) -> object:
    return dicts.dig(*arguments, beyond_null=True)


@_OVERRIDES.add("index", parameters="value value...")
def _index(item: object, *keys: object) -> object:
    for key in keys:
        if key is values.MISSING:
            # A missing key must not read as one that the map lacks.
            raise CallError("a key does not exist")
        if item is None or item is values.MISSING:
            item = values.MISSING
        elif isinstance(item, dict):
            item = core.look_up(item, key)
        else:
            item = core.index(item, key)
    return item


@_OVERRIDES.add("get")
def _get(mapping: dict[str, object], key: str) -> object:
    return mapping.get(key, values.MISSING)


@_OVERRIDES.add("coalesce", parameters="value...")
def _coalesce(*candidates: object) -> object:
    """Return the first that is not empty, or the last."""
    return next(filter(None, candidates), candidates[-1] if candidates else values.MISSING)


@_OVERRIDES.add("ternary", parameters="value value value")
def _ternary(yes: object, no: object, condition: object) -> object:
    if condition is not values.MISSING and type(condition) is not bool:
        raise CallError(f"wants true or false to decide, got {values.go_type(condition)}")
    return yes if condition else no
