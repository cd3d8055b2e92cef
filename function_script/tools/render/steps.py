"""Parse the pipeline of a Composition or Operation: functions, inputs, requirements.

Unknown fields are ignored: newer versions of Crossplane may have them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from function_script import wire
from function_script.request import objects
from function_script.request.reader import ObjectReader
from function_script.request.values import Object
from function_script.texts.errors import InputError
from function_script.texts.problems import Problem, ProblemList
from function_script.tools import manifests, step_inputs

_SELECTOR_FIELDS: Final = (
    *("requirementName", "apiVersion", "kind"),
    *("name", "matchLabels", "namespace"),
)
_PIPELINE: Final = "Pipeline"
# The mode that Crossplane 2 no longer has, and the last version of its command that converts it.
_RESOURCES: Final = "Resources"
_CONVERSION: Final = (
    "convert it with the command line of Crossplane 1.20: "
    "crossplane beta convert pipeline-composition OLD.yaml -o NEW.yaml"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a pipeline.

    ``function`` is a Function's name, or an OCI reference in newer pipelines; ``revision`` is a
    FunctionRevision, or "". ``credentials`` maps names to a Secret's namespace and name;
    ``resources`` and ``schemas`` map requirement names to selectors.
    """

    index: int
    name: str
    function: str
    input: Object | None
    credentials: Mapping[str, tuple[str, str]]
    resources: Mapping[str, wire.Selector]
    schemas: Mapping[str, wire.Selector]
    revision: str = ""

    @property
    def input_path(self) -> objects.Path:
        """The path of the input in the Composition or Operation."""
        return ("spec", "pipeline", self.index, "input")

    @property
    def name_field(self) -> str:
        """The field of the function's name in the Composition or Operation."""
        return f"spec.pipeline[{self.index}].functionRef.name"


def parse(composition: Object, *, is_lenient: bool = False) -> list[Step]:
    """Parse the steps of a Composition. Raises InputError with every problem.

    ``is_lenient``: accept what a real engine accepts, such as two steps of one name.
    """
    api_version, kind = manifests.COMPOSITION
    if composition.get("kind") != kind:
        raise InputError.of(
            f"cannot use {manifests.describe(composition)} as Composition",
            field="kind",
            hint=f"it must be a Composition of {api_version}; "
            "the order of arguments is XR COMPOSITION FUNCTIONS",
        )
    problems = ProblemList()
    fields = ObjectReader(composition, "", problems)
    fields.choice("apiVersion", {api_version: api_version}, required=True)
    return _parse(fields, problems, is_lenient=is_lenient)


def parse_operation(operation: Object, *, at: str = "", is_lenient: bool = False) -> list[Step]:
    """Parse the steps of an Operation, or of a template of one at the field ``at``."""
    problems = ProblemList()
    return _parse(ObjectReader(operation, at, problems), problems, is_lenient=is_lenient)


def find_conversion(value: Object) -> str:
    """Return how to convert a Composition whose mode has no steps; empty for all others."""
    spec = manifests.object_at(value, "spec")
    has_resources = "resources" in spec and spec.get("pipeline") is None
    mode = spec.get("mode")
    is_legacy = mode == _RESOURCES or (mode is None and has_resources)
    is_composition = value.get("kind") == "Composition" and step_inputs.has_pipeline(value)
    return _CONVERSION if is_legacy and is_composition else ""


def _parse(fields: ObjectReader, problems: ProblemList, *, is_lenient: bool) -> list[Step]:
    steps: list[Step] = []
    if spec := fields.object("spec", required=True):
        if not is_lenient:
            is_legacy = bool(find_conversion(fields.value))
            if is_legacy:
                text = f"is {_RESOURCES}, which only Crossplane 1 runs"
                problems.add(spec.at("mode"), text, hint=_CONVERSION)
            else:
                spec.choice("mode", {_PIPELINE: _PIPELINE})
            if "pipeline" in fields.value:
                problems.add("pipeline", "is a field of spec", hint="indent it below `spec:`")
            elif not is_legacy and spec.value.get("pipeline") is None:
                spec.object("pipeline", required=True)
        spec.refuse_misspelt("mode", "writeConnectionSecretsToNamespace")
        steps = [_step(index, item) for index, item in enumerate(spec.objects("pipeline"))]
        if not is_lenient:
            names = [step.name for step in steps]
            for index, name in enumerate(names):
                if name in names[:index]:
                    problems.add(
                        f"spec.pipeline[{index}].step",
                        f'duplicate name "{name}"',
                        hint="give each step a name of its own",
                    )
    if problems:
        raise InputError(*(problem.to_diagnostic() for problem in problems))
    return steps


def check_reference(composition: Object) -> None:
    """Raise InputError unless a Composition names the type of its XRs."""
    problems = ProblemList()
    spec = ObjectReader(manifests.object_at(composition, "spec"), "spec", problems)
    if reference := spec.object("compositeTypeRef", required=True):
        reference.text("apiVersion", required=True)
        reference.text("kind", required=True)
    if problems:
        raise InputError(*(problem.to_diagnostic() for problem in problems))


