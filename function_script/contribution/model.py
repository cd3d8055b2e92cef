"""The values of a contribution: what the readers of results return and `desired.merge` takes.

They are frozen and have no behaviour, and are independent of languages and documents.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from function_script import wire
from function_script.contribution.desired_resource import DesiredResource
from function_script.request.program import Blocked, Deferred
from function_script.request.values import Object
from function_script.texts.source import Span
from function_script.wire import enums


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """The step's changes of the XR; ``status`` and connection details are merged.

    ``is_verbatim``: null fields of the status are sent, apiVersion and kind are not added, and an
    XR without changes is sent, too.
    """

    status: Object | None = None
    ready: int | None = None
    connection_details: Mapping[str, bytes] = field(default_factory=dict)
    is_verbatim: bool = False


NOTHING = Composite()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """Everything that one step adds to the response. An empty field changes nothing.

    ``policy_spans`` has an entry for each composed resource that has a policy: it finds the
    position of the policy, and is called for errors only. ``reads_xr``: the contribution depends
    on fields of the XR, not only on its type.
    """

    composed: Mapping[str, DesiredResource] = field(default_factory=dict)
    composite: Composite = NOTHING
    context: Object = field(default_factory=dict)
    context_entries: Mapping[str, Object] = field(default_factory=dict)
    results: tuple[wire.Result, ...] = ()
    conditions: tuple[wire.Condition, ...] = ()
    resources: Mapping[str, wire.Selector] = field(default_factory=dict)
    schemas: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    ttl_seconds: float | None = None
    output: Object | None = None
    deferred: tuple[Deferred, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    policy_spans: Mapping[str, Callable[[], Span | None]] = field(
        default_factory=dict, compare=False
    )
    reads_xr: bool = False

    @property
    def needs_sequencing(self) -> bool:
        """Report whether a resource has a policy, or a document is deferred."""
        return bool(self.deferred or self.policy_spans)

    @property
    def is_fatal(self) -> bool:
        """Report whether the program stops the pipeline with a fatal result."""
        # Most programs return no results: nothing is set up to look through them.
        return bool(self.results) and any(
            result.severity == enums.SEVERITY_FATAL for result in self.results
        )
