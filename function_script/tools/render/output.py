"""The documents to print, in the official command's order and shape."""

from dataclasses import dataclass
from typing import Final

from function_script import objects
from function_script.tools.render import RenderResult, conditions
from function_script.tools.render.operation import OperationResult
from function_script.tools.render.pipeline import ReconcileResult
from function_script.values import Object

_API_VERSION: Final = "render.crossplane.io/v1beta1"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """What to print in addition to composed resources; ``full_xr``: the XR with its spec."""

    full_xr: bool = False
    results: bool = False
    context: bool = False


def documents(result: RenderResult, options: OutputOptions) -> list[Object]:
    """Return the XR, the composed resources by name, then results and context if chosen."""
    xr = result.composition.xr
    if options.full_xr:
        whole: Object = {key: objects.deep_copy(value) for key, value in result.xr.items()}
        objects.merge(whole, xr)
        xr = whole
    resources = result.composition.resources
    manifests = [xr, *(resources[name] for name in sorted(resources))]
    return [*map(conditions.with_times_replaced, manifests), *_extras(result, options)]


def operation_documents(result: OperationResult, options: OutputOptions) -> list[Object]:
    """Return the Operation, what it applies by name, then results and context if chosen."""
    manifests = [*result.applied]
    if result.operation is not None:
        manifests.insert(0, result.operation)
    return [*map(conditions.with_times_replaced, manifests), *_extras(result, options)]


def _extras(result: ReconcileResult, options: OutputOptions) -> list[Object]:
    extras: list[Object] = []
    if options.results:
        extras += [
            {
                "apiVersion": _API_VERSION,
                "kind": "Result",
                "severity": event.severity,
                "reason": event.reason,
                "message": event.message,
            }
            for event in result.events
        ]
    if options.context and result.context is not None:
        extras.append({"apiVersion": _API_VERSION, "kind": "Context", "fields": result.context})
    return extras
