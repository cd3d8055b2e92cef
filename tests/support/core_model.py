"""A model of Crossplane's reconcile of one XR: requeues, cache, watches, events, deletions.

It follows `internal/controller/apiextensions/composite` and `internal/xfn/cached`: the shortest TTL
other than 0 is the time of the next reconcile; after an error it is later each time; a change of
the XR or of a composed resource is one at once; a resource is found and deleted by its name; a
condition gets another transition time when something of it changes, and a changed status is a
change of the XR.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from google.protobuf import json_format
from support.builders import XR, call, request, to_dict

from function_script.proto.v1 import run_function_pb2 as pb
from function_script.request.limits import Limits
from function_script.request.values import Object

RESYNC_SECONDS = 3600.0
POLL_SECONDS = 60.0
MOST_RETRY_SECONDS = 60.0
_MAX_CALLS = 6
_MAX_RECONCILES = 2_000
_SYSTEM_CONDITIONS = {"Ready", "Synced"}
_FATAL_MESSAGE = "A fatal error occurred before the status of this condition could be determined."


class Event(NamedTuple):
    """A Kubernetes event of the XR."""

    time: float
    kind: str
    message: str


@dataclass(kw_only=True)
class Core:
    """One XR with its composed resources by name; ``pipeline`` has the inputs of the steps.

    ``calls`` counts what the function was called for, ``reconciles`` the runs of the pipeline;
    ``deleted`` has the names of objects in the order of their deletion. ``function`` answers in
    place of the function in this process. ``seeds_requirements``: the first call of a step has the
    objects of the last reconcile, and is repeated. ``parts`` are further parts of each request, in
    protobuf JSON; ``results`` are those of the last reconcile.
    """

    pipeline: Sequence[Object] = ()
    xr: Object = field(default_factory=lambda: copy.deepcopy(XR))
    resources: dict[str, Object] = field(default_factory=dict)
    required: list[Object] = field(default_factory=list)
    parts: dict[str, object] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    is_realtime: bool = True
    has_cache: bool = False
    seed: bytes = b""
    seeds_requirements: bool = False
    function: Callable[[pb.RunFunctionRequest], pb.RunFunctionResponse] | None = None
    now: float = 0.0
    calls: int = 0
    reconciles: int = 0
    events: list[Event] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    results: list[Object] = field(default_factory=list)
    _failures: int = 0
    _answers: dict[str, object] = field(default_factory=dict)
    _cache: dict[str, tuple[float, pb.RunFunctionResponse]] = field(default_factory=dict)

    def run(
        self, seconds: float, changes: Sequence[tuple[float, Callable[[Core], None]]] = ()
    ) -> None:
        """Let time pass, with ``changes`` of the cluster at their times, each seen by a watch."""
        end = self.now + seconds
        pending = sorted(((self.now + at, change) for at, change in changes), key=lambda x: x[0])
        following, resync = self.now, self.now + RESYNC_SECONDS
        while True:
            upcoming = min([following, resync, *[at for at, _ in pending[:1]]])
            if upcoming > end or (upcoming == end and self.reconciles):
                break
            self.now = upcoming
            if pending and pending[0][0] <= upcoming:
                pending.pop(0)[1](self)
            if resync <= upcoming:
                resync += RESYNC_SECONDS
            delay = self.reconcile()
            following = self.now + delay if delay else float("inf")
            assert self.reconciles < _MAX_RECONCILES, "the XR never settles"
        self.now = end

    def reconcile(self) -> float:
        """Run the pipeline once; return the delay until the next run, 0 for none."""
        self.reconciles += 1
        self.results = []
        status = copy.deepcopy(self.xr.get("status"))
        ttls: list[float] = []
        desired: Object = {}
        context: Object = {}
        conditions: list[Object] = []
        for step in self.pipeline:
            response = self._run_function(step, desired, context)
            value = to_dict(response)
            desired = cast("Object", value.get("desired", {}))
            context = cast("Object", value.get("context", {}))
            conditions += cast("list[Object]", value.get("conditions", []))
            self.results += cast("list[Object]", value.get("results", []))
            if response.meta.ttl.ToTimedelta().total_seconds() > 0:
                ttls.append(response.meta.ttl.ToTimedelta().total_seconds())
            for result in response.results:
                kind = pb.Severity.Name(result.severity).removeprefix("SEVERITY_").title()
                self.events.append(Event(self.now, kind, result.message))
                if result.severity == pb.SEVERITY_FATAL:
                    self._mark_fatal(conditions)
                    self._failures += 1
                    # As the rate limiter of crossplane-runtime: a second, two, four, up to 60.
                    return min(2.0 ** (self._failures - 1), MOST_RETRY_SECONDS)
        self._failures = 0
        has_changed = self._apply(cast("dict[str, Object]", desired.get("resources", {})))
        composite = cast("Object", desired.get("composite", {}))
        stated = cast("Object", cast("Object", composite.get("resource", {})).get("status", {}))
        if stated:
            cast("Object", self.xr.setdefault("status", {})).update(stated)
        for condition in conditions:
            self._set_condition(condition)
        if has_changed or self.xr.get("status") != status:
            return 0.001
        if self.is_realtime:
            return min(ttls, default=0.0)
        return POLL_SECONDS

    def run_step(self, step: Object) -> list[Object]:
        """Run a pipeline of one step once; return its results."""
        self.pipeline = [step]
        self.reconcile()
        return self.results

    def provide(self, status: Object, details: Object) -> None:
        """Let every resource get this status and these connection details, which are in base64."""
        for entry in self.resources.values():
            cast("Object", entry["resource"])["status"] = status
            entry["connection_details"] = details

    def objects(self) -> dict[str, Object]:
        """Return the composed resources by their resource names."""
        entries = self.resources.items()
        return {name: copy.deepcopy(cast("Object", each["resource"])) for name, each in entries}

    def condition(self, kind: str) -> Object | None:
        """Return a condition of the XR."""
        return next((each for each in self._conditions() if each["type"] == kind), None)

    def warnings(self) -> list[str]:
        """Return the messages of all Warning events so far."""
        return [event.message for event in self.events if event.kind == "Warning"]

    def _run_function(
        self, step: Object, desired: Object, context: Object
    ) -> pb.RunFunctionResponse:
        parts = {
            "observed": {"composite": {"resource": self.xr}, "resources": self.resources},
            "desired": desired,
            "context": context,
            "meta": {},
            **self.parts,
        }
        message = request(step, **parts)
        tag = hashlib.sha256(message.SerializeToString(deterministic=True)).hexdigest()
        deadline, cached = self._cache.get(tag, (0.0, pb.RunFunctionResponse()))
        if self.has_cache and self.now < deadline:
            return cached
        message.meta.tag = tag
        response = self._settle(message)
        seconds = response.meta.ttl.ToTimedelta().total_seconds()
        if seconds:
            self._cache[tag] = (self.now + seconds, response)
        return response

    def _settle(self, message: pb.RunFunctionRequest) -> pb.RunFunctionResponse:
        """Call the function until its requirements do not change."""
        before = None
        if self.seeds_requirements:
            for name, items in self._answers.items():
                json_format.ParseDict(items, message.required_resources[name])
        for _ in range(_MAX_CALLS):
            self.calls += 1
            if self.function is None:
                response = call(message, self.limits, self.seed)
            else:
                response = self.function(message)
            if response.requirements == before or response == pb.RunFunctionResponse():
                return response
            is_first, before = before is None, response.requirements
            if is_first and not response.HasField("requirements"):
                return response
            message.context.CopyFrom(response.context)
            for name, selector in response.requirements.resources.items():
                items = [
                    {"resource": each} for each in self.required if is_selected(each, selector)
                ]
                self._answers[name] = {"items": items}
                json_format.ParseDict(self._answers[name], message.required_resources[name])
        raise AssertionError("the requirements do not settle")

    def _apply(self, desired: dict[str, Object]) -> bool:
        """Delete what is not desired, create and change the rest; report whether anything was."""
        has_changed = False
        for name in self.resources.keys() - desired.keys():
            self.deleted.append(self._object_name(name))
            del self.resources[name]
            has_changed = True
        for name, entry in desired.items():
            resource = copy.deepcopy(cast("Object", entry["resource"]))
            existing = self.resources.get(name)
            if existing is None:
                metadata = cast("Object", resource.setdefault("metadata", {}))
                metadata.setdefault("name", f"demo-{name}")
                metadata["uid"] = f"uid-{len(self.created)}"
                self._annotate(metadata, name)
                self.created.append(str(metadata["name"]))
                self.resources[name] = {"resource": resource}
                has_changed = True
                continue
            current = cast("Object", existing["resource"])
            metadata = {
                **cast("Object", resource.get("metadata", {})),
                "name": self._object_name(name),
                "uid": cast("Object", current["metadata"])["uid"],
            }
            self._annotate(metadata, name)
            whole = {**resource, "metadata": metadata}
            if "status" in current:
                whole["status"] = current["status"]
            if whole != current:
                self.resources[name] = {**existing, "resource": whole}
                has_changed = True
        return has_changed

    def _annotate(self, metadata: Object, name: str) -> None:
        annotations = cast("Object", metadata.setdefault("annotations", {}))
        metadata["annotations"] = {
            **annotations,
            "crossplane.io/composition-resource-name": name,
        }

    def _object_name(self, name: str) -> str:
        resource = cast("Object", self.resources[name]["resource"])
        return str(cast("Object", resource["metadata"])["name"])

    def _conditions(self) -> list[Object]:
        status = cast("Object", self.xr.setdefault("status", {}))
        return cast("list[Object]", status.setdefault("conditions", []))

    def _set_condition(self, condition: Object) -> None:
        status = str(condition["status"]).removeprefix("STATUS_CONDITION_").title()
        entry: Object = {
            key: condition[key] for key in ("type", "reason", "message") if key in condition
        }
        entry |= {"status": status}
        entries = self._conditions()
        for index, existing in enumerate(entries):
            if existing["type"] == entry["type"]:
                if {**existing, "time": 0} != {**entry, "time": 0}:
                    entries[index] = {**entry, "time": self.reconciles}
                return
        entries.append({**entry, "time": self.reconciles})

    def _mark_fatal(self, conditions: list[Object]) -> None:
        for condition in conditions:
            self._set_condition(condition)
        names = {condition["type"] for condition in conditions}
        for entry in list(self._conditions()):
            if entry["type"] not in names | _SYSTEM_CONDITIONS:
                unknown: Object = {"type": entry["type"], "status": "UNKNOWN"}
                self._set_condition({**unknown, "reason": "FatalError", "message": _FATAL_MESSAGE})


def is_selected(value: Object, selector: pb.ResourceSelector) -> bool:
    """Report whether the API server finds an object for a selector by name."""
    metadata = cast("Object", value["metadata"])
    return (value["apiVersion"], value["kind"], metadata["name"], metadata.get("namespace")) == (
        selector.api_version,
        selector.kind,
        selector.match_name,
        selector.namespace if selector.HasField("namespace") else None,
    )


def make_ready(core: Core) -> None:
    """Let a controller report that every composed resource is ready."""
    for entry in core.resources.values():
        resource = cast("Object", entry["resource"])
        resource["status"] = {"conditions": [{"type": "Ready", "status": "True"}]}
