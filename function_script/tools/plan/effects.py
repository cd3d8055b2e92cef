"""The effect of a change of desired objects on the objects of a cluster: a server-side apply.

Crossplane applies with a field manager of its own. A field that it no longer desires goes if no
other manager has it, and then its default comes back.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, cast

from function_script.request import objects
from function_script.request.objects import Path
from function_script.request.reader import format_path
from function_script.request.values import Object, Readable
from function_script.step.sequencing import managed_fields
from function_script.tools import manifests, structural_schema
from function_script.tools.manifests import compare_values
from function_script.tools.plan.dump import UnknownError
from function_script.tools.plan.lists import Lists


class FieldChange(NamedTuple):
    """A field whose desired value changes; ``after`` is what the object has then.

    ``is_certain`` is False where a default may come back that is not at hand.
    """

    path: Path
    before: Readable
    after: Readable
    is_certain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The changes of an object, and the object after them, with the defaults of ``schema``."""

    manifest: Object
    changes: list[FieldChange]


def apply(live: Object | None, before: Object, after: Object, schema: Object | None) -> Effect:
    """Return what it does to an observed object that ``after`` is desired in place of ``before``.

    Without an object, the desired values are those that change. Raises UnknownError if a field is
    desired no longer and nothing says who has it.
    """
    differences = [*compare_values(before, after, ())]
    if live is None:
        return Effect(manifest=after, changes=[FieldChange(*each) for each in differences])
    if not differences:
        return Effect(manifest=live, changes=[])
    lists = Lists(live, schema)
    current, former, desired = map(lists.to_maps, (live, before, after))
    differences = [*compare_values(former, desired, ())]
    mapped = cast("Object", objects.deep_copy(current))
    for path, _, new in differences:
        if new is None:
            _remove(mapped, path, current)
    objects.merge(mapped, desired)
    manifest = cast("Object", lists.to_lists(mapped))
    if schema is not None:
        structural_schema.add_defaults(manifest, schema)
        mapped = lists.to_maps(manifest)
    changes = []
    for path, old, new in differences:
        # Who has the items of such a list is not known.
        is_listed = any(isinstance(key, int) for key in path)
        value = new if is_listed else objects.find_path(mapped, path)
        has_no_default = schema is not None or path[0] == "metadata" or lists.is_item(path)
        is_certain = value is not None or has_no_default or is_listed
        is_changed = [*compare_values(objects.find_path(current, path), value, ())]
        if is_listed or is_changed or not is_certain:
            changes.append(
                FieldChange(
                    lists.to_indexes(path, desired, former),
                    lists.to_lists(old, path),
                    lists.to_lists(value, path),
                    is_certain,
                )
            )
    return Effect(manifest=manifest, changes=changes)


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
    if objects.find_path(applied, path) is None:
        return
    *above, name = map(str, path)
    parent = manifests.object_at(manifest, *above)
    del parent[name]
    for part in managed_fields.parts_of_others(live):
        if name in (fields := manifests.object_at(part, *above)):
            objects.merge(parent, {name: fields[name]})


def find_drift(live: Object, before: Object, schema: Object | None) -> Iterator[Path]:
    """Yield the fields of an object that are not what ``before`` desires; none if nobody knows."""
    lists = Lists(live, schema)
    applied = managed_fields.applied_configuration(lists.to_maps(live))
    if applied is not None:
        desired = lists.to_maps(before)
        managed_fields.remove_crossplane_metadata(desired)
        for path, _, _ in compare_values(applied, desired, ()):
            yield lists.to_indexes(path, desired, applied)
