"""The changes of the objects of one XR, when its Composition changes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.reader import format_path
from function_script.request.values import Object, Readable
from function_script.texts.source import Excerpt, Span
from function_script.tools import manifests, xr_validation
from function_script.tools.compare.differences import is_secret
from function_script.tools.plan import effects
from function_script.tools.plan.dump import UnknownError
from function_script.tools.plan.effects import FieldChange
from function_script.tools.render.positions import Positions
from function_script.tools.render.renderer import Rendering
from function_script.tools.validate.catalog import Catalog

Verb: TypeAlias = Literal["destroy", "rename", "add", "change"]

# Crossplane writes them, and no program.
_OWN: Final[tuple[Path, ...]] = (("metadata", "ownerReferences"), ("metadata", "resourceVersion"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One object that is added, destroyed or renamed, or one field of it that changes.

    ``resource`` is the resource name, and None is the XR, of which the status changes. ``type`` is
    the group and kind of the object. ``step`` and
    ``span`` are the place that writes the value after the change; of what is destroyed it is the
    place before it. ``is_certain`` is False for a value that the API server decides.
    """

    verb: Verb
    resource: str | None
    object: str
    type: tuple[str, str]
    step: str
    span: Span | None
    excerpt: Excerpt | None = None
    path: Path = ()
    before: Readable = None
    after: Readable = None
    is_certain: bool = True


def find(
    observed: Mapping[str, Object], before: Rendering, after: Rendering, catalog: Catalog
) -> Iterator[Change]:
    """Yield the changes of one XR; ``observed`` are its composed resources by resource name.

    Raises UnknownError if what becomes of an object is not known.
    """
    old, new = before.result.composition.resources, after.result.composition.resources
    added = {name: new[name] for name in new if name not in old and name not in observed}
    for name, manifest in observed.items():
        # What neither of both desires goes without this change.
        if name not in old or (name in new and _is_same(manifest, new[name])):
            continue
        same = (other for other, each in added.items() if _is_same(manifest, each))
        if name not in new and (other := next(same, None)) is not None:
            del added[other]
            yield _at(after.positions, "rename", other, manifest, (), name, other)
            continue
        yield _at(before.positions, "destroy", name, manifest)
        if name in new:
            added[name] = new[name]
    for name, manifest in added.items():
        yield _at(after.positions, "add", name, manifest)
    for name, manifest in new.items():
        if name in old and name not in added:
            schema = catalog.find(*objects.api_version_and_kind(manifest))
            effect = effects.apply(observed.get(name), old[name], manifest, schema)
            yield from _locate(after.positions, name, manifest, effect.changes)
    status = _status(after)
    effect = effects.apply(None, _status(before), status, None)
    yield from _locate(after.positions, None, status, effect.changes)


def hide(change: Change) -> Change:
    """Return a change without the values of its field."""
    if change.verb != "change":
        return change
    before, after = (
        None if value is None else "(hidden)" for value in (change.before, change.after)
    )
    return replace(change, before=before, after=after)


def find_refusals(
    observed: Mapping[str, Object], before: Rendering, after: Rendering, catalog: Catalog
) -> Iterator[str]:
    """Yield why the API server refuses to change an object, by the rules of the schemas at hand.

    Raises UnknownError if a rule cannot be evaluated.
    """
    old, new = before.result.composition.resources, after.result.composition.resources
    for name, live in observed.items():
        if name in old and name in new and _is_same(live, new[name]) and old[name] != new[name]:
            schema = catalog.find(*objects.api_version_and_kind(new[name]))
            if schema is None:
                continue
            effect = effects.apply(live, old[name], new[name], schema)
            refusals, skipped = xr_validation.find_refusals(effect.manifest, live, schema)
            if skipped:
                raise UnknownError(f"a rule of {live['kind']} was not evaluated: {skipped[0]}")
            yield from (f"{live['kind']}: {refusal}" for refusal in refusals)


def find_drift(observed: Mapping[str, Object], before: Rendering) -> Iterator[str]:
    """Yield the fields that are not as before the change they should be, with their kinds."""
    desired = before.result.composition.resources
    for name in observed.keys() & desired.keys():
        for path in effects.find_drift(observed[name], desired[name]):
            yield f"{format_path(path)} of {observed[name]['kind']}"


def _status(rendering: Rendering) -> Object:
    """Return the XR's status without conditions, which a cluster decides."""
    status = manifests.object_at(rendering.result.composition.xr, "status")
    return {"status": {key: value for key, value in status.items() if key != "conditions"}}


def _is_same(manifest: Object, other: Object) -> bool:
    """Report whether two manifests are of one object."""
    types = [objects.api_version_and_kind(each) for each in (manifest, other)]
    groups = [(manifests.group(api_version), kind) for api_version, kind in types]
    return groups[0] == groups[1] and manifests.name(manifest) == manifests.name(other)


def _locate(
    positions: Positions, name: str | None, manifest: Object, fields: Iterable[FieldChange]
) -> Iterator[Change]:
    for path, before, after, is_certain in fields:
        if path[:2] not in _OWN:
            values: list[Readable] = [before, after]
            if is_secret(manifest, path):
                values = [None if each is None else "(a secret)" for each in values]
            change = _at(positions, "change", name, manifest, path, values[0], values[1])
            yield replace(change, is_certain=is_certain)


def _at(  # noqa: PLR0913, PLR0917 - the parts of a change
    positions: Positions,
    verb: Verb,
    name: str | None,
    manifest: Object,
    path: Path = (),
    before: Readable = None,
    after: Readable = None,
) -> Change:
    position = positions.nearest(name, path)
    span = None if position is None else position.span
    api_version, kind = objects.api_version_and_kind(manifest)
    return Change(
        type=(manifests.group(api_version), kind),
        verb=verb,
        resource=name,
        object=manifests.describe(manifest) if name is not None else "the status",
        step="" if position is None else position.step,
        span=span,
        excerpt=None if span is None else positions.excerpt(span),
        path=path,
        before=before,
        after=after,
    )