def check_type(composition: Object, xr: Object) -> None:
    """Raise InputError unless the Composition is for XRs of this type."""
    expected_type = manifests.composed_type(composition)
    actual = objects.api_version_and_kind(xr)
    if expected_type != actual:
        check_reference(composition)
        problem = Problem(
            "spec.compositeTypeRef",
            f"is {expected_type[1]} of {expected_type[0]}, "
            f"but the XR to render is {actual[1]} of {actual[0]}",
            "they must be the same: give the Composition of this XR, or mend one of both; "
            "a claim needs the XRD that defines it",
        )
        raise InputError(problem.to_diagnostic())


def check_selector(composition: Object, xr: Object, *, is_legacy: bool) -> None:
    """Raise InputError unless the Composition has the labels that the XR selects."""
    machinery = ("spec",) if is_legacy else ("spec", "crossplane")
    selector = manifests.texts_at(xr, *machinery, "compositionSelector", "matchLabels")
    for label, difference in find_unmatched(composition, selector):
        raise InputError.of(
            f'cannot render the XR with Composition "{manifests.name(composition)}": '
            f"the XR selects {label}, the Composition {difference}"
        )


def find_unmatched(composition: Object, selector: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each label of a selector that the Composition lacks, and what it has instead."""
    labels = manifests.labels(composition)
    for key, value in sorted(selector.items()):
        if labels.get(key) != value:
            difference = f'has "{labels[key]}"' if key in labels else "does not have it"
            yield f'label {key}="{value}"', difference


def find_unselected(composition: Object, xr: Object) -> Iterator[tuple[str, str]]:
    """Yield each label by which an XR selects its revisions, as `find_unmatched`.

    A CompositionRevision has the labels of the Composition that it is a copy of. An XR with the
    policy Manual keeps its revision, whatever it selects.
    """
    if manifests.text_at_machinery(xr, "compositionUpdatePolicy") != "Manual":
        for path in manifests.MACHINERY:
            selector = (*path, "compositionRevisionSelector", "matchLabels")
            yield from find_unmatched(composition, manifests.texts_at(xr, *selector))


def _step(index: int, fields: ObjectReader) -> Step:
    revision_ref = fields.object("functionRevisionRef")
    revision = "" if revision_ref is None else revision_ref.text("name", required=True) or ""
    if isinstance(fields.value.get("input"), str):
        text = "must be an object, not a text"
        fields.problems.add(fields.at("input"), text, hint="take the | behind `input:` out")
        step_input = None
    else:
        step_input = fields.object("input")
    if misplaced := step_inputs.find_misplaced(fields.value, fields.path):
        fields.problems.add(misplaced.path, misplaced.text, hint=misplaced.hint)
    requirements = fields.object("requirements") or ObjectReader(
        {}, fields.at("requirements"), fields.problems
    )
    requirements.refuse_unknown("requiredResources", "requiredSchemas")
    fields.refuse_misspelt("credentials", "requirements")
    return Step(
        index=index,
        name=_name(fields),
        function=_function(fields, revision),
        input=None if step_input is None else step_input.value,
        credentials=dict(_credentials(fields)),
        resources=_selectors(requirements, "requiredResources"),
        schemas=_selectors(requirements, "requiredSchemas"),
        revision=revision,
    )


def _name(fields: ObjectReader) -> str:
    if "step" not in fields.value and isinstance(name := fields.value.get("name"), str):
        text = "a step has its name in `step`"
        fields.problems.add(fields.at("name"), text, hint=f"write `step: {name}`")
        return name
    return fields.text("step", required=True) or ""


def _function(fields: ObjectReader, revision: str) -> str:
    is_text = isinstance(fields.value.get("functionRef"), str)
    reference = None if is_text else fields.object("functionRef")
    if reference is not None:
        return reference.text("name", required=True) or ""
    package = fields.text("function") or revision
    if isinstance(name := fields.value.get("functionRef"), str):
        fields.problems.add(
            fields.at("functionRef"),
            f"must be an object, not the text {name}",
            hint=f"write `functionRef: {{name: {name}}}`",
        )
    elif not package and fields.value.get("functionRef") is None:
        fields.object("functionRef", required=True)
    return package


def _credentials(fields: ObjectReader) -> list[tuple[str, tuple[str, str]]]:
    credentials = []
    for item in fields.objects("credentials"):
        name = item.text("name", required=True) or ""
        sources = {"None": False, "Secret": True}
        is_secret = item.choice("source", sources, required=True, exact=True)
        secret = item.object("secretRef", required=is_secret is True)
        if is_secret and secret is not None:
            namespace = secret.text("namespace", required=True) or ""
            credentials.append((name, (namespace, secret.text("name", required=True) or "")))
    return credentials


def _selectors(fields: ObjectReader, key: str) -> dict[str, wire.Selector]:
    selectors = {}
    for item in fields.objects(key):
        item.refuse_unknown(*_SELECTOR_FIELDS)
        name = item.text("requirementName", required=True) or ""
        if {"name", "matchLabels"} <= item.value.keys():
            item.problems.add(item.path, "needs exactly one of name and matchLabels")
        selectors[name] = wire.Selector(
            api_version=item.text("apiVersion", required=True) or "",
            kind=item.text("kind", required=True) or "",
            match_name=item.text("name"),
            match_labels=item.texts("matchLabels"),
            namespace=item.text("namespace"),
        )
    return selectors
