"""The effect of a change of desired objects on the objects of a cluster: a server-side apply.

Crossplane applies with a field manager of its own. A field that it no longer desires goes if no
other manager has it, and then its default comes back.
"""

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias, cast

from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.reader import format_path
from function_script.request.values import Object, Readable
from function_script.step.sequencing import managed_fields
from function_script.tools import manifests, structural_schema, xr_validation
from function_script.tools.plan import dump
from function_script.tools.plan.dump import UnknownError
from function_script.tools.plan.lists import Lists
from function_script.tools.validate import builtin, server_rules
from function_script.tools.validate.catalog import Catalog

# A field whose desired value changes, with that value before and what the object has afterwards. It
# is not certain where a default may come back that is not at hand.
FieldChange: TypeAlias = tuple[Path, Readable, Readable, bool]

_WITHOUT_DEFAULTS: Final = ("metadata", "data", "binaryData")


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The changes of an object, and the object after them, with the defaults of ``schema``.

    ``refusals`` are the reasons for which the API server changes nothing of it.
    """

    manifest: Object
    changes: list[FieldChange]
    refusals: list[str] = field(default_factory=list)


def apply(
    live: Object | None, before: Object, after: Object, catalog: Catalog, *, repeats: bool = False
) -> Effect:
    """Return what it does to an observed object that ``after`` is desired in place of ``before``.

    ``repeats``: it is applied again, which writes the lists and maps that went without items.
    Without an object, the desired values are those that change. Raises UnknownError if a field is
    desired no longer and nothing says who has it, or if a rule cannot be evaluated.
    """
    stored = [_with_data(each, _encode_texts(each)) for each in (before, after)]
    differences = [*objects.compare_values(stored[0], stored[1], ())]
    if live is None:
        return Effect(
            manifest=after,
            changes=[(_to_written(path, after), old, new, True) for path, old, new in differences],
            refusals=list_violations(after, catalog, is_new=True) if differences else [],
        )
    if not differences:
        return Effect(manifest=live, changes=[])
    _check_version(live, before)
    type_ = objects.api_version_and_kind(after)
    schema = catalog.find(*type_) or {}
    lists = Lists(live, schema)
    # The status is often the largest part of an object, and seldom desired.
    unchanged = {key: live[key] for key in live.keys() & {"status"} - {*before, *after}}
    live_parts = {key: part for key, part in live.items() if key not in unchanged}
    current = lists.to_maps(live_parts)
    former, desired = (
        cast("Object", lists.drop_empty(lists.to_maps(each), current)) for each in stored
    )
    differences = [*objects.compare_values(former, desired, ())]
    mapped = cast("Object", objects.deep_copy(current))
    for path, _, new in differences:
        if new is None:
            _remove(mapped, path, current)
    objects.merge(mapped, desired)
    removed = [path for path, _, new in differences if new is None]
    emptied = _set_nulls(mapped, removed, current, schema, lists)
    differences = [each for each in differences if each[0][:-1] not in emptied]
    differences += [(path, objects.find_path(former, path), None) for path in emptied]
    manifest = cast("Object", lists.to_lists(mapped))
    if schema:
        structural_schema.add_defaults(manifest, schema)
        mapped = lists.to_maps(manifest)
    again = lists.to_maps(stored[1]) if repeats else {}
    # The schemas of Kubernetes' own kinds have no defaults.
    has_defaults = catalog.is_extension(type_)
    changes: list[FieldChange] = []
    for path, old, new in differences:
        value = objects.find_path(mapped, path)
        value = objects.find_path(again, path) if value is None else value
        has_no_default = has_defaults or path[0] in _WITHOUT_DEFAULTS or path[:-1] in lists
        # Nobody has a list without items: it goes with the last field of the map above it.
        is_left_over = new is None and old == {} and path in lists
        is_certain = not is_left_over and (value is not None or has_no_default)
        if not is_certain or [*objects.compare_values(objects.find_path(current, path), value, ())]:
            indexes = lists.to_indexes(path, desired, former)
            both = (lists.to_lists(old, path), lists.to_lists(value, path))
            changes.append((_to_written(indexes, after), *both, is_certain))
    places = [lists.to_indexes(path, mapped) for path in emptied] if has_defaults else []
    refusals = [
        f"{type_[1]}: {format_path(place)}: {{}} in place of its last field is null in a "
        "server-side apply, and the schema does not allow null"
        for place in places
        if objects.find_path(manifest, place) is None
        and (part := structural_schema.find(schema, place)) is not None
        and part.get("nullable") is not True
    ]
    if changes:
        violations, skipped = xr_validation.find_refusals(manifest | unchanged, live, schema)
        if skipped:
            raise UnknownError(f"a rule of {live['kind']} was not evaluated: {skipped[0]}")
        refusals += (f"{type_[1]}: {each}" for each in violations)
        breaches = list_violations(manifest, catalog)
        breaches_before = list_violations(live_parts, catalog) if breaches else []
        refusals += (each for each in breaches if each not in breaches_before)
    return Effect(manifest=manifest | unchanged, changes=changes, refusals=refusals)


def _check_version(live: Object, before: Object) -> None:
    """Raise UnknownError for an object in another version, which may have fields elsewhere."""
    versions = [objects.api_version_and_kind(each)[0] for each in (live, before)]
    if versions[0] != versions[1]:
        text = f"the dump has {manifests.describe(live)} as {versions[0]}"
        raise UnknownError(f"{text}, and it is desired as {versions[1]}")


def list_violations(
    manifest: Object, catalog: Catalog, part: str = "", *, is_new: bool = False
) -> list[str]:
    """Return what the schema of a CRD or XRD does not allow below ``part`` of an object.

    ``is_new``: so do its rules in CEL, if they can be evaluated.
    A server-side apply of a field that is not in the schema is refused, too. Which version of
    Kubernetes' own kinds a cluster has is not known: of these, it is what all versions refuse.
    """
    type_ = objects.api_version_and_kind(manifest)
    if not catalog.is_extension(type_) and (versions := catalog.list_versions(*type_)):
        return [f"{type_[1]}: it has {' and '.join(versions)}, and no {type_[0]}"]
    if catalog.find(*type_) is None and (other := builtin.find_other_version(*type_, ())):
        return [f"{type_[1]}: Kubernetes {builtin.version()} has it in {other}, not in {type_[0]}"]
    comparison = catalog.compare(manifest) if catalog.is_extension(type_) else None
    problems = comparison.problems if comparison else server_rules.compare(manifest)
    texts = [each.message for each in problems if each.path.startswith(part)]
    if comparison and is_new:
        texts += xr_validation.find_refusals(comparison.value, None, comparison.schema)[0]
    return [f"{type_[1]}: {each}" for each in texts]


def _set_nulls(
    manifest: Object, removed: Iterable[Path], live: Object, schema: Object, lists: Lists
) -> list[Path]:
    """Make null of maps that have lost their last field, and return their paths.

    So does the API server, unless the map belongs to its managers as a whole. Without a schema,
    what comes back is not known.
    """
    emptied: list[Path] = []
    if not schema:
        return emptied
    for path in dict.fromkeys(each[:-1] for each in removed if len(each) > 1):
        part = structural_schema.find(schema, lists.to_indexes(path, manifest)) or {}
        is_whole = path[0] == "metadata" or part.get("x-kubernetes-map-type") == "atomic"
        if (
            not is_whole
            and objects.find_path(manifest, path) == {}
            and objects.find_path(live, path)
        ):
            manifests.object_at(manifest, *map(str, path[:-1]))[str(path[-1])] = None
            emptied.append(path)
    return emptied


def _with_data(manifest: Object, texts: Object) -> Object:
    """Return a Secret with ``texts`` in its data in place of stringData, as it is stored."""
    if objects.api_version_and_kind(manifest) != manifests.SECRET:
        return manifest
    parts = {key: part for key, part in manifest.items() if key != "stringData"}
    return parts | {"data": manifests.object_at(manifest, "data") | texts}


def _encode_texts(secret: Object) -> Object:
    """Return the stringData as the API server writes it into the data."""
    texts = manifests.texts_at(secret, "stringData")
    return {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}


def _to_written(path: Path, desired: Object) -> Path:
    """Return where a program writes a field: of two with one name, stringData counts."""
    text_path = ("stringData", *path[1:])
    is_text = path[0] == "data" and objects.find_path(desired, text_path) is not None
    return text_path if is_text else path


def _remove(manifest: Object, path: Path, live: Object) -> None:
    """Remove a field, but for what other managers have of it."""
    if any(isinstance(key, int) for key in path) or objects.find_path(live, path) is None:
        return
    applied = managed_fields.applied_configuration(live)
    if applied is None:
        raise UnknownError(
            f'"{format_path(path)}" of {manifests.describe(live)} is desired no longer, and the '
            "dump has no managedFields that say whose it is"
        )
    # A text of stringData stays in the data, where nobody has it.
    if objects.find_path(applied, path) is None:
        return
    *above, name = map(str, path)
    parent = manifests.object_at(manifest, *above)
    del parent[name]
    for part in managed_fields.parts_of_others(live, [*above, name]):
        objects.merge(parent, {name: part})


def find_drift(live: Object, before: Object, catalog: Catalog) -> Iterator[Path]:
    """Yield the fields of an object that are not what ``before`` desires; none if nobody knows."""
    # Crossplane applies stringData, which the object has in its data alone.
    stored = {"stringData": manifests.object_at(live, "data"), **live}
    desired = manifests.copy(_with_data(before, _encode_texts(before)))
    managed_fields.remove_crossplane_metadata(desired)
    applied = managed_fields.applied_configuration(stored)
    # Most objects are as they should be, and need no maps.
    if applied is None or not any(objects.compare_values(applied, desired, ())):
        return
    schema = catalog.find(*objects.api_version_and_kind(before)) or {}
    lists = Lists(live, schema)
    applied = managed_fields.applied_configuration(lists.to_maps(stored)) or {}
    applied = _with_data(applied, manifests.object_at(applied, "stringData"))
    complete = lists.to_maps(structural_schema.complete(desired, schema, drops_nulls=False))
    desired = lists.to_maps(desired)
    for path, current, value in objects.compare_values(applied, desired, ()):
        # Such a value of an object is applied as a whole, with the defaults below it.
        is_default = value is None and (
            objects.find_path(complete, path) == current
            or objects.find_path(before, lists.to_indexes(path[:-1], desired)) == {}
        )
        is_masked = None not in (current, value) and path[0] == "data" and dump.is_masked(live)
        # Nobody has lists without items.
        is_empty = isinstance(value, dict) and lists.drop_empty(value, live=True, path=path) is None
        # Own kinds drop a map without a field.
        is_dropped = value == {} and objects.find_path(live, path) is None
        if not (is_default or is_masked or is_dropped or is_empty):
            yield lists.to_indexes(path, desired, applied)
