"""Run a Composition, or a single input, as a KRM function: a ResourceList in, a ResourceList out.

The list is the cluster: it holds the XRs, what was composed for them before, Functions, XRDs and
the objects that steps require. It is rendered as by `render`, and only changed items are written.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from function_script.request import objects
from function_script.request.reader import format_path
from function_script.request.values import Object, Value
from function_script.sandbox.pool import Pool
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, InputError
from function_script.texts.source import Source
from function_script.tools import author_positions, manifests
from function_script.tools.krm import program, resource_list
from function_script.tools.krm.resource_list import Composite, Item, Result, Severity
from function_script.tools.render import (
    RenderInputs,
    functions,
    loading,
    renderer,
    steps,
    validation,
)
from function_script.tools.render.compose import RenderResult, list_notable
from function_script.tools.render.pipeline import PipelineError
from function_script.tools.render.renderer import Renderer, Rendering
from function_script.tools.render.xr import XrError
from function_script.tools.validate.catalog import Catalog, is_crd
from function_script.tools.xrds import is_xrd

# Fields of an XR's status that record the state of a cluster.
_RECORDS: Final = {"conditions", "claimConditionTypes", "lastHandledReconcileAt"}


def run(
    source: Source, paths: loading.PipelinePaths, options: renderer.Options, pool: Pool
) -> tuple[str, Sequence[Result]]:
    """Run the functionConfig; return the ResourceList to write, and the results in it.

    ``paths`` are those of the objects and the context that do not come with the list. After an
    error the items stay as they are. Raises FatalError if ``source`` is no ResourceList.
    """
    shared = loading.load_shared(paths, RenderInputs(xr={}, composition={}))
    request = resource_list.parse(source)
    results: list[Result] = []
    values: Sequence[Value] | None = None
    try:
        function = program.read(request.config, paths)
        items = resource_list.read_items(request.items)
        run_ = _Run(function=function, options=options, shared=shared, pool=pool, notes=results)
        values = run_.apply(items)
    except FatalError as error:
        subject = request.config and resource_list.without_transport(request.config)
        results += [
            Result(severity="error", problem=problem, subject=subject)
            for problem in error.diagnostics
        ]
    after = request.items if values is None else values
    return request.write(after, [result.to_object() for result in results]), results


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One functionConfig over the items of a list; ``notes`` receives problems and events."""

    function: program.Program
    options: renderer.Options
    shared: RenderInputs
    pool: Pool
    notes: list[Result]

    def apply(self, before: Sequence[Item]) -> list[Value] | None:
        """Return the new items: changed ones in their place, new ones at the end.

        None: an XR cannot be rendered, and ``notes`` has the reason. Raises FatalError.
        """
        function = self.function
        composites = resource_list.find_composites(before, function.value, function.type)
        if not composites:
            api_version, kind = function.type or ("", "")
            problem = Diagnostic(message=f"no item is a {kind} of {api_version}: nothing is done")
            self.notes.append(self._of_config("warning", problem))
        after: dict[int, Value] = {item.index: item.value for item in before}
        added: list[Value] = []
        for composite in composites:
            rendering = self._render(composite)
            if rendering is None:
                return None
            result = rendering.result
            for event in list_notable(result):
                self._note(event.severity, Diagnostic(message=event.message), composite.xr)
            if result.requirements is not None:
                added += _update(composite, result, after)
                self._delete(composite, rendering, after)
        return [*after.values(), *added]

    def _render(self, composite: Composite) -> Rendering | None:
        composition = self.function.composition(composite.xr.manifest)
        packages = functions.select(item.manifest for item in composite.others)
        index = functions.FunctionIndex(manifests=packages, options=self.options)
        list_renderer = Renderer(self.pool, index.find_runtimes, self.options)
        try:
            inputs = self._inputs(composite, composition)
            rendering = list_renderer.reconcile(inputs, self.function.origin)
            if rendering.result.failure is not None:
                raise rendering.result.failure
        except XrError as error:
            self.notes.extend(_of_xr("error", each, composite.xr) for each in error.diagnostics)
            return None
        except PipelineError as error:
            self.notes.extend(self._of_step(each, error.step) for each in error.diagnostics)
            return None
        except FatalError as error:
            self.notes.extend(map(self._of_composition, error.diagnostics))
            return None
        for problem, severity in validation.validate(rendering, Catalog(inputs.definitions)):
            self.notes.append(self._of_config("info" if severity == "note" else "warning", problem))
        return rendering

    def _inputs(self, composite: Composite, composition: Object) -> RenderInputs:
        xr = composite.xr.manifest
        others = [item.manifest for item in composite.others]
        earlier = composite.composed if self.function.is_step else {}
        definitions = [item for item in others if is_xrd(item) or is_crd(item)]
        xrds = (
            each
            for each in filter(is_xrd, definitions)
            if manifests.defined_type(each) == manifests.key_of(xr)[:2]
        )
        return replace(
            self.shared,
            xr=xr,
            composition=composition,
            observed=[
                resource_list.observed(name, item, has_owner=_has_uid(xr))
                for name, item in composite.composed.items()
            ],
            desired={name: resource_list.desired(item) for name, item in earlier.items()},
            xrd=next(xrds, None),
            definitions=definitions,
            report=lambda problem, severity: self._note(severity, problem, composite.xr),
            # Of two with one name the last counts: that of the command line.
            required=[*others, *self.shared.required],
        )

    def _delete(self, composite: Composite, rendering: Rendering, after: dict[int, Value]) -> None:
        """Delete what is desired no longer, unless a step that may desire it was left out."""
        stale = [
            item
            for name, item in composite.composed.items()
            if name not in rendering.result.resources
        ]
        if stale and rendering.skipped:
            message = f'nothing is deleted, because step "{rendering.skipped[0]}" was left out'
            self._note("warning", Diagnostic(message=message), composite.xr)
            return
        for item in stale:
            del after[item.index]

    def _note(self, severity: str, problem: Diagnostic, xr: Item) -> None:
        """Add a warning about an XR, or an event of one; others than warnings inform."""
        is_warning = severity.lower() == "warning"
        self.notes.append(_of_xr("warning" if is_warning else "info", problem, xr))

    def _of_step(self, problem: Diagnostic, step: steps.Step) -> Result:
        """Return the result of a problem in a step's program or input."""
        function, origin = self.function, self.function.origin
        path = function.own_path(step.input_path)
        span, value = problem.span, step.input or {}
        inner = None if span is None else author_positions.find_text(span, value)
        inner = inner or objects.read_path(problem.field)[1:]
        # A text has no fields.
        field_path = function.path or (*path, *inner)
        if origin is not None:
            step_input = origin.input_of(step)
            problem = author_positions.map_to_source(problem, step_input, origin.programs)
        elif span is not None and inner:
            name = format_path(field_path)
            problem = replace(problem, span=replace(span, name=name))
        return self._of_config("error", problem, field_path)

    def _of_config(
        self, severity: Severity, problem: Diagnostic, path: objects.Path = ()
    ) -> Result:
        config = self.function.config
        return Result(severity=severity, problem=problem, subject=config, path=path)

    def _of_composition(self, problem: Diagnostic) -> Result:
        """Return the result of a problem with a field of the Composition."""
        function = self.function
        path = function.own_path(objects.read_path(problem.field))
        if function.document is not None and path:
            problem = author_positions.locate(problem, function.document, path)
        return self._of_config("error", problem, function.path or path)


