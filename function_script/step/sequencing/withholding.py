"""Creation order and readiness of a step's resources.

Runs between reading a step's contribution and merging it: resources with unmet dependencies or
missing values are withheld, readiness is judged, and a condition reports both. A step that uses
none of this pays nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from function_script import wire
from function_script.contribution import Contribution, Deferred, DesiredResource
from function_script.inputs import ReadinessOptions, Step
from function_script.request import objects
from function_script.request.program import Blocked
from function_script.request.request import (
    find_context,
    find_required,
    has_unanswered,
    identify_call,
)
from function_script.request.values import Object, Readable
from function_script.step.sequencing import dependencies, usages
from function_script.step.sequencing.dependencies import ClusterState, Graph
from function_script.step.sequencing.managed_fields import applied_configuration
from function_script.texts.diagnostics import cut
from function_script.texts.errors import DocumentError
from function_script.wire import enums

# Removes a resource from desired state, also one that an earlier step desires.
_NOTHING = DesiredResource(resource=None)
# The names of the resources that wait, by the call that withholds them, for later steps.
CONTEXT_KEY: Final = "script.fn.crossplane.io/waiting"
_DEFAULT_CONDITION: Final = "ResourcesReady"
_WAITING: Final = "Waiting: "
_UNREADY: Final = "Unready: "


def apply(request: wire.Request, contribution: Contribution, step: Step) -> Contribution:
    """Return the contribution without blocked resources, with readiness and with a report.

    Raises DocumentError for dependencies that make no sense, and for a missing value of a
    resource that exists and may not or cannot be kept.
    """
    has_policies = contribution.deferred or contribution.policy_spans
    earlier = find_context(request, CONTEXT_KEY)
    if not (step.readiness or has_policies or earlier) or contribution.is_fatal:
        return contribution
    calls: Object = earlier if isinstance(earlier, dict) else {}
    call = identify_call(request) if calls else ""
    withheld = _read_withheld(calls, call)
    options = step.readiness or ReadinessOptions()
    is_unanswered = has_unanswered(request, contribution.resources, contribution.schemas)
    # Objects of the last reconcile may be for another selector of that name.
    selectors = contribution.resources.items() if contribution.deferred else ()
    if is_unanswered or any(find_required(request, *each) is None for each in selectors):
        # Crossplane calls again with what is required, unless this response is fatal.
        options = replace(options, keep_existing=True)
    cluster = ClusterState(request, contribution.composed, options)
    # A resource that exists and waits for a value has its order and its rule, like others.
    waiting = [(each.name, each) for each in contribution.deferred if each.name is not None]
    existing = {name: _keep_existing(each, name, options, cluster) for name, each in waiting}
    contribution = replace(contribution, composed={**contribution.composed, **existing})
    cluster.composed = contribution.composed
    graph = dependencies.read(contribution, _desired_names(contribution, cluster, withheld))
    if graph and (request.observed is None or request.observed.composite is None):
        raise DocumentError.of(
            f'cannot order resource "{next(iter(graph))}": an Operation observes no resources',
            hint="require the resources it depends on, and look at those",
        )
    unmet = dependencies.blocked_by(graph, cluster)
    parts = [name for name in withheld if _is_part(name, cluster)]
    blocked = _explain(contribution.deferred, unmet, parts)

    composed = {**contribution.composed, **dict.fromkeys([*unmet, *parts], _NOTHING)}
    # After the withheld ones are out, and before Usages, which state their own readiness.
    composed |= _judge_all(composed, options, cluster)
    protecting, unprotected = usages.compose(graph, options, cluster)
    composed |= protecting

    contribution = replace(
        contribution, composed=composed, results=(*contribution.results, *unprotected)
    )
    is_ready = contribution.composite.ready == enums.READY_TRUE
    if blocked or (is_ready and withheld - cluster.earlier.keys() - composed.keys()):
        composite = replace(contribution.composite, ready=enums.READY_FALSE)
        contribution = replace(contribution, composite=composite, blocked=tuple(blocked))
    if (names := {*unmet, *dict(waiting)}) or call in calls:
        for_later: Object = {CONTEXT_KEY: {call or identify_call(request): [*sorted(names)]}}
        contribution = replace(contribution, context={**contribution.context, **for_later})
    if options.condition is None and not graph and not options.defer_missing:
        return contribution
    kind = options.condition or _DEFAULT_CONDITION
    unready = _collect_unready(composed, options, cluster)
    return replace(
        contribution,
        conditions=(*contribution.conditions, _condition(kind, blocked, unready)),
        results=(*contribution.results, *_change_event(kind, blocked, cluster.xr)),
    )


def _read_withheld(calls: Object, call: str) -> set[str]:
    """Return the names that earlier steps withhold, of the context's names by call.

    Called again with what it requires, the step itself has withheld nothing yet: ``call`` is out.
    """
    lists = [names for each, names in calls.items() if each != call and isinstance(names, list)]
    return {str(name) for names in lists for name in names}


def _explain(
    deferred: Sequence[Deferred], unmet: Graph, parts: Collection[str]
) -> list[Blocked]:
    """Return all that is withheld, with the reasons: values, dependencies, earlier steps."""
    blocked = []
    for each in deferred:
        position = f" ({each.span})" if each.span is not None else ""
        blocked.append(Blocked(each.subject, f"because {each.missing}{position}"))
    for name, waiting_for in unmet.items():
        reason = f"for {', '.join(other.text for other in waiting_for)}"
        blocked.append(Blocked(name, reason, tuple(other.name for other in waiting_for)))
    return blocked + [Blocked(name, "in an earlier step") for name in sorted({*parts} - {*unmet})]


def _desired_names(
    contribution: Contribution, cluster: ClusterState, withheld: Collection[str]
) -> set[str]:
    """Return the names of all resources that this step or an earlier one desires or withholds."""
    composed = contribution.composed
    removed = {name for name, entry in composed.items() if entry.resource is None}
    deferred = {each.name for each in contribution.deferred if each.name}
    return {*cluster.earlier, *withheld, *composed} - removed | deferred


def _is_part(name: str, cluster: ClusterState) -> bool:
    """Report whether this step adds to a resource that an earlier one withholds.

    The part would be created alone, before its time.
    """
    entry = cluster.composed.get(name)
    is_added = entry is not None and entry.resource is not None and not entry.replace
    return is_added and name not in cluster.earlier and not cluster.exists(name)


def _keep_existing(
    deferred: Deferred, name: str, options: ReadinessOptions, cluster: ClusterState
) -> DesiredResource:
    """Return a resource as it is in the cluster; nothing for one that does not exist yet."""
    resource = cluster.find(name)
    if resource is None:
        return _NOTHING
    configuration = applied_configuration(resource) if options.keep_existing else None
    if configuration is None or deferred.unreadable:
        problem = f'cannot leave out resource "{name}", which exists: {deferred.missing}'
        hint = "its managed fields do not say what Crossplane applied"
        if not options.keep_existing:
            hint = "set `onExisting: Keep` to keep such a resource as it is"
        elif deferred.unreadable:
            hint = f"its order or readiness needs a missing value, too: {deferred.unreadable}"
        raise DocumentError.of(problem, span=deferred.span, hint=hint)
    earlier = cluster.earlier.get(name)
    if earlier is not None and earlier.struct is not None:
        # The desired state of an earlier step is newer than the state that was applied.
        objects.merge(configuration, wire.decode_struct(earlier.struct))
    return DesiredResource(
        resource=configuration, ready=deferred.ready, replace=False, policy=deferred.policy
    )


def _judge_all(
    composed: dict[str, DesiredResource], options: ReadinessOptions, cluster: ClusterState
) -> dict[str, DesiredResource]:
    """Return the entries whose readiness is judged, with their readiness."""
    entries: dict[str, DesiredResource] = {}
    for name, entry in composed.items():
        has_rule = entry.policy is not None and entry.policy.ready_when is not None
        if entry.resource is None or not (has_rule or options.auto_ready):
            continue
        if cluster.stated(name) is None:
            entries[name] = _judge(entry, name, cluster)
    if options.auto_ready == "All":
        for name in cluster.earlier:
            if name not in composed and cluster.stated(name) is None:
                entry = DesiredResource(resource={}, replace=False)
                entries[name] = _judge(entry, name, cluster)
    return entries


def _judge(entry: DesiredResource, name: str, cluster: ClusterState) -> DesiredResource:
    is_ready = cluster.judge(name).is_ready
    return entry.with_ready(enums.READY_TRUE if is_ready else enums.READY_FALSE)


def _collect_unready(
    composed: Mapping[str, DesiredResource], options: ReadinessOptions, cluster: ClusterState
) -> list[tuple[str, str]]:
    """Return the desired resources in the report's scope that are not ready, with the reasons."""
    names = {name for name, entry in composed.items() if entry.resource is not None}
    if options.auto_ready == "All":
        names |= cluster.earlier.keys() - composed.keys()
    verdicts = {name: cluster.verdict(name) for name in names}
    return [(name, each.why) for name, each in verdicts.items() if not each.is_ready]


