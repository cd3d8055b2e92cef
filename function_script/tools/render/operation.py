"""Run an Operation's pipeline as Crossplane would, without a cluster.

Called by the command line and by the engine with everything loaded. There is no XR and nothing is
observed; what steps want is applied as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from function_script import objects
from function_script.errors import InputError
from function_script.tools import manifests
from function_script.tools.render import conditions, messages, pipeline, steps
from function_script.tools.render.conditions import Condition
from function_script.tools.render.pipeline import Event, InitialState
from function_script.tools.render.requirements import RequirementSource
from function_script.tools.render.schemas import Schemas
from function_script.tools.render.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from function_script.tools.render.pipeline import PipelineError, PipelineResult
    from function_script.tools.render.requirements import Runner
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
class OperationInputs:
    """What there is to run, and what stands in for the cluster.

    ``is_lenient``: all is taken that a real engine takes, such as two steps of one name.
    """

    operation: Object
    required: Sequence[Object] = ()
    credentials: Sequence[Object] = ()
    schemas: Sequence[Object] = ()
    context: Object = field(default_factory=dict)
    is_lenient: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationResult:
    """What came out: the Operation with its status, what it applies, events, the context.

    ``operation`` is None when there is nothing to do. ``requirements`` know what was asked for.
    After a FATAL result in ``failure``, the rest is what Crossplane would write and tell of it.
    """

    operation: Object | None
    applied: tuple[Object, ...] = ()
    events: tuple[Event, ...] = ()
    context: Object | None = None
    requirements: RequirementSource | None = None
    failure: PipelineError | None = None


def render(given: OperationInputs, runner: Runner) -> OperationResult:
    """Raises InputError for what cannot be run, PipelineError for a FATAL result."""
    result = reconcile(given, runner)
    if result.failure is not None:
        raise result.failure
    if result.operation is None:
        raise InputError.of(
            f"cannot render {manifests.describe(given.operation)}: "
            "it has run already, or it is being deleted",
            hint="take its status and metadata.deletionTimestamp out of the file",
        )
    return result


def reconcile(given: OperationInputs, runner: Runner) -> OperationResult:
    """`render` that also returns what there is after a FATAL result. Raises InputError."""
    operation: Object = {key: objects.deep_copy(value) for key, value in given.operation.items()}
    todo = steps.parse_operation(operation, is_lenient=given.is_lenient)
    manifests.make_object(operation, "metadata")["resourceVersion"] = _RESOURCE_VERSION
    if _is_done(operation):
        return OperationResult(operation=None)
    if (limit := _limit(operation)) <= _failures(operation):
        cause = f"failure limit of {limit} reached"
        failed = Condition(type=_SUCCEEDED, status="False", reason="PipelineError", message=cause)
        _mark(operation, conditions.SYNCED, failed)
        return OperationResult(operation=operation)
    _mark(operation, _RUNNING, _VALID)
    secrets = messages.secrets(given.credentials)
    store = Store([operation, *given.required, *secrets])
    source = RequirementSource(store=store, schemas=Schemas(given.schemas))
    outcome = pipeline.run(todo, InitialState(observed=None, context=given.context), source, runner)
    finish = _complete if outcome.failure is None else _fail
    return replace(finish(operation, outcome), requirements=source)


def _is_done(operation: Object) -> bool:
    held = conditions.read(operation)
    is_complete = any(
        item["type"] == _SUCCEEDED and item["status"] in {"True", "False"} for item in held
    )
    return is_complete or bool(manifests.text_at(operation, "metadata", "deletionTimestamp"))


def _limit(operation: Object) -> int:
    limit = objects.find_path(operation, ("spec", "retryLimit"))
    return limit if isinstance(limit, int) else _RETRY_LIMIT


def _failures(operation: Object) -> int:
    failures = objects.find_path(operation, ("status", "failures"))
    return failures if isinstance(failures, int) else 0


def _mark(operation: Object, *stated: Condition) -> None:
    generation = objects.find_path(operation, ("metadata", "generation"))
    conditions.mark(operation, stated, generation=generation if isinstance(generation, int) else 0)


def _fail(operation: Object, outcome: PipelineResult) -> OperationResult:
    manifests.make_object(operation, "status")["failures"] = _failures(operation) + 1
    _add_outputs(operation, outcome)
    _mark(operation, conditions.failed(outcome.fatal))
    event = Event(severity="Warning", reason=_FAILED, message=outcome.fatal)
    return OperationResult(
        operation=operation, events=(*_events(outcome), event), failure=outcome.failure
    )


def _complete(operation: Object, outcome: PipelineResult) -> OperationResult:
    wanted = outcome.desired.resources
    applied = [messages.read_struct(wanted[name].resource) for name in sorted(wanted)]
    _add_outputs(operation, outcome)
    _add_references(operation, applied)
    _mark(operation, conditions.SYNCED, _COMPLETE)
    return OperationResult(
        operation=operation,
        applied=tuple(applied),
        events=_events(outcome),
        context=outcome.context,
    )


def _events(outcome: PipelineResult) -> tuple[Event, ...]:
    """Operations leave out what reason a function gives."""
    return tuple(replace(event, reason=_RUN) for event in outcome.events)


def _add_outputs(operation: Object, outcome: PipelineResult) -> None:
    held = manifests.objects_at(operation, "status", "pipeline")
    made: dict[str, Object] = {manifests.text_at(item, "step"): item for item in held}
    for name, output in outcome.outputs.items():
        made[name] = {"step": name, "output": output}
    items: list[Value] = [*made.values()]
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
    items: list[Value] = [*sorted(refs, key=_order)]
    if items:
        manifests.make_object(operation, "status")["appliedResourceRefs"] = items


def _order(ref: Object) -> str:
    return "".join(
        manifests.text_at(ref, key) for key in ("apiVersion", "kind", "namespace", "name")
    )
