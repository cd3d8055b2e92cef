"""The rules: what is looked for in each step. Adding one is a function and a line in the table.

A rule gives its problems as engines and inputs do: with positions in the program, or with the
path of a field in front.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from function_script import engines, inputs, objects
from function_script.diagnostics import Diagnostic
from function_script.errors import FatalError
from function_script.problems import suggest
from function_script.source import excerpt
from function_script.tools import manifests, step_inputs
from function_script.tools.check import credentials, dependencies, events, names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from function_script.engines.reads import FieldAccess
    from function_script.inputs import Step
    from function_script.tools.check.findings import Severity
    from function_script.tools.check.paths import Request
    from function_script.tools.step_inputs import StepInput


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedStep:
    """A step to look at: its input as it stands in the file, and as it was read.

    ``request`` is what its program may read of a request, as far as that is known; ``composed``
    are the names of what all steps compose, None where only a run knows.
    """

    found: StepInput
    step: Step
    request: Request
    composed: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule by its name; ``means`` says what it finds, for the reference page.

    ``find`` None: it is found when the file is read, before there is anything to ask rules for.
    """

    name: str
    severity: Severity
    means: str
    find: Callable[[CheckedStep], Iterable[Diagnostic]] | None = None


def _other_input(subject: CheckedStep) -> Iterator[Diagnostic]:
    value = subject.found.value
    written = objects.api_version_and_kind(value)
    if subject.step.dialect == "gotemplating" and written != inputs.PEERS:
        yield Diagnostic(
            message="input.apiVersion: this is read as an input of function-go-templating, which "
            "looks at neither apiVersion nor kind",
            hint=f"its own are {inputs.PEERS[0]} and {inputs.PEERS[1]}",
            field="input.apiVersion",
        )
    yield from subject.step.doubts


def _unseen(subject: CheckedStep) -> Iterator[Diagnostic]:
    if subject.found.value.get("source") == "FileSystem" and not subject.step.program.main.text:
        yield Diagnostic(
            message="input.fileSystem.dirPath: the program was not looked at, for it is in files",
            hint="say where they are with --program-root",
            field="input.fileSystem.dirPath",
        )


def _program(subject: CheckedStep) -> Iterable[Diagnostic]:
    try:
        step_inputs.check_program(subject.step)
    except FatalError as error:
        return error.diagnostics
    return ()


def _unknown_names(subject: CheckedStep) -> Iterable[Diagnostic]:
    """In Jinja such a name is no error while it only stands in conditions; others find it above."""
    if subject.step.language != "jinja":
        return ()
    from function_script.engines.jinja import unknown_names as jinja  # noqa: PLC0415 - one language of three

    return jinja.find_unknown(subject.step.program)


def _unused_modules(subject: CheckedStep) -> Iterator[Diagnostic]:
    # Files that happen to stand beside a program are no mistake.
    written = manifests.object_at(subject.found.value, "modules")
    step = subject.step
    if not step.program.main.text:
        return
    for name in engines.get(step.language).unused_modules(step.program, step.limits):
        if name in written:
            field = f'input.modules["{name}"]'
            yield Diagnostic(
                message=f"{field}: nothing uses this module",
                hint="take it out, or load it where it is wanted",
                field=field,
            )


def _constant_names(subject: CheckedStep) -> Iterator[Diagnostic]:
    # Operations have no XR, and must write whole names.
    if step_inputs.is_of_operation(subject.found):
        return
    program = subject.step.program
    for source in (program.main, *program.modules.values()):
        for span in names.find_constant(source, subject.step):
            yield Diagnostic(
                message="metadata.name is the same for every XR: two would want one object",
                span=span,
                excerpt=excerpt(source, span),
                hint="leave it out, and Crossplane makes a name; or make it of the XR's name",
            )


def _constant_events(subject: CheckedStep) -> Iterator[Diagnostic]:
    source = subject.step.program.main
    for span in events.find_constant(subject.step):
        yield Diagnostic(
            message="this result is emitted on every call, as an event that never changes",
            span=span,
            excerpt=excerpt(source, span),
            hint="emit it under the condition that it tells of; a state that lasts is a condition",
        )


def _unknown_dependencies(subject: CheckedStep) -> Iterator[Diagnostic]:
    if subject.composed is None:
        return
    program = subject.step.program
    for source in (program.main, *program.modules.values()):
        for name, span in dependencies.find_mentioned(source, subject.step):
            if name not in subject.composed:
                names = sorted(subject.composed)
                yield Diagnostic(
                    message=f'no step composes "{name}", so what depends on it is never created',
                    span=span,
                    excerpt=excerpt(source, span),
                    hint=suggest(name, tuple(names), f"there are {', '.join(names)}"),
                )


