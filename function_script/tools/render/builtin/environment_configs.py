"""function-environment-configs: EnvironmentConfigs are merged into the pipeline's environment."""

from typing import Final

from function_script import objects
from function_script.errors import InputError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.tools.render import messages
from function_script.tools.render.builtin import selection
from function_script.values import Object

_CONTEXT_KEY: Final = "apiextensions.crossplane.io/environment"
_KIND: Final = ("apiextensions.crossplane.io/v1beta1", "EnvironmentConfig")
_ENVIRONMENT: Final[Object] = {
    "apiVersion": "internal.crossplane.io/v1alpha1",
    "kind": "Environment",
}


def run(
    value: Object, request: fnv1.RunFunctionRequest, response: fnv1.RunFunctionResponse
) -> None:
    """Require the EnvironmentConfigs, and merge their data once they are there."""
    sources = selection.read_sources(value, "environmentConfigs")
    if not sources:
        return
    xr = messages.read_struct(request.observed.composite.resource)
    response.requirements.SetInParent()
    for index, source in enumerate(sources):
        selection.add_requirement(response.requirements, _name(index), source, xr, _KIND)
    if not request.required_resources:
        return
    default = objects.find_path(value, "spec.defaultData")
    environment: Object = dict(default) if isinstance(default, dict) else {}
    if _CONTEXT_KEY in request.context.fields:
        before = messages.read_struct(request.context.fields[_CONTEXT_KEY].struct_value)
        environment = _merge(environment, before)
    required = selection.read_objects(request)
    data: Object = {}
    for index, source in enumerate(sources):
        if (name := _name(index)) in required:
            path = source.get("toFieldPath")
            for config in _select(name, source, required[name], value):
                data = _merge(data, _data(config, path if isinstance(path, str) else ""))
    environment = _merge(environment, data)
    if not environment.get("apiVersion") and not environment.get("kind"):
        environment.update(_ENVIRONMENT)
    response.context.fields[_CONTEXT_KEY].struct_value.Clear()
    messages.write_struct(response.context.fields[_CONTEXT_KEY].struct_value, environment)


def _name(index: int) -> str:
    return f"environment-config-{index}"


def _select(name: str, source: Object, matches: list[Object], value: Object) -> list[Object]:
    if selection.source_type(source) == selection.REFERENCE:
        selection.check_reference(name, matches, may_be_absent=selection.is_optional(value))
        return matches
    if objects.find_path(source, "selector.mode") != "Multiple":
        selection.check_reference(name, matches, may_be_absent=False)
        return matches
    return selection.limit_matches(name, source, matches)


def _data(config: Object, path: str) -> Object:
    """Return an EnvironmentConfig's data, below ``path`` if there is one."""
    data = config.get("data")
    if not path:
        if not isinstance(data, dict):
            name = objects.find_path(config, "metadata.name")
            raise InputError.of(f'cannot get data from environment config "{name}"')
        return data
    return selection.nest_path(path, data)


def _merge(target: Object, source: Object) -> Object:
    """Merge maps key by key; every other value of ``source`` replaces the target's."""
    result = dict(target)
    for key, value in source.items():
        before = result.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            result[key] = _merge(before, value)
        else:
            result[key] = value
    return result
