"""Parse the file of a case: load what it names, and report all mistakes at once.

Unknown keys are mistakes, so that a typo does not disable an expectation.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final

from function_script import objects
from function_script.documents import Document
from function_script.errors import InputError
from function_script.problems import ProblemList
from function_script.reader import ObjectReader
from function_script.tools import sources
from function_script.tools.cases import expectations, fake_cluster, programs, requests
from function_script.tools.cases.discovery import CaseFile
from function_script.tools.cases.loader import FileCache, ObjectLoader
from function_script.tools.cases.model import Case, Expectation, Setup, Step, XrPart
from function_script.tools.render import functions, xrds
from function_script.values import Object

_CASE_FIELDS: Final = (
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
    "skipXrValidation",
    "context",
    "expect",
    "steps",
)
_STEP_FIELDS: Final = ("name", "patch", "observed", "required", "ready", "changed", "expect")
_STEPS_ONLY: Final = ("ready", "changed")


def parse(file: CaseFile, files: FileCache) -> Case:
    """Parse a case. Raises FatalError with every problem, positions in its file."""
    documents = sources.read(sources.load_file(file.path))
    if len(documents) != 1:
        text = f'cannot read "{file.path}": it holds {len(documents)} cases instead of one'
        raise InputError.of(text)
    return read(documents[0], file, files)


def read(document: Document, file: CaseFile, files: FileCache) -> Case:
    """Parse the document of a case as if it were in ``file``. Raises InputError."""
    loader = ObjectLoader(
        document=document,
        directory=file.path.parent,
        files=files,
        problems=ProblemList(),
        failures=[],
    )
    fields = ObjectReader(document.value, "", loader.problems)
    for key in _STEPS_ONLY:
        if key in fields.value:
            hint = "it says what happened since the step before"
            loader.problems.add(key, "belongs to a step of steps", hint=hint)
    hint = f"a case may have {', '.join(_CASE_FIELDS)}"
    fields.refuse_unknown(*_CASE_FIELDS, *_STEPS_ONLY, hint=hint)
    fields.text("description")
    setup = _setup(loader, fields, file)
    steps = _steps(loader, fields, {} if setup is None else setup.xr, file)
    if setup is None or loader.has_problems():
        raise loader.error()
    return Case(name=file.name, document=document, setup=setup, steps=steps)


def _setup(loader: ObjectLoader, fields: ObjectReader, file: CaseFile) -> Setup | None:
    if fields.value.get("request") is not None:
        return requests.read(loader, fields)
    if "redacted" in fields.value:
        fields.problems.add("redacted", "belongs to a request")
    directory = programs.find_directory(loader, fields)

    def find(name: str) -> Path | None:
        """Return a file of the case, or else one beside the Composition."""
        path = None if directory is None else directory / name
        return _own_file(file, name) or (path if path is not None and path.exists() else None)

    item = loader.one(fields, "xr", find("xr.yaml"))
    xr = item.value if isinstance(item, Document) else item
    xrd = loader.value(fields, "xrd", find("xrd.yaml"))
    program = programs.read(loader, fields, directory, xr and xrds.resolve_claim(xr, xrd))
    manifests = loader.values(fields, "functions", find("functions.yaml"))
    manifests = loader.attempt("functions", lambda: _check_functions(manifests))
    credentials = loader.values(fields, "credentials", find("credentials.yaml"))
    schemas = loader.schemas(fields, find("schemas"))
    context = loader.value(fields, "context", _own_file(file, "context.yaml"))
    if xr is None and fields.value.get("xr") is None:
        fields.problems.add("xr", "is required, as there is no xr.yaml")
    if xr is None or program is None:
        return None
    patch = fields.object("patch")
    if isinstance(item, Document):
        parts = [XrPart(value=xr, document=item)]
    else:
        parts = [XrPart(value=xr, document=loader.document, at=("xr",))]
    xr = {key: objects.deep_copy(value) for key, value in xr.items()}
    if patch is not None:
        parts.append(XrPart(value=patch.value, document=loader.document, at=("patch",)))
        objects.merge(xr, patch.value)
    return Setup(
        program=program,
        xr=xrds.resolve_claim(xr, xrd),
        functions=manifests or None,
        credentials=credentials,
        schemas=schemas,
        xrd=xrd,
        xr_parts=parts,
        skips_xr_validation=bool(fields.flag("skipXrValidation")),
        context=context or {},
    )


def _check_functions(manifests: list[Object]) -> list[Object]:
    functions.check_kinds(manifests)
    return manifests


def _own_file(file: CaseFile, name: str) -> Path | None:
    """Return a file in the case's own folder, if it has one."""
    path = file.path.with_name(name)
    return path if file.is_folder and path.exists() else None


def _steps(loader: ObjectLoader, fields: ObjectReader, xr: Object, file: CaseFile) -> list[Step]:
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
        steps = [Step(expect=expectations.parse(loader, fields, ("expect",)))]
    first = replace(
        steps[0],
        observed=observed if steps[0].observed is None else steps[0].observed,
        required=required if steps[0].required is None else steps[0].required,
    )
    return _with_snapshots([first, *steps[1:]], file)


def _step(loader: ObjectLoader, fields: ObjectReader, xr: Object, at: objects.Path) -> Step:
    fields.refuse_unknown(*_STEP_FIELDS, hint=f"a step may have {', '.join(_STEP_FIELDS)}")
    patch, changed = fields.object("patch"), fields.object("changed")
    members = [] if changed is None else list(changed.members())
    return Step(
        at=at,
        name=fields.text("name") or "",
        patch=None
        if patch is None
        else XrPart(value=patch.value, document=loader.document, at=(*at, "patch")),
        observed=fake_cluster.read(loader, fields, xr) if "observed" in fields.value else None,
        required=loader.values(fields, "required") if "required" in fields.value else None,
        ready=expectations.texts(fields, "ready"),
        changed={name: item.value for name, item in members if item is not None},
        expect=expectations.parse(loader, fields, (*at, "expect")),
    )


def _with_snapshots(steps: list[Step], file: CaseFile) -> list[Step]:
    """Compare the steps with snapshots if none of them has an expectation."""
    if any(step.expect for step in steps):
        return steps
    is_sequence = bool(steps[0].at)
    return [
        replace(
            step,
            expect=Expectation(at=step.at, snapshot=file.snapshot(number if is_sequence else None)),
        )
        for number, step in enumerate(steps, 1)
    ]
