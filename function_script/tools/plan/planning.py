"""Plan a change of Compositions for every XR of a dump: render each before and after the change.

An XR is never without changes where this cannot know: then it is unknown, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from function_script.request.values import Object
from function_script.sandbox import capacity
from function_script.texts.errors import FatalError, InputError
from function_script.tools import manifests, xr_validation, xrds
from function_script.tools.plan import changes
from function_script.tools.plan.changes import Change, Outcome
from function_script.tools.plan.dump import (
    MACHINERY,
    Dump,
    Key,
    UnknownError,
    is_masked,
    key_of,
    text_at_machinery,
)
from function_script.tools.plan.sides import Renderings, Source
from function_script.tools.render import RenderInputs
from function_script.tools.render.renderer import Answers, Rendering
from function_script.tools.validate.catalog import Catalog

Verdict: TypeAlias = Literal["planned", "unchanged", "unknown", "stays", "fails", "invalid"]

_REVISION: Final = ("apiextensions.crossplane.io", "CompositionRevision")
_MAX_DEPTH: Final = 20
# Each process takes a second to start, and the memory of the dump.
_MIN_XRS: Final = 50
_MAX_PROCESSES: Final = 4
_HIDDEN: Final = "the reason is hidden: a step got data of a Secret"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``before`` is a directory of Compositions; None: those of the dump.

    ``until_ready``: what later reconciles do, too, when all is ready that is composed. ``report``
    gets the part of the XRs that are planned, from 0 to 1.
    """

    before: Path | None = None
    until_ready: bool = False
    report: Callable[[float], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class XrPlan:
    """The plan of one XR; ``reason`` is why it is unknown, stays, fails or is invalid.

    ``drift`` are the fields whose observed values are not those that are desired before the change.
    ``order`` is its place among all plans: those of outer XRs come first.
    """

    order: tuple[int, Key]
    xr: str
    composition: str
    verdict: Verdict
    reason: str = ""
    changes: Sequence[Change] = ()
    drift: Sequence[str] = ()


class Planner:
    """Plans the XRs of a dump, those first that compose others.

    ``after`` has the Compositions after the change. Raises FatalError for a file that cannot be
    read, and if there is no Composition.
    """

    def __init__(self, dump: Dump, after: Path, renderings: Renderings, options: Options) -> None:
        new = renderings.load(after)
        if not new.compositions:
            raise InputError.of(f'cannot plan: there is no Composition in "{after}"')
        self._dump = dump
        self._old = None if options.before is None else renderings.load(options.before).compositions
        self._new = new.compositions
        self._renderings = renderings
        self._options = options
        live, changed = (
            {manifests.defined_type(each): each for each in side if xrds.is_xrd(each)}
            for side in (dump, new.definitions)
        )
        # An XRD beside a new Composition takes the place of the dump's.
        self._xrds = live | changed
        self._changed_xrds = {
            type_
            for type_, xrd in changed.items()
            if type_ not in live or [*xrds.to_schemas(xrd)] != [*xrds.to_schemas(live[type_])]
        }
        # Schemas of what is composed.
        self._catalog = Catalog([*dump, *new.definitions])
        types = {each.type for each in self._new.values()} | self._xrds.keys()
        self._xrs = {key_of(each): each for each in dump if key_of(each)[:2] in types}
        self._uids = {
            manifests.text_at(each, "metadata", "uid"): each for each in self._xrs.values()
        }
        # What a parent writes into the spec of an XR that it composes; None: it destroys the XR.
        self._rewrites: dict[Key, Object | None] = {}
        # The XRs of which no step got data of a Secret.
        self._public: set[Key] = set()

    def count_processes(self, inputs: Iterable[Path]) -> int:
        """Return the number of processes in which the plan takes the least time."""
        if any(not each.is_file() and not each.is_dir() for each in inputs):
            # A pipe can be read once.
            return 1
        cpus = capacity.heavy_slots()
        return max(1, min(cpus, _MAX_PROCESSES, len(self._xrs) // _MIN_XRS))

    def plan(self, part: int = 0, part_count: int = 1) -> Iterator[XrPlan]:
        """Yield the plans of the XRs in one of several parts that the change concerns.

        What an XR writes into those that it composes is planned first: all are in one part.
        """
        above = {key: self._find_owners(xr) for key, xr in self._xrs.items()}
        roots = sorted({owners[-1] if owners else key for key, owners in above.items()})
        chosen = {*roots[part::part_count]}
        keys = [key for key, owners in above.items() if chosen.intersection((key, *owners))]
        types = {key[:2] for key in self._xrs} | self._xrds.keys()
        for number, order in enumerate(sorted((len(above[key]), key) for key in keys)):
            if self._options.report is not None:
                self._options.report(number / len(keys))
            plan = self._plan_xr(order)
            if plan is None:
                continue
            yield plan
            for change in plan.changes:
                if change.verb == "add" and change.type in types:
                    yield XrPlan(
                        order=order,
                        xr=f"{change.object} of {plan.xr}",
                        composition="",
                        verdict="unknown",
                        reason="it is a new XR: what it composes is not planned",
                    )

    def _find_owners(self, xr: Object) -> list[Key]:
        """Return the XRs above one, its parent first."""
        owners: list[Key] = []
        while len(owners) < _MAX_DEPTH and (owner := manifests.controller(xr)) is not None:
            above = self._uids.get(str(owner.get("uid")))
            if above is None:
                break
            xr = above
            owners.append(key_of(xr))
        return owners

    def _plan_xr(self, order: tuple[int, Key]) -> XrPlan | None:
        """Plan one XR; None for one that the change does not concern."""
        _, key = order
        xr = self._xrs[key]
        label = "/".join(part for part in (key[1], *key[2:]) if part)
        name = text_at_machinery(xr, "compositionRef", "name")
        plan = XrPlan(order=order, xr=label, composition=name, verdict="unknown")
        is_rewritten = key in self._rewrites
        try:
            observed = self._dump.find_observed(xr)
            if is_rewritten and self._rewrites[key] is None:
                return self._destroy(plan, observed)
            if not name:
                is_of_change = any(each.type == key[:2] for each in self._new.values())
                reason = "it has no compositionRef: Crossplane has not selected one yet"
                return replace(plan, reason=reason) if is_of_change else None
            if name not in self._new and not is_rewritten:
                return None
            old = self._find_old(xr, name)
            new = self._new.get(name, old)
            if not is_rewritten and (reason := self._find_hold(xr, new)):
                return replace(plan, verdict="stays", reason=reason)
            return self._compare(plan, xr, old, new, observed)
        except UnknownError as error:
            return replace(plan, reason=str(error))

    def _find_old(self, xr: Object, name: str) -> Source:
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
            return Source(
                value={**value, "apiVersion": api_version, "kind": kind, "metadata": metadata}
            )
        if revision:
            raise UnknownError(f'the dump lacks CompositionRevision "{revision}"')
        group, kind = manifests.group(manifests.COMPOSITION[0]), manifests.COMPOSITION[1]
        value = self._dump.find((group, kind, "", name))
        if value is None:
            raise UnknownError(f'the dump lacks Composition "{name}"')
        return Source(value=value)

    def _find_hold(self, xr: Object, new: Source) -> str:
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

    def _destroy(self, plan: XrPlan, observed: Mapping[str, Object]) -> XrPlan:
        """Plan an XR that the XR above it destroys: so is all that it composes."""
        for key in map(key_of, observed.values()):
            if key in self._xrs:
                self._rewrites[key] = None
        return replace(
            plan,
            verdict="planned",
            reason="the XR above it no longer composes it",
            changes=[changes.of_object("destroy", *each) for each in observed.items()],
        )

    def _compare(
        self, plan: XrPlan, xr: Object, old: Source, new: Source, observed: Mapping[str, Object]
    ) -> XrPlan:
        key = key_of(xr)
        xrd = self._xrds.get(key[:2])
        if xrd is None:
            raise UnknownError("the dump lacks its XRD")
        api_version = manifests.text_at(new.value, "spec", "compositeTypeRef", "apiVersion")
        if api_version != xr["apiVersion"]:
            raise UnknownError(
                f"the dump has it as {xr['apiVersion']}, and its Composition is for {api_version}"
            )
        old_inputs = RenderInputs(
            xr=xr,
            composition=old.value,
            observed=[*observed.values()],
            xrd=xrd,
            cluster=self._dump.store,
        )
        new_xr = self._rewrites.get(key) or xr
        new_inputs = replace(old_inputs, xr=new_xr, composition=new.value)
        # The API server takes what it has under the schema that it has.
        is_judged = key in self._rewrites or key[:2] in self._changed_xrds
        if is_judged and (problems := xr_validation.validate(new_xr, xrd).errors):
            reason = self._explain(problems[0].message, new_inputs)
            return replace(plan, verdict="invalid", reason=reason)
        # A function that reads the clock or a random number would differ from itself.
        answers: Answers = {}
        before = self._run("before", old, old_inputs, new, answers)
        if failure := before[-1].result.failure:
            message = f"before the change it fails: {failure.diagnostics[0].message}"
            raise UnknownError(self._explain(message, old_inputs, before[-1]))
        after = self._run("after", new, new_inputs, new, answers)
        if failure := after[-1].result.failure:
            reason = self._explain(failure.diagnostics[0].message, new_inputs, after[-1])
            return replace(plan, verdict="fails", reason=reason)
        outcome = changes.find(observed, before[0], after[0], self._catalog)
        if self._options.until_ready:
            settled = changes.find(observed, before[-1], after[-1], self._catalog)
            outcome = changes.add_later(outcome, settled, observed, after[-1])
        self._hand_down(before[-1], after[-1], outcome, [*observed.values()])
        refusals = ", ".join(outcome.refusals)
        differences = outcome.changes
        # A program may have written data of Secrets anywhere, in any form.
        is_hidden = self._has_secrets(old_inputs, before[-1]) or self._has_secrets(
            new_inputs, after[-1]
        )
        if is_hidden:
            differences = changes.hide(differences, xr, observed)
            refusals = refusals and _HIDDEN
        else:
            self._public.add(key)
        return replace(
            plan,
            # Crossplane applies and deletes the other objects all the same.
            verdict="invalid" if refusals else "planned" if differences else "unchanged",
            reason=refusals,
            changes=differences,
            drift=[*changes.find_drift(observed, before[0], self._catalog, is_hidden=is_hidden)],
        )

    def _run(
        self, when: str, source: Source, inputs: RenderInputs, functions_: Source, answers: Answers
    ) -> list[Rendering]:
        """Return the rendering of the next reconcile, and that of the last one if asked for."""
        try:
            first = self._renderings.render(source, inputs, functions_, answers)
            if not self._options.until_ready:
                return [first]
            return [first, self._renderings.settle(source, inputs, first, functions_)]
        except FatalError as error:
            message = error.diagnostics[0].message
            message = f"{when} the change it cannot be rendered: {message}"
            raise UnknownError(self._explain(message, inputs)) from error

    def _explain(
        self, reason: str, inputs: RenderInputs, rendering: Rendering | None = None
    ) -> str:
        """Return a reason, which may quote values, if none of them is from a Secret."""
        return _HIDDEN if self._has_secrets(inputs, rendering) else reason

    def _has_secrets(self, inputs: RenderInputs, rendering: Rendering | None) -> bool:
        """Report whether values of an XR may be those of a Secret that is not masked.

        Without a rendering, it is not known which Secrets the steps require.
        """
        requirements = None
        # The XR above may have written them into this one.
        if rendering is not None and self._public.issuperset(self._find_owners(inputs.xr)[:1]):
            requirements = rendering.result.requirements
        return not all(map(is_masked, self._dump.find_secrets(inputs, requirements)))

    def _hand_down(
        self, before: Rendering, after: Rendering, outcome: Outcome, observed: Sequence[Object]
    ) -> None:
        """Note what the change writes into the XRs that an XR composes."""
        old, new = (
            {key_of(each): (name, each) for name, each in side.result.composition.resources.items()}
            for side in (before, after)
        )
        for key in (key_of(each) for each in observed if key_of(each) in old):
            # One of another kind under its resource name leaves it as it is.
            is_gone = old[key][0] not in after.result.composition.resources
            if key in self._xrs and key not in new and is_gone:
                self._rewrites[key] = None
        for key, (name, manifest) in new.items():
            if key in self._xrs and key in old and old[key][1].get("spec") != manifest.get("spec"):
                spec = outcome.manifests[name].get("spec", {})
                self._rewrites[key] = {**self._xrs[key], "spec": spec}
