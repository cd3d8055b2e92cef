"""Show what a Composition makes of an XR, as Crossplane would, without a cluster.

Called by the command line with everything loaded. The steps are run by a callable, so that this
knows nothing of sandboxes, networks or files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from function_script import objects
from function_script.tools import manifests
from function_script.tools.render import messages, pipeline, steps, xrds
from function_script.tools.render import xr as xrs
from function_script.tools.render.compose import Composition, compose, failed, untouched
from function_script.tools.render.pipeline import Event, InitialState, PipelineError
from function_script.tools.render.requirements import RequirementSource
from function_script.tools.render.schemas import Schemas
from function_script.tools.render.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from function_script.source import Span
    from function_script.tools.render.requirements import Runner
    from function_script.tools.render.xr import Xr
    from function_script.values import Object


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderInputs:
    """What there is to render, and what stands in for the cluster.

    ``spans`` gives the file and line of observed resources, by their place. ``schemas`` are
    OpenAPI documents. ``is_ready``: somebody has checked the Composition, and filled in the XRD's
    defaults, as the official command does before it asks an engine.
    """

    xr: Object
    composition: Object
    observed: Sequence[Object] = ()
    required: Sequence[Object] = ()
    credentials: Sequence[Object] = ()
    schemas: Sequence[Object] = ()
    xrd: Object | None = None
    context: Object = field(default_factory=dict)
    spans: Mapping[int, Span] = field(default_factory=dict)
    is_ready: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderResult:
    """What came out: ``xr`` as given, with the XRD's defaults; what is composed; the context.

    ``requirements`` know what functions asked for; None when no function was called. After a FATAL
    result in ``failure``, the rest is what Crossplane would write and tell of it.
    """

    xr: Object
    composition: Composition
    events: tuple[Event, ...]
    context: Object | None
    requirements: RequirementSource | None = None
    failure: PipelineError | None = None


def render(given: RenderInputs, runner: Runner) -> RenderResult:
    """Raises InputError for what cannot be rendered, PipelineError for a FATAL result."""
    result = reconcile(given, runner)
    if result.failure is not None:
        raise result.failure
    return result


def reconcile(given: RenderInputs, runner: Runner) -> RenderResult:
    """`render` that also returns what there is after a FATAL result. Raises InputError."""
    xr = _identify(given)
    todo = steps.parse(given.composition, is_lenient=given.is_ready)
    xrs.check_observed(xr, given.observed, given.spans)
    xrs.prepare(xr, given.composition, given.observed)
    if xr.is_paused or xr.is_deleted:
        composition = untouched(xr)
        return RenderResult(
            xr=xr.file, composition=composition, events=composition.events, context=None
        )
    store = _store(xr, given)
    observed = _observed(xr, given, store)
    source = RequirementSource(store=store, schemas=Schemas(given.schemas))
    start = InitialState(observed=_state(xr, observed, store), context=given.context)
    outcome = pipeline.run(todo, start, source, runner)
    composition = (compose if outcome.failure is None else failed)(xr, observed, outcome)
    events = (*_selection(xr, given.composition), *composition.events)
    return RenderResult(
        xr=xr.file,
        composition=composition,
        events=events,
        context=outcome.context,
        requirements=source,
        failure=outcome.failure,
    )


def _identify(given: RenderInputs) -> Xr:
    is_legacy = xrds.is_legacy(given.xrd)
    steps.check_type(given.composition, given.xr)
    if not given.is_ready:
        steps.check_selector(given.composition, given.xr, is_legacy=is_legacy)
    file: Object = {key: objects.deep_copy(value) for key, value in given.xr.items()}
    if given.xrd is not None:
        xrds.check_match(given.xrd, file)
        if not given.is_ready:
            xrds.add_defaults(file, given.xrd)
    return xrs.identify(file, is_legacy=is_legacy)


def _store(xr: Xr, given: RenderInputs) -> Store:
    secrets = messages.secrets(given.credentials)
    return Store([xr.manifest, *given.observed, *given.required, *secrets])


def _observed(xr: Xr, given: RenderInputs, store: Store) -> dict[str, Object]:
    """Observed resources by name, as they are in the store."""
    observed = {}
    for manifest in given.observed:
        namespace = xr.namespace or manifests.namespace(manifest)
        type_ = (manifests.text_at(manifest, "apiVersion"), manifests.text_at(manifest, "kind"))
        found = store.find(*type_, namespace, manifests.name(manifest)) or manifest
        observed[manifests.annotation(found, manifests.RESOURCE_NAME)] = found
    return observed


def _state(xr: Xr, observed: Mapping[str, Object], store: Store) -> messages.State:
    return messages.state(
        _with_details(xr.manifest, store, has_details=xr.is_legacy),
        {name: _with_details(item, store, has_details=True) for name, item in observed.items()},
    )


def _with_details(manifest: Object, store: Store, *, has_details: bool) -> messages.Observed:
    """The object and the data of the Secret it writes its connection details to."""
    reference = manifests.object_at(manifest, "spec", "writeConnectionSecretToRef")
    namespace = manifests.namespace(manifest) or manifests.text_at(reference, "namespace")
    secret = store.find("v1", "Secret", namespace, manifests.text_at(reference, "name"))
    if secret is None or not has_details:
        return messages.Observed(manifest=manifest)
    return messages.Observed(manifest=manifest, connection_details=messages.secret_data(secret))


def _selection(xr: Xr, composition: Object) -> Iterator[Event]:
    """What is told before the pipeline runs."""
    if xr.is_requested:
        message = "Handling reconcile request"
        yield Event(severity="Normal", reason="ReconcileRequestHandled", message=message)
    if xr.selects_anew:
        message = f"Successfully selected composition: {manifests.name(composition)}"
        yield Event(severity="Normal", reason="SelectComposition", message=message)
