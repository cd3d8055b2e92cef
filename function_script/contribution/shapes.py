"""The shapes of a contribution."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from function_script import wire
    from function_script.values import Object

READY_UNSPECIFIED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """One composed resource the step has an opinion on.

    ``resource`` None: the step removes it; it may be shared, and hold null fields that mean
    nothing, so it is not to be changed. ``replace``: it takes the place of an earlier step's
    entry instead of merging into it. ``ready`` None: not said. ``key``: all that the entry was
    read from, for whoever remembers what is derived from it; None: not worth remembering.
    """

    resource: Object | None
    ready: int | None = None
    replace: bool = True
    key: Hashable = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """What the step says of the XR; ``status`` is merged, connection details by key."""

    status: Object | None = None
    ready: int | None = None
    connection_details: Mapping[str, bytes] = field(default_factory=dict)


NOTHING = Composite()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """Everything one step adds. Absent parts are empty: the step has no opinion on them."""

    composed: Mapping[str, Composed] = field(default_factory=dict)
    composite: Composite = NOTHING
    context: Object = field(default_factory=dict)
    results: tuple[wire.Result, ...] = ()
    conditions: tuple[wire.Condition, ...] = ()
    resources: Mapping[str, wire.Selector] = field(default_factory=dict)
    schemas: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    ttl_seconds: float | None = None
    output: Object | None = None
