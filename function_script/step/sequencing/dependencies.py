"""Dependency graph of composed resources: unknown names, cycles, unmet dependencies."""

from collections.abc import Collection, Iterator, Mapping

from function_script import wire
from function_script.contribution import Contribution, Dependency, DesiredResource
from function_script.inputs import ReadinessOptions
from function_script.request.objects import find_path
from function_script.request.request import view_object
from function_script.request.values import Readable
from function_script.step.readiness import READY, Verdict, judge, not_ready
from function_script.step.readiness.checks import has_value
from function_script.texts import spelling
from function_script.texts.diagnostics import Code, Diagnostic
from function_script.texts.errors import DocumentError
from function_script.texts.problems import suggest
from function_script.wire import enums


class ClusterState:
    """State of the cluster and of earlier steps; ``composed`` are the step's own resources.

    ``options`` say whether readiness that earlier steps have stated is judged anew.
    ``has_protection``: the caller certainly knows Usages of ``protection.crossplane.io``.
    """

    def __init__(
        self,
        request: wire.Request,
        composed: Mapping[str, DesiredResource],
        options: ReadinessOptions,
    ) -> None:
        self.composed = composed
        self._options = options
        observed, desired = request.observed, request.desired
        self._observed = observed.resources if observed is not None else {}
        self._decoded: dict[str, Mapping[str, Readable]] = {}
        self.earlier = desired.resources if desired is not None else {}
        # Crossplane states its capabilities from 2.2 on.
        self.has_protection = enums.CAPABILITY_CAPABILITIES in request.capabilities
        composite = observed.composite if observed is not None else None
        self.xr = view_object(composite.struct_part) if composite is not None else {}

    def exists(self, name: str) -> bool:
        """Report whether the composed resource is in the cluster."""
        return name in self._observed

    def find(self, name: str) -> Mapping[str, Readable] | None:
        """Return the composed resource as it is in the cluster."""
        if name not in self._observed:
            return None
        if name not in self._decoded:
            self._decoded[name] = view_object(self._observed[name].struct_part)
        return self._decoded[name]

    def stated(self, name: str) -> int | None:
        """Return the readiness stated by this step, or by an earlier one that it keeps."""
        entry = self.composed.get(name)
        if entry is not None and entry.ready is not None:
            return entry.ready
        if entry is not None:
            has_rule = entry.policy is not None and entry.policy.ready_when is not None
            if has_rule or entry.replace:
                return None
        earlier = self.earlier.get(name)
        is_in_scope = self._options.auto_ready == "All" or name in self.composed
        if earlier is None or (self._options.overwrite_stated and is_in_scope):
            return None
        return earlier.ready or None

    def judge(self, name: str) -> Verdict:
        """Judge the observed resource by its own rule or its kind's."""
        entry = self.composed.get(name)
        policy = entry.policy if entry is not None else None
        return judge(self.find(name), policy.ready_when if policy is not None else None)

    def verdict(self, name: str) -> Verdict:
        """Return whether the resource counts as ready; stated readiness wins."""
        stated = self.stated(name)
        if stated == enums.READY_TRUE:
            return READY
        verdict = self.judge(name)
        if stated is None:
            return verdict
        return not_ready(verdict.why or "is not ready by the program's own word")


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
        span = contribution.policy_span(first)
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
    near = spelling.nearest(dependency.name, names)
    hint = suggest(
        dependency.name, dict.fromkeys(names), "it must be desired by this step or an earlier one"
    )
    return Diagnostic(
        message=f'cannot order resource "{name}": it depends on "{dependency.name}", '
        "which is not desired",
        span=contribution.policy_span(name),
        hint=hint,
        code=Code("undesired", near or ""),
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
