"""The documents to print, in the official command's order and shape.

Called last; knows what was asked for, prints nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from function_script import objects
from function_script.tools.render import conditions

if TYPE_CHECKING:
    from function_script.tools.render import RenderResult, operation
    from function_script.values import Object

_API_VERSION: Final = "render.crossplane.io/v1beta1"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """What to print beside the XR and its composed resources; ``full_xr``: all of the XR."""

    full_xr: bool = False
    results: bool = False
    context: bool = False


def documents(result: RenderResult, wanted: OutputOptions) -> list[Object]:
    """The XR, the composed resources by name, then results and context where wanted."""
    xr = result.composition.xr
    if wanted.full_xr:
        whole: Object = {key: objects.deep_copy(value) for key, value in result.xr.items()}
        objects.merge(whole, xr)
        xr = whole
    resources = result.composition.resources
    found = [conditions.with_times_replaced(xr)]
    found += [conditions.with_times_replaced(resources[name]) for name in sorted(resources)]
    return found + _extras(result, wanted)


def operation_documents(result: operation.OperationResult, wanted: OutputOptions) -> list[Object]:
    """The Operation, what it applies by name, then results and context where wanted."""
    shown = [result.operation] if result.operation is not None else []
    found = [conditions.with_times_replaced(each) for each in (*shown, *result.applied)]
    return found + _extras(result, wanted)


def _extras(
    result: RenderResult | operation.OperationResult, wanted: OutputOptions
) -> list[Object]:
    found: list[Object] = []
    if wanted.results:
        found += [
            {
                "apiVersion": _API_VERSION,
                "kind": "Result",
                "severity": event.severity,
                "reason": event.reason,
                "message": event.message,
            }
            for event in result.events
        ]
    if wanted.context and result.context is not None:
        found.append({"apiVersion": _API_VERSION, "kind": "Context", "fields": result.context})
    return found
