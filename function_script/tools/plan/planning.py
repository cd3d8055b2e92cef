"""Plan a change of Compositions for every XR of a dump: render each before and after the change.

An XR is never without changes where this cannot know: then it is unknown, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from function_script import wire
from function_script.request import objects
from function_script.request.values import Object
from function_script.sandbox import capacity
from function_script.texts.errors import FatalError
from function_script.tools import console, manifests, xr_validation, xrds
from function_script.tools.manifests import Key
from function_script.tools.plan import changes, sides, xr_plans
from function_script.tools.plan.changes import Change, Reconcile
from function_script.tools.plan.dump import Dump, UnknownError, find_credentials, is_masked
from function_script.tools.plan.sides import Files
from function_script.tools.plan.xr_plans import XrPlan
from function_script.tools.render import RenderInputs, steps
from function_script.tools.render.renderer import Answers, Rendering
from function_script.tools.render.sides import Side, Sides
from function_script.tools.validate.catalog import Catalog

# Each process takes a second to start, and the memory of the dump.
_MIN_XRS: Final = 50
_MAX_PROCESSES: Final = 4
# The words by which steps require objects, or read the text from elsewhere that does.
_REQUIRES: Final = re.compile(
    r"requir|extra|environment|credentials|'(source|inputRef|modulesFrom)'", re.IGNORECASE
)
_POLICY: Final = "compositionUpdatePolicy"
_HIDDEN: Final = "the reason is hidden: a step got data of a Secret"


class Planner:
    """Plans the XRs of a dump, those first that compose others.

    ``after`` has the Compositions after the change, and ``before`` those before it; None: the dump.
    ``until_ready``: what later reconciles do, too, when all is ready that is composed.
    """

    def __init__(
        self,
        dump: Dump,
        sides_: Sides,
        after: Files,
        before: Files | None = None,
        *,
        until_ready: bool = False,
    ) -> None:
        old = before or Files()
        self._dump = dump
        self._new = after.compositions
        self._old = None if before is None else old.compositions
        self._removed = old.compositions.keys() - after.compositions
        self._sides = sides_
        self._notes = after.notes
        self._until_ready = until_ready
        # The API server has the dump's, until that beside a new Composition takes its place.
        definitions = [each for each in dump.definitions if xrds.is_xrd(each)]
        live = old.xrds | {manifests.defined_type(each): each for each in definitions}
        self._old_xrds = after.xrds | live
        self._xrds = live | after.xrds
        self._changed_xrds = {
            type_
            for type_, xrd in after.xrds.items()
            if type_ not in live or _read_definition(xrd) != _read_definition(live[type_])
        }
        self._removed_xrds = old.xrds.keys() - after.xrds
        # Schemas of what is composed.
        self._catalog = Catalog([*dump.definitions, *after.xrds.values()])
        both = (*after.compositions.values(), *old.compositions.values())
        composed = (manifests.composed_type(each.composition) for each in both)
        self._composed_types = {(manifests.group(version), kind) for version, kind in composed}
        self._types = self._composed_types | self._xrds.keys()
        # The XRs above each XR, its parent first.
        self._owners = _find_owners(dump, self._types)
        # What a parent makes of an XR that it composes; None: it destroys the XR.
        self._rewrites: dict[Key, Object | None] = {}
        # What is unknown of XRs that are planned before those that they compose.
        self._later: list[XrPlan] = []
        # Those that are unknown, because of themselves or of an XR above them.
        self._unknown: set[Key] = set()
        # The XRs of which no step got data of a Secret.
        self._public: set[Key] = set()

    @property
    def has_change(self) -> bool:
        """Report whether there is a Composition, or one or an XRD that changes."""
        return bool(self._new or self._removed or self._changed_xrds or self._removed_xrds)

    def count_processes(self, inputs: Iterable[Path]) -> int:
        """Return the number of processes in which the plan takes the least time."""
        if any(not each.is_file() and not each.is_dir() for each in inputs):
            # A pipe can be read once.
            return 1
        most = min(capacity.heavy_slots(), _MAX_PROCESSES)
        return max(1, min(most, len(self._owners) // _MIN_XRS))

    def relate(self, plans: Sequence[XrPlan]) -> Iterator[XrPlan]:
        """Yield all plans in their order; what other XRs change makes some unknown.

        So are XRs that the change does not concern, if their steps require what it edits.
        """
        planned = {plan.key for plan in plans}
        kinds = {kind for _, kind in xr_plans.find_touched(plans, self._dump)}
        unplanned = self._owners.keys() - planned if kinds else ()
        others = (self._read_required(self._dump[key], kinds) for key in unplanned)
        for plan in xr_plans.relate([*plans, *others], self._owners, self._dump):
            if plan.verdict != "unchanged" or plan.key in planned:
                yield plan

    def _read_required(self, xr: Object, kinds: Iterable[str]) -> XrPlan:
        """Plan an XR that the change does not concern, but for ``kinds`` that its steps require."""
        plan = replace(self._start(xr), verdict="unchanged")
        text = ""
        # Its requirements are not known then.
        with suppress(FatalError, UnknownError):
            side = self._find_old(xr, plan.composition)
            text = str(side.composition.get("spec"))
            if _find_halt(xr) or not _REQUIRES.search(text):
                return plan
            inputs = self._make_inputs(xr, side, self._dump.find_observed(xr).values())
            rendering = side.render(inputs)
            if rendering.result.failure is None:
                return replace(plan, requires=_list_required((side, rendering)))
        if not any(re.search(rf"\b{re.escape(kind)}\b", text) for kind in kinds):
            return plan
        reason = "a step may require what the change edits, and it cannot be rendered"
        return replace(plan, verdict="unknown", reason=reason)

    def list_notes(self, plans: Iterable[XrPlan]) -> Iterator[str]:
        """Yield what none of all plans shows: Compositions without an XR, and unread files."""
        if unused := sorted(self._new.keys() - {each.composition for each in plans}):
            names = console.cut_names([f'"{name}"' for name in unused])
            yield f"No XR of the dump has Composition {', '.join(names)}."
        yield from self._notes

    def plan(
        self, part: int = 0, part_count: int = 1, report: Callable[[float], None] | None = None
    ) -> Iterator[XrPlan]:
        """Yield the plans of the XRs in one of several parts that the change concerns.

        What an XR writes into those that it composes is planned first: all are in one part.
        ``report`` gets the part of the XRs that are planned, from 0 to 1.
        """
        above = self._owners
        roots = {key: owners[-1] if owners else key for key, owners in above.items()}
        chosen = {*sorted({*roots.values()})[part::part_count]}
        keys = [key for key, root in roots.items() if root in chosen]
        for number, key in enumerate(sorted(keys, key=lambda key: (len(above[key]), key))):
            if report is not None:
                report(number / len(keys))
            if (plan := self._plan_xr(key)) is None:
                continue
            if plan.verdict == "unknown":
                self._unknown.add(key)
            yield plan
            for change in plan.changes:
                if change.verb == "add" and change.key[:2] in self._types:
                    reason = "it is a new XR: what it composes is not planned"
                    name = f"{change.object} of {plan.xr}"
                    yield XrPlan(key=change.key, xr=name, reason=reason)
        yield from self._later

    def _start(self, xr: Object) -> XrPlan:
        """Return the plan of an XR of which nothing is known yet."""
        key = manifests.key_of(xr)
        label = "/".join(part for part in key[1:] if part)
        name = manifests.text_at_machinery(xr, "compositionRef", "name")
        return XrPlan(key=key, xr=label, composition=name)

    def _plan_xr(self, key: Key) -> XrPlan | None:
        """Plan one XR; None for one that the change does not concern."""
        xr = self._dump[key]
        plan = self._start(xr)
        name = plan.composition
        new_xr = self._rewrites.get(key, xr)
        if self._unknown.intersection(self._owners[key][:1]):
            return replace(plan, reason=xr_plans.BELOW)
        try:
            if new_xr is None:
                return self._destroy(plan, xr)
            if not name and key[:2] not in self._removed_xrds:
                reason = "it has no compositionRef: Crossplane has not selected one yet"
                return replace(plan, reason=reason) if key[:2] in self._composed_types else None
            if len(self._owners[key]) == xr_plans.MAX_DEPTH:
                reason = f"{xr_plans.MAX_DEPTH} XRs or more are above it, or it is one of them"
                return replace(plan, reason=reason)
            new_name = self._find_name(new_xr)
            is_other = new_xr is not xr or key[:2] in self._changed_xrds
            if not is_other and name not in self._new and name not in self._removed:
                return None
            if halt := _find_halt(new_xr):
                return replace(plan, verdict="stays", reason=halt)
            old = self._find_old(xr, name)
            new = self._find_new(new_name, name, old)
            self._check_selection(xr, new_xr, new_name)
            # The XR above may hold it from now on, and it may have the new revision by then.
            if reason := self._find_hold(xr, new) and self._find_hold(new_xr, new):
                if not is_other:
                    return replace(plan, verdict="stays", reason=reason)
                new = self._find_old(new_xr, name)
            return self._compare(plan, old, new, xr, new_xr)
        except UnknownError as error:
            return replace(plan, reason=str(error))

    def _find_name(self, xr: Object) -> str:
        """Return the name of the Composition after the change.

        Raises UnknownError for an XR without an XRD.
        """
        type_ = manifests.key_of(xr)[:2]
        if type_ in self._removed_xrds:
            raise UnknownError("there is no XRD of it after the change")
        # Crossplane writes it into every XR.
        enforced = _read_enforced(self._xrds.get(type_, {}))
        return enforced or manifests.text_at_machinery(xr, "compositionRef", "name")

    def _find_old(self, xr: Object, name: str) -> Side:
        """Return the Composition before the change."""
        revision = manifests.text_at_machinery(xr, "compositionRevisionRef", "name")
        if self._old is not None and (name in self._old or name in self._new):
            if name not in self._old:
                raise UnknownError(f'there is no Composition "{name}" before the change')
            # One that does not follow it has its revision.
            if not (revision and self._find_hold(xr, self._old[name])):
                return self._old[name]
            return self._find_live("CompositionRevision", revision, name)
        kind = "CompositionRevision" if revision else "Composition"
        return self._find_live(kind, revision, name, ": --before takes it from files or git")

    def _find_new(self, name: str, old_name: str, old: Side) -> Side:
        """Return the Composition after the change."""
        if name in self._removed:
            raise UnknownError(f'there is no Composition "{name}" after the change')
        if name in self._new:
            return self._new[name]
        return old if name == old_name else self._find_live("Composition", "", name)

    def _find_live(self, kind: str, revision: str, name: str, advice: str = "") -> Side:
        """Return a Composition of the dump; a revision has its name then.

        ``advice`` says what to do about one that is not there.
        """
        api_version, own_kind = manifests.COMPOSITION
        value = self._dump.get((manifests.group(api_version), kind, "", revision or name))
        if value is None:
            raise UnknownError(f'the dump lacks {kind} "{revision or name}"{advice}')
        metadata: Object = {**manifests.object_at(value, "metadata"), "name": name}
        return self._sides.of_cluster(
            {**value, "apiVersion": api_version, "kind": own_kind, "metadata": metadata}
        )

    def _check_selection(self, xr: Object, new_xr: Object, new_name: str) -> None:
        """Raise UnknownError if the XR above lets an XR select another one of its revisions.

        Or if it ends a pause: what Crossplane did not do before is no drift.
        """
        if halt := _find_halt(xr):
            raise UnknownError(f"{halt}, and the XR above it ends that")
        holds = [manifests.text_at_machinery(each, _POLICY) == "Manual" for each in (xr, new_xr)]
        fields = ("compositionRevisionSelector", "compositionRevisionRef")
        paths = [(*place, field) for place in manifests.MACHINERY for field in fields]
        selections = [[objects.find_path(each, path) for path in paths] for each in (xr, new_xr)]
        is_other = not all(holds) and selections[0] != selections[1]
        if is_other or (holds == [True, False] and new_name not in self._new):
            raise UnknownError("the XR above it changes which CompositionRevision it selects")

    def _find_hold(self, xr: Object, new: Side) -> str:
        """Return the reason for which an XR does not follow its Composition; empty if it does."""
        if manifests.text_at_machinery(xr, _POLICY) == "Manual":
            return "its compositionUpdatePolicy is Manual"
        if any(steps.find_unselected(new.composition, xr)):
            return "its compositionRevisionSelector does not select the new Composition"
        return ""

    def _destroy(self, plan: XrPlan, xr: Object) -> XrPlan:
        """Plan an XR that the XR above it destroys: so is all that it composes."""
        observed = self._dump.find_observed(xr)
        destroyed = [changes.of_object("destroy", *each) for each in observed.items()]
        self._hand_down(destroyed, {}, observed)
        reason = "the XR above it no longer composes it"
        return replace(plan, verdict="planned", reason=reason, changes=destroyed)

    def _compare(self, plan: XrPlan, old: Side, new: Side, xr: Object, new_xr: Object) -> XrPlan:
        self._dump.check_references(xr, self._catalog)
        observed = self._dump.find_observed(xr)
        new_inputs = self._make_inputs(new_xr, new, observed.values())
        old_xrd = self._old_xrds.get(plan.key[:2])
        old_inputs = replace(new_inputs, xr=xr, composition=old.composition, xrd=old_xrd)
        # A change of Compositions is planned, and not one of functions.
        old = replace(old, functions=new.functions)
        if refusal := self._judge(old_inputs, new_inputs):
            return replace(plan, verdict="invalid", reason=refusal)
        # A function that reads the clock or a random number would differ from itself.
        answers: Answers = {}
        before = [self._run("before", old, old_inputs, answers)]
        after = [self._run("after", new, new_inputs, answers)]
        if self._until_ready:
            before.append(self._run("before", old, old_inputs, answers, *before))
            after.append(self._run("after", new, new_inputs, answers, *after))
        if failure := before[-1].result.failure:
            message = f"before the change it fails: {old.describe(failure)}"
            raise UnknownError(self._explain(message, old_inputs, before[-1]))
        if failure := after[-1].result.failure:
            reason = self._explain(new.describe(failure), new_inputs, after[-1])
            return replace(plan, verdict="fails", reason=reason)
        # A program may have written data of Secrets anywhere, in any form.
        is_hidden = self._has_secrets(old_inputs, before[-1]) or self._has_secrets(
            new_inputs, after[-1]
        )
        catalog, xrd = self._catalog, new_inputs.xrd or {}
        following, *later = [
            Reconcile(observed=observed, before=former, after=latter, catalog=catalog, xrd=xrd)
            for former, latter in zip(before, after, strict=True)
        ]
        for each in (following, *later):
            if clash := each.find_clash(self._dump):
                raise UnknownError(_HIDDEN if is_hidden else clash)
        outcome = following.find()
        if later:
            outcome = later[0].add_later(outcome)
        elif any(each.verb in {"add", "destroy"} for each in outcome.changes):
            # An added object may take the place of another one, and one that goes had a purpose.
            last = self._run("after", new, new_inputs, answers, *after)
            outcome = following.add_later_deletions(outcome, last)
        self._hand_down(outcome.changes, outcome.manifests, observed)
        parts = {each.path[0] for each in outcome.changes if each.resource is None}
        self._hand_up(xr, parts, changes.status_of(after[-1], self._catalog))
        protected = changes.find_protected(outcome.changes, self._dump)
        refusals = ", ".join(dict.fromkeys((*outcome.refusals, *protected)))
        differences = outcome.changes
        if is_hidden:
            differences = [*changes.hide(differences, xr, observed)]
            refusals = refusals and _HIDDEN
        else:
            self._public.add(plan.key)
        return replace(
            plan,
            # Crossplane applies and deletes the other objects all the same.
            verdict="invalid" if refusals else "planned" if differences else "unchanged",
            reason=refusals,
            changes=differences,
            drift=[*following.find_drift(is_hidden=is_hidden)],
            requires=_list_required((old, before[-1]), (new, after[-1])),
        )

    def _make_inputs(self, xr: Object, side: Side, observed: Iterable[Object] = ()) -> RenderInputs:
        xrd, cluster = self._xrds.get(manifests.key_of(xr)[:2]), self._dump
        return RenderInputs(
            xr=xr, composition=side.composition, observed=[*observed], xrd=xrd, cluster=cluster
        )

    def _judge(self, old: RenderInputs, inputs: RenderInputs) -> str:
        """Return why the API server refuses an XR after the change; empty if it does not.

        Raises UnknownError if there is no XRD of its version, or if that no longer has a field,
        which is dropped then, or no longer allows one.
        """
        if inputs.xrd is None or old.xrd is None:
            raise UnknownError("the dump lacks its XRD")
        version, (composed, _) = old.xr["apiVersion"], manifests.composed_type(inputs.composition)
        if composed != version:
            reason = f"the dump has it as {version}, and its Composition is for {composed}"
            raise UnknownError(reason)
        is_changed = manifests.key_of(old.xr)[:2] in self._changed_xrds
        # The API server takes what it has under the schema that it has.
        if inputs.xr is old.xr and not is_changed:
            return ""
        verdict = xr_validation.validate(inputs.xr, inputs.xrd)
        for error in verdict.errors:
            path = objects.read_path(error.field)
            # An absent field is judged with the object above it; Crossplane writes into the spec.
            path = path if objects.find_path(inputs.xr, path) is not None else path[:-1]
            values = [objects.find_path(each, path) for each in (old.xr, inputs.xr)]
            if not path[1:] or values[0] != values[1]:
                return self._explain(error.message, inputs)
        former = xr_validation.validate(old.xr, old.xrd).warnings
        losses = (each for each in verdict.warnings if each not in former)
        # The API server takes most values that are there already.
        for each in (*verdict.errors, *losses) if is_changed else ():
            message = f"the XRD after the change does not allow what it has: {each.message}"
            raise UnknownError(self._explain(message, inputs))
        return ""

    def _run(
        self, when: str, side: Side, inputs: RenderInputs, answers: Answers, *first: Rendering
    ) -> Rendering:
        """Return the rendering of the next reconcile; with that as ``first``, that of the last."""
        try:
            if first:
                return sides.settle(self._dump, side, inputs, answers, first[0])
            return sides.render(self._dump, side, inputs, answers)
        except UnknownError:
            # The next reconcile is known all the same.
            if self._until_ready or not first:
                raise
            return first[0]
        except FatalError as error:
            message = f"{when} the change it cannot be rendered: {error}"
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
        if rendering is not None and self._public.issuperset(
            self._owners[manifests.key_of(inputs.xr)][:1]
        ):
            requirements = rendering.result.requirements
        return not all(map(is_masked, self._dump.find_secrets(inputs, requirements)))

    def _hand_down(
        self,
        differences: Iterable[Change],
        remaining: Mapping[str, Object],
        observed: Mapping[str, Object],
    ) -> None:
        """Note what the change makes of the XRs that an XR composes, of which some remain."""
        for change in differences:
            name = change.resource or ""
            live = observed.get(name)
            # One of another kind under its resource name leaves it as it is.
            if live is not None and change.verb != "add":
                key = manifests.key_of(live)
                if key in self._owners:
                    self._rewrites[key] = remaining.get(name)
                elif manifests.text_at_machinery(live, "compositionRef", "name"):
                    reason = "the dump lacks its XRD, and the XR above it changes or destroys it"
                    self._later.append(replace(self._start(live), reason=reason))

    def _hand_up(self, xr: Object, parts: Collection[object], status: Object) -> None:
        """Note that the XR above reads ``parts`` of an XR, which the change makes other ones."""
        owners = self._owners[manifests.key_of(xr)]
        above = self._rewrites.get(owners[0], self._dump[owners[0]]) if owners and parts else None
        if above is None:
            return
        part = "connection Secret" if changes.DETAILS in parts else "status"
        reason = f"a step of it may read the {part} of {manifests.describe(xr)}, which changes"
        unknown = replace(self._start(above), reason=reason)
        if changes.DETAILS in parts:
            self._later.append(unknown)
            return
        current: Object = {"conditions": [*manifests.objects_at(xr, "status", "conditions")]}
        # It is unknown also if it cannot be rendered.
        with suppress(FatalError, UnknownError):
            name = unknown.composition
            side = self._new.get(name) or self._find_old(above, name)
            changed = {manifests.key_of(xr): manifests.copy({"status": current}, status)}
            live = self._dump.find_observed(above).values()
            observed = [{**each, **changed.get(manifests.key_of(each), {})} for each in live]
            inputs = self._make_inputs(above, side, live)
            old = sides.render(self._dump, side, inputs, {})
            new = sides.render(self._dump, side, replace(inputs, observed=observed), {})
            if sides.answer(old) == sides.answer(new):
                return
            self._hand_up(above, {"status"}, changes.status_of(new, self._catalog))
        self._later.append(unknown)


def _list_required(*renderings: tuple[Side, Rendering]) -> list[wire.Selector]:
    """Return what the steps require, and their credentials."""
    required: list[wire.Selector] = []
    for side, rendering in renderings:
        if rendering.result.requirements is not None:
            required += rendering.result.requirements.requested
        for *_, namespace, name in find_credentials(side.composition):
            required.append(wire.Selector(*manifests.SECRET, name, namespace=namespace))
    return required


def _read_definition(xrd: Object) -> tuple[str, list[tuple[str, str, Object]]]:
    """Return what of an XRD concerns its XRs."""
    return _read_enforced(xrd), [*xrds.to_schemas(xrd)]


def _read_enforced(xrd: Object) -> str:
    """Return the name of the Composition that an XRD enforces; empty if there is none."""
    return manifests.text_at(xrd, "spec", "enforcedCompositionRef", "name")


def _find_owners(dump: Dump, types: Iterable[tuple[str, str]]) -> dict[Key, list[Key]]:
    """Return the XRs above each XR of these types, its parent first."""
    keys_by_uid: dict[str, Key] = {}
    owner_uids: dict[Key, str] = {}
    for key in (each for type_ in types for each in dump.list_keys(type_)):
        xr = dump[key]
        keys_by_uid[manifests.text_at(xr, "metadata", "uid")] = key
        owner_uids[key] = str((manifests.controller(xr) or {}).get("uid"))
    owners: dict[Key, list[Key]] = {key: [] for key in owner_uids}
    for key, above in owners.items():
        parent = keys_by_uid.get(owner_uids[key])
        while parent is not None and len(above) < xr_plans.MAX_DEPTH:
            above.append(parent)
            parent = keys_by_uid.get(owner_uids[parent])
    return owners


def _find_halt(xr: Object) -> str:
    """Return the reason for which Crossplane does nothing for an XR; empty if there is none."""
    if manifests.annotation(xr, "crossplane.io/paused") == "true":
        return "it is paused"
    is_deleted = manifests.text_at(xr, "metadata", "deletionTimestamp")
    return "it is being deleted" if is_deleted else ""
