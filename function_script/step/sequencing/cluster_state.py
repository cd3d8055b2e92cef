"""Observed and desired resources, as far as a step's order and readiness depend on them.

Objects are decoded field by field when they are read: a verdict needs few fields.
"""

from collections.abc import Mapping

from function_script import wire
from function_script.contribution import DesiredResource
from function_script.inputs import ReadinessOptions
from function_script.request.request import view_object
from function_script.request.values import Readable
from function_script.step.readiness import READY, Verdict, judge, not_ready
from function_script.wire import enums


class ClusterState:
    """State of the cluster and of earlier steps; ``composed`` are the step's own resources.

    ``options`` say whether readiness that earlier steps have stated is judged anew.
    ``has_protection``: the caller certainly knows Usages of ``protection.crossplane.io``.
    """

    def __init__(
        self,
        request: wire.Request,
        composed: Mapping[str, DesiredResource],
        options: ReadinessOptions,
    ) -> None:
        self.composed = composed
        self._options = options
        observed, desired = request.observed, request.desired
        self._observed = observed.resources if observed is not None else {}
        self._decoded: dict[str, Mapping[str, Readable]] = {}
        self.earlier = desired.resources if desired is not None else {}
        # Crossplane states its capabilities from 2.2 on.
        self.has_protection = enums.CAPABILITY_CAPABILITIES in request.capabilities
        composite = observed.composite if observed is not None else None
        self.xr = view_object(composite.struct) if composite is not None else {}

    def exists(self, name: str) -> bool:
        """Report whether the composed resource is in the cluster."""
        return name in self._observed

    def find(self, name: str) -> Mapping[str, Readable] | None:
        """Return the composed resource as it is in the cluster."""
        if name not in self._observed:
            return None
        if name not in self._decoded:
            self._decoded[name] = view_object(self._observed[name].struct)
        return self._decoded[name]

    def stated(self, name: str) -> int | None:
        """Return the readiness stated by this step, or by an earlier one that it keeps."""
        entry = self.composed.get(name)
        if entry is not None and entry.ready is not None:
            return entry.ready
        if entry is not None:
            has_rule = entry.policy is not None and entry.policy.ready_when is not None
            if has_rule or entry.replace:
                return None
        earlier = self.earlier.get(name)
        is_in_scope = self._options.auto_ready == "All" or name in self.composed
        if earlier is None or (self._options.overwrite_stated and is_in_scope):
            return None
        return earlier.ready or None

    def judge(self, name: str) -> Verdict:
        """Judge the observed resource by its own rule or its kind's."""
        entry = self.composed.get(name)
        policy = entry.policy if entry is not None else None
        return judge(self.find(name), policy.ready_when if policy is not None else None)

    def verdict(self, name: str) -> Verdict:
        """Return whether the resource counts as ready; stated readiness wins."""
        stated = self.stated(name)
        if stated == enums.READY_TRUE:
            return READY
        if stated is None:
            return self.judge(name)
        verdict = self.judge(name)
        return not_ready(verdict.why or "is not ready by the program's own word")
