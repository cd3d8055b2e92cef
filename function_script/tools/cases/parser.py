"""Parse the file of a case: load what it names, and report all mistakes at once.

Unknown keys are mistakes, so that a typo does not disable an expectation.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final

from google.protobuf import json_format

from function_script.documents import Document
from function_script.engines import regular_expressions
from function_script.proto.v1 import run_function_pb2 as fnv1
from function_script.request import objects
from function_script.request.reader import ObjectReader
from function_script.request.values import Object, Value, type_phrase
from function_script.texts.problems import suggest
from function_script.tools import manifests, sources, xrds
from function_script.tools.cases import fake_cluster
from function_script.tools.cases.comparison import PARTS
from function_script.tools.cases.loader import FileCache, ObjectLoader, find_above
from function_script.tools.cases.model import (
    FOLDER_FILE,
    Case,
    Expectation,
    Setup,
    Step,
    find_snapshot,
)
from function_script.tools.project import Project
from function_script.tools.render import RenderInputs, functions
from function_script.tools.render.runtimes.local import compose_input
from function_script.tools.render.xr import resolve_claim

CASE_FIELDS: Final = (
    "description",
    "composition",
    "input",
    "request",
    "redacted",
    "xr",
    "patch",
    "functions",
    "observed",
    "required",
    "credentials",
    "schemas",
    "xrd",
    "skipValidation",
    "skipXrValidation",
    "context",
    "expect",
    "steps",
)
STEP_FIELDS: Final = ("name", "patch", "observed", "required", "ready", "changed", "expect")
_STEPS_ONLY: Final = ("ready", "changed")
_REQUEST_FIELDS: Final = ("description", "request", "redacted", "input", "expect")
QUESTIONS: Final = ("equals", "exists", "matches", "oneOf")
_PARTIAL: Final = ("xr", "resources", "status", "ready", "requirements", "context")
EXPECT_FIELDS: Final = (
    "documents",
    *_PARTIAL,
    "absent",
    "conditions",
    "events",
    "error",
    "checks",
)
_NO_XRD: Final = "none"
_CONDITION: Final = ("type", "status", "reason", "message")
_EVENT: Final = ("severity", "reason", "message")


def parse(file: Path, files: FileCache) -> Case:
    """Parse a case. Raises FatalError with every problem, positions in its file."""
    files.add_input(file)
    source = sources.load_file(file, files.project)
    document = sources.read_one(source, f'cannot read "{file}"', noun="case")
    return read(document, file, files)


def read(document: Document, file: Path, files: FileCache) -> Case:
    """Parse the document of a case as if it were in ``file``. Raises InputError."""
    loader = ObjectLoader(
        document=document,
        directory=file.parent,
        files=files,
        project=_find_project(document.value, file, files.project),
    )
    fields = ObjectReader(document.value, "", loader.problems)
    for key in _STEPS_ONLY:
        if key in fields.value:
            hint = "it says what happened since the step before"
            loader.problems.add(key, "belongs to a step of steps", hint=hint)
    hint = f"a case may have {', '.join(CASE_FIELDS)}"
    fields.refuse_unknown(*CASE_FIELDS, *_STEPS_ONLY, hint=hint)
    fields.text("description")
    setup = _setup(loader, fields, file)
    steps = _steps(loader, fields, {} if setup is None else setup.inputs.xr, file)
    if setup is None or loader.problems or loader.failures:
        raise loader.error()
    return Case(
        path=file,
        document=document,
        setup=setup,
        steps=steps,
        project=loader.project,
        is_input=files.is_input,
    )


def _find_project(case: Object, file: Path, project: Project) -> Project:
    """Return the files of a case, with those of the Composition above it."""
    if any(case.get(key) is not None for key in ("composition", "input", "request")):
        return project
    directory = find_above(file.parent)
    return project if directory is None else project.with_root(directory)


def _setup(loader: ObjectLoader, fields: ObjectReader, file: Path) -> Setup | None:
    if fields.value.get("request") is not None:
        return _read_request(loader, fields)
    if "redacted" in fields.value:
        fields.problems.add("redacted", "belongs to a request")
    directory = loader.find_directory(fields)

    def find(name: str) -> Path | None:
        """Return a file of the case, or else one beside the Composition."""
        path = None if directory is None else directory / name
        return _own_file(file, name) or (path if path is not None and path.exists() else None)

    item = loader.one(fields, "xr", find("xr.yaml"))
    xr = None if item is None else item.value
    xrd = _read_xrd(loader, fields, find("xrd.yaml"), directory, xr)
    origin = loader.find_origin(fields, directory)
    named = loader.values(fields, "functions", find("functions.yaml"))
    named = loader.attempt("functions", lambda: functions.check_kinds(named))
    credentials = loader.values(fields, "credentials", find("credentials.yaml"))
    schemas = loader.schemas(fields, find("schemas"))
    crds = find("crds")
    definitions = [] if crds is None else [each.value for each in loader.load("crds", crds)]
    context = loader.value(fields, "context", _own_file(file, "context.yaml"))
    if xr is None and fields.value.get("xr") is None:
        fields.problems.add("xr", "is required, as there is no xr.yaml")
    if item is None or origin is None:
        return None
    patch = fields.object("patch")
    parts = [item, *([] if patch is None else [loader.own(patch.value, patch.path)])]
    # Cases share what is loaded, and a patch is merged into this one's copy.
    xr = resolve_claim(manifests.copy(*(part.value for part in parts)), xrd)
    composition = manifests.object_at(origin.document.value, *map(str, origin.at))
    inputs = RenderInputs(
        xr=xr,
        composition=compose_input(composition, xr) if origin.is_input else composition,
        credentials=credentials,
        schemas=schemas,
        xrd=xrd,
        definitions=[*([] if xrd is None else [xrd]), *definitions],
        context=context or {},
    )
    return Setup(
        origin=origin,
        inputs=inputs,
        functions=named or None,
        xr_parts=parts,
        skips_xr_validation=bool(fields.flag("skipXrValidation")),
        skips_validation=bool(fields.flag("skipValidation")),
    )


def _read_request(loader: ObjectLoader, fields: ObjectReader) -> Setup | None:
    """Parse the setup of a case with a ``request``; None if it has problems."""
    for key in sorted(fields.value.keys() - {*_REQUEST_FIELDS}):
        fields.problems.add(key, "cannot stand beside request", hint="the request has it all")
    if fields.value.get("expect") is None:
        fields.problems.add("expect", "is required beside request")
    if manifests.text_at(fields.value, "expect", "documents"):
        hint = "a response has no documents: expect its resources"
        fields.problems.add("expect.documents", "cannot stand beside request", hint=hint)
    redacted = fields.value.get("redacted", 0)
    if not isinstance(redacted, int) or isinstance(redacted, bool):
        fields.problems.add("redacted", "must be a whole number")
        redacted = 0
    request_fields = fields.object("request")
    if request_fields is None:
        return None
    value = request_fields.value.get("input")
    step_input = loader.own(value if isinstance(value, dict) else {}, "request.input")
    if fields.value.get("input") is not None:
        step_input = loader.one(fields, "input") or step_input
        request_fields.value["input"] = step_input.value
    try:
        request = json_format.ParseDict(request_fields.value, fnv1.RunFunctionRequest())
    except json_format.ParseError as error:
        fields.problems.add("request", f"is no RunFunctionRequest: {error}")
        return None
    origin = loader.locate_programs(step_input, is_input=True)
    inputs = RenderInputs(xr={}, composition=compose_input(step_input.value, {}))
    return Setup(origin=origin, inputs=inputs, request=request, redacted=redacted)


def _read_xrd(
    loader: ObjectLoader,
    fields: ObjectReader,
    path: Path | None,
    directory: Path | None,
    xr: Object | None,
) -> Object | None:
    """Load the XRD of a case: its own, or else the one in the Composition's directory."""
    if fields.value.get("xrd") == _NO_XRD:
        return None
    project = loader.project
    if path is None and directory is not None and xr is not None and project.allows(directory):
        path = xrds.find_file(directory, xr, project)
    return loader.value(fields, "xrd", path)


