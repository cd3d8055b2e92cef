"""A render engine for the official command: a RenderRequest in, a RenderResponse out, as bytes.

The official command has started the functions and gives their addresses. The address ``local``
stands for this function, which runs in the sandbox.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Final

from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Struct

from function_script.proto.render import render_pb2
from function_script.request.values import Object
from function_script.sandbox.pool import PoolOptions
from function_script.texts.errors import FatalError, InputError
from function_script.tools import local_pool
from function_script.tools.render import (
    RenderInputs,
    messages,
    operation,
    pipeline,
    renderer,
)
from function_script.tools.render.renderer import Renderer
from function_script.tools.render.requirements import StepCall, StepResponse
from function_script.tools.render.runtimes.address import Remote
from function_script.tools.render.runtimes.local import Local
from function_script.tools.render.runtimes.model import FunctionCaller, Runtime

LOCAL: Final = "local"


class _UnlistedFunction(Runtime):
    """A function that the request of the official command does not list."""

    def describe(self) -> str:
        """Return the words after the function's name."""
        return "is not listed"

    def call(self, call: StepCall, caller: FunctionCaller) -> StepResponse:
        """Raise InputError."""
        del caller
        step = call.step
        raise InputError.of(
            f'cannot run step "{step.name}": the request has no function "{step.function}"',
            hint="list it among the functions",
        )


@contextmanager
def _open_renderer(
    listed: Iterable[render_pb2.FunctionInput], options: renderer.Options, pool: PoolOptions
) -> Iterator[Renderer]:
    """Open a renderer that calls the functions of a request at their addresses.

    The sandbox starts only if a step runs in it.
    """
    runtimes: dict[str, Runtime] = {}
    for each in listed:
        runtime = (
            Local()
            if each.address == LOCAL
            else Remote(address=each.address, hint=f"serve {each.name} there with --insecure")
        )
        runtimes.setdefault(each.name, runtime)
    is_local = Local() in runtimes.values()
    opened = local_pool.open_pool(options=pool) if is_local else nullcontext()
    with opened as sandbox:
        yield Renderer(
            sandbox,
            lambda steps: [runtimes.get(each.function, _UnlistedFunction()) for each in steps],
            options,
        )


def respond(
    request: bytes, options: renderer.Options, pool: PoolOptions
) -> tuple[bytes, FatalError | None]:
    """Render what a request holds to a RenderResponse; raises FatalError if there is none.

    ``pool`` are the options of the sandbox of local steps. After a FATAL result the response is
    partial, with the error beside it.
    """
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
    match render_request.WhichOneof("input"):
        case "composite":
            composite = render_request.composite
            with _open_renderer(composite.functions, options, pool) as opened:
                failure = _compose(response.composite, composite, opened)
        case "operation":
            inputs = render_request.operation
            with _open_renderer(inputs.functions, options, pool) as opened:
                failure = _operate(response.operation, inputs, opened)
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
    return response.SerializeToString(), failure


def _compose(
    output: render_pb2.CompositeOutput, inputs: render_pb2.CompositeInput, opened: Renderer
) -> FatalError | None:
    has_xrd = inputs.HasField("composite_resource_definition")
    render_inputs = RenderInputs(
        xr=messages.read_struct(inputs.composite_resource),
        composition=messages.read_struct(inputs.composition),
        observed=_objects(inputs.observed_resources),
        required=_objects(inputs.required_resources),
        credentials=_objects(inputs.credentials),
        schemas=_objects(inputs.required_schemas),
        xrd=messages.read_struct(inputs.composite_resource_definition) if has_xrd else None,
        is_prepared=True,
    )
    result = opened.reconcile(render_inputs).result
    messages.write_struct(output.composite_resource, result.xr)
    for name in sorted(result.resources):
        messages.write_struct(output.composed_resources.add(), result.resources[name])
    for manifest in result.deleted:
        messages.write_struct(output.deleted_resources.add(), manifest)
    return _finish(output, result)


def _operate(
    output: render_pb2.OperationOutput, inputs: render_pb2.OperationInput, opened: Renderer
) -> FatalError | None:
    output.SetInParent()
    operation_inputs = operation.OperationInputs(
        operation={
            **messages.read_struct(inputs.operation),
            "apiVersion": operation.API_VERSION,
            "kind": "Operation",
        },
        required=_objects(inputs.required_resources),
        credentials=_objects(inputs.credentials),
        schemas=_objects(inputs.required_schemas),
        is_prepared=True,
    )
    result, _ = opened.reconcile_operation(operation_inputs)
    if not result.has_ended:
        messages.write_struct(output.operation, result.operation)
    for manifest in result.applied:
        messages.write_struct(output.applied_resources.add(), manifest)
    return _finish(output, result)


def _objects(structs: Iterable[Struct]) -> list[Object]:
    return [messages.read_struct(struct) for struct in structs]


def _finish(
    output: render_pb2.CompositeOutput | render_pb2.OperationOutput,
    result: pipeline.ReconcileResult,
) -> FatalError | None:
    """Add events, and selectors of what functions required; return the failure.

    A selector is a Struct with the JSON of the function protocol.
    """
    for event in result.events:
        output.events.add(type=event.severity, reason=event.reason, message=event.message)
    source = result.requirements
    if source is None:
        return result.failure
    for selector in source.requested:
        labels = None if selector.match_name is not None else selector.match_labels
        item: Object = {
            "apiVersion": selector.api_version or None,
            "kind": selector.kind or None,
            "matchName": selector.match_name,
            "matchLabels": {"labels": {**labels}} if labels else None,
            "namespace": selector.namespace,
        }
        fields: Object = {key: value for key, value in item.items() if value is not None}
        messages.write_struct(output.required_resources.add(), fields)
    for selector in source.requested_schemas:
        kind: Object = {"apiVersion": selector.api_version, "kind": selector.kind}
        messages.write_struct(output.required_schemas.add(), kind)
    return result.failure
