"""A render engine for the official command: a RenderRequest in, a RenderResponse out, as bytes.

The official command has started the functions and gives their addresses. The address ``local``
stands for this function, which runs in the sandbox.
"""

import json
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from google.protobuf import json_format
from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Struct

from function_script.errors import FatalError, InputError
from function_script.limits import Limits
from function_script.proto.render import render_pb2
from function_script.sandbox import Pool, PoolOptions
from function_script.sandbox.pool import no_seed
from function_script.tools import render
from function_script.tools.render import messages, operation, pipeline, requirements, steps
from function_script.tools.render.runtimes.address import Remote
from function_script.tools.render.runtimes.local import Local
from function_script.tools.render.runtimes.model import FunctionCaller, Runtime, build_runner_for
from function_script.values import Object

LOCAL: Final = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The timeout of all calls, the limits of a local step, the receiver of what programs print.

    ``derive_seed`` returns the seed of a request's random values; see `PoolOptions`.
    """

    timeout_seconds: float
    limits: Limits
    print: Callable[[str], None]
    derive_seed: Callable[[bytes], bytes] = no_seed


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineResponse:
    """A RenderResponse as bytes; after a FATAL result it is partial, with the error beside it."""

    response: bytes
    failure: FatalError | None = None


class _RunnerFactory:
    """Builds the runner of a request; the sandbox starts only if a step runs in it."""

    def __init__(self, stack: ExitStack, options: Options) -> None:
        self._stack = stack
        self._options = options

    def build(self, functions: Iterable[render_pb2.FunctionInput]) -> requirements.Runner:
        """Build a runner that calls ``functions`` at their addresses."""
        runtimes: dict[str, Runtime] = {}
        for each in functions:
            runtime = (
                Local()
                if each.address == LOCAL
                else Remote(address=each.address, hint=f"serve {each.name} there with --insecure")
            )
            runtimes.setdefault(each.name, runtime)

        def find(step: steps.Step) -> Runtime:
            if step.function not in runtimes:
                raise InputError.of(
                    f'cannot run step "{step.name}": the request has no function "{step.function}"',
                    hint="list it among the functions",
                )
            return runtimes[step.function]

        pool = None
        if Local() in runtimes.values():
            options = self._options
            pool_options = PoolOptions(
                limits=options.limits, workers=1, min_idle=0, derive_seed=options.derive_seed
            )
            pool = self._stack.enter_context(Pool(pool_options))
        caller = FunctionCaller(pool=pool, print=self._options.print)
        return build_runner_for(find, caller, self._options.timeout_seconds)


def respond(request: bytes, options: Options) -> EngineResponse:
    """Render what a request holds. Raises FatalError if there is no response."""
    render_request = render_pb2.RenderRequest()
    try:
        render_request.ParseFromString(request)
    except DecodeError as error:
        raise InputError.of(
            f"cannot read the request: {error}",
            hint="the official command writes it, when it is given this engine "
            "with --crossplane-binary",
        ) from error
    response = render_pb2.RenderResponse(meta={})
    failure = None
    with ExitStack() as stack:
        factory = _RunnerFactory(stack, options)
        match render_request.WhichOneof("input"):
            case "composite":
                failure = _compose(response.composite, render_request.composite, factory)
            case "operation":
                failure = _operate(response.operation, render_request.operation, factory)
            case "cron_operation":
                cron = render_request.cron_operation
                has_time = cron.HasField("scheduled_time")
                now = cron.scheduled_time.seconds if has_time else time.time()
                manifest = operation.from_cron(messages.read_struct(cron.cron_operation), int(now))
                messages.write_struct(response.cron_operation.operation, manifest)
            case "watch_operation":
                watch = render_request.watch_operation
                manifest = operation.from_watch(
                    messages.read_struct(watch.watch_operation),
                    messages.read_struct(watch.watched_resource),
                )
                messages.write_struct(response.watch_operation.operation, manifest)
            case _:
                raise InputError.of("cannot answer the request: it holds nothing to render")
    return EngineResponse(response=response.SerializeToString(), failure=failure)


def _compose(
    output: render_pb2.CompositeOutput, inputs: render_pb2.CompositeInput, factory: _RunnerFactory
) -> FatalError | None:
    has_xrd = inputs.HasField("composite_resource_definition")
    result = render.reconcile(
        render.RenderInputs(
            xr=messages.read_struct(inputs.composite_resource),
            composition=messages.read_struct(inputs.composition),
            observed=_objects(inputs.observed_resources),
            required=_objects(inputs.required_resources),
            credentials=_objects(inputs.credentials),
            schemas=_objects(inputs.required_schemas),
            xrd=messages.read_struct(inputs.composite_resource_definition) if has_xrd else None,
            is_prepared=True,
        ),
        factory.build(inputs.functions),
    )
    composition = result.composition
    messages.write_struct(output.composite_resource, composition.xr)
    for name in sorted(composition.resources):
        messages.write_struct(output.composed_resources.add(), composition.resources[name])
    for manifest in composition.deleted:
        messages.write_struct(output.deleted_resources.add(), manifest)
    output.events.extend(map(_event, result.events))
    _add_requirements(output, result.requirements)
    return result.failure


def _operate(
    output: render_pb2.OperationOutput, inputs: render_pb2.OperationInput, factory: _RunnerFactory
) -> FatalError | None:
    output.SetInParent()
    result = operation.reconcile(
        operation.OperationInputs(
            operation={
                **messages.read_struct(inputs.operation),
                "apiVersion": operation.API_VERSION,
                "kind": "Operation",
            },
            required=_objects(inputs.required_resources),
            credentials=_objects(inputs.credentials),
            schemas=_objects(inputs.required_schemas),
            is_prepared=True,
        ),
        factory.build(inputs.functions),
    )
    if result.operation is not None:
        messages.write_struct(output.operation, result.operation)
    for manifest in result.applied:
        messages.write_struct(output.applied_resources.add(), manifest)
    output.events.extend(map(_event, result.events))
    _add_requirements(output, result.requirements)
    return result.failure


def _objects(structs: Iterable[Struct]) -> list[Object]:
    return [messages.read_struct(struct) for struct in structs]


def _event(event: pipeline.Event) -> render_pb2.Event:
    return render_pb2.Event(type=event.severity, reason=event.reason, message=event.message)


def _add_requirements(
    output: render_pb2.CompositeOutput | render_pb2.OperationOutput,
    source: requirements.RequirementSource | None,
) -> None:
    """Add the selectors of what functions required, as Structs of the function protocol."""
    if source is None:
        return
    for selector in source.requested:
        text = json_format.MessageToJson(requirements.to_message(selector))
        messages.write_struct(output.required_resources.add(), json.loads(text))
    for selector in source.requested_schemas:
        kind: Object = {"apiVersion": selector.api_version, "kind": selector.kind}
        messages.write_struct(output.required_schemas.add(), kind)
