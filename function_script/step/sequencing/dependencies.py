"""Dependency graph of composed resources: unknown names, cycles, unmet dependencies."""

from collections.abc import Collection, Iterator, Mapping

from function_script.contribution import Contribution, Dependency
from function_script.request.objects import find_path
from function_script.step.readiness.checks import has_value
from function_script.step.sequencing.cluster_state import ClusterState
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import DocumentError
from function_script.texts.problems import suggest

# Dependencies by the name of the resource that has them.
Graph = dict[str, tuple["Dependency", ...]]


def read(contribution: Contribution, names: Collection[str]) -> Graph:
    """Return the dependencies of all resources that have any.

    ``names`` are those of all resources that this step or an earlier one desires. Raises
    DocumentError for unknown names and for cycles.
    """
    problems: list[Diagnostic] = []
    graph: Graph = {}
    for name, entry in contribution.composed.items():
        if entry.resource is None or entry.policy is None or not entry.policy.depends_on:
            continue
        graph[name] = tuple(_resolve(each, names) for each in entry.policy.depends_on)
        problems += [
            _unknown_name(name, each, contribution, names)
            for each in graph[name]
            if each.name not in names
        ]
    for cycle in _cycles(graph):
        first, path = cycle[0], " → ".join((*cycle, cycle[0]))
        message = f'cannot order resource "{first}": it depends on itself: {path}'
        hint = "leave out one of these dependencies"
        span = contribution.policy_spans[first]()
        problems.append(Diagnostic(message=message, span=span, hint=hint))
    if problems:
        raise DocumentError(*problems)
    return graph


def blocked_by(graph: Graph, cluster: ClusterState) -> Graph:
    """Return the unmet dependencies of each resource that does not exist yet."""
    unmet = {
        name: tuple(each for each in graph[name] if not _is_met(each, cluster))
        for name in graph
        # What exists is not withheld: a response without it would delete it.
        if not cluster.exists(name)
    }
    return {name: waiting_for for name, waiting_for in unmet.items() if waiting_for}


def _resolve(dependency: Dependency, names: Collection[str]) -> Dependency:
    """Read a text with a colon as a name if there is such a resource, else as name and path."""
    if dependency.path is None or dependency.text not in names:
        return dependency
    return type(dependency)(name=dependency.text, path=None, text=dependency.text)


def _is_met(dependency: Dependency, cluster: ClusterState) -> bool:
    resource = cluster.find(dependency.name)
    if resource is None:
        return False
    if dependency.path is not None:
        return has_value(find_path(resource, dependency.path))
    return cluster.verdict(dependency.name).is_ready


def _unknown_name(
    name: str, dependency: Dependency, contribution: Contribution, names: Collection[str]
) -> Diagnostic:
    hint = suggest(
        dependency.name, dict.fromkeys(names), "it must be desired by this step or an earlier one"
    )
    return Diagnostic(
        message=f'cannot order resource "{name}": it depends on "{dependency.name}", '
        "which is not desired",
        span=contribution.policy_spans[name](),
        hint=hint,
    )


def _cycles(graph: Graph) -> Iterator[tuple[str, ...]]:
    """Yield every cycle of a depth-first search over all resources, each once.

    The search has no recursion, since a chain may have any length.
    """
    visited: set[str] = set()
    for start in sorted(graph):
        # The resources from the start to here, each with the neighbours that are left to follow.
        trail = {} if start in visited else {start: _dependency_names(graph, start)}
        while trail:
            name = next(reversed(trail))
            following = next(trail[name], None)
            if following is None:
                visited.add(name)
                del trail[name]
            elif following in trail:
                names = list(trail)
                yield tuple(names[names.index(following) :])
            elif following not in visited:
                trail[following] = _dependency_names(graph, following)


def _dependency_names(graph: Mapping[str, tuple[Dependency, ...]], name: str) -> Iterator[str]:
    return iter(sorted({each.name for each in graph.get(name, ())}))
