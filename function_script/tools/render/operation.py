"""Run an Operation's pipeline as Crossplane does, without a cluster.

CronOperations and WatchOperations create an Operation from their template.
There is no XR and no observed state; Crossplane applies the desired resources as they are.
"""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.values import Object, Value
from function_script.texts.errors import InputError
from function_script.tools import manifests
from function_script.tools.render import conditions, messages, pipeline, steps
from function_script.tools.render.conditions import Condition
from function_script.tools.render.requirements import PipelineInputs, RequirementSource, Runner

API_VERSION: Final = "ops.crossplane.io/v1alpha1"
TEMPLATE: Final = ("spec", "operationTemplate")

_OPERATION: Final = "Operation"
_CRON: Final = "CronOperation"
_WATCH: Final = "WatchOperation"
_GROUP: Final = "ops.crossplane.io"
_HASH: Final = 7
_RESOURCE_VERSION: Final = "999"
_RETRY_LIMIT: Final = 5
_RUN: Final = "RunPipelineStep"
_FAILED: Final = "FunctionInvocation"

_SUCCEEDED: Final = "Succeeded"
_RUNNING: Final = Condition(type=_SUCCEEDED, status="Unknown", reason="PipelineRunning")
_COMPLETE: Final = Condition(type=_SUCCEEDED, status="True", reason="PipelineSuccess")
_VALID: Final = Condition(type="ValidPipeline", status="True", reason="ValidPipeline")


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationInputs(PipelineInputs):
    """An Operation and the objects of the cluster."""

    operation: Object


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationResult(pipeline.ReconcileResult):
    """The Operation with its status, and what it applies.

    ``has_ended``: it has run already, or is being deleted, so that nothing is done.
    """

    operation: Object
    has_ended: bool = False
    applied: tuple[Object, ...] = ()


def reconcile(
    inputs: OperationInputs, pipeline_steps: Sequence[steps.Step], runner: Runner
) -> OperationResult:
    """Run the steps; return a result after a FATAL result, too. Raises InputError."""
    operation = manifests.copy(inputs.operation)
    manifests.make_object(operation, "metadata")["resourceVersion"] = _RESOURCE_VERSION
    is_complete = any(
        condition["type"] == _SUCCEEDED and condition["status"] in {"True", "False"}
        for condition in conditions.read(operation)
    )
    # A controller that sees such an Operation does nothing, and neither writes its status.
    if is_complete or manifests.text_at(operation, "metadata", "deletionTimestamp"):
        return OperationResult(operation=operation, has_ended=True)
    limit = manifests.int_at(operation, "spec", "retryLimit", default=_RETRY_LIMIT)
    if limit <= _failures(operation):
        cause = f"failure limit of {limit} reached"
        failed = Condition(type=_SUCCEEDED, status="False", reason="PipelineError", message=cause)
        _mark(operation, conditions.SYNCED, failed)
        return OperationResult(operation=operation)
    _mark(operation, _RUNNING, _VALID)
    source = RequirementSource.build(inputs, [operation])
    start = messages.make_start(inputs.context, fnv1.State())
    outcome = pipeline.run(pipeline_steps, None, start, source, runner)
    return _finish(operation, outcome)


def _failures(operation: Object) -> int:
    return manifests.int_at(operation, "status", "failures")


def _mark(operation: Object, *states: Condition) -> None:
    conditions.mark(operation, states, is_observed=True)


def _finish(operation: Object, outcome: pipeline.PipelineResult) -> OperationResult:
    """Write the outcome of the pipeline into the status; apply nothing after a FATAL result."""
    # Operations drop the reason that a function sets.
    events = [replace(event, reason=_RUN) for event in outcome.events]
    applied: list[Object] = []
    _add_outputs(operation, outcome)
    if outcome.failure is None:
        desired = outcome.desired.resources
        applied = [messages.read_struct(desired[name].resource) for name in sorted(desired)]
        refs = manifests.objects_at(operation, "status", "appliedResourceRefs")
        for ref in map(manifests.reference, applied):
            if ref not in refs:
                refs.append(ref)
        keys = ("apiVersion", "kind", "namespace", "name")
        refs.sort(key=lambda ref: "".join(manifests.text_at(ref, key) for key in keys))
        items: list[Value] = [*refs]
        if items:
            manifests.make_object(operation, "status")["appliedResourceRefs"] = items
        _mark(operation, conditions.SYNCED, _COMPLETE)
    else:
        manifests.make_object(operation, "status")["failures"] = _failures(operation) + 1
        _mark(operation, conditions.failed(outcome.fatal))
        events.append(pipeline.Event(severity="Warning", reason=_FAILED, message=outcome.fatal))
    return OperationResult(
        operation=operation,
        applied=tuple(applied),
        events=tuple(events),
        context=outcome.context,
        requirements=outcome.requirements,
        failure=outcome.failure,
    )


