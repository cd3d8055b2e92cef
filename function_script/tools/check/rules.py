"""The rules that are applied to each step. A new one is a function and a row of `rules.tsv`.

A problem has a position in the program, or begins with the path of a field of the input.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeAlias

from function_script import documents, inputs
from function_script.documents import plain_scalars
from function_script.engines import kubernetes_kinds, leftovers
from function_script.engines.lint import CONSTANT_TYPES, FieldAccess, FieldComparison, Mention
from function_script.engines.secret_fields import RandomSecret
from function_script.engines.tables import read_rows
from function_script.request import objects
from function_script.request.values import with_article
from function_script.step.readiness import checks
from function_script.step.readiness.kinds import GENERIC, rule_of
from function_script.texts import spelling
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import FatalError
from function_script.texts.problems import Problem, list_choices, suggest
from function_script.texts.source import Source, Span, span_at
from function_script.tools import author_positions, manifests, step_inputs
from function_script.tools.check.paths import Request
from function_script.tools.validate import builtin

# An error stops the step; a warning is probably a mistake; what no run reached is none.
Severity: TypeAlias = Literal["error", "warning", "info"]

# The conditions of every managed resource and XR.
_CONDITIONS: Final = ("Ready", "Synced")
_OF_CONDITION: Final = re.compile(r"condition\s+\w")
_NUMBERS: Final = frozenset({"integer", "number"})
_NEVER: Final = "these are never equal: the schema"
_PLAIN: Final = re.compile(r"string (?:[Tt]rue|[Ff]alse|-?[0-9.]+)")
_CREDENTIALS: Final = "credentials"
_FOREIGN: Final = re.compile(r"[$/]")
# A program that asks for objects itself, which may be of any name.
_REQUEST: Final = re.compile(r"\brequire\b|\brequirements\b|\bRequirements\b|\bExtraResources\b")
# The names of those: in a call of a script, and as keys of a document.
_REQUIRE: Final = re.compile(r"\brequire\(\s*[\"']([^\"'\n]+)[\"']")
_ASKING: Final = re.compile(r"^kind: *[\"']?(?:Requirements|ExtraResources)\b", re.MULTILINE)
_KEY: Final = re.compile(r"^ +[\"']?([\w./-]+)[\"']?: *$", re.MULTILINE)
_SEPARATOR: Final = re.compile(r"^---", re.MULTILINE)
_REQUIRED: Final = frozenset(
    {"extraResources", "extra_resources", "requiredResources", "required_resources"}
)
# A field of every object, behind another part of its line; flow mappings have a comma or a brace.
_JOINED: Final = re.compile(r"(?<=[^\s,{] )(?:apiVersion|kind|metadata):(?= |$)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedStep:
    """A step: its input in the file, and the step that it parses to.

    ``request`` has the fields that its program may read. ``composed`` are the names of the
    resources that all steps compose, None when only a run knows them. ``is_salted``: the server has
    a salt, without which nobody can compute the program's random texts.
    """

    step_input: step_inputs.StepInput
    step: inputs.Step
    request: Request
    composed: frozenset[str] | None = None
    is_salted: bool = False


Finder: TypeAlias = Callable[[CheckedStep], Iterable[Diagnostic]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule by its name; ``means`` describes it on the reference page.

    ``find`` None: the problem is found while the file is read.
    """

    name: str
    severity: Severity
    means: str
    find: Finder | None = None


def _point_at(
    place: Mention | FieldAccess | FieldComparison | RandomSecret,
    message: str,
    hint: str | None = None,
) -> Diagnostic:
    """Return a problem at a place of a program's source."""
    return Diagnostic(message=message, hint=hint).at(place.source, place.span)


def _other_input(subject: CheckedStep) -> Iterator[Diagnostic]:
    kind = objects.api_version_and_kind(subject.step_input.value)
    if subject.step.dialect == "gotemplating" and kind != inputs.PEERS:
        yield Problem(
            "input.kind" if kind[0] == inputs.PEERS[0] else "input.apiVersion",
            "this is read as an input of function-go-templating, which looks at neither apiVersion "
            "nor kind",
            f"its own are {inputs.PEERS[0]} and {inputs.PEERS[1]}",
        ).to_diagnostic()
    yield from subject.step.doubts


