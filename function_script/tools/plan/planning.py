"""Plan a change of Compositions for every XR of a dump: render each before and after the change.

An XR is never without changes where this cannot know: then it is unknown, with the reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from function_script.documents import Document
from function_script.request import objects
from function_script.request.values import Object
from function_script.sandbox import Pool
from function_script.texts.errors import FatalError, InputError
from function_script.tools import local_pool, manifests, xr_validation, xrds
from function_script.tools.check import searching
from function_script.tools.check.report import Skipped
from function_script.tools.plan import changes, effects
from function_script.tools.plan.changes import Change
from function_script.tools.plan.dump import (
    MACHINERY,
    Dump,
    Key,
    UnknownError,
    key_of,
    text_at_machinery,
)
from function_script.tools.project import Project
from function_script.tools.render import RenderInputs, functions, loading, renderer
from function_script.tools.render.functions import FunctionIndex
from function_script.tools.render.positions import Origin
from function_script.tools.render.renderer import Answers, Renderer, Rendering
from function_script.tools.validate.catalog import Catalog

Verdict: TypeAlias = Literal["planned", "unchanged", "unknown", "stays", "fails", "invalid"]

_FUNCTION: Final = ("pkg.crossplane.io", "Function")
_REVISION: Final = ("apiextensions.crossplane.io", "CompositionRevision")
_XRD: Final = ("apiextensions.crossplane.io", "CompositeResourceDefinition")
_MAX_DEPTH: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``before`` is a directory of Compositions; None: those of the dump."""

    rendering: renderer.Options
    before: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class XrPlan:
    """The plan of one XR; ``reason`` is why it is unknown, stays, fails or is invalid.

    ``drift`` are the fields whose observed values are not those that are desired before the change.
    """

    xr: str
    composition: str
    verdict: Verdict
    reason: str = ""
    changes: Sequence[Change] = ()
    drift: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """A Composition; ``document`` is None for one of the dump, which is in no file."""

    value: Object
    document: Document | None = None
    programs: Path | None = None

    def origin(self) -> Origin | None:
        if self.document is None:
            return None
        return Origin(document=self.document, programs=self.programs)


def plan(dump: Dump, after: Path, project: Project, options: Options, pool: Pool) -> list[XrPlan]:
    """Plan for all XRs of a dump whose Compositions are below ``after``. Raises FatalError."""
    new, new_xrds = _load(after, project)
    if not new:
        raise InputError.of(f'cannot plan: there is no Composition in "{after}"')
    old = None if options.before is None else _load(options.before, project)[0]
    with ExitStack() as stack:
        return [*_Planner(dump, new, new_xrds, old, options, project, pool, stack).plan()]


def _load(directory: Path, project: Project) -> tuple[dict[str, _Source], list[Object]]:
    """Load the Compositions below a path by their names, and the XRDs. Raises FatalError."""
    sources: dict[str, _Source] = {}
    definitions: list[Object] = []
    for file in searching.find([str(directory)], project, ()):
        if isinstance(file, Skipped):
            continue
        if file.error is not None:
            raise file.error
        for document in file.documents:
            if xrds.is_xrd(document.value):
                definitions.append(document.value)
            if objects.api_version_and_kind(document.value) == manifests.COMPOSITION:
                name = manifests.name(document.value)
                if name in sources:
                    raise InputError.of(
                        f'cannot plan: two Compositions are called "{name}"', span=document.span()
                    )
                programs = local_pool.programs_beside(Path(file.name))
                sources[name] = _Source(value=document.value, document=document, programs=programs)
    return sources, definitions


