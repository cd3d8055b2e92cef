"""Run the steps of a pipeline one after the other, each on the desired state of the one before.

Compositions and Operations share this. A callable runs the functions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final

from function_script import wire
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request.reader import format_path
from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import InputError, ProgramError
from function_script.tools.render import messages, requirements
from function_script.tools.render.conditions import Condition
from function_script.tools.render.messages import fatal_messages
from function_script.tools.render.requirements import RequirementSource, Runner, StepResponse
from function_script.tools.render.steps import Step

COMPOSE: Final = "ComposeResources"

_STATUSES: Final = {fnv1.STATUS_CONDITION_TRUE: "True", fnv1.STATUS_CONDITION_FALSE: "False"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A Kubernetes event. ``severity`` is Normal or Warning."""

    severity: str
    reason: str
    message: str


class PipelineError(ProgramError):
    """``step`` returned a FATAL result."""

    def __init__(self, step: Step, *problems: Diagnostic) -> None:
        super().__init__(*problems)
        self.step = step


class UnfetchedError(PipelineError):
    """The program of ``step`` is on another host, and cannot be fetched from there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileResult:
    """The result that Compositions and Operations share.

    ``requirements`` has what functions required; None if no function was called. After a FATAL
    result in ``failure``, the rest is what Crossplane would write and emit then.
    """

    events: tuple[Event, ...] = ()
    context: Object | None = None
    requirements: RequirementSource | None = None
    failure: PipelineError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineResult(ReconcileResult):
    """The desired state after the last step; ``context`` is None if that step returned none.

    ``outputs`` are the outputs of steps by their names. After a FATAL result in ``failure``, the
    rest is the state before that step; ``fatal`` is the result in the words of its event.
    """

    desired: fnv1.State
    conditions: tuple[Condition, ...]
    outputs: Mapping[str, Object] = field(default_factory=dict)
    fatal: str = ""


def run(
    steps: Sequence[Step],
    observed: fnv1.State | None,
    response: fnv1.RunFunctionResponse,
    source: RequirementSource,
    runner: Runner,
) -> PipelineResult:
    """Run up to the last step, or up to a FATAL result. Raises what ``runner`` raises.

    ``observed`` is the same for all steps, and None for Operations. ``response`` has what the first
    step gets, so that all steps are alike.
    """
    events: list[Event] = []
    conditions: list[Condition] = []
    outputs: dict[str, Object] = {}
    failure: PipelineError | None = None
    fatal = ""
    unmet: dict[str, str] = {}
    for step in steps:
        request = _build_request(step, observed, response, source)
        try:
            reply = requirements.call_until_stable(step, request, source, runner)
        except PipelineError as error:
            # A worker that died left a problem and no response.
            failure, fatal = error, error.diagnostics[0].message
            break
        response = reply.response
        # Before the results: Crossplane keeps the conditions of a response that is FATAL.
        conditions += map(_read_condition, response.conditions)
        # Crossplane stops at the first FATAL result, and never reads the others.
        results = takewhile(lambda each: each.severity != fnv1.SEVERITY_FATAL, response.results)
        events += (_event(step, result) for result in results)
        if texts := fatal_messages(response):
            earlier = (note for text, note in unmet.items() if text not in reply.missing)
            reply = replace(reply, missing=(*reply.missing, *earlier))
            failure, fatal = _fatal_error(step, reply, texts[0]), texts[0]
            break
        if response.HasField("output"):
            outputs[step.name] = messages.read_struct(response.output)
        unmet |= {text: f'step "{step.name}": {text}' for text in reply.missing}
    if failure is not None:
        name = messages.quoted(failure.step.name)
        fatal = f"pipeline step {name} returned a fatal result: {fatal}"
    return PipelineResult(
        desired=response.desired,
        context=messages.read_struct(response.context) if response.HasField("context") else None,
        events=tuple(events),
        conditions=tuple(conditions),
        outputs=outputs,
        requirements=source,
        failure=failure,
        fatal=fatal,
    )


def _read_condition(condition: fnv1.Condition) -> Condition:
    return Condition(
        type=condition.type,
        status=_STATUSES.get(condition.status, "Unknown"),
        reason=condition.reason,
        message=condition.message,
        for_claim=condition.target == fnv1.TARGET_COMPOSITE_AND_CLAIM,
    )


def _build_request(
    step: Step,
    observed: fnv1.State | None,
    previous: fnv1.RunFunctionResponse,
    source: RequirementSource,
) -> fnv1.RunFunctionRequest:
    request = fnv1.RunFunctionRequest(observed=observed)
    if previous.HasField("desired"):
        request.desired.CopyFrom(previous.desired)
    if previous.HasField("context"):
        request.context.CopyFrom(previous.context)
    if step.input is not None:
        what, at = f'the input of step "{step.name}"', format_path(step.input_path)
        messages.write_struct(request.input, step.input, what, at=at)
    for name, (namespace, secret) in step.credentials.items():
        value = source.store.find("v1", "Secret", namespace, secret)
        if value is None:
            near = source.store.find_near(wire.Selector("v1", "Secret", secret, None, namespace))
            problem = f"there is no Secret {namespace}/{secret}{f'; {near}' if near else ''}"
            hint = "write it into credentials.yaml, or into a file of --function-credentials"
            raise InputError.of(
                f'cannot give step "{step.name}" its credentials "{name}": {problem}',
                field=format_path((*step.input_path[:-1], "credentials")),
                hint=None if near else hint,
            )
        request.credentials[name].credential_data.data.update(messages.secret_data(value))
    # The requirements of a step in the Composition are fetched before its first call.
    for name, selector in step.resources.items():
        request.required_resources[name].CopyFrom(source.fetch(selector))
    for name, selector in step.schemas.items():
        request.required_schemas[name].CopyFrom(source.fetch_schema(selector))
    # Once for all calls of the step: the tag does not change with what is fetched for it.
    messages.sign(request)
    return request


def _fatal_error(step: Step, reply: StepResponse, text: str) -> PipelineError:
    if reply.diagnostics:
        first, *others = reply.diagnostics
        return PipelineError(step, replace(first, notes=first.notes + reply.missing), *others)
    message = f'pipeline step "{step.name}" returned a fatal result: {text}'
    return PipelineError(step, Diagnostic(message=message, notes=reply.missing, kind="refusal"))


def _event(step: Step, result: fnv1.Result) -> Event:
    name = messages.quoted(step.name)
    message = f"Pipeline step {name}: {result.message}"
    if result.severity not in {fnv1.SEVERITY_NORMAL, fnv1.SEVERITY_WARNING}:
        message = (
            f"Pipeline step {name} returned a result of unknown severity "
            f"(assuming warning): {result.message}"
        )
    severity = "Normal" if result.severity == fnv1.SEVERITY_NORMAL else "Warning"
    return Event(severity=severity, reason=result.reason or COMPOSE, message=message)