def _own_file(file: Path, name: str) -> Path | None:
    """Return a file in the case's own folder, if it has one."""
    path = file.with_name(name)
    return path if file.name == FOLDER_FILE and path.exists() else None


def _steps(loader: ObjectLoader, fields: ObjectReader, xr: Object, file: Path) -> list[Step]:
    """Parse the steps of a sequence; a case without ``steps`` is one step itself."""
    observed = fake_cluster.read(loader, fields, xr, _own_file(file, "observed.yaml"))
    required = loader.values(fields, "required", _own_file(file, "required.yaml"))
    items = list(fields.objects("steps"))
    if not items and fields.value.get("steps") == []:
        fields.problems.add("steps", "must not be empty")
    if items and "expect" in fields.value:
        fields.problems.add("expect", "belongs to a step of steps")
    steps = [_step(loader, item, xr, ("steps", index)) for index, item in enumerate(items)]
    if not steps:
        steps = [Step(expect=_expectation(loader, fields, ("expect",)))]
    # What the case itself states is there before its first step.
    first = replace(
        steps[0],
        observed=observed if steps[0].observed is None else steps[0].observed,
        required=required if steps[0].required is None else steps[0].required,
    )
    steps = [first, *steps[1:]]
    if any(step.expect for step in steps):
        return steps
    # Without an expectation, the steps are compared with snapshots.
    return [
        replace(step, expect=Expectation(at=step.at, snapshot=find_snapshot(file, number)))
        for number, step in (enumerate(steps, 1) if items else [(None, first)])
    ]


