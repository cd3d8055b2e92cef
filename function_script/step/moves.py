"""Composed resources that keep their object when their name in the pipeline changes.

Crossplane finds and deletes objects by the resource names of desired state. So the response has a
moved resource under its old name while that is observed; the step itself sees the new name. An
annotation of the object remembers the new name for later reconciles and later steps.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from function_script import wire
from function_script.contribution import Contribution, DesiredResource
from function_script.request import objects
from function_script.texts.errors import DocumentError

_MARK: Final = objects.MOVED_TO.encode()
_USAGE: Final = "usage"
_IN_USE: Final = "compose nothing of that name beside it, or leave moved-from out"
_IN_TWO_RELEASES: Final = "move one of them in a later release"
_BOTH_NAMES: Final = "return it whichever of its names is observed"
_USAGE_PARTS: Final = 3


class View(NamedTuple):
    """A request as a step sees it: ``request`` has the new names.

    ``old_names`` has the name in ``original`` of each moved resource. ``conflicts`` has the names
    that two objects have, with both names in ``original``.
    """

    original: wire.Request
    request: wire.Request
    old_names: Mapping[str, str]
    conflicts: Mapping[str, tuple[str, str]]


def build_view(request: wire.Request) -> View:
    """Return the request with the names that annotations of its resources remember."""
    # Hardly any request has a moved resource, and this is one search in its bytes.
    states = [
        state
        for state in (request.observed, request.desired)
        if state is not None and state.message.contains(_MARK)
    ]
    old_names: dict[str, str] = {}
    conflicts: dict[str, tuple[str, str]] = {}
    if not states:
        return View(request, request, old_names, conflicts)
    observed, desired = _resources(request.observed), _resources(request.desired)
    for state in states:
        for old, resource in state.resources.items():
            new = _moved_to(resource)
            # A Usage moves with its two resources, whatever it remembers.
            if not new or new == old or _read_usage(old) is not None:
                continue
            # Another object has that name: one that was moved to it, or one of its own.
            other = old_names.get(new, new if new in observed or new in desired else old)
            if other != old:
                conflicts[new] = (other, old)
            elif state is request.observed and old in desired and not _moved_to(desired[old]):
                # An earlier step has another resource of the old name.
                conflicts[new] = (old, old)
            else:
                old_names[new] = old
    for new in conflicts:
        old_names.pop(new, None)
    return _rename(request, old_names, conflicts)


def find_moves(view: View, contribution: Contribution) -> dict[str, str]:
    """Return the old names of resources that move and that ``view`` does not have yet.

    ``moved-from`` moves a resource, and so does the return of a moved one to its first name. Raises
    DocumentError where the old name does not tell which object is meant.
    """
    owners: dict[str, str] = {}
    moves: dict[str, str] = {}
    for name, old_names in _read_claims(view, contribution).items():
        for old in old_names:
            if old in owners:
                text = f'"{owners[old]}" is moved from "{old}", too'
                raise _problem(name, text, contribution, "an object moves to one resource")
            owners[old] = name
        old_name = _find_old_name(name, old_names, view, contribution)
        if old_name is None:
            continue
        other = next((new for new, old in moves.items() if old == old_name), None)
        if other is not None:
            text = f'"{other}" has the same object'
            raise _problem(name, text, contribution, _IN_TWO_RELEASES)
        moves[name] = old_name
    return moves


def with_moves(view: View, moves: Mapping[str, str]) -> View:
    """Return the view in which ``moves`` are made, too."""
    moved = set(moves.values())
    old_names = {
        new: old
        for new, old in view.old_names.items()
        if old not in moved and _read_usage(old) is None
    }
    old_names |= {new: old for new, old in moves.items() if new != old}
    return _rename(view.original, old_names, view.conflicts)


def check_moves(view: View, moves: Mapping[str, str], contribution: Contribution) -> None:
    """Raise DocumentError if a program that sees the new names does not move the same resources."""
    desired_names = _desired_names(contribution)
    for name in moves:
        if name not in desired_names:
            raise _problem(
                name, "its program leaves it out when it sees it moved", contribution, _BOTH_NAMES
            )
    for name in find_moves(view, contribution):
        raise _problem(
            name, "its program moves it only after another move", contribution, _BOTH_NAMES
        )


def to_old_names(view: View, contribution: Contribution) -> Contribution:
    """Return the contribution with the names that Crossplane knows, for `desired.merge`."""
    if not view.old_names and not view.conflicts:
        return contribution
    new_names = {old: new for new, old in view.old_names.items()}
    composed: dict[str, DesiredResource] = {}
    for name, entry in contribution.composed.items():
        if name in view.conflicts and entry.resource is not None:
            raise _conflict(name, view, contribution)
        old = view.old_names.get(name, name)
        if old == name and name in new_names:
            if entry.resource is None:
                # The step removes a resource that is not there, and not the one that was moved.
                continue
            text = f'it has the name of the object that "{new_names[name]}" was moved from'
            raise _problem(name, text, contribution, "give it another name")
        composed[old] = entry if old == name else entry.with_name(name)
    return replace(contribution, composed=composed)


def _resources(state: wire.State | None) -> Mapping[str, wire.Resource]:
    return {} if state is None else state.resources


def _moved_to(resource: wire.Resource) -> str:
    """Return the name that a resource's annotation remembers; "" without one."""
    if resource.struct is None or _MARK not in resource.struct:
        return ""
    metadata = wire.decode_field(resource.struct, "metadata")
    name = objects.find_path(metadata, ("annotations", objects.MOVED_TO))
    return name if isinstance(name, str) else ""