def _of_xr(severity: Severity, problem: Diagnostic, xr: Item) -> Result:
    path = objects.read_path(problem.field)
    return Result(severity=severity, problem=problem, subject=xr.value, path=path)


def _update(composite: Composite, result: RenderResult, after: dict[int, Value]) -> list[Value]:
    """Write what an XR composes into ``after``, by index; return the items that are new."""
    xr = composite.xr
    status = manifests.object_at(result.xr, "status")
    desired = {key: item for key, item in status.items() if key not in _RECORDS}
    current = manifests.object_at(xr.value, "status")
    if not all(objects.is_same(current.get(key), item) for key, item in desired.items()):
        after[xr.index] = {**xr.value, "status": {**current, **desired}}
    others = {manifests.key_of(item.manifest): item for item in composite.others}
    # The alpha design marks the XR, too.
    is_alpha = bool(manifests.annotation(xr.value, resource_list.TYPE))
    has_owner = _has_uid(xr.manifest)
    added: list[Value] = []
    resources = result.resources
    for name, manifest in resources.items():
        if other := others.get(manifests.key_of(manifest)):
            text = resource_list.find_misshapen_annotation(other.value)
            raise InputError.of(
                f'cannot add resource "{name}": the list already has '
                f"{manifests.describe(manifest)}, which it is not",
                hint=f"its annotation {text} is not a text: quote the value"
                if text
                else f"if it is, give it the annotation {manifests.RESOURCE_NAME}: {name}",
            )
        before = composite.composed.get(name)
        value = resource_list.to_item(
            manifest,
            None if before is None else before.value,
            name if is_alpha else "",
            has_owner=has_owner,
        )
        if before is None:
            added.append(value)
        else:
            after[before.index] = value
    return added


def _has_uid(xr: Object) -> bool:
    return bool(manifests.text_at(xr, "metadata", "uid"))
