"""The inputs of a pipeline's steps, with their positions in the author's file."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from function_script import inputs
from function_script.documents import Document
from function_script.inputs.kinds import API_VERSION
from function_script.request import objects
from function_script.request.limits import Limits
from function_script.request.reader import child, format_path
from function_script.request.remote import parsing
from function_script.request.remote.content import Content
from function_script.request.remote.reference import RemoteReference
from function_script.request.values import Object, Readable, Value
from function_script.texts.errors import InputError
from function_script.texts.problems import Problem
from function_script.tools import manifests
from function_script.wire import Selector

_PIPELINES: Final[dict[str, objects.Path]] = {
    "Composition": ("spec", "pipeline"),
    "Operation": ("spec", "pipeline"),
    "CronOperation": ("spec", "operationTemplate", "spec", "pipeline"),
    "WatchOperation": ("spec", "operationTemplate", "spec", "pipeline"),
}
_MODULES: Final = "modulesFrom"
# The sources of a program that the tools read without a request.
_HERE: Final = (None, "Inline", "FileSystem")
_INPUT_REF: Final = "inputRef"
_INPUT_REF_PATHS: Final = ((_INPUT_REF,), ("functionRef", _INPUT_REF))
_OPERATIONS: Final = "ops.crossplane.io"
_GROUPS: Final = ("apiextensions.crossplane.io", _OPERATIONS)
_PATCHES: Final = "patch-and-transform"
# The objects that a built-in function selects.
_SELECTED: Final = ("environmentConfigs", "extraResources")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInput:
    """An input, the name of its step, and its path in ``document``.

    ``function`` is a Function's name or an image. ``path`` is empty when the document is the input
    itself. ``stored`` is the object that the input refers to, if it is at hand: it has what the
    input itself has not.
    """

    step: str
    value: Object
    document: Document
    path: objects.Path = ()
    function: str = ""
    stored: Document | None = None

    @property
    def entry(self) -> Object:
        """The step in the document; empty where the document is the input itself."""
        entry = objects.find_path(self.document.value, self.path[:-1]) if self.path else None
        return entry if isinstance(entry, dict) else {}


def has_pipeline(value: Object) -> bool:
    """Report whether an object is a Composition or an Operation, whose steps may have inputs."""
    api_version, kind = objects.api_version_and_kind(value)
    return kind in _PIPELINES and manifests.group(api_version) in _GROUPS


def is_of_operation(step_input: StepInput) -> bool:
    """Report whether the step is one of an Operation, or of an Operation's template."""
    api_version = manifests.text_at(step_input.document.value, "apiVersion")
    return manifests.group(api_version) == _OPERATIONS


def find(document: Document) -> Iterator[StepInput]:
    """Yield the inputs of all steps of a Composition or an Operation; none of other objects."""
    for path, step in find_steps(document):
        if isinstance(step.get("input"), dict):
            yield _to_input(document, path, step)


def _to_input(document: Document, path: objects.Path, step: Object) -> StepInput:
    return StepInput(
        step=manifests.text_at(step, "step"),
        value=manifests.object_at(step, "input"),
        document=document,
        path=(*path, "input"),
        # Newer versions of Crossplane take an image as `function`.
        function=manifests.text_at(step, "functionRef", "name")
        or manifests.text_at(step, "function"),
    )


def find_builtin(document: Document) -> list[StepInput]:
    """Return the inputs of a pipeline whose schema is here, though another function reads them."""
    return [
        each
        for each in find(document)
        if not inputs.is_meant_for_us(each.value) and find_schema(each.value, each.function)
    ]


def find_schema(value: Object, function: str) -> Object | None:
    """Return the schema of an input, ours or another function's; None if it is not here.

    A fork of function-patch-and-transform has fields of its own in the input of that kind.
    """
    from function_script.tools import input_schema  # noqa: PLC0415 - only `check` needs it

    name = function.rpartition("function-")[2]
    if name.endswith(f"-{_PATCHES}"):
        return None
    return input_schema.find_schema(value)


def find_others(document: Document) -> list[StepInput]:
    """Return the steps of a pipeline whose input, if there is one, nothing here reads."""
    steps = (_to_input(document, path, step) for path, step in find_steps(document))
    return [
        each
        for each in steps
        if not inputs.is_meant_for_us(each.value) and not find_schema(each.value, each.function)
    ]


def find_steps(document: Document) -> Iterator[tuple[objects.Path, Object]]:
    """Yield the steps of a pipeline with their paths."""
    if not has_pipeline(document.value):
        return
    pipeline = _PIPELINES[manifests.text_at(document.value, "kind")]
    steps = objects.find_path(document.value, pipeline)
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        if isinstance(step, dict):
            yield (*pipeline, index), step


