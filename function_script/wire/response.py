"""A Response to RunFunctionResponse bytes, deterministically: fields by number, maps by key.

Fields with their default are omitted, as proto3 requires. A message is omitted if it is None, and
written if it is empty.
"""

from function_script.wire.messages import (
    Condition,
    Requirements,
    Response,
    Result,
    Selector,
)
from function_script.wire.write import (
    entry_field,
    length_field,
    length_header,
    optional_text_field,
    optional_varint_field,
    text_field,
    varint_field,
)


def encode_response(response: Response) -> bytes:
    """Encode a response.

    Empty requirements are omitted: Crossplane calls again if they differ from those of the call
    before, and present but empty differs from absent.
    """
    pieces = [length_field(1, _meta(response.tag, response.ttl_seconds))]
    if response.desired is not None:
        # By far the largest field: joining its payload saves a copy.
        pieces.append(length_header(2, response.desired))
        pieces.append(response.desired)
    pieces += [length_field(3, _result(result)) for result in response.results]
    if response.context is not None:
        pieces.append(length_field(4, response.context))
    requirements = _requirements(response.requirements)
    if requirements:
        pieces.append(length_field(5, requirements))
    pieces += [length_field(6, _condition(condition)) for condition in response.conditions]
    if response.output is not None:
        pieces.append(length_field(7, response.output))
    return b"".join(pieces)


def encode_resource(
    struct: bytes | None, connection_details: dict[str, bytes], ready: int
) -> bytes:
    """Encode a Resource; ``struct`` is its object as a Struct."""
    resource = length_field(1, struct) if struct is not None else b""
    if not connection_details:
        return resource + varint_field(3, ready) if ready else resource
    details = [entry_field(2, key, connection_details[key]) for key in sorted(connection_details)]
    return resource + b"".join(details) + varint_field(3, ready)


def _meta(tag: str, ttl_seconds: float | None) -> bytes:
    if ttl_seconds is None:
        return text_field(1, tag)
    # A google.protobuf.Duration has seconds and nanoseconds of the same sign.
    nanoseconds = round(ttl_seconds * 1_000_000_000)
    whole, rest = divmod(abs(nanoseconds), 1_000_000_000)
    sign = -1 if nanoseconds < 0 else 1
    ttl = varint_field(1, sign * whole) + varint_field(2, sign * rest)
    return text_field(1, tag) + length_field(2, ttl)


def _result(result: Result) -> bytes:
    return (
        varint_field(1, result.severity)
        + text_field(2, result.message)
        + optional_text_field(3, result.reason)
        + optional_varint_field(4, result.target)
    )


def _condition(condition: Condition) -> bytes:
    return (
        text_field(1, condition.type)
        + varint_field(2, condition.status)
        + text_field(3, condition.reason)
        + optional_text_field(4, condition.message)
        + optional_varint_field(5, condition.target)
    )


def _requirements(requirements: Requirements | None) -> bytes:
    if requirements is None:
        return b""
    extra = requirements.extra_resources
    resources = requirements.resources
    schemas = requirements.schemas
    return b"".join(
        [entry_field(1, name, _selector(extra[name])) for name in sorted(extra)]
        + [entry_field(2, name, _selector(resources[name])) for name in sorted(resources)]
        + [entry_field(3, name, _type(*schemas[name])) for name in sorted(schemas)]
    )


def _type(api_version: str, kind: str) -> bytes:
    return text_field(1, api_version) + text_field(2, kind)


def _selector(selector: Selector) -> bytes:
    match = optional_text_field(3, selector.match_name)
    if selector.match_name is None and selector.match_labels is not None:
        labels = selector.match_labels
        entries = [entry_field(1, key, labels[key].encode()) for key in sorted(labels)]
        match = length_field(4, b"".join(entries))
    return (
        _type(selector.api_version, selector.kind)
        + match
        + optional_text_field(5, selector.namespace)
    )
