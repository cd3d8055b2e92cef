"""The TTL of a response: the time until Crossplane calls again although nothing has changed.

Crossplane also caches the response for so long, if its cache is enabled.
"""

import zlib
from typing import Final

from function_script.contribution import Contribution
from function_script.inputs import Step
from function_script.step.telemetry import RequestInfo
from function_script.wire import enums

WAITING_SECONDS: Final = 10.0
"""TTL of a step that waits for something in the cluster."""
IMPURE_SECONDS: Final = 60.0
"""TTL of a step that reads more than its request: Crossplane does not see that change."""
_SPREAD: Final = 0.1


def choose(
    step: Step, contribution: Contribution, info: RequestInfo, *, has_unmet_requirement: bool
) -> float:
    """Return the TTL in seconds: the program's, else the input's, else the one by the cause."""
    if contribution.ttl_seconds is not None:
        return contribution.ttl_seconds
    if step.ttl_seconds is not None:
        return step.ttl_seconds
    states = [entry.ready for entry in contribution.composed.values()]
    states.append(contribution.composite.ready)
    if has_unmet_requirement or enums.READY_FALSE in states:
        return WAITING_SECONDS
    if step.reads_files:
        return min(IMPURE_SECONDS, step.limits.default_ttl_seconds)
    return spread(step.limits.default_ttl_seconds, info)


def while_unmet(step: Step) -> float:
    """Return the TTL of a step whose program has not run, for a requirement is not met."""
    return WAITING_SECONDS if step.ttl_seconds is None else step.ttl_seconds


def spread(seconds: float, info: RequestInfo) -> float:
    """Return ``seconds`` plus or minus a tenth, always the same for one XR.

    XRs that were created together are not called together for ever.
    """
    names = (info.api_version, info.kind, info.namespace, info.name, info.uid)
    number = zlib.crc32("\0".join(names).encode("utf-8", "surrogatepass"))
    share = 1 - _SPREAD + 2 * _SPREAD * number / 2**32
    return round(seconds * share) or seconds * share