def _step(loader: ObjectLoader, fields: ObjectReader, xr: Object, at: objects.Path) -> Step:
    of_case = dict.fromkeys(CASE_FIELDS, "it belongs to the case, beside steps")
    hint = f"a step may have {', '.join(STEP_FIELDS)}"
    fields.refuse_unknown(*STEP_FIELDS, hint=hint, hints=of_case)
    patch, changed = fields.object("patch"), fields.object("changed")
    return Step(
        at=at,
        name=fields.text("name") or "",
        patch=None if patch is None else loader.own(patch.value, patch.path),
        observed=fake_cluster.read(loader, fields, xr) if "observed" in fields.value else None,
        required=loader.values(fields, "required") if "required" in fields.value else None,
        ready=_texts(fields, "ready"),
        changed={} if changed is None else {key: each.value for key, each in changed.members()},
        expect=_expectation(loader, fields, (*at, "expect")),
    )


def _expectation(
    loader: ObjectLoader, fields: ObjectReader, at: objects.Path
) -> Expectation | None:
    """Parse the field ``expect``; None if there is none."""
    expect = fields.object("expect")
    if expect is None:
        return None
    expect.refuse_unknown(*EXPECT_FIELDS, hint=f"expected may be {', '.join(EXPECT_FIELDS)}")
    snapshot = expect.text("documents")
    errors = _texts(expect, "error")
    if "error" in expect.value:
        if not all(errors) or not errors:
            expect.problems.add(expect.at("error"), "must not be empty")
        for key in sorted(expect.value.keys() - {"error"}):
            expect.problems.add(expect.at(key), "cannot be expected together with an error")
    ready = expect.value.get("ready")
    absent = _texts(expect, "absent")
    parts = {
        key: expect.object(key) for key in _PARTIAL if key != "ready" or not isinstance(ready, bool)
    }
    return Expectation(
        at=at,
        snapshot=None if snapshot is None else loader.path(snapshot),
        error=errors,
        absent=absent,
        partial={key: part.value for key, part in parts.items() if part is not None},
        ready=ready if isinstance(ready, bool) else None,
        conditions=_members(expect, "conditions", _CONDITION),
        events=_members(expect, "events", _EVENT),
        checks=[_check(item) for item in expect.objects("checks")],
    )


def _texts(fields: ObjectReader, key: str) -> list[str]:
    """Return a string or a list of strings as a list; [] if there is none."""
    value = fields.value.get(key)
    if value is None:
        return []
    items = value if isinstance(value, list) else [value]
    strings = [item for item in items if isinstance(item, str)]
    if len(strings) < len(items):
        fields.problems.add(fields.at(key), "must be a string or a list of strings")
    return strings


def _members(fields: ObjectReader, key: str, names: tuple[str, ...]) -> list[Object]:
    """Return a list of objects whose fields ``names`` are texts."""
    members = []
    for item in fields.objects(key):
        item.refuse_unknown(*names)
        for name in names:
            item.text(name, required=name == "type")
        if not item.value:
            fields.problems.add(item.path, "must not be empty")
        members.append(item.value)
    return members


def _check(fields: ObjectReader) -> tuple[str, list[tuple[str, Value]]]:
    """Return a path and what is asked of its value."""
    fields.refuse_unknown("path", *QUESTIONS, hint=f"it may ask {', '.join(QUESTIONS)}")
    questions: list[tuple[str, Value]] = [
        (key, fields.value[key]) for key in QUESTIONS if key in fields.value
    ]
    if not questions:
        fields.problems.add(fields.path, f"must ask something: {', '.join(QUESTIONS)}")
    for key, value in questions:
        if key == "exists" and not isinstance(value, bool):
            fields.problems.add(fields.at(key), f"must be a boolean, not {type_phrase(value)}")
        if key == "oneOf" and not (isinstance(value, list) and value):
            fields.problems.add(fields.at(key), "must be a list that is not empty")
        if key == "matches":
            fields.parsed(key, regular_expressions.compiled)
            if not isinstance(value, str):
                fields.text(key, required=True)
    return _check_path(fields), questions


def _check_path(fields: ObjectReader) -> str:
    path = fields.text("path", required=True) or ""
    try:
        first = str(objects.parse_path(path)[0]) if path else PARTS[0]
    except ValueError as error:
        fields.problems.add(fields.at("path"), str(error))
        return ""
    if first not in PARTS:
        hint = suggest(first, PARTS, f"it begins with one of {', '.join(PARTS)}")
        fields.problems.add(fields.at("path"), f'there is no "{first}" to look at', hint=hint)
    return path
