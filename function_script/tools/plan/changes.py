"""The changes of the objects of one XR, when its Composition changes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.reader import format_path
from function_script.request.values import Object, Readable
from function_script.texts.source import Excerpt, Span
from function_script.tools import manifests, structural_schema
from function_script.tools.manifests import Key
from function_script.tools.plan import effects
from function_script.tools.plan.dump import Dump, UnknownError
from function_script.tools.plan.effects import FieldChange
from function_script.tools.render.positions import Positions
from function_script.tools.render.renderer import Rendering
from function_script.tools.render.xr import child_name, is_legacy
from function_script.tools.validate.catalog import Catalog

Verb: TypeAlias = Literal["destroy", "rename", "add", "change"]

# Crossplane writes them, and no program.
_OWN: Final[tuple[Path, ...]] = (("metadata", "ownerReferences"), ("metadata", "resourceVersion"))
_HIDDEN: Final = "(hidden)"
_PARTS: Final = {"spec", "status", "data", "stringData", "metadata"}
DETAILS: Final = "connectionDetails"
_UNPRINTED: Final = "(a secret)"
_MOVED: Final[Path] = ("metadata", "annotations", objects.MOVED_TO)
_IN_USE: Final = "crossplane.io/in-use"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One object that is added, destroyed or renamed, or one field of it that changes.

    ``resource`` is the resource name. None is the XR, of which the status changes, or its
    connection Secret: the path begins with ``connectionDetails`` then. ``key`` is that of the
    object or XR. ``step`` and ``span`` are the place that writes the value after the change; of
    what is destroyed it is the place before it. ``before`` of what is added is the object that
    stays behind, because its kind is desired no longer. ``is_certain`` is False for a value that
    the API server decides. ``is_later``: it follows in a later reconcile, when what was composed is
    ready.
    """

    verb: Verb
    resource: str | None
    object: str
    key: Key
    step: str = ""
    span: Span | None = None
    excerpt: Excerpt | None = None
    path: Path = ()
    before: Readable = None
    after: Readable = None
    is_certain: bool = True
    is_later: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The changes of one XR, and why the API server refuses to change some of its objects.

    ``manifests`` are the objects that stay, by resource name.
    """

    changes: list[Change]
    refusals: list[str]
    manifests: Mapping[str, Object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconcile:
    """A reconcile of one XR, before and after the change.

    ``observed`` are its composed resources by resource name, and ``xrd`` is that after the change.
    """

    observed: Mapping[str, Object]
    before: Rendering
    after: Rendering
    catalog: Catalog
    xrd: Object

    def find(self, *, repeats: bool = False) -> Outcome:
        """Return the changes; ``repeats``: those after several reconciles like this one.

        Raises UnknownError if what becomes of an object is not known, or a rule cannot be
        evaluated.
        """
        old, new = self.before.result.resources, self.after.result.resources
        changes: list[Change] = []
        refusals: list[str] = []
        remaining: dict[str, Object] = {}
        for name in {**self.observed, **new}:
            live, before, after = (each.get(name) for each in (self.observed, old, new))
            if after is None:
                if live is not None and before is not None:
                    changes.append(_place(self.before.positions, of_object("destroy", name, live)))
            elif live is not None and before is None:
                object_ = manifests.describe(live)
                raise UnknownError(f"{object_} is there, and desired only from now on")
            elif before is None or (live and manifests.key_of(live) != manifests.key_of(after)):
                # Crossplane deletes by resource names: an object of the former kind stays behind.
                orphan = None if live is None else manifests.describe(live)
                change = replace(of_object("add", name, after), before=orphan)
                changes.append(_place(self.after.positions, change))
                refusals += _find_refusals(after, orphan, self.after.result.xr, self.catalog)
            else:
                effect = effects.apply(live, before, after, self.catalog, repeats=repeats)
                remaining[name] = live if live and effect.refusals else effect.manifest
                changes += _locate(self.after.positions, name, after, effect.changes)
                refusals += effect.refusals
        changes.sort(key=lambda each: (each.verb != "destroy", each.verb != "add"))
        status, xr = status_of(self.after, self.catalog), self.after.result.file
        complete = manifests.object_at(status_of(self.before, self.catalog), "status")
        own = self.before.result
        there = {key for each in (own.xr, own.file) for key in manifests.object_at(each, "status")}
        # A default that the XRD has from now on is not there yet.
        former: Object = {key: complete[key] for key in complete if key in there}
        effect = effects.apply(None, {"status": former}, status, self.catalog)
        changes += _locate(self.after.positions, None, xr, effect.changes)
        if effect.changes:
            refusals += effects.list_violations({**xr, **status}, self.catalog, "status")
        changes += self._find_details()
        return Outcome(changes=changes, refusals=refusals, manifests=remaining)

    def add_later(self, first: Outcome) -> Outcome:
        """Return the changes of the next reconcile, and those that follow until this last one.

        A value with a name that is not generated yet is not certain.
        """
        settled = self.find(repeats=True)
        generated = [
            manifests.name(manifest)
            for name, manifest in self.after.result.resources.items()
            if name not in self.observed and _has_generated_name(name, manifest)
        ]
        changes = [*first.changes]
        ends = {(each.verb, each.resource, each.path, str(each.after)) for each in changes}
        for change in settled.changes:
            if (change.verb, change.resource, change.path, str(change.after)) not in ends:
                later = replace(change, is_later=True)
                if any(name in str(change.after) for name in generated):
                    later = replace(later, after=None, is_certain=False)
                changes.append(later)
        refusals = [*dict.fromkeys((*first.refusals, *settled.refusals))]
        return replace(settled, changes=changes, refusals=refusals)

    def add_later_deletions(self, first: Outcome, last: Rendering) -> Outcome:
        """Return also the objects that go until the ``last`` reconcile, unless that fails."""
        gone = first.manifests.keys() & self.observed.keys() - last.result.resources.keys()
        changes, remaining = [*first.changes], {**first.manifests}
        for name in () if last.result.failure else sorted(gone):
            change = of_object("destroy", name, self.observed[name])
            changes.append(_place(self.before.positions, replace(change, is_later=True)))
            del remaining[name]
        return replace(first, changes=changes, manifests=remaining)

    def _find_details(self) -> Iterator[Change]:
        """Yield the keys of the connection Secret that change, which only legacy XRs have."""
        xr = self.after.result.file
        place = ("spec", "writeConnectionSecretToRef", "name")
        if not (is_legacy(self.xrd) and manifests.text_at(xr, *place)):
            return
        keys = objects.find_path(self.xrd, ("spec", "connectionSecretKeys"))
        old, new = map(_read_details, (self.before, self.after))
        for key in sorted(old.keys() | new):
            is_published = not isinstance(keys, list) or not keys or key in keys
            if is_published and old.get(key) != new.get(key):
                change = Change(
                    verb="change",
                    resource=None,
                    object="the connection Secret",
                    key=manifests.key_of(xr),
                    path=(DETAILS, key),
                    before=_UNPRINTED if key in old else None,
                    after=_UNPRINTED if key in new else None,
                    # A key that is published no longer may stay.
                    is_certain=key in new,
                )
                yield _place(self.after.positions, change)

    def find_clash(self, dump: Dump) -> str | None:
        """Return why it is not known whose an object is, or None."""
        new = self.after.result.resources
        for resources in (self.before.result.resources, new):
            names: dict[Key, str] = {}
            for name, manifest in resources.items():
                if (other := names.setdefault(manifests.key_of(manifest), name)) != name:
                    object_ = manifests.describe(manifest)
                    return f'{object_} is of two resources, "{other}" and "{name}"'
        keys = {name: manifests.key_of(live) for name, live in self.observed.items()}
        own = {key for name, key in keys.items() if name not in new}
        for name, manifest in new.items():
            key = manifests.key_of(manifest)
            if key not in own and key != keys.get(name) and dump.get(key) is not None:
                return f"{manifests.describe(manifest)} is there, and is not yet the XR's"
        return None

    def find_drift(self, *, is_hidden: bool) -> Iterator[str]:
        """Yield what is not as it should be before the change: fields with their kinds, objects.

        ``is_hidden``: of fields that the objects do not have, the names may be data of a Secret.
        """
        desired = self.before.result.resources
        for name, live in self.observed.items():
            if name in desired:
                for path in effects.find_drift(live, desired[name], self.catalog):
                    part = hide_path(path, live) if is_hidden else path
                    yield f"{format_path(part)} of {live['kind']}"
            elif name not in self.after.result.resources:
                yield f'resource "{name}" (the next reconcile destroys its {live["kind"]})'


def _read_details(rendering: Rendering) -> Mapping[str, bytes]:
    """Return the connection details that the last step desires."""
    responses = [*rendering.responses.values()]
    return responses[-1].desired.composite.connection_details if responses else {}


def find_protected(changes: Iterable[Change], dump: Dump) -> Iterator[str]:
    """Yield what Crossplane's webhook refuses to delete: objects in use of which a Usage stays."""
    gone = {each.key for each in changes if each.verb == "destroy"}
    for key in sorted(gone):
        live, usages = dump.get(key) or {}, dump.usages.get(key)
        is_used = manifests.labels(live).get(_IN_USE) == "true"
        if is_used and not (usages and gone.issuperset(usages)):
            yield f"{manifests.describe(live)} is in use: a Usage refuses its deletion"


