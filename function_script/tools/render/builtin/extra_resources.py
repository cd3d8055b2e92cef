"""function-extra-resources: objects of the cluster are put into the pipeline's context."""

from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.tools.render import messages
from function_script.tools.render.builtin import selection


def run(
    value: Object, request: fnv1.RunFunctionRequest, response: fnv1.RunFunctionResponse
) -> None:
    """Require the objects, and put them into the context once they are there."""
    sources = selection.read_sources(value, "extraResources") or []
    xr = messages.read_struct(request.observed.composite.resource)
    response.requirements.SetInParent()
    for source in sources:
        kind = (str(source.get("apiVersion") or ""), str(source.get("kind") or ""))
        selection.add_requirement(response.requirements, _name(source), source, xr, kind)
    if not request.required_resources:
        return
    required = selection.read_objects(request)
    extra: dict[str, list[Object]] = {}
    for source in sources:
        name = _name(source)
        if name not in required:
            raise InputError.of(f'cannot find expected extra resource "{name}"')
        matches = required[name]
        if selection.source_type(source) == selection.SELECTOR:
            matches = selection.limit_matches(matches, source, "", f'extra resources "{name}"')
        elif len(matches) > 1:
            raise InputError.of(f'expected exactly one extra resource "{name}", got {len(matches)}')
        elif not matches and not selection.is_optional(value):
            raise InputError.of(f'Required extra resource "{name}" not found')
        # An entry that matches nothing has no key, and several entries of one name share theirs.
        if matches:
            extra[name] = extra.get(name, []) + matches
    target = response.context.fields[objects.EXTRA_RESOURCES].struct_value
    target.Clear()
    messages.write_struct(target, {name: list(matches) for name, matches in extra.items()})


def _name(source: Object) -> str:
    return str(source.get("into") or "")