def find_misplaced(step: Object, at: str) -> Problem | None:
    """Return an input of ours, or a reference to one, that stands where no function gets it.

    ``at`` is the path of the step.
    """
    for path in _INPUT_REF_PATHS:
        reference = objects.find_path(step, path)
        if reference is not None:
            field = ".".join((at, *path))
            return Problem(field, "a step of Crossplane has no such field", _show(reference))
    if isinstance(step.get("input"), dict):
        return None
    for key, value in step.items():
        if not isinstance(value, dict):
            continue
        if _is_own_object(value):
            text = "a step of Crossplane has no such field"
            return Problem(child(at, key), text, "write `input:`")
        for inner, candidate in value.items():
            if isinstance(candidate, dict) and _is_own_object(candidate):
                hint = "it belongs beside functionRef: `input` begins in the same column"
                field = child(child(at, key), inner)
                return Problem(field, "an input here reaches no function", hint)
    return None


def _show(reference: Readable) -> str:
    """Return the hint that has a reference in an input."""
    kind = objects.find_path(reference, ("kind",))
    is_known = isinstance(kind, str) and inputs.find_named_kind(API_VERSION, kind) is not None
    parts = {key: objects.find_path(reference, (key,)) for key in ("name", "namespace")}
    fields = ", ".join(
        f"{key}: {value if isinstance(value, str) else key.upper()}" for key, value in parts.items()
    )
    return (
        f"write `input: {{apiVersion: {API_VERSION}, kind: {kind if is_known else 'KIND'}, "
        f"{_INPUT_REF}: {{{fields}}}}}`"
    )


def find_misplaced_fields(document: Document) -> list[Problem]:
    """Return the inputs of ours, and the references to them, that no function gets."""
    problems = (find_misplaced(step, format_path(path)) for path, step in find_steps(document))
    return [each for each in problems if each is not None]


def find_ours(document: Document) -> list[StepInput]:
    """Return the inputs of ours in a document, which may be such an input itself."""
    if has_pipeline(document.value):
        return [each for each in find(document) if inputs.is_meant_for_us(each.value)]
    whole = StepInput(step="", value=document.value, document=document)
    return [whole] if _is_own_object(whole.value) else []


def _is_own_object(value: Object) -> bool:
    # Any YAML may have a field called source; only an object with a kind is an input.
    return inputs.is_meant_for_us(value) and all(objects.api_version_and_kind(value))


def is_elsewhere(step_input: StepInput) -> bool:
    """Report whether only a request brings the program: it is neither in the input nor here."""
    entries = manifests.objects_at(step_input.value, _MODULES)
    has_remote_modules = any(parsing.FIELD in entry for entry in entries)
    source = step_input.value.get("source")
    if source == parsing.SOURCE or has_remote_modules:
        try:
            return bool(parse(step_input).missing)
        except InputError:
            # Its problems are found where it is checked.
            return False
    return source not in _HERE or inputs.find_reference(step_input.value) is not None


def lacks_text(step_input: StepInput) -> bool:
    """Report whether no text is parsed: only a request brings the program, or modules of it."""
    entries = manifests.objects_at(step_input.value, _MODULES)
    lacks_modules = any(entry.keys().isdisjoint(("fileSystem", parsing.FIELD)) for entry in entries)
    return step_input.stored is None and (lacks_modules or is_elsewhere(step_input))


def source_field(step_input: StepInput) -> str:
    """Return the field that says where the text of `lacks_text` is."""
    if step_input.value.get(_INPUT_REF) is not None:
        return _INPUT_REF
    return _MODULES if step_input.value.get("source") in _HERE else "source"