class _Planner:
    """Plans the XRs of a dump, those first that compose others."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a plan is made of
        self,
        dump: Dump,
        new: Mapping[str, _Source],
        new_xrds: Sequence[Object],
        old: Mapping[str, _Source] | None,
        options: Options,
        project: Project,
        pool: Pool,
        stack: ExitStack,
    ) -> None:
        self._dump = dump
        self._new = new
        self._old = old
        self._options = options
        self._project = project
        # Programs in files have a sandbox that sees their directory; ``stack`` closes it.
        self._pools: dict[Path | None, Pool] = {None: pool}
        self._stack = stack
        # An XRD beside a new Composition takes the place of the dump's.
        self._xrds = {
            manifests.defined_type(each): each
            for each in (*(each for each in dump if key_of(each)[:2] == _XRD), *new_xrds)
        }
        # Schemas of what is composed.
        self._catalog = Catalog([*dump, *new_xrds])
        self._packages = [each for each in dump if key_of(each)[:2] == _FUNCTION]
        self._indexes: dict[str, FunctionIndex] = {}
        # What a parent writes into the spec of an XR that it composes; None: it destroys the XR.
        self._rewrites: dict[Key, Object | None] = {}

    def plan(self) -> Iterator[XrPlan]:
        """Yield the plan of each XR."""
        types = {self._type(each.value) for each in self._new.values()} | self._xrds.keys()
        xrs = {key_of(each): each for each in self._dump if key_of(each)[:2] in types}
        uids = {manifests.text_at(each, "metadata", "uid"): each for each in xrs.values()}
        depths = {key: _depth(xr, uids) for key, xr in xrs.items()}
        for key in sorted(xrs, key=lambda each: (depths[each], each)):
            if plan := self._plan_xr(key, xrs):
                yield plan
                for change in plan.changes:
                    if change.verb == "add" and change.type in types:
                        yield XrPlan(
                            xr=f"{change.object} of {plan.xr}",
                            composition="",
                            verdict="unknown",
                            reason="it is a new XR: what it composes is not planned",
                        )

    def _type(self, composition: Object) -> tuple[str, str]:
        reference = manifests.object_at(composition, "spec", "compositeTypeRef")
        api_version, kind = objects.api_version_and_kind(reference)
        return manifests.group(api_version), kind

    def _plan_xr(self, key: Key, xrs: Mapping[Key, Object]) -> XrPlan | None:
        """Plan one XR; None for one that the change does not concern."""
        xr = xrs[key]
        label = "/".join(part for part in (key[1], *key[2:]) if part)
        name = text_at_machinery(xr, "compositionRef", "name")
        plan = XrPlan(xr=label, composition=name, verdict="unknown")
        is_rewritten = key in self._rewrites
        try:
            observed = self._dump.find_observed(xr)
            if is_rewritten and self._rewrites[key] is None:
                return self._destroy(plan, observed, xrs)
            if not name:
                is_of_change = any(self._type(each.value) == key[:2] for each in self._new.values())
                reason = "it has no compositionRef: Crossplane has not selected one yet"
                return replace(plan, reason=reason) if is_of_change else None
            if name not in self._new and not is_rewritten:
                return None
            old = self._find_old(xr, name)
            new = self._new.get(name, old)
            if not is_rewritten and (reason := self._find_hold(xr, new)):
                return replace(plan, verdict="stays", reason=reason)
            return self._compare(plan, xr, (old, new), observed, xrs)
        except UnknownError as error:
            return replace(plan, reason=str(error))

    def _find_old(self, xr: Object, name: str) -> _Source:
        """Return the Composition before the change."""
        if self._old is not None:
            if name not in self._old:
                raise UnknownError(f'there is no Composition "{name}" before the change')
            return self._old[name]
        revision = text_at_machinery(xr, "compositionRevisionRef", "name")
        value = self._dump.find((*_REVISION, "", revision)) if revision else None
        if value is not None:
            api_version, kind = manifests.COMPOSITION
            metadata: Object = {**manifests.object_at(value, "metadata"), "name": name}
            return _Source(
                value={**value, "apiVersion": api_version, "kind": kind, "metadata": metadata}
            )
        if revision:
            raise UnknownError(f'the dump lacks CompositionRevision "{revision}"')
        group, kind = manifests.group(manifests.COMPOSITION[0]), manifests.COMPOSITION[1]
        value = self._dump.find((group, kind, "", name))
        if value is None:
            raise UnknownError(f'the dump lacks Composition "{name}"')
        return _Source(value=value)

    def _find_hold(self, xr: Object, new: _Source) -> str:
        """Return the reason for which an XR does not follow its Composition; empty if it does."""
        if manifests.annotation(xr, "crossplane.io/paused") == "true":
            return "it is paused"
        if manifests.text_at(xr, "metadata", "deletionTimestamp"):
            return "it is being deleted"
        if text_at_machinery(xr, "compositionUpdatePolicy") == "Manual":
            return "its compositionUpdatePolicy is Manual"
        for path in MACHINERY:
            selected = manifests.texts_at(xr, *path, "compositionRevisionSelector", "matchLabels")
            labels = manifests.labels(new.value)
            if selected and not selected.items() <= labels.items():
                return "its compositionRevisionSelector does not select the new Composition"
        return ""

    def _destroy(
        self, plan: XrPlan, observed: Mapping[str, Object], xrs: Mapping[Key, Object]
    ) -> XrPlan:
        """Plan an XR that the XR above it destroys: so is all that it composes."""
        destroyed = []
        for name, manifest in observed.items():
            if key_of(manifest) in xrs:
                self._rewrites[key_of(manifest)] = None
            destroyed.append(
                Change(
                    verb="destroy",
                    resource=name,
                    object=manifests.describe(manifest),
                    type=key_of(manifest)[:2],
                    step="",
                    span=None,
                )
            )
        reason = "the XR above it no longer composes it"
        return replace(plan, verdict="planned", reason=reason, changes=destroyed)

    def _compare(
        self,
        plan: XrPlan,
        xr: Object,
        sources: tuple[_Source, _Source],
        observed: Mapping[str, Object],
        xrs: Mapping[Key, Object],
    ) -> XrPlan:
        old, new = sources
        key = key_of(xr)
        xrd = self._xrds.get(key[:2])
        if xrd is None:
            raise UnknownError("the dump lacks its XRD")
        api_version = manifests.text_at(new.value, "spec", "compositeTypeRef", "apiVersion")
        if api_version != xr["apiVersion"]:
            raise UnknownError(
                f"the dump has it as {xr['apiVersion']}, and its Composition is for {api_version}"
            )
        new_xr = self._rewrites.get(key) or xr
        if problems := xr_validation.validate(new_xr, xrd).errors:
            return replace(plan, verdict="invalid", reason=problems[0].message)
        # A function that reads the clock or a random number would differ from itself.
        answers: Answers = {}
        before = self._render(old, xr, xrd, observed, answers, "before")
        if failure := before.result.failure:
            raise UnknownError(f"before the change it fails: {failure.diagnostics[0].message}")
        after = self._render(new, new_xr, xrd, observed, answers, "after")
        if failure := after.result.failure:
            return replace(plan, verdict="fails", reason=failure.diagnostics[0].message)
        differences = [*changes.find(observed, before, after, self._catalog)]
        # A program may have written them anywhere, in any form.
        if any(
            self._dump.gives_secrets(
                source.value, [xr, *observed.values()], rendering.result.requirements
            )
            for source, rendering in ((old, before), (new, after))
        ):
            differences = [*map(changes.hide, differences)]
        # Crossplane applies and deletes the other objects all the same.
        refusals = [*changes.find_refusals(observed, before, after, self._catalog)]
        self._hand_down(before, after, xrs, [*observed.values()])
        verdict: Verdict = "planned" if differences else "unchanged"
        return replace(
            plan,
            verdict="invalid" if refusals else verdict,
            reason=", ".join(refusals),
            changes=differences,
            drift=[*changes.find_drift(observed, before)],
        )

    def _render(  # noqa: PLR0913, PLR0917 - what a rendering is made of
        self,
        source: _Source,
        xr: Object,
        xrd: Object,
        observed: Mapping[str, Object],
        answers: Answers,
        when: str,
    ) -> Rendering:
        options = self._options.rendering
        index = self._indexes.get(name := manifests.name(source.value))
        if index is None:
            index = self._indexes[name] = self._load_functions(name)
        if source.programs not in self._pools:
            root = source.programs and self._project.resolve(source.programs)
            pool = self._stack.enter_context(local_pool.open_pool(root))
            self._pools[source.programs] = pool
        render = Renderer(self._pools[source.programs], index, options, answers)
        inputs = RenderInputs(
            xr=xr,
            composition=source.value,
            observed=[*observed.values()],
            xrd=xrd,
            cluster=self._dump.store,
        )
        try:
            rendering = render.reconcile(inputs, source.origin())
        except FatalError as error:
            reason = error.diagnostics[0].message
            raise UnknownError(f"{when} the change it cannot be rendered: {reason}") from error
        if rendering.skipped:
            raise UnknownError(f'step "{rendering.skipped[0]}" was left out')
        self._dump.check(source.value, observed, rendering.result.requirements)
        return rendering

    def _load_functions(self, composition: str) -> FunctionIndex:
        """Load the Functions beside a Composition, else those of the dump. Raises FatalError."""
        values: Sequence[Object] | None = None
        document = self._new[composition].document if composition in self._new else None
        if document is not None and document.origin.source is not None:
            directory = Path(document.origin.source.name).parent
            paths = loading.find_render_paths(directory, self._project)
            values = functions.load(paths.functions, self._project)
        return self._options.rendering.index(
            values if values is not None else self._packages or None
        )

    def _hand_down(
        self,
        before: Rendering,
        after: Rendering,
        xrs: Mapping[Key, Object],
        observed: Sequence[Object],
    ) -> None:
        """Note what the change writes into the XRs that an XR composes."""
        old = {key_of(each): each for each in before.result.composition.resources.values()}
        new = {key_of(each): each for each in after.result.composition.resources.values()}
        for key in map(key_of, observed):
            if key in xrs and key in old and key not in new:
                self._rewrites[key] = None
        for key, manifest in new.items():
            if key in xrs and key in old and old[key].get("spec") != manifest.get("spec"):
                before_spec, after_spec = ({"spec": each[key].get("spec")} for each in (old, new))
                schema = self._catalog.find(*objects.api_version_and_kind(manifest))
                effect = effects.apply(xrs[key], before_spec, after_spec, schema)
                self._rewrites[key] = effect.manifest


def _depth(xr: Object, uids: Mapping[str, Object]) -> int:
    """Return how many XRs are above one; ``uids`` are all XRs by their UIDs."""
    depth = 0
    while depth < _MAX_DEPTH and (owner := manifests.controller(xr)) is not None:
        above = uids.get(str(owner.get("uid")))
        if above is None:
            break
        xr, depth = above, depth + 1
    return depth
