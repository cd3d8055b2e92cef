"""The shapes of a contribution: what readers of results make, and whoever merges them takes.

Frozen values without behaviour; they know neither languages nor documents.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from function_script.wire import enums

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from function_script import wire
    from function_script.contribution.desired_resource import DesiredResource
    from function_script.readiness import Rule
    from function_script.source import Span
    from function_script.values import Object


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """Another composed resource, by name, that must be ready, or have the field at ``path``.

    ``text`` is what was written: ``network``, ``database:status.endpoint``.
    """

    name: str
    path: str | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourcePolicy:
    """What is said beside a composed resource. ``usages`` None: as the input says."""

    depends_on: tuple[Dependency, ...] = ()
    ready_when: Rule | None = None
    usages: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredDocument:
    """A document that is withheld, for a value it needs does not exist yet.

    ``name`` is its composed resource's, or None for a document that is no composed resource:
    ``subject`` then says what it is. ``missing`` says what it waits for, where ``span`` is.
    """

    name: str | None
    subject: str
    missing: str
    span: Span | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """What the step says of the XR; ``status`` is merged, connection details by key.

    ``as_written``: null fields of the status are sent, no type is added to it, and the XR is sent
    even if nothing is said of it.
    """

    status: Object | None = None
    ready: int | None = None
    connection_details: Mapping[str, bytes] = field(default_factory=dict)
    as_written: bool = False


NOTHING = Composite()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """Everything one step adds. Absent parts are empty: the step has no opinion on them.

    ``places`` gives where the order of a composed resource is written: for errors, and only for
    resources that have one. ``reads_xr``: it would be another for an XR of the same type that has
    other fields.
    """

    composed: Mapping[str, DesiredResource] = field(default_factory=dict)
    composite: Composite = NOTHING
    context: Object = field(default_factory=dict)
    results: tuple[wire.Result, ...] = ()
    conditions: tuple[wire.Condition, ...] = ()
    resources: Mapping[str, wire.Selector] = field(default_factory=dict)
    schemas: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    ttl_seconds: float | None = None
    output: Object | None = None
    deferred: tuple[DeferredDocument, ...] = ()
    places: Mapping[str, Callable[[], Span | None]] = field(default_factory=dict, compare=False)
    reads_xr: bool = False

    @property
    def is_ordered(self) -> bool:
        """Whether anything is said about readiness or order, or is withheld."""
        return bool(self.deferred or self.places)

    @property
    def is_fatal(self) -> bool:
        """Whether the program itself stops the pipeline."""
        return any(result.severity == enums.SEVERITY_FATAL for result in self.results)
