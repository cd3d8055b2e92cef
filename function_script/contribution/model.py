"""The values of a contribution: what the readers of results return and `desired.merge` takes.

They are frozen, and independent of languages and documents. Crossplane turns results and conditions
into events and status and fetches what is required, so there are limits for them: more of a
program's own are an error, and of the function's own warnings the first ones are sent.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from function_script import wire
from function_script.contribution import lint
from function_script.contribution.desired_resource import Deferred, DesiredResource
from function_script.request.program import Blocked
from function_script.request.values import Object
from function_script.texts.errors import LimitError
from function_script.texts.problems import Problem
from function_script.texts.source import Span
from function_script.wire import enums

MAX_RESULTS: Final = 1_000
MAX_CONDITIONS: Final = 100
MAX_WARNINGS: Final = 100
MAX_REQUIREMENTS: Final = 1_000
# The limits of the Kubernetes API for the message and the reason of a condition.
MAX_MESSAGE_BYTES: Final = 32 * 1024
MAX_REASON_BYTES: Final = 1024
_SUM_UP: Final = (
    "Crossplane makes an event of each result and keeps conditions in the XR's status; return one "
    "that sums up"
)
_SELECT: Final = "Crossplane fetches each of them; select objects of one kind by their labels"


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
    position of the policy, for `policy_span`. ``reads_xr``: the contribution depends
    on fields of the XR, not only on its type. ``advice`` are mistakes of one document that become
    warnings.
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
    advice: Iterable[Problem] = ()

    def policy_span(self, name: str) -> Span | None:
        """Return the position of a resource's policy, or of the value that it waits for."""
        locate = self.policy_spans.get(name)
        if locate is not None:
            return locate()
        return next((each.span for each in self.deferred if each.name == name), None)

    @property
    def is_fatal(self) -> bool:
        """Report whether the program stops the pipeline with a fatal result."""
        # Most programs return no results: nothing is set up to look through them.
        return bool(self.results) and any(
            result.severity == enums.SEVERITY_FATAL for result in self.results
        )


def enforce_limits(contribution: Contribution) -> Contribution:
    """Return the contribution without surplus warnings; raise LimitError beyond other limits."""
    count = len(contribution.resources) + len(contribution.schemas)
    _check_count("requirements", count, MAX_REQUIREMENTS, _SELECT)
    if not contribution.results and not contribution.conditions:
        return contribution
    for condition in contribution.conditions:
        _check_text(f'condition "{condition.type[:80]}"', condition.message, condition.reason)
        _check_size("a condition's type", condition.type, MAX_REASON_BYTES)
    for number, result in enumerate(contribution.results):
        _check_text(f"result {number + 1}", result.message, result.reason)
    _check_count("conditions", len(contribution.conditions), MAX_CONDITIONS, _SUM_UP)
    warnings = [
        result
        for result in contribution.results
        if result.severity == enums.SEVERITY_WARNING and result.reason in lint.REASONS
    ]
    _check_count("results", len(contribution.results) - len(warnings), MAX_RESULTS, _SUM_UP)
    if len(warnings) <= MAX_WARNINGS:
        return contribution
    # By identity, because two results may be equal.
    surplus = {id(result) for result in warnings[MAX_WARNINGS:]}
    results = tuple(result for result in contribution.results if id(result) not in surplus)
    return replace(contribution, results=results)


def _check_count(name: str, count: int, maximum: int, hint: str) -> None:
    if count > maximum:
        message = f"cannot return {count:,} {name}: a step may return {maximum:,}"
        raise LimitError.of(message, hint=hint)


def _check_text(owner: str, message: str | None, reason: str | None) -> None:
    _check_size(f"the message of {owner}", message or "", MAX_MESSAGE_BYTES)
    _check_size(f"the reason of {owner}", reason or "", MAX_REASON_BYTES)


def _check_size(name: str, text: str, maximum: int) -> None:
    # A character has four bytes at most: a short text need not be encoded.
    if len(text) * 4 > maximum and (size := len(text.encode("utf-8", "replace"))) > maximum:
        raise LimitError.of(
            f"cannot return {name}: it has {size:,} bytes, and {maximum:,} are allowed",
            hint="shorten it",
        )
