"""A handler that does nothing, to measure the way to a worker and back: see micro.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.step.telemetry import HandlerResult, RequestInfo

if TYPE_CHECKING:
    from collections.abc import Callable

    from function_script.request.limits import Limits

RESPONSE_BYTES = 30_000


def handle(
    data: bytes,  # noqa: ARG001 - the handler's signature
    limits: Limits,
    on_limits: Callable[[Limits], None],
    seed: bytes,  # noqa: ARG001 - the same
) -> HandlerResult:
    """Answer with as many bytes as about 50 resources have."""
    on_limits(limits)
    return HandlerResult(response=bytes(RESPONSE_BYTES), info=RequestInfo(input="none"))