def _unlisted_credentials(subject: CheckedStep) -> Iterator[Diagnostic]:
    for name, source, span in credentials.find_unlisted(subject.step):
        listed = [*(subject.step.credentials or ()), name]
        yield Diagnostic(
            message=f'the program does not see credentials "{name}": its input does not name them',
            span=span,
            excerpt=excerpt(source, span),
            hint=f"write `credentials: [{', '.join(listed)}]` into the input",
        )


def _unknown_fields(subject: CheckedStep) -> Iterator[Diagnostic]:
    return _find_unknown(subject, is_guarded=False)


def _guarded_fields(subject: CheckedStep) -> Iterator[Diagnostic]:
    return _find_unknown(subject, is_guarded=True)


def _find_unknown(subject: CheckedStep, *, is_guarded: bool) -> Iterator[Diagnostic]:
    if not subject.step.program.main.text:
        return
    reads = engines.find_reads(subject.step.language, subject.step.program)
    for read in sorted(reads, key=_place):
        unknown = subject.request.find_unknown(read.path)
        if unknown is not None and read.is_guarded is is_guarded:
            message, hint = unknown
            yield Diagnostic(
                message=message, span=read.span, excerpt=excerpt(read.source, read.span), hint=hint
            )


def _place(read: FieldAccess) -> tuple[str, int, int]:
    return read.span.name, read.span.line, read.span.column or 0


YAML: Final = Rule(name="yaml", severity="error", means="The file is not YAML.")
INPUT: Final = Rule(
    name="input",
    severity="error",
    means="The input is not what its kind allows: an unknown field, a value of a wrong type.",
)
TEMPLATE: Final = Rule(
    name="template-metadata",
    severity="error",
    means="Metadata of an `operationTemplate`, which no cluster keeps.",
)
RULES: Final = (
    YAML,
    INPUT,
    TEMPLATE,
    Rule(
        name="other-input",
        severity="warning",
        means="An input of function-go-templating under another apiVersion or kind than its own, "
        "or with something that it does not look at.",
        find=_other_input,
    ),
    Rule(
        name="unseen-program",
        severity="warning",
        means="The program is in files, and nobody said where they are: only the input is checked.",
        find=_unseen,
    ),
    Rule(
        name="program",
        severity="error",
        means="The program does not compile: syntax, unknown functions, filters and modules, "
        "functions that are refused because they are not deterministic.",
        find=_program,
    ),
    Rule(
        name="unknown-name",
        severity="error",
        means="A variable or function of a Jinja template that nothing sets: a typing mistake.",
        find=_unknown_names,
    ),
    Rule(
        name="unused-module",
        severity="warning",
        means="A module of the input that nothing loads, includes or imports.",
        find=_unused_modules,
    ),
    Rule(
        name="constant-name",
        severity="warning",
        means="A composed resource with a `metadata.name` that is the same for every XR.",
        find=_constant_names,
    ),
    Rule(
        name="constant-event",
        severity="warning",
        means="A result that is emitted on every call, whatever has happened.",
        find=_constant_events,
    ),
    Rule(
        name="unknown-dependency",
        severity="warning",
        means="A dependency on a resource that no step composes, where all names are written out.",
        find=_unknown_dependencies,
    ),
    Rule(
        name="unlisted-credentials",
        severity="warning",
        means="Credentials that a program reads, and that its input does not name.",
        find=_unlisted_credentials,
    ),
    Rule(
        name="guarded-field",
        severity="warning",
        means="Such a field as `unknown-field` finds, where the program goes on without it: in a "
        "condition, with a default, or in a Go template that lets pass what is missing.",
        find=_guarded_fields,
    ),
    Rule(
        name="unknown-field",
        severity="error",
        means="A field that a request does not have, or that the XR's or a composed resource's "
        "schema does not: see below.",
        find=_unknown_fields,
    ),
)


def broken(subject: CheckedStep) -> Iterator[tuple[Rule, Diagnostic]]:
    """What the rules find, in their order; once one has found errors, the others are not asked."""
    for rule in RULES:
        problems = tuple(rule.find(subject)) if rule.find is not None else ()
        yield from ((rule, problem) for problem in problems)
        if problems and rule.severity == "error":
            return
