"""What exists when a step runs, and how it goes on after a step: a small cluster of plain objects.

Called for every step. As in a cluster, an object holds what the Composition wants and what others
wrote; of what is wanted no more, nothing stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from function_script import objects
from function_script.diagnostics import Diagnostic
from function_script.errors import InputError
from function_script.fields import nearest
from function_script.tools import manifests
from function_script.tools.cases.model import Located
from function_script.tools.cases.ownership import managed_fields
from function_script.tools.render import conditions, names_and_uids, xrds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from function_script.fields import ObjectReader
    from function_script.tools.cases.loader import ObjectLoader
    from function_script.tools.cases.model import Setup, Step
    from function_script.tools.render import RenderResult
    from function_script.values import Object


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeCluster:
    """What is there before a step.

    ``xr`` is the author's, ``written`` what Crossplane wrote to it. ``observed`` and ``required``
    are whole objects; ``foreign`` is what others than Crossplane wrote to the observed ones, and
    ``composed`` what Crossplane wrote, both by resource name.
    """

    xr: Object
    written: Object = field(default_factory=dict)
    observed: Sequence[Located] = ()
    required: Sequence[Object] = ()
    foreign: Mapping[str, Object] = field(default_factory=dict)
    composed: Mapping[str, Object] = field(default_factory=dict)

    def whole_xr(self) -> Object:
        """The XR as it is in the cluster."""
        return _merged(self.xr, self.written)


def read(
    loader: ObjectLoader, fields: ObjectReader, xr: Object, default: Path | None = None
) -> list[Located]:
    """The observed resources of a case or a step.

    As objects and files, or as a map of resource names to objects: those get the identity that
    Crossplane would have given them, where they state none.
    """
    found = fields.value.get("observed")
    if not isinstance(found, dict) or "apiVersion" in found:
        return loader.all(fields, "observed", default)
    named = fields.object("observed")
    members = [] if named is None else named.members()
    return [
        Located(value=_identified(name, item.value, xr))
        for name, item in members
        if item is not None
    ]


def _identified(name: str, stated: Object, xr: Object) -> Object:
    uid = manifests.text_at(xr, "metadata", "uid") or names_and_uids.xr_uid(
        *objects.api_version_and_kind(xr), manifests.namespace(xr), manifests.name(xr)
    )
    made: Object = {"metadata": {"name": names_and_uids.child_name(manifests.name(xr), uid, name)}}
    manifests.set_text(made, manifests.namespace(xr), "metadata", "namespace")
    whole = _merged(made, stated)
    manifests.add_texts(whole, {manifests.RESOURCE_NAME: name}, "metadata", "annotations")
    return whole


def begin(world: FakeCluster, step: Step) -> FakeCluster:
    """The world in which ``step`` runs. Raises InputError for names that do not exist."""
    if step.observed is None:
        foreign = {name: world.foreign.get(name, {}) for name in world.composed}
        whole = {name: _applied(foreign[name], world.composed[name], world.xr) for name in foreign}
        spans = {}
    else:
        foreign = {_resource_name(item.value): item.value for item in step.observed}
        whole = dict(foreign)
        spans = {_resource_name(item.value): item.span for item in step.observed}
    _check_names(step, whole)
    for name in {*step.ready, *step.changed}:
        foreign[name] = _happened(step, name, foreign[name])
        whole[name] = _happened(step, name, whole[name])
    return FakeCluster(
        xr=_merged(world.xr, step.patch),
        written=world.written,
        observed=[Located(value=item, span=spans.get(name)) for name, item in whole.items()],
        required=world.required if step.required is None else step.required,
        foreign=foreign,
        composed=world.composed,
    )


def advance(world: FakeCluster, setup: Setup, result: RenderResult) -> FakeCluster:
    """The world after a pipeline ran: what it composed exists, the XR has its status."""
    return replace(
        world,
        written=_written(setup, result),
        foreign={name: world.foreign.get(name, {}) for name in result.composition.resources},
        composed=result.composition.resources,
    )


def _written(setup: Setup, result: RenderResult) -> Object:
    """What Crossplane has written to the XR: references, status, and what it selected."""
    written = _merged(result.composition.xr, {})
    machinery = ("spec",) if xrds.is_legacy(setup.xrd) else ("spec", "crossplane")
    composition = manifests.name(setup.program.composition)
    manifests.set_text(written, composition, *machinery, "compositionRef", "name")
    label = {manifests.COMPOSITE: manifests.name(result.xr)}
    manifests.add_texts(written, label, "metadata", "labels")
    return written


def _happened(step: Step, name: str, manifest: Object) -> Object:
    """An observed resource after what the step says happened to it."""
    changed = _merged(manifest, step.changed.get(name, {}))
    if name in step.ready:
        conditions.mark(changed, [conditions.SYNCED, conditions.AVAILABLE])
    return changed


def _check_names(step: Step, observed: Mapping[str, Object]) -> None:
    problems = []
    for key, names in (("ready", step.ready), ("changed", step.changed)):
        for name in sorted(set(names) - observed.keys()):
            near = nearest(name, observed)
            hint = f'did you mean "{near}"?' if near else "the steps before have composed none"
            message = f'{key}: there is no composed resource "{name}"'
            problems.append(Diagnostic(message=message, hint=hint))
    if problems:
        raise InputError(*problems)


def _resource_name(manifest: Object) -> str:
    return manifests.annotation(manifest, manifests.RESOURCE_NAME)


def _applied(foreign: Object, composed: Object, xr: Object) -> Object:
    whole = _merged(foreign, composed)
    objects.merge(whole, {"metadata": {"managedFields": [managed_fields(composed, xr)]}})
    return whole


def _merged(base: Object, added: Object) -> Object:
    whole: Object = {key: objects.deep_copy(value) for key, value in base.items()}
    objects.merge(whole, added)
    return whole