def _find_refusals(new: Object, orphan: str | None, xr: Object, catalog: Catalog) -> Iterator[str]:
    """Yield why a new object is refused; ``orphan`` is what stays behind."""
    yield from effects.list_violations(new, catalog, is_new=True)
    type_ = objects.api_version_and_kind(new)
    if catalog.is_cluster_scoped(type_):
        if manifests.namespace(xr):
            yield f"{type_[1]} has no namespace: an XR with one cannot compose it"
    elif orphan and not manifests.namespace(new) and catalog.find(*type_):
        yield f"{type_[1]}: as {orphan} has no namespace, it gets none: rename the resource, too"


def of_object(verb: Verb, resource: str, manifest: Object) -> Change:
    """Return the change of a whole object; a name that is not generated yet is ``?``."""
    key = manifests.key_of(manifest)
    is_generated = verb == "add" and _has_generated_name(resource, manifest)
    name = f"{key[1]} ?" if is_generated else manifests.describe(manifest)
    return Change(verb=verb, resource=resource, object=name, key=key)


def _has_generated_name(resource: str, manifest: Object) -> bool:
    """Report whether a new object has no name of the program's."""
    prefix = manifests.text_at(manifest, "metadata", "generateName")
    uid = str((manifests.controller(manifest) or {}).get("uid"))
    return manifests.name(manifest) == child_name(prefix, uid, resource)


