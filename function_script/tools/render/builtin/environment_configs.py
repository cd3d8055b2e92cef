"""function-environment-configs: EnvironmentConfigs are merged into the pipeline's environment."""

from typing import Final

from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.tools.render import messages
from function_script.tools.render.builtin import decoding, selection

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
    if sources is None:
        return
    xr = messages.read_struct(request.observed.composite.resource)
    response.requirements.SetInParent()
    for index, source in enumerate(sources):
        selection.add_requirement(response.requirements, _name(index), source, xr, _KIND)
    if not request.required_resources:
        return
    environment = _collect(sources, selection.read_objects(request), value)
    layers = [objects.find_path(value, "spec.defaultData")]
    if objects.ENVIRONMENT in request.context.fields:
        context = request.context.fields[objects.ENVIRONMENT].struct_value
        layers.append(messages.read_struct(context))
    # Each layer goes below the result of those above it: a value of another type between two
    # mappings hides nothing of the lowest.
    for layer in reversed(layers):
        if isinstance(layer, dict):
            objects.merge(layer, environment)
            environment = layer
    if decoding.api_version_and_kind(environment) == ("", ""):
        environment.update(_ENVIRONMENT)
    target = response.context.fields[objects.ENVIRONMENT].struct_value
    target.Clear()
    messages.write_struct(target, environment)


def _collect(sources: list[Object], required: dict[str, list[Object]], value: Object) -> Object:
    """Merge the data of the EnvironmentConfigs; those of one ``toFieldPath`` follow each other.

    The real function takes the paths in random order.
    """
    by_path: dict[str, list[Object]] = {}
    for index, source in enumerate(sources):
        if (name := _name(index)) in required:
            path = source.get("toFieldPath")
            configs = by_path.setdefault(path if isinstance(path, str) else "", [])
            configs += _select(name, source, required[name], value)
    data: Object = {}
    for path, configs in by_path.items():
        for config in configs:
            objects.merge(data, _data(config, path))
    return data


def _name(index: int) -> str:
    return f"environment-config-{index}"


def _select(name: str, source: Object, matches: list[Object], value: Object) -> list[Object]:
    count = len(matches)
    if selection.source_type(source) == selection.REFERENCE:
        config = selection.reference_name(source)
        cause = f'cannot process environment config "{config}" by reference, "{name}"'
        if not matches and not selection.is_optional(value):
            raise InputError.of(f'{cause}: Required environment config "{config}" not found')
        if count > 1:
            expected = f'expected exactly one required resource "{config}"'
            raise InputError.of(f"{cause}: {expected}, got {count}")
        return matches
    cause = f'cannot process environment config "{name}" by selector: '
    if objects.find_path(source, "selector.mode") == "Multiple":
        return selection.limit_matches(matches, source, cause, "required resources")
    if count != 1:
        raise InputError.of(f"{cause}expected exactly one required resource, got {count}")
    return matches


def _data(config: Object, path: str) -> Object:
    """Return an EnvironmentConfig's data, below ``path`` if there is one."""
    data = config.get("data")
    if path:
        return selection.nest_path(path, data)
    if data is None and "data" in config:
        return {}
    if not isinstance(data, dict):
        name = objects.find_path(config, "metadata.name")
        raise InputError.of(f'cannot get data from environment config "{name}"')
    return data