def _condition(
    kind: str, blocked: Sequence[Blocked], unready: Sequence[tuple[str, str]]
) -> wire.Condition:
    """Return the condition; its message is sorted and at most 1,024 bytes long."""
    if not blocked and not unready:
        return wire.Condition(kind, enums.STATUS_CONDITION_TRUE, "Ready")
    lines = [_blocked_text(blocked)] if blocked else []
    if unready:
        lines.append(_UNREADY + "; ".join(f"{name} {why}" for name, why in sorted(unready)))
    reason = "Waiting" if blocked else "Unready"
    return wire.Condition(kind, enums.STATUS_CONDITION_FALSE, reason, cut(". ".join(lines)))


def _change_event(
    kind: str, blocked: Sequence[Blocked], xr: Mapping[str, Readable]
) -> tuple[wire.Result, ...]:
    """Return an event that names blocked resources, unless the XR's condition names the same.

    The condition is set on every call, but equal events on every call would be noise.
    """
    if not blocked:
        return ()
    message = cut(_blocked_text(blocked))
    last_condition = objects.find_condition(xr, kind) or {}
    last_message = str(last_condition.get("message", ""))
    if last_message == message or last_message.startswith(f"{message}. {_UNREADY}"):
        return ()
    return (wire.Result(enums.SEVERITY_NORMAL, message, "Waiting"),)


def _blocked_text(blocked: Sequence[Blocked]) -> str:
    return _WAITING + "; ".join(f"{each.subject} {each.reason}" for each in sorted(blocked))
