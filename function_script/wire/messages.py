"""The messages of the protocol that this function reads and writes.

Field names and enum numbers are those of ``run_function.proto``. ``payload`` and fields of bytes
hold encoded messages, which are decoded on demand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from function_script.texts.diagnostics import Diagnostic
from function_script.wire.fields import Part


class Resource:
    """A resource with its object as a Struct, None when absent. ``ready``: 1 true, 2 false."""

    def __init__(
        self,
        message: Part,
        struct_part: Part | None,
        connection_details: dict[str, bytes],
        ready: int,
    ) -> None:
        self.message: Part = message
        self.struct_part: Part | None = struct_part
        self.connection_details: dict[str, bytes] = connection_details
        self.ready: int = ready

    @property
    def payload(self) -> bytes:
        """A copy of the encoded Resource message."""
        return self.message.to_bytes()

    @property
    def struct(self) -> bytes | None:
        """A copy of the object as a Struct; None when absent."""
        return None if self.struct_part is None else self.struct_part.to_bytes()


class State:
    """Observed or desired state; ``resources`` by resource name, in the order of the bytes."""

    def __init__(
        self, message: Part, composite: Resource | None, resources: dict[str, Resource]
    ) -> None:
        self.message: Part = message
        self.composite: Resource | None = composite
        self.resources: dict[str, Resource] = resources

    @property
    def payload(self) -> bytes:
        """A copy of the encoded State message."""
        return self.message.to_bytes()


class Request(NamedTuple):
    """A RunFunctionRequest. ``input``, ``context`` and the schemas are Structs.

    ``remote_texts`` has the texts of remote programs by the keys of their references, encoded.
    """

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
    remote_texts: dict[str, bytes]


class Result(NamedTuple):
    """One result. ``severity``: 1 fatal, 2 warning, 3 normal; ``target``: 1 XR, 2 XR and claim.

    ``problem`` is the one that the message is a line of, if it is this function's. It is not sent.
    """

    severity: int
    message: str
    reason: str | None = None
    target: int | None = None
    problem: Diagnostic | None = None


class Condition(NamedTuple):
    """One condition. ``status``: 1 unknown, 2 true, 3 false."""

    type: str
    status: int
    reason: str
    message: str | None = None
    target: int | None = None


class Selector(NamedTuple):
    """A selector of objects to fetch: by name, by labels, or with neither all of the kind."""

    api_version: str
    kind: str
    match_name: str | None = None
    match_labels: dict[str, str] | None = None
    namespace: str | None = None


class Requirements(NamedTuple):
    """The requirements of the next call by name; ``schemas``: (apiVersion, kind)."""

    resources: dict[str, Selector]
    extra_resources: dict[str, Selector]
    schemas: dict[str, tuple[str, str]]


class Response(NamedTuple):
    """A RunFunctionResponse. ``desired`` is a State; ``context`` and ``output`` are Structs.

    None omits a field. ``ttl_seconds`` 0 means: do not cache, do not requeue.
    """

    tag: str
    ttl_seconds: float | None
    desired: bytes | None
    results: Sequence[Result] = ()
    context: bytes | None = None
    requirements: Requirements | None = None
    conditions: Sequence[Condition] = ()
    output: bytes | None = None