def _rename(
    request: wire.Request,
    old_names: Mapping[str, str],
    conflicts: Mapping[str, tuple[str, str]],
) -> View:
    if not old_names:
        return View(request, request, {}, conflicts)
    new_names = {old: new for new, old in old_names.items()}
    for old in _resources(request.observed):
        # The Usages of a moved resource have its name in theirs.
        names = _read_usage(old)
        if names is not None and not new_names.keys().isdisjoint(names):
            new_names[old] = ":".join((_USAGE, *(new_names.get(name, name) for name in names)))
    states = [
        None
        if state is None
        # The encoded state stays as it is, with the old names.
        else wire.State(
            state.message,
            state.composite,
            {new_names.get(name, name): each for name, each in state.resources.items()},
        )
        for state in (request.observed, request.desired)
    ]
    renamed = request._replace(observed=states[0], desired=states[1])
    return View(request, renamed, {new: old for old, new in new_names.items()}, conflicts)


def _read_usage(name: str) -> list[str] | None:
    """Return the two resources in the name of a Usage; None for the name of another resource."""
    kind, *names = name.split(":")
    return names if kind == _USAGE and len(names) == _USAGE_PARTS - 1 else None


def _read_claims(view: View, contribution: Contribution) -> dict[str, tuple[str, ...]]:
    """Return the old names that each resource of the step states.

    A resource states none if it has the first name of a moved one, which is not desired now: it is
    of an older revision of the Composition.
    """
    claims: dict[str, tuple[str, ...]] = {}
    if view.old_names:
        earlier = _resources(view.request.desired)
        desired_names = _desired_names(contribution)
        claims = {
            old: ()
            for new, old in view.old_names.items()
            if old in desired_names and new not in desired_names and new not in earlier
        }
    for name, entry in contribution.composed.items():
        if entry.resource is not None and entry.policy is not None and entry.policy.moved_from:
            claims[name] = entry.policy.moved_from
    for deferred in contribution.deferred:
        if deferred.name is not None and deferred.policy is not None and deferred.policy.moved_from:
            claims[deferred.name] = deferred.policy.moved_from
    return claims


def _desired_names(contribution: Contribution) -> set[str]:
    """Return the names of resources that the step composes, deferred ones included."""
    names = {name for name, entry in contribution.composed.items() if entry.resource is not None}
    return names | {each.name for each in contribution.deferred if each.name is not None}


def _find_old_name(
    name: str, old_names: Collection[str], view: View, contribution: Contribution
) -> str | None:
    """Return the observed name of the object that ``name`` is moved from; None if there is none."""
    if name in view.conflicts:
        raise _conflict(name, view, contribution)
    observed = _resources(view.original.observed)
    olds = [view.old_names.get(old, old) for old in old_names]
    existing = [old for old in dict.fromkeys(olds) if old in observed]
    is_return = name in view.old_names.values()
    # An object that returns to its first name is still observed under it.
    if is_return and name not in existing:
        existing.insert(0, name)
    if name in view.old_names:
        existing = [old for old in existing if old != view.old_names[name]]
        if existing:
            raise _both(name, view.old_names[name], existing[0], contribution)
        return None
    if not existing:
        return None
    if len(existing) > 1 or (name in observed and not is_return):
        first = next((old for old in existing[1:] if old != name), name)
        raise _both(name, first, existing[0], contribution)
    (old,) = existing
    visible = next((new for new, raw in view.old_names.items() if raw == old), old)
    if visible in _desired_names(contribution):
        raise _problem(name, f'this step desires "{visible}"', contribution, _IN_USE)
    earlier = _resources(view.request.desired)
    if visible in earlier:
        raise _problem(name, f'an earlier step desires "{visible}"', contribution, _IN_USE)
    return old


def _conflict(name: str, view: View, contribution: Contribution) -> DocumentError:
    first, second = view.conflicts[name]
    if first == second:
        return _problem(name, f'an earlier step desires "{first}"', contribution, _IN_USE)
    return _both(name, first, second, contribution)


def _both(name: str, first: str, second: str, contribution: Contribution) -> DocumentError:
    text = f'"{first}" and "{second}" both exist'
    hint = "delete the object that is not needed; the annotation "
    hint += "crossplane.io/composition-resource-name tells them apart"
    return _problem(name, text, contribution, hint)


def _problem(name: str, text: str, contribution: Contribution, hint: str) -> DocumentError:
    message = f'cannot move resource "{name}": {text}'
    return DocumentError.of(message, span=contribution.policy_span(name), hint=hint)