def hide(changes: Iterable[Change], xr: Object, observed: Mapping[str, Object]) -> Iterator[Change]:
    """Yield changes without what a program may have made of a value: names that are new, too."""
    for number, change in enumerate(changes):
        live = xr if change.resource is None else observed.get(change.resource)
        hidden = [None if each is None else _HIDDEN for each in (change.before, change.after)]
        new = replace(change, before=hidden[0], after=hidden[1])
        if live is None:
            name = f"{change.key[1]} {_HIDDEN}"
            yield replace(new, resource=f"{_HIDDEN} {number}", object=name)
        else:
            yield replace(new, path=hide_path(change.path, live))


def hide_path(path: Path, live: Object) -> Path:
    """Return the part of a path that an object has, or that all objects may have."""
    ends = (end for end in range(len(path), 0, -1) if objects.find_path(live, path[:end]))
    if end := next(ends, int(not _PARTS.isdisjoint(path[:1]))):
        return path[:end]
    return (_HIDDEN,) if path else ()


def status_of(rendering: Rendering, catalog: Catalog) -> Object:
    """Return the XR's status with its defaults, without conditions, which a cluster decides."""
    status = manifests.object_at(rendering.result.xr, "status")
    own = {key: value for key, value in status.items() if key != "conditions"}
    schema = catalog.find(*objects.api_version_and_kind(rendering.result.file)) or {}
    part = structural_schema.find(schema, ("status",)) or {}
    return {"status": structural_schema.complete(own, part, drops_nulls=False)}


def _locate(
    positions: Positions, name: str | None, manifest: Object, fields: Iterable[FieldChange]
) -> Iterator[Change]:
    """Yield the changes of an object's fields; without a resource name, of the XR's status."""
    for path, before, after, is_certain in fields:
        if path[:2] not in _OWN:
            values: list[Readable] = [before, after]
            if manifests.is_secret(manifest, path):
                values = [None if each is None else _UNPRINTED for each in values]
            whole = of_object("change", name or "", manifest)
            change = replace(
                whole,
                resource=name,
                object="the status" if name is None else whole.object,
                path=path,
                before=values[0],
                after=values[1],
                is_certain=is_certain,
            )
            if path == _MOVED:
                change = replace(change, verb="rename", before=before or name)
            yield _place(positions, change)


def _place(positions: Positions, change: Change) -> Change:
    """Return a change with its step and position."""
    # Another item may have the index of one that goes.
    path = change.path if change.after is not None else change.path[:-1]
    position = positions.nearest(change.resource, path, skips_passed=True)
    if position is None:
        return change
    span = position.span
    return replace(change, step=position.step, span=span, excerpt=positions.excerpt(span))
