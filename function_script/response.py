"""The response around desired state: pass-through, fatal, and what the step reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from function_script import diagnostics, objects, wire
from function_script.errors import DocumentError, LimitError
from function_script.limits import MIB
from function_script.request import PROBE
from function_script.wire import enums

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.contribution import Contribution
    from function_script.errors import FatalError
    from function_script.limits import Limits
    from function_script.values import Object


class HasRequirements(Protocol):
    """Whoever asks for resources and schemas: a contribution, or an input."""

    @property
    def resources(self) -> Mapping[str, wire.Selector]:
        """Selectors by requirement name."""

    @property
    def schemas(self) -> Mapping[str, tuple[str, str]]:
        """Kinds by requirement name: (apiVersion, kind)."""


DEFAULT_TTL_SECONDS = 60.0


def build_response(
    request: wire.Request, desired: bytes | None, wanted: Contribution, ttl_seconds: float | None
) -> wire.Response:
    """The whole response. A program's TTL beats its input's (``ttl_seconds``).

    A program that says Fatal itself changes no state; what it reports and requires is kept.
    """
    if request.observed is None:
        _check_names(request, wanted)
    stated = wanted.ttl_seconds if wanted.ttl_seconds is not None else ttl_seconds
    response = wire.Response(
        tag=request.tag,
        ttl_seconds=DEFAULT_TTL_SECONDS if stated is None else stated,
        desired=desired,
        results=list(wanted.results),
        context=_context(request.context, wanted.context),
        requirements=_requirements(request, wanted),
        conditions=list(wanted.conditions),
        output=_output(wanted.output),
    )
    if wanted.is_fatal:
        return response._replace(
            ttl_seconds=0.0, desired=_passed(request), context=request.context, output=None
        )
    return response


def _check_names(request: wire.Request, wanted: Contribution) -> None:
    """What an Operation wants is applied as it is: nobody makes names for it."""
    earlier = request.desired.resources if request.desired is not None else {}
    for name, entry in wanted.composed.items():
        is_whole = entry.resource is not None and (entry.replace or name not in earlier)
        if is_whole and not objects.find_path(entry.resource, ("metadata", "name")):
            raise DocumentError.of(
                f'cannot return resource "{name}": an Operation needs its metadata.name',
                hint="Crossplane names the resources of an XR only",
            )


def waiting(request: wire.Request, asked: HasRequirements) -> wire.Response:
    """The pass-through of a step that cannot run before it has been given what it asks for.

    Crossplane calls again at once, so there is nothing to keep.
    """
    return wire.Response(
        tag=request.tag,
        ttl_seconds=0.0,
        desired=_passed(request),
        results=[],
        context=request.context,
        requirements=_requirements(request, asked),
        conditions=[],
        output=None,
    )


def _passed(request: wire.Request) -> bytes | None:
    return request.desired.payload if request.desired is not None else None


def fatal(request: wire.Request, error: FatalError) -> bytes:
    """The untouched pass-through plus one FATAL; TTL 0, so that no cache keeps an error."""
    return wire.encode_response(
        wire.Response(
            tag=request.tag,
            ttl_seconds=0.0,
            desired=_passed(request),
            results=[wire.Result(enums.SEVERITY_FATAL, diagnostics.to_line(error.diagnostics))],
            context=request.context,
            requirements=None,
            conditions=[],
            output=None,
        )
    )


def encode(response: wire.Response, limits: Limits) -> bytes:
    """The response's bytes; LimitError when Crossplane would refuse them for their size."""
    data = wire.encode_response(response)
    if len(data) > limits.output_bytes:
        raise LimitError.of(
            f"cannot return a response of {len(data) / MIB:.1f} MiB: "
            f"the output limit is {limits.output_bytes / MIB:.1f} MiB",
            hint="Crossplane accepts at most 4 MiB from a function; split the composition",
            limit="output",
        )
    return data


def _context(earlier: bytes | None, wanted: Object) -> bytes | None:
    """Earlier steps' context with ``wanted`` merged in, key by key; untouched keys stay bytes."""
    if not wanted:
        return earlier
    fields = wire.decode_struct_fields(earlier) if earlier is not None else {}
    changed: Object = {}
    for key, value in wanted.items():
        merged: Object = {key: wire.decode_value(fields[key])} if key in fields else {}
        objects.merge(merged, {key: value})
        changed.update(merged)
    try:
        return wire.splice_struct(earlier or b"", changed)
    except ValueError as error:
        raise DocumentError.of(f"cannot return context: {error}") from error


def _requirements(request: wire.Request, wanted: HasRequirements) -> wire.Requirements | None:
    if not wanted.resources and not wanted.schemas:
        return None
    older = {
        # The deprecated field has no namespaces.
        name: selector
        for name, selector in wanted.resources.items()
        if selector.namespace is None and not _knows_requirements(request)
    }
    return wire.Requirements(
        resources={key: each for key, each in wanted.resources.items() if key != PROBE},
        extra_resources=older,
        schemas=dict(wanted.schemas),
    )


def _knows_requirements(request: wire.Request) -> bool:
    """Callers that predate capabilities may only know the deprecated field: they get both."""
    known = {enums.CAPABILITY_CAPABILITIES, enums.CAPABILITY_REQUIRED_RESOURCES}
    return known <= set(request.capabilities)


def _output(output: Object | None) -> bytes | None:
    if output is None:
        return None
    try:
        return wire.encode_struct(output)
    except ValueError as error:
        raise DocumentError.of(f"cannot return output: {error}") from error
