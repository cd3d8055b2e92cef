"""Getters of templates of our own kind: the request need not be their first argument.

``getComposedResource "bucket"`` is ``getComposedResource . "bucket"`` also where the dot is not the
request. Both forms work.
"""

from dataclasses import replace
from typing import Final, Protocol, cast

from function_script.engines.gotemplate.builtins import function_go_templating
from function_script.engines.gotemplate.errors import CallError
from function_script.engines.gotemplate.function import Function, FunctionTable, Injects
from function_script.engines.gotemplate.run import Run
from function_script.objects import EXTERNAL_NAME, RESOURCE_NAME
from function_script.values import type_phrase

FUNCTIONS: Final = FunctionTable()


class _Getter(Protocol):
    def __call__(self, *arguments: object) -> object: ...


def _with_optional_request(function: Function) -> Function:
    """Return a getter of the request whose first argument is optional."""
    getter = cast("_Getter", function.call)
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

    return replace(function, parameters="any...", call=call, injects=Injects.RUN)


GETTERS: Final = tuple(
    _with_optional_request(function)
    for function in function_go_templating.FUNCTIONS
    if function.parameter_types[0] == "map" and function.name.startswith("get")
)


@FUNCTIONS.add("setResourceNameAnnotation", parameters="string", returns="string")
def name_annotation(name: str) -> str:
    """The annotation that names a composed resource, as a line of YAML."""
    return f"{RESOURCE_NAME}: {function_go_templating.name_text(name)}"


@FUNCTIONS.add("getExternalName", parameters="any", allocates=False)
def external_name(resource: object) -> object:
    """The external name of a resource.

    It is nil if there is none. The resource may be in its wrapper.
    """
    for path in (("resource", "metadata", "annotations"), ("metadata", "annotations")):
        value = resource
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, dict) and EXTERNAL_NAME in value:
            return value[EXTERNAL_NAME]
    return None
