"""Run the steps of a pipeline one after the other, each on what the one before left.

Called with everything loaded. What runs a function is a callable; composing comes later.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from function_script.diagnostics import Diagnostic
from function_script.errors import InputError, ProgramError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.tools.render import messages, requirements
from function_script.tools.render.conditions import Condition
from function_script.tools.results import fatal_messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from function_script.tools.render.requirements import Answer, Runner, Supplies
    from function_script.tools.render.steps import Step
    from function_script.values import Object

COMPOSE: Final = "ComposeResources"

_STATUSES: Final = {fnv1.STATUS_CONDITION_TRUE: "True", fnv1.STATUS_CONDITION_FALSE: "False"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What people see of a result. ``severity`` is Normal or Warning."""

    severity: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the whole pipeline wants; ``context`` None: the last step returned none."""

    desired: fnv1.State
    context: Object | None
    events: tuple[Event, ...]
    conditions: tuple[Condition, ...]


class PipelineError(ProgramError):
    """A step returned a FATAL result, for which ``step`` is to blame."""

    def __init__(self, step: Step, *problems: Diagnostic) -> None:
        super().__init__(*problems)
        self.step = step


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What the first step gets: observed state, the same for all steps, and context."""

    observed: fnv1.State
    context: Object


def run(steps: Sequence[Step], start: Start, supplies: Supplies, runner: Runner) -> Outcome:
    """Raises PipelineError for a FATAL result, and what ``runner`` raises."""
    previous = fnv1.RunFunctionResponse()
    previous.desired.SetInParent()
    messages.write_struct(previous.context, start.context)
    events: list[Event] = []
    conditions: list[Condition] = []
    for step in steps:
        request = _request(step, start.observed, previous, supplies)
        answer = requirements.settle(step, request, supplies, runner)
        previous = answer.response
        conditions += [_condition(condition) for condition in previous.conditions]
        if fatal_messages(previous):
            raise _fatal(step, answer)
        events += [_event(step, result) for result in previous.results]
    context = messages.read_struct(previous.context) if previous.HasField("context") else None
    return Outcome(
        desired=previous.desired,
        context=context,
        events=tuple(events),
        conditions=tuple(conditions),
    )


def _request(
    step: Step,
    observed: fnv1.State,
    previous: fnv1.RunFunctionResponse,
    supplies: Supplies,
) -> fnv1.RunFunctionRequest:
    request = fnv1.RunFunctionRequest(observed=observed)
    if previous.HasField("desired"):
        request.desired.CopyFrom(previous.desired)
    if previous.HasField("context"):
        request.context.CopyFrom(previous.context)
    if step.input is not None:
        messages.write_struct(request.input, step.input)
    for name, (namespace, secret) in step.credentials.items():
        data = _credentials(step, name, supplies.store.find("v1", "Secret", namespace, secret))
        request.credentials[name].credential_data.data.update(data)
    requirements.supply(step, request, supplies)
    messages.sign(request)
    return request


def _credentials(step: Step, name: str, secret: Object | None) -> dict[str, bytes]:
    if secret is None:
        raise InputError.of(
            f'cannot give step "{step.name}" its credentials "{name}": there is no such Secret',
            hint="pass Secrets with --function-credentials",
        )
    return messages.secret_data(secret)


def _fatal(step: Step, answer: Answer) -> PipelineError:
    if answer.diagnostics:
        first, *others = answer.diagnostics
        return PipelineError(step, replace(first, notes=first.notes + answer.missing), *others)
    text = fatal_messages(answer.response)[0]
    message = f'pipeline step "{step.name}" returned a fatal result: {text}'
    return PipelineError(step, Diagnostic(message=message, notes=answer.missing))


def _event(step: Step, result: fnv1.Result) -> Event:
    reason = result.reason or COMPOSE
    message = f'Pipeline step "{step.name}": {result.message}'
    if result.severity == fnv1.SEVERITY_NORMAL:
        return Event(severity="Normal", reason=reason, message=message)
    if result.severity != fnv1.SEVERITY_WARNING:
        message = (
            f'Pipeline step "{step.name}" returned a result of unknown severity '
            f"(assuming warning): {result.message}"
        )
    return Event(severity="Warning", reason=reason, message=message)


def _condition(condition: fnv1.Condition) -> Condition:
    return Condition(
        type=condition.type,
        status=_STATUSES.get(condition.status, "Unknown"),
        reason=condition.reason,
        message=condition.message,
        for_claim=condition.target == fnv1.TARGET_COMPOSITE_AND_CLAIM,
    )