def _unchecked_program(subject: CheckedStep) -> Iterator[Diagnostic]:
    if (
        subject.step_input.value.get("source") == "FileSystem"
        and not subject.step.program.main.text
    ):
        yield Problem(
            "input.fileSystem.dirPath",
            "the program is in files, and was not checked",
            "pass their directory with --program-root",
        ).to_diagnostic()


def _program(subject: CheckedStep) -> Iterable[Diagnostic]:
    try:
        step_inputs.check_program(subject.step)
    except FatalError as error:
        return error.diagnostics
    return ()


def _unused_modules(subject: CheckedStep) -> Iterator[Diagnostic]:
    # In a directory, files that the program does not use are no mistake.
    modules = manifests.object_at(subject.step_input.value, "modules")
    step = subject.step
    if not step.program.main.text:
        return
    for name in step.language.engine.unused_modules(step.program, step.limits):
        if name in modules:
            yield Problem(
                f'input.modules["{name}"]',
                "nothing uses this module",
                "take it out, or load it where it is wanted",
            ).to_diagnostic()


def _constant_names(subject: CheckedStep) -> Iterator[Diagnostic]:
    # Operations have no XR, and must write whole names.
    if step_inputs.is_of_operation(subject.step_input):
        return
    for mention in subject.step.language.lint.find_object_names(subject.step.program):
        yield _point_at(
            mention,
            "metadata.name is the same for every XR: two would want one object",
            "leave it out, and Crossplane makes a name; or make it of the XR's name",
        )


def _constant_events(subject: CheckedStep) -> Iterator[Diagnostic]:
    program = subject.step.program
    for span in subject.step.language.lint.find_constant_events(program):
        yield _point_at(
            Mention("", program.main, span),
            "this result is emitted on every call, as an event that never changes",
            "emit it only under its condition; a lasting state is a condition of the XR",
        )


def _api_versions(subject: CheckedStep) -> Iterator[Diagnostic]:
    for mention, kind in subject.step.language.lint.find_kinds(subject.step.program):
        message = f"there is no {kind} in {mention.text}"
        if right := kubernetes_kinds.find_api_version(mention.text, kind):
            yield _point_at(mention, message, f"write apiVersion: {right}")
        else:
            for problem in builtin.find_misspelt_kind(mention.text, kind):
                yield _point_at(mention, message, problem.hint)


def _random_secrets(subject: CheckedStep) -> Iterator[Diagnostic]:
    for secret in subject.step.language.lint.find_random_secrets(subject.step.program):
        if subject.is_salted and not secret.has_no_salt:
            continue
        hint = "take it from a Secret or from the provider, or serve with --seed-file"
        if secret.has_no_salt:
            hint = "write stable_secret, and serve with --seed-file"
        yield _point_at(
            secret,
            f'"{secret.name}" is a random text that is no secret: whoever knows the XR\'s uid and '
            "the program can compute it",
            hint,
        )


def _unknown_dependencies(subject: CheckedStep) -> Iterator[Diagnostic]:
    mentions = subject.step.language.lint.find_dependencies(subject.step.program)
    if subject.composed is not None:
        yield from _find_unknown(mentions, subject.composed, "what depends on it is never created")


def _unknown_resources(subject: CheckedStep) -> Iterator[Diagnostic]:
    lint, program = subject.step.language.lint, subject.step.program
    if subject.composed is not None:
        # An object under the former name of a resource may be there still.
        names = subject.composed.union(
            mention.text for mention in lint.find_statements("moved_from", program)
        )
        yield from _find_unknown(
            lint.find_names(program, "observed"), names, "it is never observed"
        )


def _find_unknown(
    mentions: Iterable[Mention], names: frozenset[str], result: str
) -> Iterator[Diagnostic]:
    ordered = tuple(sorted(names))
    for mention in mentions:
        if mention.text not in names:
            message = f'no step composes "{mention.text}", so {result}'
            listed = list_choices(ordered) if ordered else None
            yield _point_at(mention, message, suggest(mention.text, ordered, listed))


def _moved_resources(subject: CheckedStep) -> Iterator[Diagnostic]:
    owners: set[str] = set()
    for mention in subject.step.language.lint.find_statements("moved_from", subject.step.program):
        name = mention.text
        message = ""
        if subject.composed is not None and name in subject.composed:
            message = f'a step composes "{name}", so nothing can be moved from it'
        elif name in owners:
            message = f'two resources are moved from "{name}", which is one object'
        owners.add(name)
        if message:
            hint = "moved-from has a name that the resource had before, and no resource has now"
            yield _point_at(mention, message, hint)


