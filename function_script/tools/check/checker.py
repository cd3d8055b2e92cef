"""Apply the rules to files, document by document, and run the Compositions without an error."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from function_script import inputs
from function_script.documents import Document
from function_script.engines.lint import ResourceKind
from function_script.inputs import Step
from function_script.request import objects
from function_script.request.limits import Limits
from function_script.request.reader import format_path
from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError, InputError
from function_script.texts.problems import Problem
from function_script.tools import (
    author_positions,
    local_pool,
    manifests,
    sources,
    step_inputs,
    xrds,
)
from function_script.tools.check import paths, pipelines, rules, searching
from function_script.tools.check.definitions import (
    Definitions,
    XrChecker,
    files_beside,
    find_other_version,
    find_schema,
)
from function_script.tools.check.report import Finding, Report
from function_script.tools.project import STDIN, Project
from function_script.tools.render import loading
from function_script.tools.render import steps as render_steps
from function_script.tools.validate.catalog import Catalog

if TYPE_CHECKING:
    # It imports what renders.
    from function_script.tools.check import runs
    from function_script.tools.render.runtimes.servers import Servers

# Functions that compose nothing, by the end of their usual names.
_IDLE: Final = ("auto-ready", "environment-configs", "extra-resources", "sequencer")
# The rules about the frame of a pipeline, which need no step of ours.
_FRAME: Final = (
    (rules.COMPOSITION, pipelines.find_errors),
    (rules.UNREAD, pipelines.find_unread_fields),
    (rules.REVISION, pipelines.find_revisions),
)


def check(  # noqa: PLR0913 - the flags of the command
    arguments: Sequence[str],
    programs: Path | None = None,
    definitions: Definitions | None = None,
    ignored: Sequence[str] = (),
    *,
    is_salted: bool = False,
    run_options: runs.Options | None = None,
) -> Report:
    """Check every step of ours in the files and directories that ``arguments`` name.

    Programs in files are below ``programs``, by default in ``programs/`` in the file's directory.
    Fields are compared with ``definitions`` and with the XRD in the file's directory. ``ignored``
    are patterns of paths below directories. ``is_salted``: the server has a salt. With
    ``run_options`` Compositions without an error run, too. Raises InputError for an argument that
    cannot be read, and when there is nothing to check.
    """
    if definitions is None:
        paths_ = [Path(argument) for argument in arguments if argument != STDIN]
        definitions = Definitions(project=Project.of(paths_, named=[programs], allowed=()))
    entries = [*searching.find(arguments, definitions.project, ignored)]
    files = [entry for entry in entries if not entry.skipped]
    with nullcontext() if run_options is None else run_options.open_servers() as servers:
        checker = _Checker(
            files=files,
            programs=programs,
            definitions=definitions,
            is_salted=is_salted,
            run_options=run_options,
            servers=servers,
        )
        for file in files:
            checker.check(file)
    report = checker.report
    report.packages = definitions.notes
    # The file of an XRD may be none of those that are checked.
    messages = {each.diagnostic.message for each in report.findings}
    report.add(rules.XR, (each for each in checker.mistakes if each.message not in messages))
    report.skipped += [entry for entry in entries if entry.skipped]
    if not report.files and all(each.is_list for each in report.skipped):
        raise InputError.of(
            f"cannot check {', '.join(arguments)}: there is no Composition, Operation or input "
            "of ours",
            hint=next((f"{each.name}: {each.skipped}" for each in report.skipped), None),
        )
    report.findings = _unique(report.findings)
    report.unreached = _unique(report.unreached)
    return report


def list_files(arguments: Sequence[str], project: Project) -> list[Path]:
    """Return every file and directory that `check` reads for its arguments."""
    paths_ = [Path(argument) for argument in arguments]
    beside = [
        path
        for file in paths_
        if not file.is_dir()
        for path in (
            local_pool.programs_beside(file),
            *files_beside(file),
            *map(Path, loading.find_crds(file.parent)),
        )
    ]
    return [*paths_, *(path for path in beside if path is not None and project.allows(path))]


class _Checker:
    """Checks files into ``report``; a step may refer to an input in any of ``files``."""

    def __init__(  # noqa: PLR0913 - the options of `check`, read
        self,
        *,
        files: Iterable[searching.File],
        programs: Path | None,
        definitions: Definitions,
        is_salted: bool,
        run_options: runs.Options | None,
        servers: Servers | None,
    ) -> None:
        self.report = report = Report()
        # Of XRDs that keep Compositions from a run.
        self.mistakes: list[Diagnostic] = []
        self._programs = programs
        self._definitions = definitions
        self._is_salted = is_salted
        self._run_options = run_options
        self._servers = servers
        self._xrs = XrChecker(definitions=definitions, report=report)
        self._directory: Path | None = None
        self._has_crds = False
        self._catalog = self._shared = Catalog(definitions.manifests)
        documents = [document for file in files for document in file.documents]
        self._stored = step_inputs.StoredInputs(documents)

    def check(self, file: searching.File) -> None:
        """Check a file."""
        if file.error is not None:
            self.report.files += 1
            self.report.add(rules.YAML, file.error.diagnostics)
            return
        has_xr = self._xrs.check(file.name, file.documents)
        programs = self._programs or local_pool.programs_beside(Path(file.name))
        try:
            root = None if programs is None else self._definitions.project.resolve(programs)
        except InputError as error:
            self.report.add(rules.INPUT, error.diagnostics)
            programs = root = None
        self.report.files += has_xr or any(
            step_inputs.has_pipeline(each.value) or step_inputs.find_ours(each)
            for each in file.documents
        )
        beside = [each for each in file.documents if xrds.is_xrd(each.value)]
        for document in file.documents:
            steps = _Steps(document, self._stored, programs, root)
            # Files of other kinds may be large in number, and need no CRDs.
            if steps.ours or step_inputs.has_pipeline(document.value):
                self._load_crds(Path(file.name).parent)
            self._check_document(steps, beside)
            if not steps.ours and (hint := render_steps.find_conversion(document.value)):
                reason = f"a Composition of a mode without steps: {hint}"
                self.report.skipped.append(searching.File(name=file.name, skipped=reason))

    def _load_crds(self, directory: Path) -> None:
        """Take the CRDs beside a Composition or an input, and those of the command."""
        # Files come in the order of their paths, so that those of a directory follow one another.
        if self._directory != directory:
            self._directory = directory
            beside: list[Document] = []
            try:
                beside = sources.load(loading.find_crds(directory), self._definitions.project)
            except FatalError as error:
                self.report.add(rules.YAML, error.diagnostics)
            self._has_crds = bool(beside or self._definitions.manifests)
            self._catalog = self._shared.extend(each.value for each in beside)

    def _check_document(self, steps: _Steps, beside: Iterable[Document]) -> None:
        report, document = self.report, steps.document
        xrd = self._definitions.find_xrd_of(document, beside)
        report.steps += len(steps.ours) + len(steps.builtin)
        report.others += step_inputs.find_others(document)
        report.unchecked += filter(step_inputs.lacks_text, steps.ours)
        first = len(report.findings)
        if steps.ours:
            problems: Iterable[Diagnostic] = (
                self._definitions.find_misnamed_type(document, beside)
                if xrd is None
                else find_other_version(xrd, document)
            )
            report.add(rules.COMPOSITION, author_positions.locate_all(problems, document))
        fields = step_inputs.find_misplaced_fields(document)
        misplaced = author_positions.locate_all((each.to_diagnostic() for each in fields), document)
        report.add(rules.INPUT, misplaced)
        for rule, find in _FRAME:
            problems = author_positions.locate_all(find(document), document)
            report.add(rule, (each for each in problems if each not in misplaced))
        self._check_steps(steps, xrd)
        for each in steps.builtin:
            try:
                step_inputs.validate(each.value)
            except InputError as error:
                located = (
                    author_positions.map_to_source(problem, each, None)
                    for problem in error.diagnostics
                )
                report.add(rules.INPUT, located, each.step)
        if steps.ours:
            metadata = pipelines.find_template_metadata(document)
            report.add(rules.TEMPLATE, author_positions.locate_all(metadata, document))
            report.add(rules.SCALAR, pipelines.find_plain_scalars(document, steps.ours))
        static = report.findings[first:]
        # A run would fail by the same mistake.
        is_clean = all(each.severity != "error" for each in static)
        if is_clean:
            self._run(steps, xrd, static)

    def _check_steps(self, steps: _Steps, xrd: Object | None) -> None:
        """Apply the rules to each step of ours, and those of selectors to built-in functions."""
        if manifests.text_at(steps.document.value, "kind") == "Composition":
            self._check_selectors(steps, xrd)
        xr = None if xrd is None or not steps.ours else find_schema(xrd, steps.document)
        self.report.untyped += xr is None and not all(map(step_inputs.is_of_operation, steps.ours))
        names = steps.find_composed_names()
        resources = self._find_composed(steps)
        for each, step in steps.parsed:
            if isinstance(step, InputError):
                problems = [(rules.INPUT, problem) for problem in step.diagnostics]
            elif not each.path and self._stored.is_referenced(each.document):
                # It is judged with the steps that refer to it.
                problems = []
            else:
                subject = rules.CheckedStep(
                    step_input=each,
                    step=step,
                    request=paths.of_request(step, xr, resources),
                    composed=names,
                    is_salted=self._is_salted,
                )
                problems = [*rules.apply(subject)]
            for rule, problem in problems:
                located = author_positions.map_to_source(problem, each, steps.programs)
                self.report.add(rule, [located], each.step)

    def _check_selectors(self, steps: _Steps, xrd: Object | None) -> None:
        """Check the fields of the XR whose values are those of selectors in inputs."""
        request = paths.of_xr(None if xrd is None else find_schema(xrd, steps.document))
        for each in (*steps.ours, *steps.builtin):
            for place, text, is_optional in step_inputs.find_selecting_paths(each.value):
                unknown = request.find_first_unknown(paths.XR, objects.read_path(text))
                if unknown is not None:
                    message, hint = unknown
                    problem = Problem(format_path(("input", *place)), message, hint).to_diagnostic()
                    located = author_positions.map_to_source(problem, each, steps.programs)
                    rule = rules.GUARDED if is_optional else rules.UNKNOWN
                    self.report.add(rule, [located], each.step)

    def _find_composed(self, steps: _Steps) -> dict[str, Object]:
        """Return the schemas of composed resources by their names, as far as programs show them."""
        by_name: dict[str, set[ResourceKind]] = {}
        for step in steps.valid:
            for name, kind in step.language.lint.find_composed_kinds(step.program):
                by_name.setdefault(name, set()).add(kind)
        schemas = {}
        for name, (kind, *others) in by_name.items():
            # A name with two kinds has no certain schema.
            if others:
                continue
            schema = self._catalog.find(*kind)
            if schema is not None:
                schemas[name] = schema
            # Who gives no CRD expects no comparison.
            elif self._has_crds:
                self.report.kinds.add(kind)
        return schemas

    def _run(self, steps: _Steps, xrd: Object | None, static: Collection[Finding]) -> None:
        """Run a Composition with steps of ours; ``static`` findings are not reported again."""
        if self._run_options is None or self._servers is None:
            return
        from function_script.tools import xr_validation  # noqa: PLC0415 - slow to import
        from function_script.tools.check import runs, xr_runs  # noqa: PLC0415 - as above

        is_composition = manifests.text_at(steps.document.value, "kind") == "Composition"
        if not (is_composition and steps.ours) or any(map(step_inputs.is_elsewhere, steps.ours)):
            return
        # A run lacks the defaults that are below a mistake.
        mistakes = [
            replace(each, notes=(f'in XRD "{manifests.name(xrd or {})}"',))
            for each in xr_validation.find_mistakes(xrd or {})
            if each.field.startswith("spec.versions")
        ]
        if self._is_refused(author_positions.file_of(steps.document).parent) or mistakes:
            self.mistakes += mistakes
            unrun = Diagnostic(message="no run: its XRD is refused", span=steps.document.span())
            self.report.unreached.append(Finding.of(rules.UNREACHED, unrun))
            return
        subject = xr_runs.Subject(
            document=steps.document,
            inputs=[(each, step) for each, step in steps.parsed if isinstance(step, Step)],
            xrd=xrd,
            # A CRD of the XR's own kind may be older than its XRD.
            catalog=self._catalog.extend([] if xrd is None else [xrd]),
            programs=steps.programs,
            project=self._definitions.project,
        )
        runs.find(subject, self._run_options, self._servers, self.report, static)

    def _is_refused(self, directory: Path) -> bool:
        """Report whether `render` refuses the XRD of a directory, and why unless it is known."""
        path = directory / "xrd.yaml"
        try:
            if path.is_file():
                loading.load_xrd(path, self._definitions.project)
        except FatalError as error:
            # Those without a field are of a file with several objects, which `check` can read.
            is_unreadable = not isinstance(error, InputError)
            problems = [each for each in error.diagnostics if each.field or is_unreadable]
            spans = (each.diagnostic.span for each in self.report.findings)
            if all(span is None or span.name != str(path) for span in spans):
                self.report.add(rules.XR, problems)
            return bool(problems)
        return False


class _Steps:
    """The steps of ours in a document: ``parsed`` has each with what it parses to, or its errors.

    ``builtin`` are the inputs of built-in functions. ``programs`` is the directory of programs in
    files, and ``root`` the same without links.
    """

    def __init__(
        self,
        document: Document,
        stored: step_inputs.StoredInputs,
        programs: Path | None,
        root: Path | None,
    ) -> None:
        self.document = document
        self.programs = programs
        self.ours = [stored.complete(each) for each in step_inputs.find_ours(document)]
        self.builtin = step_inputs.find_builtin(document)
        limits = Limits().with_root(root)
        self.parsed: list[tuple[step_inputs.StepInput, Step | InputError]] = []
        for each in self.ours:
            try:
                step = step_inputs.parse(each, limits, stored.find)
                step_inputs.validate(each.value)
                self.parsed.append((each, step))
            except InputError as error:
                self.parsed.append((each, error))
        self.valid = [step for _, step in self.parsed if not isinstance(step, InputError)]

    def find_composed_names(self) -> frozenset[str] | None:
        """Return the names of all resources that the pipeline composes.

        None when only a run knows them.
        """
        if (
            manifests.text_at(self.document.value, "kind") != "Composition"
            or not self.valid
            or len(self.valid) < len(self.parsed)
        ):
            return None
        for _, step in step_inputs.find_steps(self.document):
            is_ours = inputs.is_meant_for_us(manifests.object_at(step, "input"))
            if not is_ours and not manifests.text_at(step, "functionRef", "name").endswith(_IDLE):
                return None
        names: set[str] = set()
        for each in self.valid:
            program_names = each.language.lint.find_composed_names(each.program)
            if program_names is None or not each.program.main.text:
                return None
            names |= program_names
        return frozenset(names)


def _unique(findings: Iterable[Finding]) -> list[Finding]:
    """Leave out findings at the same place: several steps may have the program of one object."""
    unique: dict[object, Finding] = {}
    for finding in findings:
        step = finding.step if finding.diagnostic.span is None else ""
        unique.setdefault((finding.rule, finding.diagnostic, step), finding)
    return [*unique.values()]
