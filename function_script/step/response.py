"""RunFunctionResponse: of a step, and of a FATAL."""

from function_script import wire
from function_script.contribution import Contribution
from function_script.request import objects
from function_script.request.limits import MIB, Limits
from function_script.request.request import PROBE
from function_script.request.values import Object
from function_script.texts import diagnostics
from function_script.texts.errors import DocumentError, FatalError, LimitError
from function_script.wire import enums


def encode(
    request: wire.Request,
    desired: bytes | None,
    contribution: Contribution,
    ttl_seconds: float,
    limits: Limits,
) -> bytes:
    """Return the encoded response of a step.

    A program that returns a Fatal result changes no state; its results and requirements stay.
    Raises LimitError for a size that Crossplane would refuse.
    """
    if request.observed is None:
        _check_names(request, contribution)
    response = wire.Response(
        tag=request.tag,
        ttl_seconds=ttl_seconds,
        desired=desired,
        results=contribution.results,
        context=_merge_context(request.context, contribution),
        requirements=_requirements(request, contribution),
        conditions=contribution.conditions,
        output=_encode_output(contribution.output),
    )
    if contribution.is_fatal:
        response = response._replace(
            ttl_seconds=0.0, desired=_desired_payload(request), context=request.context, output=None
        )
    data = wire.encode_response(response)
    if len(data) > limits.output_bytes:
        raise LimitError.of(
            f"cannot return a response of {len(data) / MIB:.1f} MiB: "
            f"the output limit is {limits.output_bytes / MIB:.1f} MiB",
            hint="Crossplane accepts at most 4 MiB from a function; split the composition",
            limit="output",
        )
    return data


def _check_names(request: wire.Request, contribution: Contribution) -> None:
    """Check that resources have names: for an Operation, Crossplane generates none."""
    earlier = request.desired.resources if request.desired is not None else {}
    for name, entry in contribution.composed.items():
        is_whole = entry.resource is not None and (entry.replace or name not in earlier)
        if is_whole and not objects.find_path(entry.resource, ("metadata", "name")):
            raise DocumentError.of(
                f'cannot return resource "{name}": an Operation needs its metadata.name',
                hint="Crossplane names the resources of an XR only",
            )


def _desired_payload(request: wire.Request) -> bytes | None:
    return request.desired.payload if request.desired is not None else None


def fatal(request: wire.Request, error: FatalError) -> bytes:
    """Return the encoded pass-through with one FATAL; TTL 0, so that no cache keeps an error."""
    return wire.encode_response(
        wire.Response(
            tag=request.tag,
            ttl_seconds=0.0,
            desired=_desired_payload(request),
            results=[wire.Result(enums.SEVERITY_FATAL, diagnostics.to_line(error.diagnostics))],
            context=request.context,
        )
    )


def _merge_context(earlier: bytes | None, contribution: Contribution) -> bytes | None:
    """Merge a step's context into that of earlier steps; the bytes of other keys stay."""
    if not contribution.context and not contribution.context_entries:
        return earlier
    keys = contribution.context.keys() | contribution.context_entries.keys()
    changed: Object = {key: wire.decode_field(earlier or b"", key) for key in keys}
    objects.merge(changed, contribution.context)
    for key, entries in contribution.context_entries.items():
        below = changed[key]
        changed[key] = {**(below if isinstance(below, dict) else {}), **entries}
    try:
        return wire.splice_struct(earlier or b"", changed)
    except ValueError as error:
        raise DocumentError.of(f"cannot return context: {error}") from error


def _requirements(request: wire.Request, contribution: Contribution) -> wire.Requirements | None:
    resources, schemas = contribution.resources, contribution.schemas
    if not resources and not schemas:
        return None
    # A caller that does not state both may know the deprecated field only: it gets both fields.
    capabilities = {enums.CAPABILITY_CAPABILITIES, enums.CAPABILITY_REQUIRED_RESOURCES}
    is_modern = capabilities <= set(request.capabilities)
    extra_resources = {
        # The deprecated field has no namespaces.
        name: selector
        for name, selector in resources.items()
        if selector.namespace is None and not is_modern
    }
    return wire.Requirements(
        # The probe tells which field a caller knows, so it is in the deprecated one alone.
        resources={key: each for key, each in resources.items() if key != PROBE},
        extra_resources=extra_resources,
        schemas=dict(schemas),
    )


def _encode_output(output: Object | None) -> bytes | None:
    if output is None:
        return None
    try:
        return wire.encode_struct(output)
    except ValueError as error:
        raise DocumentError.of(f"cannot return output: {error}") from error
