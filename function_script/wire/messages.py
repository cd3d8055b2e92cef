"""The protocol's messages as far as this function reads and writes them.

Field names and enum numbers are the protocol's (``run_function.proto``). ``payload`` and ``bytes``
fields hold encoded messages: what nobody asks for is never decoded.
"""

from __future__ import annotations

from typing import NamedTuple


class Resource(NamedTuple):
    """``payload`` is the whole Resource, ``struct`` its object (a Struct), None when absent."""

    payload: bytes
    struct: bytes | None
    connection_details: dict[str, bytes]
    ready: int


class State(NamedTuple):
    """Observed or desired state; ``resources`` by resource name, in the order of the bytes."""

    payload: bytes
    composite: Resource | None
    resources: dict[str, Resource]


class Request(NamedTuple):
    """A RunFunctionRequest. ``input``, ``context`` and the schemas are Structs."""

    tag: str
    capabilities: list[int]
    observed: State | None
    desired: State | None
    input: bytes | None
    context: bytes | None
    extra_resources: dict[str, list[Resource]]
    required_resources: dict[str, list[Resource]]
    credentials: dict[str, dict[str, bytes]]
    required_schemas: dict[str, bytes | None]


class Result(NamedTuple):
    """One result. ``severity``: 1 fatal, 2 warning, 3 normal; ``target``: 1 XR, 2 XR and claim."""

    severity: int
    message: str
    reason: str | None = None
    target: int | None = None


class Condition(NamedTuple):
    """One condition. ``status``: 1 unknown, 2 true, 3 false."""

    type: str
    status: int
    reason: str
    message: str | None = None
    target: int | None = None


class Selector(NamedTuple):
    """Which objects to fetch: by name, by labels, or (neither given) all of the kind."""

    api_version: str
    kind: str
    match_name: str | None = None
    match_labels: dict[str, str] | None = None
    namespace: str | None = None


class Requirements(NamedTuple):
    """What the next call needs, by requirement name; ``schemas``: (apiVersion, kind)."""

    resources: dict[str, Selector]
    extra_resources: dict[str, Selector]
    schemas: dict[str, tuple[str, str]]


class Response(NamedTuple):
    """A RunFunctionResponse. ``desired`` is a State; ``context`` and ``output`` are Structs.

    None leaves a field out. ``ttl_seconds`` 0 means: do not cache, do not requeue.
    """

    tag: str
    ttl_seconds: float | None
    desired: bytes | None
    results: list[Result]
    context: bytes | None
    requirements: Requirements | None
    conditions: list[Condition]
    output: bytes | None
