"""Run an Operation's pipeline as Crossplane does, without a cluster.

There is no XR and no observed state; Crossplane applies the desired resources as they are.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from function_script import objects
from function_script.errors import InputError
from function_script.tools import manifests
from function_script.tools.render import conditions, messages, pipeline, steps
from function_script.tools.render.conditions import Condition
from function_script.tools.render.requirements import PipelineInputs, RequirementSource, Runner
from function_script.values import Object, Value

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
    """The Operation with its status, and what it applies; None if there is nothing to do."""

    operation: Object | None
    applied: tuple[Object, ...] = ()


def render(inputs: OperationInputs, runner: Runner) -> OperationResult:
    """Run the pipeline.

    Raises InputError if the Operation cannot be run, PipelineError after a FATAL result.
    """
    result = reconcile(inputs, runner)
    if result.failure is not None:
        raise result.failure
    if result.operation is None:
        raise InputError.of(
            f"cannot render {manifests.describe(inputs.operation)}: "
            "it has run already, or it is being deleted",
            hint="take its status and metadata.deletionTimestamp out of the file",
        )
    return result


def reconcile(inputs: OperationInputs, runner: Runner) -> OperationResult:
    """`render`, but return a result after a FATAL result, too. Raises InputError."""
    operation: Object = {key: objects.deep_copy(value) for key, value in inputs.operation.items()}
    pipeline_steps = steps.parse_operation(operation, is_lenient=inputs.is_prepared)
    manifests.make_object(operation, "metadata")["resourceVersion"] = _RESOURCE_VERSION
    if _is_done(operation):
        return OperationResult(operation=None)
    limit = _int_at(operation, "spec", "retryLimit", default=_RETRY_LIMIT)
    if limit <= _failures(operation):
        cause = f"failure limit of {limit} reached"
        failed = Condition(type=_SUCCEEDED, status="False", reason="PipelineError", message=cause)
        _mark(operation, conditions.SYNCED, failed)
        return OperationResult(operation=operation)
    _mark(operation, _RUNNING, _VALID)
    source = RequirementSource.build(inputs, [operation])
    start = pipeline.InitialState(observed=None, context=inputs.context)
    outcome = pipeline.run(pipeline_steps, start, source, runner)
    finish = _complete if outcome.failure is None else _fail
    return replace(finish(operation, outcome), requirements=source)


def _is_done(operation: Object) -> bool:
    is_complete = any(
        condition["type"] == _SUCCEEDED and condition["status"] in {"True", "False"}
        for condition in conditions.read(operation)
    )
    return is_complete or bool(manifests.text_at(operation, "metadata", "deletionTimestamp"))


def _failures(operation: Object) -> int:
    return _int_at(operation, "status", "failures", default=0)


def _int_at(operation: Object, *path: str, default: int) -> int:
    number = objects.find_path(operation, path)
    return number if isinstance(number, int) else default


def _mark(operation: Object, *states: Condition) -> None:
    generation = _int_at(operation, "metadata", "generation", default=0)
    conditions.mark(operation, states, generation=generation)


def _fail(operation: Object, outcome: pipeline.PipelineResult) -> OperationResult:
    manifests.make_object(operation, "status")["failures"] = _failures(operation) + 1
    _add_outputs(operation, outcome)
    _mark(operation, conditions.failed(outcome.fatal))
    event = pipeline.Event(severity="Warning", reason=_FAILED, message=outcome.fatal)
    return OperationResult(
        operation=operation, events=(*_events(outcome), event), failure=outcome.failure
    )


def _complete(operation: Object, outcome: pipeline.PipelineResult) -> OperationResult:
    desired = outcome.desired.resources
    applied = [messages.read_struct(desired[name].resource) for name in sorted(desired)]
    _add_outputs(operation, outcome)
    _add_references(operation, applied)
    _mark(operation, conditions.SYNCED, _COMPLETE)
    return OperationResult(
        operation=operation,
        applied=tuple(applied),
        events=_events(outcome),
        context=outcome.context,
    )


def _events(outcome: pipeline.PipelineResult) -> tuple[pipeline.Event, ...]:
    """Return the pipeline's events; Operations drop the reason that a function sets."""
    return tuple(replace(event, reason=_RUN) for event in outcome.events)


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


def _add_references(operation: Object, applied: Iterable[Object]) -> None:
    refs = manifests.objects_at(operation, "status", "appliedResourceRefs")
    for manifest in applied:
        ref: Object = {
            "apiVersion": manifests.text_at(manifest, "apiVersion"),
            "kind": manifests.text_at(manifest, "kind"),
            "name": manifests.name(manifest),
        }
        manifests.set_text(ref, manifests.namespace(manifest), "namespace")
        if ref not in refs:
            refs.append(ref)
    items: list[Value] = [*sorted(refs, key=_reference_order)]
    if items:
        manifests.make_object(operation, "status")["appliedResourceRefs"] = items


def _reference_order(ref: Object) -> str:
    return "".join(
        manifests.text_at(ref, key) for key in ("apiVersion", "kind", "namespace", "name")
    )