def _unlisted_credentials(subject: CheckedStep) -> Iterator[Diagnostic]:
    step = subject.step
    # None: the program may see all of them.
    if step.credentials is None or not step.program.main.text:
        return
    entries = manifests.objects_at(subject.step_input.entry, _CREDENTIALS)
    names = tuple(manifests.text_at(each, "name") for each in entries)
    visible = [each for each in step.credentials if each in names or not names]
    for mention in step.language.lint.find_names(step.program, "credentials"):
        name = mention.text
        if name not in step.credentials:
            hint = f"write `credentials: [{', '.join([*visible, name])}]` into the input"
            yield _point_at(
                mention,
                f'the program does not see credentials "{name}": its input does not name them',
                hint if name in names or not names else suggest(name, names),
            )


def _unknown_fields(subject: CheckedStep, *, is_guarded: bool) -> Iterator[Diagnostic]:
    if not subject.step.program.main.text:
        return
    reads = subject.step.language.lint.find_reads(subject.step.program)
    is_shown = False
    for read in sorted(
        reads, key=lambda read: (read.span.name, read.span.line, read.span.column or 0)
    ):
        # A path in the form of another language, such as "spec/size", is a doubt of its own.
        is_foreign = _FOREIGN.search(str(read.path[-1])) is not None
        is_doubt = is_guarded and is_foreign and read.path[:1] != ("context",)
        # A program that asks for it serves XRs of scope LegacyCluster and others.
        is_doubt |= is_guarded and read.path[3:] == ("spec", "crossplane")
        is_doubt |= read.path[:1] == ("context",) and _has_other_step(subject, str(read.path[-1]))
        unknown = None if is_doubt else subject.request.find_unknown(read.path)
        if unknown is not None and read.is_guarded is is_guarded:
            line = read.source.text.split("\n")[read.span.line - 1]
            # A variable that lacks ".resource" is wrong where it is set: one use shows it.
            is_variable = read.path[:-1] == ("observed", "composite") and "composite" not in line
            if not (is_variable and is_shown):
                yield _point_at(read, *unknown)
            is_shown |= is_variable
    if is_guarded:
        yield from _unknown_awaited_fields(subject)


def _has_other_step(subject: CheckedStep, key: str) -> bool:
    """Report whether another step has a key of the context in its text, which it may write."""
    return any(
        path != subject.step_input.path[:-1] and key in json.dumps(step, ensure_ascii=False)
        for path, step in step_inputs.find_steps(subject.step_input.document)
    )


def _unknown_awaited_fields(subject: CheckedStep) -> Iterator[Diagnostic]:
    """Find fields that a resource's readiness or a dependency waits for, and that do not exist."""
    for name, text, mention in subject.step.language.lint.find_awaited(subject.step.program):
        resource = ("observed", "resources", name, "resource")
        unknown = subject.request.find_first_unknown(resource, checks.read_awaited(text))
        if unknown is not None:
            yield _point_at(mention, *unknown)


def _unrequired(subject: CheckedStep) -> Iterator[Diagnostic]:
    """Find objects that a program reads, and that it, its input and its step do not ask for."""
    step, entry = subject.step, subject.step_input.entry
    if step.reference is not None:
        return
    own = manifests.objects_at(entry, "requirements", "requiredResources")
    names = {str(it.get("requirementName")) for it in own}.union(step.requirements.resources)
    texts = [source.text for source in step.program.sources()]
    asks = any(map(_REQUEST.search, texts))
    if asks:
        names = names.union(*map(_find_asked, texts))
    for name, place in _find_required(step):
        if name in names:
            continue
        # Of a program that asks by itself, not all names are known, and a slip alone is certain.
        # Crossplane itself has names for the objects of an Operation.
        if spelling.find_slip(name, names) if asks else "/" not in name:
            message = f'nothing asks for the objects "{name}", so there are none'
            hint = list_choices(sorted(names)) if names else None
            if not any(key.startswith("requirement") for key in entry):
                hint = "name them in `requirements` of the input"
            yield _point_at(place, message, suggest(name, tuple(names), hint))


def _find_asked(text: str) -> set[str]:
    """Return the names that a program gives to objects it asks for, and other keys beside them."""
    documents = (part for part in _SEPARATOR.split(text) if _ASKING.search(part))
    keys = {key for document in documents for key in _KEY.findall(document)}
    return keys.union(_REQUIRE.findall(text))


