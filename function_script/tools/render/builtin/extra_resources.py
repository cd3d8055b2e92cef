"""function-extra-resources: objects of the cluster are put into the pipeline's context."""

from typing import Final

from function_script import objects
from function_script.errors import InputError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.tools.render import messages
from function_script.tools.render.builtin import selection
from function_script.values import Object

_CONTEXT_KEY: Final = "apiextensions.crossplane.io/extra-resources"


def run(
    value: Object, request: fnv1.RunFunctionRequest, response: fnv1.RunFunctionResponse
) -> None:
    """Require the objects, and put them into the context once they are there."""
    sources = selection.read_sources(value, "extraResources")
    xr = messages.read_struct(request.observed.composite.resource)
    response.requirements.SetInParent()
    for source in sources:
        kind = (str(source.get("apiVersion") or ""), str(source.get("kind") or ""))
        selection.add_requirement(response.requirements, _name(source), source, xr, kind)
    if not request.required_resources:
        return
    required = selection.read_objects(request)
    extra: Object = {}
    for source in sources:
        name = _name(source)
        if name not in required:
            raise InputError.of(f'cannot find expected extra resource "{name}"')
        matches = required[name]
        if selection.source_type(source) == selection.SELECTOR:
            matches = selection.limit_matches(name, source, matches)
        else:
            selection.check_reference(name, matches, may_be_absent=selection.is_optional(value))
            if not matches:
                continue
        extra[name] = list(matches)
    key = objects.find_path(value, "spec.context.key")
    target = response.context.fields[key if isinstance(key, str) else _CONTEXT_KEY].struct_value
    target.Clear()
    messages.write_struct(target, extra)


def _name(source: Object) -> str:
    return str(source.get("into") or "")
