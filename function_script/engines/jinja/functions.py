"""The names of templates: functions, parts of the request, and params.

Functions are those of the shared library, and others that read the request. Every function receives
the run first, then the template's arguments. Its signature and docstring are printed in the
reference.
"""

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Final, TypeVar, cast

from jinja2 import utils

from function_script.engines.jinja import exceptions
from function_script.engines.jinja.calls import (
    LIBRARY,
    Builtin,
    Name,
    build_table,
)
from function_script.engines.jinja.filters import items_of, pairs, required
from function_script.engines.jinja.output import to_text
from function_script.engines.jinja.run import MAX_ITEMS, Run
from function_script.engines.jinja.runtime import check_key
from function_script.engines.library.bounds import Resource
from function_script.request import objects
from function_script.request.program import Scope
from function_script.request.values import MAX_SAFE_INTEGER

Result = TypeVar("Result")


def numbers(run: Run, *bounds: object) -> range:
    """``range(stop)``, ``range(start, stop, step)``: whole numbers, the end excluded."""
    if not 1 <= len(bounds) <= len(("start", "stop", "step")):
        raise exceptions.RenderError("a range takes 1 to 3 numbers", name="range")
    integers = []
    for value in bounds:
        if not isinstance(value, int):
            message = "a range is made of integers, not of {}"
            is_number = isinstance(value, str) and value.strip().isdecimal()
            hint = "convert the text: `value | int`" if is_number else None
            raise exceptions.unsuitable(message, value, name="range", hint=hint)
        # Far beyond any list, and still a number that Python counts with.
        integers.append(max(-MAX_SAFE_INTEGER, min(value, MAX_SAFE_INTEGER)))
    result = range(*integers)
    if len(result) > MAX_ITEMS:
        raise exceptions.BudgetError(f"a range of {len(result)} numbers, the limit is {MAX_ITEMS}")
    run.budget.spend(1)
    return result


def mapping(run: Run, *others: object, **named: object) -> dict[object, object]:
    """``dict(a=1)``, ``dict(other, a=1)``: an object, of objects or lists of pairs and of names."""
    result: dict[object, object] = {}
    for source in others:
        entries = pairs(run, source) if isinstance(source, Mapping) else items_of(run, source)
        for pair in entries:
            if not isinstance(pair, (list, tuple)) or len(pair) != len(("key", "value")):
                raise exceptions.RenderError(
                    f"{exceptions.type_of(pair)} is not a pair of a key and a value", name="dict"
                )
            result[check_key(pair[0])] = pair[1]
    result.update(named)
    return result


def namespace(run: Run, *others: object, **named: object) -> utils.Namespace:
    """A value whose attributes `set` may change, also from inside of loops."""
    attributes = mapping(run, *others, **named)
    for name in attributes:
        if not isinstance(name, str) or name.startswith("_"):
            raise exceptions.RenderError("names that begin with _ cannot be set in a namespace")
    return utils.Namespace(attributes)


def fail(run: Run, message: object = "the template failed") -> object:
    """Stop with a message."""
    raise exceptions.AuthorError(to_text(run.budget, message), name="fail")


def log(run: Run, *values: object) -> str:
    """Write a line to the function's log, at debug level; gives no text."""
    run.log(run.budget.concat([f"{to_text(run.budget, value)} " for value in values])[:-1])
    return ""


def _takes_name(
    function: Callable[[Run, Name], Result],
) -> Callable[[Run, object], Result]:
    """Check that what a template passes as a name can be one."""

    @wraps(function)
    def checked(run: Run, name: object) -> Result:
        if name is None or isinstance(name, (bool, Mapping, list, tuple)):
            cause = f"name: must be a string, not {exceptions.type_of(name)}"
            callee = function.__name__
            raise exceptions.RenderError(f"cannot call {callee}: {cause}", name=callee)
        return function(run, cast("Name", name))

    return checked


def get_composite_resource(run: Run) -> object:
    """The observed composite resource."""
    return run.scope.xr


@_takes_name
def get_composed_resource(run: Run, name: Name) -> object:
    """The observed composed resource of this name; chains and takes a default if not there."""
    return _look_up(run, ("observed", "resources", name, "resource"))


@_takes_name
def get_composed_connection_details(run: Run, name: Name) -> object:
    """The observed connection details of the composed resource of this name."""
    return _look_up(run, ("observed", "resources", name, "connection_details"))