def _find_required(step: inputs.Step) -> Iterator[tuple[str, Mention | FieldAccess]]:
    """Find the places where a program reads required objects by a name."""
    places: dict[Span, tuple[str, Mention | FieldAccess]] = {}
    for mention in step.language.lint.find_names(step.program, "required"):
        places.setdefault(mention.span, (mention.text, mention))
    for read in step.language.lint.find_reads(step.program):
        *above, name = read.path or ("",)
        if len(above) == 1 and above[0] in _REQUIRED and isinstance(name, str):
            places.setdefault(read.span, (name, read))
    yield from places.values()


def _never_ready(subject: CheckedStep) -> Iterator[Diagnostic]:
    """Find kinds of Kubernetes itself that are asked for a condition Ready, which they lack."""
    lint, program = subject.step.language.lint, subject.step.program
    for mention in lint.find_names(program, "readiness"):
        kinds = {each for name, each in lint.find_composed_kinds(program) if name == mention.text}
        for version, kind in kinds if len(kinds) == 1 else ():
            rule = rule_of({"apiVersion": version, "kind": kind})
            if rule is not GENERIC and kind != "Pod" and kubernetes_kinds.is_own(version, kind):
                message = f"this is always false: {with_article(kind)} has no condition Ready"
                yield _point_at(mention, message, 'write `unready_reason(...) == ""`')


def _misspelt_conditions(subject: CheckedStep) -> Iterator[Diagnostic]:
    """Find conditions that are asked for under a name which is almost one that all objects have."""
    lint, program = subject.step.language.lint, subject.step.program
    rules = ((rule, mention) for _, rule, mention in lint.find_awaited(program))
    places = [(mention.text, mention) for mention in lint.find_names(program, "condition")]
    places += [(rule.split()[1], mention) for rule, mention in rules if _OF_CONDITION.match(rule)]
    for name, mention in places:
        near = None if name in _CONDITIONS else spelling.find_slip(name, _CONDITIONS)
        if near is not None:
            hint = f'did you mean "{near}"?'
            yield _point_at(mention, f'no object has a condition "{name}"', hint)


def _doubts(subject: CheckedStep) -> Iterator[Diagnostic]:
    lint, program = subject.step.language.lint, subject.step.program
    yield from lint.find_doubts(program)
    for source, text in lint.find_documents(program):
        if joined := _find_joined_lines(subject.step_input, source):
            yield joined
        for leftover, number, column in leftovers.find(text):
            span = Span(name=source.name, line=number, column=column, width=len(leftover.part))
            place = Mention(leftover.part, source, span)
            yield _point_at(place, leftover.message, leftover.hint)
    yield from _unrequired(subject)
    yield from _never_ready(subject)
    yield from _misspelt_conditions(subject)
    yield from _never_equal(subject)


def _never_equal(subject: CheckedStep) -> Iterator[Diagnostic]:
    """Find comparisons with constants that the schema of a field does not allow, and defaults."""
    for comparison in subject.step.language.lint.find_comparisons(subject.step.program):
        path, value = comparison.path, comparison.value
        kind, type_ = subject.request.type_of(path), CONSTANT_TYPES[type(value)]
        words = subject.request.words_of(path)
        near = spelling.find_slip(str(value), words)
        # A composed resource may be of a later version of its kind, which has more words.
        is_other = words and isinstance(value, str) and path[:2] != ("observed", "resources")
        if comparison.is_default:
            if kind == type_:
                message = "false becomes true here: a default also replaces false"
                hint = "give the field its default in the XRD, or ask whether it exists"
                yield _point_at(comparison, message, hint)
        elif value == "" or value in words:
            pass
        elif near is not None or is_other:
            message = f"{_NEVER} allows {', '.join(words)}"
            yield _point_at(comparison, message, near and f'write "{near}"')
        elif kind not in {None, type_} and not {kind, type_} <= _NUMBERS:
            message = f"{_NEVER}'s type is {kind}, and this is of type {type_}"
            is_plain = _PLAIN.fullmatch(f"{type_} {value}")
            yield _point_at(comparison, message, "leave the quotes out" if is_plain else None)


