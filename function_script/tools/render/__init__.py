"""Render a Composition for an XR as Crossplane does, without a cluster.

Everything is loaded before, and the functions are called by a callable: nothing here knows
sandboxes, networks or files.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from function_script.request import objects
from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.source import Span
from function_script.tools import manifests
from function_script.tools.render import conditions, messages, pipeline, steps
from function_script.tools.render import xr as xrs
from function_script.tools.render.compose import (
    RenderResult,
    compose,
    failed,
    list_selections,
    untouched,
)
from function_script.tools.render.requirements import PipelineInputs, RequirementSource, Runner
from function_script.tools.render.xr import Xr, XrError


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderInputs(PipelineInputs):
    """An XR, its Composition, and the objects of the cluster.

    ``desired`` are composed resources that steps desire which ran elsewhere, by resource name.
    ``spans`` are the positions of observed resources, if they are known. ``report`` gets what the
    validation of the XR against ``xrd`` finds besides errors, with a severity: ``warning`` or
    ``note``. None: the XR is not validated. ``definitions`` are the XRD, and CRDs and
    XRDs of composed resources.
    """

    xr: Object
    composition: Object
    observed: Sequence[Object] = ()
    desired: Mapping[str, Object] = field(default_factory=dict)
    xrd: Object | None = None
    definitions: Sequence[Object] = ()
    spans: Sequence[Span | None] = ()
    report: Callable[[Diagnostic, str], None] | None = None

    def follow(self, result: RenderResult) -> Self:
        """Return the inputs of the next reconcile, with all ready that was composed."""
        # A new object has no status of a former one with its resource name.
        current = {
            (manifests.annotation(each, manifests.RESOURCE_NAME), manifests.key_of(each)): each
            for each in self.observed
        }
        observed = [
            manifests.copy(current.get((name, manifests.key_of(manifest)), {}), manifest)
            for name, manifest in result.resources.items()
        ]
        for each in observed:
            conditions.make_ready(each)
        return replace(self, xr=manifests.copy(self.xr, result.xr), observed=observed, spans=())


def reconcile(
    inputs: RenderInputs, pipeline_steps: Sequence[steps.Step], runner: Runner
) -> RenderResult:
    """Run the steps and compose; return a result after a FATAL result, too.

    Raises InputError if the inputs cannot be rendered.
    """
    xr = _identify(inputs)
    xrs.check_observed(xr, inputs.observed, inputs.spans)
    xrs.prepare(xr, inputs.composition, inputs.observed)
    if xr.is_paused or xr.is_deleted:
        return untouched(xr)
    # A step may require the XR and its composed resources, which are objects of the cluster, too.
    source = RequirementSource.build(inputs, [xr.manifest, *inputs.observed])
    observed: dict[str, Object] = {}
    for manifest in inputs.observed:
        namespace = xr.namespace or manifests.namespace(manifest)
        type_ = objects.api_version_and_kind(manifest)
        # Of two with one key the store has the last.
        current = source.store.find(*type_, namespace, manifests.name(manifest)) or manifest
        observed[manifests.annotation(current, manifests.RESOURCE_NAME)] = current
    state = messages.state(observed)
    messages.write_struct(state.composite.resource, xr.manifest, at="", error_type=XrError)
    # Only XRs of scope LegacyCluster have connection secrets in Crossplane 2.
    if xr.is_legacy:
        state.composite.connection_details.update(_find_details(xr.manifest, source))
    for name, manifest in observed.items():
        state.resources[name].connection_details.update(_find_details(manifest, source))
    start = messages.make_start(inputs.context, messages.state(inputs.desired))
    outcome = pipeline.run(pipeline_steps, state, start, source, runner)
    result = failed(xr, outcome) if outcome.failure else compose(xr, observed, outcome)
    return replace(
        result,
        events=(*list_selections(xr, inputs.composition), *result.events),
        context=outcome.context,
        requirements=outcome.requirements,
        failure=outcome.failure,
    )


def _identify(inputs: RenderInputs) -> Xr:
    is_legacy = xrs.is_legacy(inputs.xrd)
    if inputs.xrd is None and (problems := [*manifests.find_misshapen(inputs.xr)]):
        raise XrError(*problems)
    xrs.check_identity(inputs.xr)
    file = manifests.copy(inputs.xr)
    if inputs.xrd is not None:
        xrs.check_match(inputs.xrd, file)
        if not inputs.is_prepared:
            # The API server validates an object after it has filled in the defaults.
            file = xrs.complete(file, inputs.xrd)
    steps.check_type(inputs.composition, inputs.xr)
    if not inputs.is_prepared:
        steps.check_selector(inputs.composition, inputs.xr, is_legacy=is_legacy)
    if inputs.xrd is not None and inputs.report is not None:
        _validate(file, inputs.xrd, inputs.report)
    return xrs.identify(file, is_legacy=is_legacy)


def _validate(xr: Object, xrd: Object, report: Callable[[Diagnostic, str], None]) -> None:
    """Raise XrError if the API server refuses the XR; report what it drops."""
    from function_script.tools import xr_validation  # noqa: PLC0415 - slow, and seldom needed

    verdict = xr_validation.validate(xr, xrd)
    for warning in verdict.warnings:
        report(warning, "warning")
    for note in verdict.notes:
        report(note, "note")
    if verdict.errors:
        raise XrError(*verdict.errors)


def _find_details(manifest: Object, source: RequirementSource) -> dict[str, bytes]:
    """Return the data of an object's connection secret."""
    secret = source.store.find(*manifests.SECRET, *manifests.details_place(manifest))
    return {} if secret is None else messages.secret_data(secret)
