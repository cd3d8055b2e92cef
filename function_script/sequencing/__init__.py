"""How a step's resources come about: what waits, what is ready, and what people are told of it.

Called by the main path between reading what a step wants and merging it. Where neither the input
nor a document says anything of the kind, nothing is looked at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from function_script import objects, wire
from function_script.contribution import DesiredResource
from function_script.errors import DocumentError
from function_script.inputs import ReadinessOptions
from function_script.sequencing import dependencies, status, usages
from function_script.sequencing.cluster_state import ClusterState
from function_script.sequencing.managed_fields import applied_configuration
from function_script.wire import enums

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from function_script.contribution import Contribution, DeferredDocument, Dependency
    from function_script.inputs import Step

# While something waits the XR is looked at more often, unless somebody has said how often.
WAITING_TTL_SECONDS = 10.0
# A resource that is withheld is not desired, whoever else desires it.
_NOTHING = DesiredResource(resource=None)


def apply(request: wire.Request, wanted: Contribution, step: Step) -> Contribution:
    """What the step adds now: without what waits, with readiness, and with a report.

    Raises DocumentError for dependencies that make no sense, and for a missing value of a
    resource that exists and may not or cannot be kept.
    """
    if (step.progress is None and not wanted.needs_sequencing) or wanted.is_fatal:
        return wanted
    settings = step.progress or ReadinessOptions()
    if _is_asking(wanted, request):
        # Not the last word: Crossplane calls again with what is asked for, unless this is fatal.
        settings = replace(settings, keeps=True)
    world = ClusterState(request, wanted.composed, settings)
    edges = dependencies.read(wanted, _check_names(wanted, world))
    _check_operation(edges, request)
    unmet = dependencies.blocked_by(edges, world)
    waits = [_missing(each) for each in wanted.deferred]
    waits += [status.Blocked(name, f"for {_texts(unmet[name])}") for name in unmet]

    composed = {**wanted.composed, **dict.fromkeys(unmet, _NOTHING)}
    for deferred in wanted.deferred:
        if deferred.name is not None:
            composed[deferred.name] = _keep_existing(deferred, deferred.name, settings, world)
    composed |= _readiness(composed, settings, world)
    protecting, unprotected = usages.compose(edges, settings, world)
    composed |= protecting

    wanted = replace(wanted, composed=composed, results=(*wanted.results, *unprotected))
    settled = _drop_blocked(wanted, step, is_waiting=bool(waits))
    if settings.condition is None and not edges and not settings.defers:
        return settled
    return _reported(settled, waits, settings, world)


def _reported(
    settled: Contribution,
    waits: list[status.Blocked],
    settings: ReadinessOptions,
    world: ClusterState,
) -> Contribution:
    kind = settings.condition or status.DEFAULT_CONDITION
    told = status.condition(kind, waits, _collect_unready(settled.composed, settings, world))
    return replace(
        settled,
        conditions=(*settled.conditions, told),
        results=(*settled.results, *status.change_event(kind, waits, world.xr)),
    )


def _is_asking(wanted: Contribution, request: wire.Request) -> bool:
    """Whether the step requires what this request has no answer to."""
    answered = request.required_resources.keys() | request.extra_resources.keys()
    return bool(
        wanted.resources.keys() - answered or wanted.schemas.keys() - request.required_schemas
    )


def _check_names(wanted: Contribution, world: ClusterState) -> set[str]:
    removed = {name for name, entry in wanted.composed.items() if entry.resource is None}
    deferred = {each.name for each in wanted.deferred if each.name}
    return (world.earlier.keys() | wanted.composed.keys()) - removed | deferred


def _check_operation(edges: dependencies.Graph, request: wire.Request) -> None:
    if edges and (request.observed is None or request.observed.composite is None):
        raise DocumentError.of(
            f'cannot order resource "{next(iter(edges))}": an Operation observes no resources',
            hint="require the resources it depends on, and look at those",
        )


def _missing(deferred: DeferredDocument) -> status.Blocked:
    place = f" ({deferred.span})" if deferred.span is not None else ""
    return status.Blocked(deferred.subject, f"because {deferred.missing}{place}")


def _texts(unmet: Iterable[Dependency]) -> str:
    return ", ".join(each.text for each in unmet)


def _keep_existing(
    deferred: DeferredDocument, name: str, settings: ReadinessOptions, world: ClusterState
) -> DesiredResource:
    """Nothing for a resource that does not exist yet; one that exists is kept as it is."""
    resource = world.find(name)
    if resource is None:
        return _NOTHING
    kept = applied_configuration(resource) if settings.keeps else None
    if kept is None:
        problem = f'cannot leave out resource "{name}", which exists: {deferred.missing}'
        why = "its managed fields do not say what Crossplane applied" if settings.keeps else None
        hint = why or "set `onExisting: Keep` to keep such a resource as it is"
        raise DocumentError.of(problem, span=deferred.span, hint=hint)
    earlier = world.earlier.get(name)
    if earlier is None or earlier.struct is None:
        return DesiredResource(resource=kept)
    objects.merge(kept, wire.decode_struct(earlier.struct))
    return DesiredResource(resource=kept, ready=earlier.ready)


def _readiness(
    composed: dict[str, DesiredResource], settings: ReadinessOptions, world: ClusterState
) -> dict[str, DesiredResource]:
    """The entries whose readiness is judged, with it."""
    judged: dict[str, DesiredResource] = {}
    for name, entry in composed.items():
        has_rule = entry.policy is not None and entry.policy.ready_when is not None
        if entry.resource is None or not (has_rule or settings.auto_ready):
            continue
        if world.stated(name) is None:
            judged[name] = _judged(entry, name, world)
    if settings.auto_ready == "All":
        for name in world.earlier:
            if name not in composed and world.stated(name) is None:
                judged[name] = _judged(DesiredResource(resource={}, replace=False), name, world)
    return judged


def _judged(entry: DesiredResource, name: str, world: ClusterState) -> DesiredResource:
    is_ready = world.judge(name).is_ready
    return entry.with_ready(enums.READY_TRUE if is_ready else enums.READY_FALSE)


def _collect_unready(
    composed: Mapping[str, DesiredResource], settings: ReadinessOptions, world: ClusterState
) -> list[status.Unready]:
    """The resources the report is about that are desired and not ready."""
    names = {name for name, entry in composed.items() if entry.resource is not None}
    if settings.auto_ready == "All":
        names |= world.earlier.keys() - composed.keys()
    verdicts = {name: world.verdict(name) for name in names}
    return [status.Unready(name, why) for name, (is_ready, why) in verdicts.items() if not is_ready]


def _drop_blocked(wanted: Contribution, step: Step, *, is_waiting: bool) -> Contribution:
    """While something waits the XR is not ready, whoever says otherwise."""
    if not is_waiting:
        return wanted
    is_stated = wanted.ttl_seconds is not None or step.ttl_seconds is not None
    return replace(
        wanted,
        composite=replace(wanted.composite, ready=enums.READY_FALSE),
        ttl_seconds=wanted.ttl_seconds if is_stated else WAITING_TTL_SECONDS,
    )
