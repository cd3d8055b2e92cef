"""The pipeline of a Composition as values: which function, what input, what it is given.

Called before anything runs. Fields it does not know are left to newer versions of Crossplane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from function_script import objects, wire
from function_script.errors import InputError
from function_script.problems import Problem, ProblemList
from function_script.reader import ObjectReader
from function_script.tools import manifests

if TYPE_CHECKING:
    from collections.abc import Mapping

    from function_script.values import Object

_API_VERSION: Final = "apiextensions.crossplane.io/v1"
_TWICE: Final = "give each step a name of its own"
_PIPELINE: Final = "Pipeline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step. ``function`` is a Function's name, or the OCI reference that newer steps give.

    ``revision`` is the FunctionRevision that a step may ask for, "" for none.

    ``credentials`` maps their name to a Secret's namespace and name; ``resources`` and
    ``schemas`` map requirement names.
    """

    index: int
    name: str
    function: str
    input: Object | None
    credentials: Mapping[str, tuple[str, str]]
    resources: Mapping[str, wire.Selector]
    schemas: Mapping[str, wire.Selector]
    revision: str = ""


def parse(composition: Object, *, is_lenient: bool = False) -> list[Step]:
    """The steps in their order; raises InputError with every problem of the Composition.

    ``is_lenient``: all is taken that a real engine takes, such as two steps of one name.
    """
    problems = ProblemList()
    fields = ObjectReader(composition, "", problems)
    if objects.api_version_and_kind(composition) != (_API_VERSION, "Composition"):
        problems.add(
            "",
            f"cannot use {manifests.describe(composition)} as Composition",
            hint=f"it must be a Composition of {_API_VERSION}; "
            "the order of arguments is XR COMPOSITION FUNCTIONS",
        )
    return _parse(fields, problems, is_lenient=is_lenient)


def parse_operation(operation: Object, *, at: str = "", is_lenient: bool = False) -> list[Step]:
    """`parse` for an Operation, or for the template of one that stands ``at`` a field."""
    problems = ProblemList()
    return _parse(ObjectReader(operation, at, problems), problems, is_lenient=is_lenient)


def _parse(fields: ObjectReader, problems: ProblemList, *, is_lenient: bool) -> list[Step]:
    steps: list[Step] = []
    if not problems and (spec := fields.object("spec", required=True)):
        if not is_lenient:
            spec.choice("mode", {_PIPELINE: _PIPELINE})
        if not is_lenient and spec.value.get("pipeline") is None:
            problems.add(spec.at("pipeline"), "is required")
        steps = [_step(index, item) for index, item in enumerate(spec.objects("pipeline"))]
        if not is_lenient:
            _refuse_twins(steps, problems)
    if problems:
        raise InputError(*(problem.to_diagnostic() for problem in problems))
    return steps


def check_type(composition: Object, xr: Object) -> None:
    """Raise InputError unless the Composition is one for XRs of this type."""
    wanted = objects.api_version_and_kind(
        manifests.object_at(composition, "spec", "compositeTypeRef")
    )
    given = objects.api_version_and_kind(xr)
    if wanted != given:
        problem = Problem(
            "spec.compositeTypeRef",
            f"is {wanted[1]} of {wanted[0]}, but the XR to render is {given[1]} of {given[0]}",
            "they must be the same: give the Composition of this XR, or mend one of both",
        )
        raise InputError(problem.to_diagnostic())


def check_selector(composition: Object, xr: Object, *, is_legacy: bool) -> None:
    """Raise InputError unless the Composition has the labels that the XR selects."""
    name = manifests.name(composition)
    machinery = ("spec",) if is_legacy else ("spec", "crossplane")
    labels = manifests.labels(composition)
    selector = manifests.texts_at(xr, *machinery, "compositionSelector", "matchLabels")
    for key, value in sorted(selector.items()):
        if labels.get(key) != value:
            found = f'has "{labels[key]}"' if key in labels else "does not have it"
            raise InputError.of(
                f'cannot render the XR with Composition "{name}": '
                f'the XR selects label {key}="{value}", the Composition {found}'
            )


def _step(index: int, fields: ObjectReader) -> Step:
    revision = _revision(fields)
    needs = fields.object("requirements") or ObjectReader(
        {}, fields.at("requirements"), fields.problems
    )
    return Step(
        index=index,
        name=fields.text("step", required=True) or "",
        function=_function(fields, revision),
        input=_input(fields),
        credentials=dict(_credentials(fields)),
        resources=_selectors(needs, "requiredResources"),
        schemas=_selectors(needs, "requiredSchemas"),
        revision=revision,
    )


def _revision(fields: ObjectReader) -> str:
    reference = fields.object("functionRevisionRef")
    return "" if reference is None else reference.text("name", required=True) or ""


def _function(fields: ObjectReader, revision: str) -> str:
    reference = fields.object("functionRef")
    if reference is not None:
        return reference.text("name", required=True) or ""
    package = fields.text("function") or revision
    if not package:
        fields.problems.add(fields.at("functionRef"), "is required")
    return package


def _input(fields: ObjectReader) -> Object | None:
    found = fields.object("input")
    return None if found is None else found.value


def _credentials(fields: ObjectReader) -> list[tuple[str, tuple[str, str]]]:
    found = []
    for item in fields.objects("credentials"):
        name = item.text("name", required=True) or ""
        secret = item.object("secretRef")
        if item.text("source") == "Secret" and secret is not None:
            namespace = secret.text("namespace") or ""
            found.append((name, (namespace, secret.text("name", required=True) or "")))
    return found


def _selectors(fields: ObjectReader, key: str) -> dict[str, wire.Selector]:
    return {
        item.text("requirementName", required=True) or "": wire.Selector(
            api_version=item.text("apiVersion", required=True) or "",
            kind=item.text("kind", required=True) or "",
            match_name=item.text("name"),
            match_labels=item.texts("matchLabels"),
            namespace=item.text("namespace"),
        )
        for item in fields.objects(key)
    }


def _refuse_twins(steps: list[Step], problems: ProblemList) -> None:
    names = [step.name for step in steps]
    for index, name in enumerate(names):
        if name in names[:index]:
            problems.add(f"spec.pipeline[{index}].step", f'duplicate name "{name}"', hint=_TWICE)
