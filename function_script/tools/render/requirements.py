"""What a step asks for: look it up, and call the function again until it asks no more.

Called by the pipeline once for each step. Who runs the function is not known here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from function_script import wire
from function_script.errors import ProgramError
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.tools.render import messages
from function_script.tools.render.steps import Step
from function_script.tools.results import fatal_messages

if TYPE_CHECKING:
    from function_script.diagnostics import Diagnostic
    from function_script.tools.render.schemas import Schemas
    from function_script.tools.render.store import Store

MAX_CALLS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResponse:
    """A function's response.

    ``diagnostics`` are the problems behind a FATAL, where they are known; ``missing`` says what
    the function asked for and was not there.
    """

    response: fnv1.RunFunctionResponse
    diagnostics: tuple[Diagnostic, ...] = ()
    missing: tuple[str, ...] = ()


# Calls a step's function once; raises FatalError when there is no response at all.
Runner: TypeAlias = Callable[[Step, fnv1.RunFunctionRequest], StepResponse]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementSource:
    """Where everything that a step may ask for is looked up.

    ``requested`` and ``requested_schemas`` are what was handed over so far, in its order.
    """

    store: Store
    schemas: Schemas
    requested: list[wire.Selector] = field(default_factory=list)
    requested_schemas: list[wire.Selector] = field(default_factory=list)

    def fetch(self, selector: wire.Selector) -> fnv1.Resources:
        """The same as `resources`, and remember it."""
        self.requested.append(selector)
        return self.resources(selector)

    def fetch_schema(self, selector: wire.Selector) -> fnv1.Schema:
        """The schema of a kind, which is remembered; an empty one when it is not known."""
        self.requested_schemas.append(selector)
        return messages.schema(self.schemas.find(selector.api_version, selector.kind))

    def resources(self, selector: wire.Selector) -> fnv1.Resources:
        """What ``selector`` selects: by name, by labels, or all of the kind."""
        place = (selector.api_version, selector.kind, selector.namespace or "")
        if selector.match_name is None:
            return messages.resources(self.store.find_all(*place, selector.match_labels or {}))
        found = self.store.find(*place, selector.match_name)
        return messages.resources([] if found is None else [found])


def supply(step: Step, request: fnv1.RunFunctionRequest, source: RequirementSource) -> None:
    """Give ``request`` what the step requires in the Composition, before its first call."""
    for name, selector in step.resources.items():
        request.required_resources[name].CopyFrom(source.fetch(selector))
    for name, selector in step.schemas.items():
        request.required_schemas[name].CopyFrom(source.fetch_schema(selector))


def call_until_stable(
    step: Step, request: fnv1.RunFunctionRequest, source: RequirementSource, runner: Runner
) -> StepResponse:
    """Call the function until it asks for the same twice; changes ``request`` on the way.

    Raises ProgramError when it still asks for something else on the last of ``MAX_CALLS``.
    """
    bootstrap = _supplied(request)
    previous: fnv1.Requirements | None = None
    for call in range(MAX_CALLS):
        answer = runner(step, request)
        response = answer.response
        asked = response.requirements if response.HasField("requirements") else None
        if fatal_messages(response):
            return replace(answer, missing=_missing(asked or previous, source))
        if asked == previous:
            return answer
        following = _following(bootstrap, asked, source)
        if call == 0 and following == bootstrap:
            return answer
        previous = asked
        _replace(request, following, response)
    raise ProgramError.of(
        f'cannot run step "{step.name}": its requirements changed with each of {MAX_CALLS} calls',
        hint="ask for the same requirements on every call, also when they are there already",
    )


def _supplied(request: fnv1.RunFunctionRequest) -> fnv1.RunFunctionRequest:
    """Only the parts of ``request`` that answer requirements."""
    supplied = fnv1.RunFunctionRequest()
    for name, found in request.required_resources.items():
        supplied.required_resources[name].CopyFrom(found)
    for name, schema in request.required_schemas.items():
        supplied.required_schemas[name].CopyFrom(schema)
    return supplied


def _following(
    bootstrap: fnv1.RunFunctionRequest,
    asked: fnv1.Requirements | None,
    source: RequirementSource,
) -> fnv1.RunFunctionRequest:
    following = fnv1.RunFunctionRequest()
    following.CopyFrom(bootstrap)
    if asked is None:
        return following
    for name, selector in sorted(asked.extra_resources.items()):
        following.extra_resources[name].CopyFrom(source.fetch(_read(selector)))
    for name, selector in sorted(asked.resources.items()):
        following.required_resources[name].CopyFrom(source.fetch(_read(selector)))
    for name, schema in sorted(asked.schemas.items()):
        kind = wire.Selector(api_version=schema.api_version, kind=schema.kind)
        following.required_schemas[name].CopyFrom(source.fetch_schema(kind))
    return following


def _replace(
    request: fnv1.RunFunctionRequest,
    following: fnv1.RunFunctionRequest,
    response: fnv1.RunFunctionResponse,
) -> None:
    for part in ("required_resources", "extra_resources", "required_schemas", "context"):
        request.ClearField(part)
    request.MergeFrom(following)
    if response.HasField("context"):
        request.context.CopyFrom(response.context)


def _read(selector: fnv1.ResourceSelector) -> wire.Selector:
    match = selector.WhichOneof("match")
    return wire.Selector(
        api_version=selector.api_version,
        kind=selector.kind,
        match_name=selector.match_name if match == "match_name" else None,
        match_labels=dict(selector.match_labels.labels) if match == "match_labels" else None,
        namespace=selector.namespace if selector.HasField("namespace") else None,
    )


def to_message(selector: wire.Selector) -> fnv1.ResourceSelector:
    """The selector as the protocol has it."""
    message = fnv1.ResourceSelector(api_version=selector.api_version, kind=selector.kind)
    if selector.namespace is not None:
        message.namespace = selector.namespace
    if selector.match_name is not None:
        message.match_name = selector.match_name
    elif selector.match_labels is not None:
        message.match_labels.labels.update(selector.match_labels)
    return message


def _missing(asked: fnv1.Requirements | None, source: RequirementSource) -> tuple[str, ...]:
    if asked is None:
        return ()
    from function_script import requirements  # noqa: PLC0415 - slow to import

    selectors = {**asked.extra_resources, **asked.resources}
    return tuple(
        f'required resource "{name}" was not found: {requirements.describe(_read(selectors[name]))}'
        for name in sorted(selectors)
        if not source.resources(_read(selectors[name])).items
    )