def _add_outputs(operation: Object, outcome: pipeline.PipelineResult) -> None:
    outputs: dict[str, Object] = {
        manifests.text_at(item, "step"): item
        for item in manifests.objects_at(operation, "status", "pipeline")
    }
    for name, output in outcome.outputs.items():
        outputs[name] = {"step": name, "output": output}
    items: list[Value] = [*outputs.values()]
    if items:
        manifests.make_object(operation, "status")["pipeline"] = items


def to_operation(manifest: Object) -> Object:
    """Build the Operation of a file as the official command does: it has the file's own name.

    Raises InputError unless it is an Operation, CronOperation or WatchOperation.
    """
    api_version, kind = objects.api_version_and_kind(manifest)
    if api_version == API_VERSION and kind == _OPERATION:
        return manifests.copy(manifest)
    if api_version != API_VERSION or kind not in {_CRON, _WATCH}:
        raise InputError.of(
            f"cannot use {manifests.describe(manifest)} as an Operation",
            hint=f"it must be an Operation, CronOperation or WatchOperation of {API_VERSION}",
        )
    return _instantiate(manifest, manifests.name(manifest))


def from_cron(cron: Object, scheduled_seconds: int) -> Object:
    """Build the Operation that a CronOperation creates at a time, in seconds since 1970."""
    return _with_owner(
        _instantiate(cron, f"{manifests.name(cron)}-{scheduled_seconds}"), cron, _CRON
    )


def from_watch(watch: Object, watched: Object) -> Object:
    """Build the Operation that a WatchOperation creates when ``watched`` has changed."""
    operation = _instantiate(watch, f"{manifests.name(watch)}-{_hash(watched)}")
    require(operation, watched)
    version = manifests.text_at(watched, "metadata", "resourceVersion")
    parts = {**manifests.reference(watched), "resourceVersion": version}
    annotations = {f"{objects.WATCHED}-{key.lower()}": str(text) for key, text in parts.items()}
    manifests.add_texts(operation, annotations, "metadata", "annotations")
    return _with_owner(operation, watch, _WATCH)


def require(operation: Object, watched: Object) -> None:
    """Make every step of ``operation`` require ``watched``."""
    selector: Object = {"requirementName": objects.WATCHED, **manifests.reference(watched)}
    for step in manifests.objects_at(operation, "spec", "pipeline"):
        resources: list[Value] = [*manifests.objects_at(step, "requirements", "requiredResources")]
        requirements = manifests.make_object(step, "requirements")
        requirements["requiredResources"] = [*resources, dict(selector)]


def _instantiate(parent: Object, name: str) -> Object:
    template = manifests.object_at(parent, *TEMPLATE)
    metadata = manifests.copy(manifests.object_at(template, "metadata"))
    return {
        "apiVersion": API_VERSION,
        "kind": _OPERATION,
        "metadata": {**metadata, "name": name},
        "spec": manifests.copy(manifests.object_at(template, "spec")),
    }


def _with_owner(operation: Object, parent: Object, kind: str) -> Object:
    label = {f"{_GROUP}/{kind.lower()}": manifests.name(parent)}
    manifests.add_texts(operation, label, "metadata", "labels")
    owner = manifests.owner_reference({**parent, "apiVersion": API_VERSION, "kind": kind})
    owners: list[Value] = [*manifests.objects_at(operation, "metadata", "ownerReferences"), owner]
    manifests.object_at(operation, "metadata")["ownerReferences"] = owners
    # The engine's response has the object without its type.
    return {key: value for key, value in operation.items() if key in {"metadata", "spec"}} | {
        "status": {}
    }


def _hash(watched: Object) -> str:
    parts = [
        manifests.go_type(watched),
        manifests.namespace(watched),
        manifests.name(watched),
        manifests.text_at(watched, "metadata", "uid"),
        manifests.text_at(watched, "metadata", "resourceVersion"),
    ]
    if time := manifests.text_at(watched, "metadata", "deletionTimestamp"):
        with suppress(ValueError):
            # Go formats the time of an object in UTC, whatever its file says.
            time = datetime.fromisoformat(time).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        parts.append(time)
    return hashlib.sha256("/".join(parts).encode()).hexdigest()[:_HASH]
