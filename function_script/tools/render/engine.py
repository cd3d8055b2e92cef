"""An engine for the official command: its request in, its response out, both as bytes.

Called by ``internal render``. Functions run already and have an address; one whose address is
``local`` is this function, and runs in the sandbox.
"""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from google.protobuf import json_format
from google.protobuf.message import DecodeError

from function_script.errors import FatalError, InputError
from function_script.proto.render import render_pb2
from function_script.sandbox import Pool, PoolOptions
from function_script.tools import render
from function_script.tools.render import messages, operation, requirements, runners, templates
from function_script.tools.render.functions import Remote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from google.protobuf.message import Message
    from google.protobuf.struct_pb2 import Struct

    from function_script.limits import Limits
    from function_script.tools.render.functions import Place
    from function_script.tools.render.pipeline import Event
    from function_script.tools.render.requirements import RequirementSource, Runner
    from function_script.tools.render.steps import Step
    from function_script.values import Object

LOCAL: Final = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How long all may take, what a local step may use, who gets what programs print."""

    timeout_seconds: float
    limits: Limits
    print: Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A RenderResponse as bytes, after a FATAL result a partial one and the problem."""

    response: bytes
    failure: FatalError | None = None


def answer(request: bytes, options: Options) -> Answer:
    """Raises FatalError when there is nothing to answer."""
    parsed = render_pb2.RenderRequest()
    try:
        parsed.ParseFromString(request)
    except DecodeError as error:
        raise InputError.of(
            f"cannot read the request: {error}",
            hint="the official command writes it, when it is given this engine "
            "with --crossplane-binary",
        ) from error
    response = render_pb2.RenderResponse(meta={})
    with ExitStack() as stack:
        failure = _fill(response, parsed, _Callers(stack, options))
    return Answer(response=response.SerializeToString(), failure=failure)


def _fill(
    response: render_pb2.RenderResponse, request: render_pb2.RenderRequest, callers: _Callers
) -> FatalError | None:
    match request.WhichOneof("input"):
        case "composite":
            return _compose(response.composite, request.composite, callers)
        case "operation":
            return _operate(response.operation, request.operation, callers)
        case "cron_operation":
            cron = request.cron_operation
            now = cron.scheduled_time.seconds if cron.HasField("scheduled_time") else time.time()
            made = templates.from_cron(_object(cron.cron_operation), int(now))
            messages.write_struct(response.cron_operation.operation, made)
        case "watch_operation":
            watch = request.watch_operation
            parts = (_object(watch.watch_operation), _object(watch.watched_resource))
            made = templates.from_watch(*parts)
            messages.write_struct(response.watch_operation.operation, made)
        case _:
            raise InputError.of("cannot answer the request: it holds nothing to render")
    return None


def _compose(
    output: render_pb2.CompositeOutput, given: render_pb2.CompositeInput, callers: _Callers
) -> FatalError | None:
    has_xrd = given.HasField("composite_resource_definition")
    result = render.reconcile(
        render.RenderInputs(
            xr=_object(given.composite_resource),
            composition=_object(given.composition),
            observed=_objects(given.observed_resources),
            required=_objects(given.required_resources),
            credentials=_objects(given.credentials),
            schemas=_objects(given.required_schemas),
            xrd=_object(given.composite_resource_definition) if has_xrd else None,
            is_ready=True,
        ),
        callers.runner(given.functions),
    )
    composition = result.composition
    messages.write_struct(output.composite_resource, composition.xr)
    for name in sorted(composition.resources):
        messages.write_struct(output.composed_resources.add(), composition.resources[name])
    for manifest in composition.deleted:
        messages.write_struct(output.deleted_resources.add(), manifest)
    output.events.extend(map(_event, result.events))
    _tell_asked(output, result.supplies)
    return result.failure


def _operate(
    output: render_pb2.OperationOutput, given: render_pb2.OperationInput, callers: _Callers
) -> FatalError | None:
    output.SetInParent()
    result = operation.reconcile(
        operation.OperationInputs(
            operation={**_object(given.operation), "apiVersion": templates.API_VERSION}
            | {"kind": "Operation"},
            required=_objects(given.required_resources),
            credentials=_objects(given.credentials),
            schemas=_objects(given.required_schemas),
            is_lenient=True,
        ),
        callers.runner(given.functions),
    )
    if result.operation is not None:
        messages.write_struct(output.operation, result.operation)
    for manifest in result.applied:
        messages.write_struct(output.applied_resources.add(), manifest)
    output.events.extend(map(_event, result.events))
    _tell_asked(output, result.supplies)
    return result.failure


class _Callers:
    """Makes what calls functions; the sandbox only starts when a step runs in it."""

    def __init__(self, stack: ExitStack, options: Options) -> None:
        self._stack = stack
        self._options = options

    def runner(self, given: Iterable[render_pb2.FunctionInput]) -> Runner:
        """Calls the functions at their addresses."""
        places: dict[str, Place] = {}
        for each in given:
            place: Place = "local" if each.address == LOCAL else Remote(address=each.address)
            places.setdefault(each.name, place)

        def find(step: Step) -> Place:
            if step.function not in places:
                raise InputError.of(
                    f'cannot run step "{step.name}": the request has no function "{step.function}"',
                    hint="list it among the functions",
                )
            return places[step.function]

        pool = self._pool() if "local" in places.values() else None
        bench = runners.FunctionCaller(pool=pool, print=self._options.print)
        return runners.build_for(find, bench, self._options.timeout_seconds)

    def _pool(self) -> Pool:
        options = PoolOptions(limits=self._options.limits, workers=1, min_idle=0)
        return self._stack.enter_context(Pool(options))


def _object(struct: Struct) -> Object:
    return messages.read_struct(struct)


def _objects(structs: Iterable[Struct]) -> list[Object]:
    return [messages.read_struct(struct) for struct in structs]


def _event(event: Event) -> render_pb2.Event:
    return render_pb2.Event(type=event.severity, reason=event.reason, message=event.message)


def _tell_asked(
    output: render_pb2.CompositeOutput | render_pb2.OperationOutput,
    supplies: RequirementSource | None,
) -> None:
    """What functions asked for, as Structs of the function protocol's selectors."""
    if supplies is None:
        return
    for selector in supplies.asked:
        made = _json(requirements.to_message(selector))
        messages.write_struct(output.required_resources.add(), made)
    for selector in supplies.asked_schemas:
        kind: Object = {"apiVersion": selector.api_version, "kind": selector.kind}
        messages.write_struct(output.required_schemas.add(), kind)


def _json(message: Message) -> Object:
    found: Object = json.loads(json_format.MessageToJson(message))
    return found