class StoredInputs:
    """The inputs among documents that steps may refer to, found as Crossplane would in a cluster.

    An input with a problem of its own is not found: it is judged where it stands.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents: dict[_Key, Document] = {}
        for document in documents:
            value = document.value
            api_version, kind = objects.api_version_and_kind(value)
            name = manifests.text_at(value, "metadata", "name")
            if api_version == API_VERSION and name:
                with suppress(InputError):
                    inputs.parse_without_sources(value)
                    namespace = manifests.text_at(value, "metadata", "namespace")
                    self._documents[kind, namespace, name] = document
        steps = (step for document in documents for step in find(document))
        # By identity: files may have equal documents. A step without a reference has that of None.
        self._referenced = {id(self._find_of(step)) for step in steps} - {id(None)}

    def find(self, selector: Selector) -> list[Object] | None:
        """Find the input that a reference names; None where it is not among the documents."""
        document = self._documents.get(_key(selector))
        return None if document is None else [document.value]

    def complete(self, step_input: StepInput) -> StepInput:
        """Add the object that an input refers to."""
        return replace(step_input, stored=self._find_of(step_input))

    def is_referenced(self, document: Document) -> bool:
        """Report whether a step has the input of a document, and so is judged with it."""
        return id(document) in self._referenced

    def _find_of(self, step_input: StepInput) -> Document | None:
        # Most documents have nothing to refer to.
        reference = inputs.find_reference(step_input.value) if self._documents else None
        return None if reference is None else self._documents.get(_key(reference.selector))


_Key: TypeAlias = tuple[str, str, str]


def _key(selector: Selector) -> _Key:
    return selector.kind, selector.namespace or "", selector.match_name or ""


def parse(
    step_input: StepInput,
    limits: Limits | None = None,
    find_input: inputs.FindInput | None = None,
) -> inputs.Step:
    """Parse an input of ours; raises InputError with every problem of the input.

    A program in files is read if ``limits`` have its root directory, and a remote one if it is on
    this machine; else it stays empty. ``find_input`` finds objects that inputs refer to.
    """
    return inputs.parse_without_sources(step_input.value, limits, find_input, _find_remote)


def _find_remote(reference: RemoteReference) -> Content | None:
    from function_script.tools.remote import local  # noqa: PLC0415 - slow to import

    return local.find(reference)


def validate(value: Object) -> None:
    """Raise InputError if the CRD of an input does not allow it.

    The parser's messages are better, so inputs that it rejects need not be validated.
    """
    from function_script.tools import input_schema  # noqa: PLC0415 - jsonschema is slow to import

    problems = []
    for problem in input_schema.check(value):
        # A path begins with a bracket where a name is not a plain word.
        separator = "" if problem.path.startswith("[") else "."
        problems.append(problem._replace(path=f"input{separator}{problem.path}").to_diagnostic())
    if problems:
        raise InputError(*problems)


def find_requirements(step: Object) -> Iterator[tuple[objects.Path, str]]:
    """Yield the paths of the requirements that a step declares, with the names they get.

    They are those of the step itself, of an input of ours, and of one of a built-in function.
    """
    path: objects.Path
    for index, entry in enumerate(manifests.objects_at(step, "requirements", "requiredResources")):
        yield ("requirements", "requiredResources", index), str(entry.get("requirementName"))
    path = ("input", "requirements", "resources")
    section = objects.find_path(step, path)
    for name in section if isinstance(section, dict) else ():
        yield (*path, name), name
    for key in _SELECTED:
        path = ("input", "spec", key)
        for index, source in enumerate(manifests.objects_at(step, *map(str, path))):
            into = source.get("into")
            name = into if isinstance(into, str) else f"environment-config-{index}"
            yield (*path, index), name


def find_selecting_paths(value: Object) -> Iterator[tuple[objects.Path, str, bool]]:
    """Yield the paths in the XR by which an input selects objects, each with its place there.

    The input is ours, or that of a built-in function. The last item of each reports whether it does
    without the field.
    """
    resources = manifests.object_at(value, "requirements", "resources")
    for name in resources:
        above: objects.Path = ("requirements", "resources", name, "fromFieldPath")
        is_optional = manifests.object_at(resources, name).get("optional") is True
        fields = manifests.object_at(resources, name, "fromFieldPath")
        labels = manifests.object_at(fields, "matchLabels")
        places: list[tuple[objects.Path, Value]] = [
            *(((key,), text) for key, text in fields.items()),
            *((("matchLabels", key), text) for key, text in labels.items()),
        ]
        for place, text in places:
            if isinstance(text, str):
                yield (*above, *place), text, is_optional
    for part in _SELECTED:
        for index, source in enumerate(manifests.objects_at(value, "spec", part)):
            matchers = manifests.objects_at(source, "selector", "matchLabels")
            for number, matcher in enumerate(matchers):
                text = matcher.get("valueFromFieldPath")
                if isinstance(text, str) and matcher.get("type") != "Value":
                    below = ("spec", part, index, "selector", "matchLabels", number)
                    is_optional = matcher.get("fromFieldPathPolicy") == "Optional"
                    yield (*below, "valueFromFieldPath"), text, is_optional


def check_program(step: inputs.Step) -> None:
    """Compile the step's program if it is available; raises FatalError with all problems."""
    if step.program.main.text:
        step.language.engine.check(step.program, step.limits)
