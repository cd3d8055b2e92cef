"""What exists and what is desired, as far as a step's order and readiness depend on it.

Objects are decoded field by field when somebody reads them: a verdict needs little of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script import wire
from function_script.program import Lazy
from function_script.readiness import READY, Verdict, judge, not_ready
from function_script.wire import enums

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.contribution import DesiredResource
    from function_script.inputs import ReadinessOptions
    from function_script.values import Readable


class ClusterState:
    """The state around one step; ``composed`` is what the step itself wants.

    Readiness that earlier steps have stated is not believed as far as the ``settings`` say so.
    ``has_protection``: the caller certainly knows Usages of ``protection.crossplane.io``.
    """

    def __init__(
        self,
        request: wire.Request,
        composed: Mapping[str, DesiredResource],
        settings: ReadinessOptions,
    ) -> None:
        self.composed = composed
        self._settings = settings
        observed, desired = request.observed, request.desired
        self._observed = observed.resources if observed is not None else {}
        self._found: dict[str, Mapping[str, Readable]] = {}
        self.earlier = desired.resources if desired is not None else {}
        # Only callers from 2.2 on say what they can do.
        self.has_protection = enums.CAPABILITY_CAPABILITIES in request.capabilities
        composite = observed.composite if observed is not None else None
        self.xr = _fields(composite) if composite is not None else {}

    def exists(self, name: str) -> bool:
        """Whether the composed resource is in the cluster."""
        return name in self._observed

    def find(self, name: str) -> Mapping[str, Readable] | None:
        """The composed resource as it is in the cluster."""
        if name not in self._observed:
            return None
        if name not in self._found:
            self._found[name] = _fields(self._observed[name])
        return self._found[name]

    def stated(self, name: str) -> int | None:
        """The readiness that this step, or an earlier one that it does not replace, has stated."""
        entry = self.composed.get(name)
        if entry is not None and entry.ready is not None:
            return entry.ready
        if entry is not None and (_has_rule(entry) or entry.replace):
            return None
        earlier = self.earlier.get(name)
        if earlier is None or (self._settings.overwrites and self._is_in_scope(name)):
            return None
        return earlier.ready or None

    def _is_in_scope(self, name: str) -> bool:
        return self._settings.auto_ready == "All" or name in self.composed

    def judge(self, name: str) -> Verdict:
        """The verdict on what exists, by the resource's own rule or its kind."""
        entry = self.composed.get(name)
        order = entry.policy if entry is not None else None
        return judge(self.find(name), order.ready_when if order is not None else None)

    def verdict(self, name: str) -> Verdict:
        """Whether the resource counts as ready: what was stated wins."""
        stated = self.stated(name)
        if stated == enums.READY_TRUE:
            return READY
        if stated is None:
            return self.judge(name)
        verdict = self.judge(name)
        return not_ready(verdict.why or "is not ready by the program's own word")


def _has_rule(entry: DesiredResource) -> bool:
    return entry.policy is not None and entry.policy.ready_when is not None


def _fields(resource: wire.Resource) -> Mapping[str, Readable]:
    if resource.struct is None:
        return {}
    parts = wire.index_struct(resource.struct)
    return Lazy.of(parts, lambda key: _field(key, parts[key]))


def _field(key: str, value: wire.Part) -> Readable:
    """A top-level field; of a status, where most of the bytes are, only what is looked at."""
    parts = wire.index_part(value) if key == "status" else None
    if parts is None:
        return wire.decode_part(value)
    return Lazy.of(parts, lambda name: wire.decode_part(parts[name]))