def _find_joined_lines(step_input: step_inputs.StepInput, source: Source) -> Diagnostic | None:
    """Find a folded block in which the lines of an object became one."""
    match = _JOINED.search(source.text)
    if match is None:
        return None
    span = span_at(source, match.start(), len(match[0]))
    path = author_positions.find_text(span, step_input.value)
    if path is None or not documents.is_folded(step_input.document.text, (*step_input.path, *path)):
        return None
    return Diagnostic(message="the lines of an object are joined in this block", span=span)


def _plain_scalars(subject: CheckedStep) -> Iterator[Diagnostic]:
    """Find the scalars of the documents that a template writes out."""
    step = subject.step
    is_ours = step.dialect == "script"
    for source, text in step.language.lint.find_documents(step.program):
        for first, document in _split(text):
            for scalar in plain_scalars.find(document):
                # A boolean is often meant in a resource.
                if scalar.is_certain or (is_ours and not scalar.text.isalpha()):
                    line = first + scalar.line + 1
                    width = len(scalar.text)
                    span = Span(name=source.name, line=line, column=scalar.column + 1, width=width)
                    place = Mention(scalar.text, source, span)
                    yield _point_at(place, scalar.message, scalar.hint)


def _split(text: str) -> Iterator[tuple[int, str]]:
    """Yield the documents of a text with their first lines, 0-based: one may not be YAML."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("---")]
    for first, end in zip([0, *(start + 1 for start in starts)], [*starts, None], strict=True):
        yield first, "\n".join(lines[first:end])


# Of the rules without one, problems are found while files are read, and by runs.
_FINDERS: Final[Mapping[str, Finder]] = {
    "other-input": _other_input,
    "program-not-checked": _unchecked_program,
    "program": _program,
    "unknown-name": lambda it: it.step.language.lint.find_unknown_names(it.step.program),
    "unused-module": _unused_modules,
    "constant-name": _constant_names,
    "constant-event": _constant_events,
    "plain-scalar": _plain_scalars,
    "api-version": _api_versions,
    "predictable-secret": _random_secrets,
    "unknown-dependency": _unknown_dependencies,
    "unknown-resource": _unknown_resources,
    "moved-from": _moved_resources,
    "unlisted-credentials": _unlisted_credentials,
    "guarded-field": partial(_unknown_fields, is_guarded=True),
    "unknown-field": partial(_unknown_fields, is_guarded=False),
    "failing-code": lambda it: it.step.language.lint.find_failures(it.step.program),
    "doubtful": _doubts,
}
_SEVERITIES: Final[Mapping[str, Severity]] = {"error": "error", "warning": "warning"}
RULES: Final = tuple(
    Rule(name=name, severity=_SEVERITIES[severity], means=means, find=_FINDERS.get(name))
    for name, severity, means in read_rows("rules", Path(__file__).parent)
)
_BY_NAME: Final = {rule.name: rule for rule in RULES}
SCALAR: Final = _BY_NAME["plain-scalar"]
YAML: Final = _BY_NAME["yaml"]
INPUT: Final = _BY_NAME["input"]
COMPOSITION: Final = _BY_NAME["composition"]
UNREAD: Final = _BY_NAME["unread-field"]
REVISION: Final = _BY_NAME["function-revision"]
TEMPLATE: Final = _BY_NAME["template-metadata"]
XR: Final = _BY_NAME["xr"]
XR_FIELD: Final = _BY_NAME["xr-field"]
RUN: Final = _BY_NAME["failing-run"]
UNKNOWN_RESOURCE: Final = _BY_NAME["unknown-resource"]
UNKNOWN: Final = _BY_NAME["unknown-field"]
GUARDED: Final = _BY_NAME["guarded-field"]
# It may be about what is not at hand, and is listed as what no run reached.
DOUBT: Final = replace(RUN, severity="info")
SCHEMA: Final = _BY_NAME["schema"]
SCHEMA_VERSION: Final = _BY_NAME["schema-version"]
DOUBTFUL: Final = _BY_NAME["doubtful"]
# It finds nothing: the line is listed, and neither a finding nor in the table.
UNREACHED: Final = Rule(name="unreached", severity="info", means="A branch that no run enters.")


def apply(subject: CheckedStep) -> Iterator[tuple[Rule, Diagnostic]]:
    """Apply the rules in their order, up to the first that finds errors."""
    for rule in RULES:
        problems = tuple(rule.find(subject)) if rule.find is not None else ()
        yield from ((rule, problem) for problem in problems)
        if problems and rule.severity == "error":
            return