@_takes_name
def get_required_resources(run: Run, name: Name) -> object:
    """The required resources that were fetched under this name, as a list."""
    for part in ("required_resources", "extra_resources"):
        items = _look_up(run, (part, name, "items"))
        if isinstance(items, list):
            return [objects.unwrap_resource(item) for item in items]
    return _look_up(run, ("required_resources", name, "items"))


@_takes_name
def get_extra_resources_from_context(run: Run, name: Name) -> object:
    """The extra resources of this name that another step put into the context, as a list."""
    entry = _look_up(run, ("context", objects.EXTRA_RESOURCES, name))
    return run.environment.getitem(entry, "items") if isinstance(entry, Mapping) else entry


@_takes_name
def get_credential_data(run: Run, name: Name) -> object:
    """The data of the step's credentials of this name: an object of texts."""
    return _look_up(run, ("credentials", name, "data"))


def get_watched_resource(run: Run) -> object:
    """The resource that a WatchOperation watches."""
    items = _look_up(run, ("required_resources", objects.WATCHED, "items"))
    return run.environment.getitem(run.environment.getitem(items, 0), "resource")


@_takes_name
def has_capability(run: Run, name: Name) -> bool:
    """True if Crossplane advertises the capability; before v2.2 it advertises none."""
    capability = f"CAPABILITY_{to_text(run.budget, name).removeprefix('CAPABILITY_')}"
    capabilities = _look_up(run, ("meta", "capabilities"))
    return isinstance(capabilities, list) and capability in capabilities


def get_resource_condition(run: Run, condition: str, resource: Resource) -> object:
    """The condition of this type of a resource; its status is "Unknown" if there is none."""
    if isinstance(resource, str):
        name, cause = get_resource_condition.__name__, "resource: must be an object, not a string"
        hint = f"write {name}(condition, resource)"
        raise exceptions.RenderError(f"cannot call {name}: {cause}", hint=hint, name=name)
    return LIBRARY["get_condition"](run, resource, condition)


@_takes_name
def set_resource_name_annotation(run: Run, name: Name) -> str:
    """The annotation that gives a document its resource name, as a line of YAML."""
    quoted = LIBRARY["quote"](run, to_text(run.budget, name))
    return f"{objects.RESOURCE_NAME}: {to_text(run.budget, quoted)}"


def _look_up(run: Run, path: tuple[object, ...]) -> object:
    value: object = run.scope.request
    for part in path:
        value = run.environment.getitem(value, to_text(run.budget, part))
    return value


_BY_NAME: Final = (
    *(fail, get_composed_connection_details, get_composed_resource, get_composite_resource),
    *(get_credential_data, get_extra_resources_from_context, get_required_resources),
    *(get_resource_condition, get_watched_resource, has_capability, log, namespace, required),
    set_resource_name_annotation,
)
_FUNCTIONS: dict[str, object] = {
    **LIBRARY,
    **{each.__name__: each for each in _BY_NAME},
    "dict": mapping,
    "get_extra_resources": get_required_resources,
    "range": numbers,
}
FUNCTIONS = {name: Builtin(name, call) for name, call in build_table(_FUNCTIONS).items()}
REQUEST_PARTS = (
    *("context", "credentials", "desired", "extra_resources", "input", "meta", "observed"),
    *("required_resources", "required_schemas"),
)
_OTHERS: dict[str, Callable[[Scope], object]] = {
    "params": lambda scope: scope.params,
    "xr": lambda scope: scope.xr,
    "spec": lambda scope: scope.xr.get("spec", {}),
}
NAMES = (*sorted((*REQUEST_PARTS, *_OTHERS)), *sorted(FUNCTIONS))


def build_variables(scope: Scope, used: Collection[str]) -> dict[str, object]:
    """Return the functions, and those parts of the request that the program uses."""
    parts = {name: scope.request.get(name, {}) for name in REQUEST_PARTS if name in used}
    others = {name: find(scope) for name, find in _OTHERS.items() if name in used}
    return {**FUNCTIONS, **parts, **others}


def find_roots(run: Run) -> dict[str, object]:
    """Return the data in which values are searched: variables, and parts that were read."""
    variables = {name: run.variables[name] for name in NAMES if name in run.variables}
    return {**variables, **run.scope.request.memo}
