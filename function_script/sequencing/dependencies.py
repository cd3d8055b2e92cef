"""What waits for what: names that nobody has, circles, and dependencies that are not met yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from function_script.diagnostics import Diagnostic
from function_script.errors import DocumentError
from function_script.objects import find_path
from function_script.problems import suggest
from function_script.readiness.checks import is_there

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from function_script.contribution import Contribution, Dependency
    from function_script.sequencing.cluster_state import ClusterState

# The dependencies of each resource that has any.
Graph = dict[str, tuple["Dependency", ...]]


def read(wanted: Contribution, known: Collection[str]) -> Graph:
    """All dependencies, by resource; raises DocumentError for unknown names and for circles.

    ``known`` are the names of all resources that this step or an earlier one desires.
    """
    found: list[Diagnostic] = []
    edges: Graph = {}
    for name, entry in wanted.composed.items():
        if entry.resource is None or entry.policy is None or not entry.policy.depends_on:
            continue
        edges[name] = tuple(_resolved(each, known) for each in entry.policy.depends_on)
        strangers = [each for each in edges[name] if each.name not in known]
        found += [_unknown(name, each, wanted, known) for each in strangers]
    found += [_circular(names, wanted) for names in _cycles(edges)]
    if found:
        raise DocumentError(*found)
    return edges


def blocked_by(edges: Graph, world: ClusterState) -> Graph:
    """What each resource still waits for; one that exists waits for nothing."""
    waiting = {
        name: tuple(each for each in edges[name] if not _is_met(each, world))
        for name in edges
        if not world.exists(name)
    }
    return {name: unmet for name, unmet in waiting.items() if unmet}


def _resolved(dependency: Dependency, known: Collection[str]) -> Dependency:
    """A resource name may hold a colon."""
    if dependency.path is None or dependency.text not in known:
        return dependency
    return type(dependency)(name=dependency.text, path=None, text=dependency.text)


def _is_met(dependency: Dependency, world: ClusterState) -> bool:
    resource = world.find(dependency.name)
    if resource is None:
        return False
    if dependency.path is not None:
        return is_there(find_path(resource, dependency.path))
    return world.verdict(dependency.name).is_ready


def _unknown(
    name: str, dependency: Dependency, wanted: Contribution, known: Collection[str]
) -> Diagnostic:
    hint = suggest(
        dependency.name, dict.fromkeys(known), "it must be desired by this step or an earlier one"
    )
    return Diagnostic(
        message=f'cannot order resource "{name}": it depends on "{dependency.name}", '
        "which is not desired",
        span=wanted.policy_spans[name](),
        hint=hint,
    )


def _circular(names: tuple[str, ...], wanted: Contribution) -> Diagnostic:
    circle = " → ".join((*names, names[0]))
    return Diagnostic(
        message=f'cannot order resource "{names[0]}": it depends on itself: {circle}',
        span=wanted.policy_spans[names[0]](),
        hint="leave out one of these dependencies",
    )


def _cycles(edges: Graph) -> Iterator[tuple[str, ...]]:
    """Every circle that is met on a walk along the dependencies, each of them once."""
    done: set[str] = set()
    for start in sorted(edges):
        if start not in done:
            yield from _walk(start, edges, done)


def _walk(start: str, edges: Graph, done: set[str]) -> Iterator[tuple[str, ...]]:
    """Depth first, without recursion: a chain may have any length."""
    trail: dict[str, Iterator[str]] = {start: _names(edges, start)}
    while trail:
        name = next(reversed(trail))
        following = next(trail[name], None)
        if following is None:
            done.add(name)
            del trail[name]
        elif following in trail:
            names = list(trail)
            yield tuple(names[names.index(following) :])
        elif following not in done:
            trail[following] = _names(edges, following)


def _names(edges: Mapping[str, tuple[Dependency, ...]], name: str) -> Iterator[str]:
    return iter(sorted({each.name for each in edges.get(name, ())}))
