"""Failures of templates as diagnostics: the cause, the position and a hint."""

import re
from itertools import pairwise
from typing import Final

from function_script.diagnostics import Diagnostic, Note
from function_script.engines.gotemplate import errors, hints, registry
from function_script.engines.gotemplate.compiler.code import Site
from function_script.engines.gotemplate.go_messages import run_text, sites_of
from function_script.engines.gotemplate.positions import SourcePart, SourceSpan, find_span
from function_script.engines.gotemplate.programs import LoadedProgram, ProgramFailure
from function_script.engines.gotemplate.run import MAIN
from function_script.engines.gotemplate.syntax import nodes
from function_script.errors import FatalError, LimitError, ProgramError
from function_script.problems import suggest
from function_script.source import Source

_MAX_EXPRESSION: Final = 80
_MAX_NOTES: Final = 3
_MAX_NAMES: Final = 8
_MAX_ERRORS: Final = 20
_UNKNOWN: Final = re.compile(r'function "(.*)" not defined')
_KINDS: Final = {
    "null": "null",
    "absent": "absent",
    "string": "text",
    "int64": "an integer",
    "int": "an integer",
    "float64": "a number",
    "bool": "a boolean",
    "slice": "a list",
}
_OPTIONAL: Final = "where it may be missing, test it with if or with, or use default"
_VALUES: Final = "Helm's values are .observed.composite.resource.spec here, or the input's .params"
_REQUEST: Final = frozenset({"observed", "desired", "context", "params"})
_DOT_HINT: Final = (
    "within range and with, . is the current item and $ the whole request; "
    "a named template has only what it is given"
)


def parse_problems(
    failure: ProgramFailure, parts: tuple[SourcePart, ...]
) -> tuple[Diagnostic, ...]:
    """Return all problems of a program that does not parse."""
    return tuple(
        _parse_problem(error, bad.source, parts if bad.name == MAIN else ())
        for bad in failure.sources
        for error in bad.errors[:_MAX_ERRORS]
    )


def _parse_problem(
    error: errors.ParseError, source: Source, parts: tuple[SourcePart, ...]
) -> Diagnostic:
    position = (error.position or 0) if error.cause is None else error.cause
    word = _WORD.match(source.text, position)
    location = find_span(source, position, len(word[0]) if word is not None else 1, parts)
    function_match = _UNKNOWN.fullmatch(error.text)
    reason = registry.unavailable_reason(function_match[1]) if function_match is not None else None
    cause = (
        f'function "{function_match[1]}" is not available'
        if function_match and reason
        else error.text
    )
    similar = (
        hints.function_hint(function_match[1], registry.FUNCTIONS)
        if function_match is not None
        else None
    )
    return Diagnostic(
        message=f"cannot parse {location.span.name}: {cause}",
        span=location.span,
        excerpt=location.excerpt,
        hint=error.hint or reason or similar or hints.syntax_hint(error.text, source.text),
    )


_WORD: Final = re.compile(r"[$.]?\w+|\S")


def run_problem(
    error: errors.GoError | errors.LimitExceededError | RecursionError,
    loaded: LoadedProgram,
    parts: tuple[SourcePart, ...],
) -> FatalError:
    """Return the error that stopped a run; a LimitError for a limit."""
    sites = sites_of(error, loaded)
    site = sites[-1] if sites else None
    location = _locate(site, loaded, parts) if site is not None else None
    notes = [
        Note(f'in template "{inner.template}", used at', _locate(outer, loaded, parts).span)
        for outer, inner in pairwise(sites[-_MAX_NOTES - 1 :])
    ]
    problem = Diagnostic(
        message=_message(error, site, location),
        span=location.span if location is not None else None,
        excerpt=location.excerpt if location is not None else None,
        hint=_hint(error, site, loaded),
        notes=tuple(reversed(notes)),
    )
    if isinstance(error, errors.GoError):
        return ProgramError(problem)
    return LimitError(
        problem, limit=error.limit if isinstance(error, errors.LimitExceededError) else None
    )


def missing_problem(
    error: errors.GoError, loaded: LoadedProgram, parts: tuple[SourcePart, ...]
) -> Diagnostic:
    """Describe a gap: the expression that does not exist, and its position."""
    (site,) = sites_of(error, loaded)[-1:]
    location = _locate(site, loaded, parts)
    cause = _cause(error, site) if isinstance(error, errors.FieldError) else ""
    message = f"{_expression(site)}: {cause}" if cause else f"{_expression(site)} does not exist"
    return Diagnostic(message=message, span=location.span, excerpt=location.excerpt)


def site_problem(
    text: str, site: Site, loaded: LoadedProgram, parts: tuple[SourcePart, ...]
) -> Diagnostic:
    """Return a failure that is certain once its place is reached."""
    location = _locate(site, loaded, parts)
    message = f"cannot evaluate {_expression(site)}: {text}"
    hint = hints.run_hint(text, loaded.program.templates)
    return Diagnostic(message=message, span=location.span, excerpt=location.excerpt, hint=hint)


def _locate(site: Site, loaded: LoadedProgram, parts: tuple[SourcePart, ...]) -> SourceSpan:
    source = loaded.origins[site.template]
    source_parts = parts if source is next(iter(loaded.origins.values())) else ()
    width = len(nodes.to_source(site.node)) or 1
    return find_span(source, _start(site.node, source.text), width, source_parts)


def _start(node: nodes.Placed, text: str) -> int:
    """Find the start of a node: Go's position is that of the second name of a chain."""
    if isinstance(node, nodes.Chain) and isinstance(node.start, nodes.Pipe):
        return max(text.rfind("(", 0, node.start.position + 1), 0)
    if not isinstance(node, (nodes.Field, nodes.Variable)) or not node.names[1:]:
        return node.position
    first = f".{node.names[0]}" if isinstance(node, nodes.Field) else node.names[0]
    start = text.rfind(first, 0, node.position)
    return start if start >= 0 else node.position


def _message(error: Exception, site: Site | None, location: SourceSpan | None) -> str:
    name = location.span.name if location is not None else "the template"
    if isinstance(error, RecursionError):
        return f"cannot render {name}: templates or values are nested too deeply"
    if site is None or isinstance(error, errors.LimitExceededError):
        return f"cannot render {name}: {error}"
    if isinstance(error, errors.CallError):
        if site.function == "fail":
            return f"cannot render {name}: {error}"
        return f"cannot call {site.function}: {error}"
    cause = _cause(error, site) or run_text(error, site)
    return f"cannot evaluate {_expression(site)}: {cause}"


def _cause(error: Exception, site: Site) -> str:
    if isinstance(error, errors.FieldError):
        return _field_cause(error, site.node)
    if not isinstance(error, errors.NoValueError) or error.path in {"", _expression(site)}:
        return ""
    return f"{error.path} is null" if error.null else f"{error.path} does not exist"


def _field_cause(error: errors.FieldError, node: nodes.Placed) -> str:
    """Describe the value that lacks a field: ``.spec.network is null``."""
    holder = _cut_chain(node, error.index)
    if not holder:
        return ""
    if error.kind in {"map", "struct"}:
        return f"{holder} has no field {error.name}"
    kind = _KINDS.get(error.kind, error.kind)
    return f"{holder} is {kind}" + ("" if kind == "null" else f", it has no field {error.name}")


def _cut_chain(node: nodes.Placed, count: int) -> str:
    """Return the source of a chain of fields, cut after its first ``count`` fields."""
    if isinstance(node, nodes.Field):
        return nodes.to_source(
            nodes.Field(node.position, node.names[:count]) if count else nodes.Dot(0)
        )
    if isinstance(node, nodes.Variable):
        return nodes.to_source(nodes.Variable(node.position, node.names[: count + 1]))
    if isinstance(node, nodes.Chain):
        return nodes.to_source(nodes.Chain(node.position, node.start, node.names[:count]))
    return ""


def _expression(site: Site) -> str:
    text = " ".join(nodes.to_source(site.node).split())
    return text if len(text) <= _MAX_EXPRESSION else f"{text[: _MAX_EXPRESSION - 1]}…"


def _hint(error: Exception, site: Site | None, loaded: LoadedProgram) -> str | None:
    if isinstance(error, errors.LimitExceededError):
        return error.hint
    if isinstance(error, errors.FieldError):
        return _field_hint(error, site)
    if isinstance(error, errors.NoValueError):
        return _missing_hint(error)
    return hints.run_hint(str(error), loaded.program.templates)


def _missing_hint(error: errors.NoValueError) -> str:
    near = suggest(error.name, error.names)
    if near is not None:
        return near
    if error.name == "Values" and set(error.names) >= _REQUEST:
        return _VALUES
    if error.name in _REQUEST and error.names and not _REQUEST & set(error.names):
        return _DOT_HINT
    if error.names:
        names = ", ".join(sorted(error.names)[:_MAX_NAMES])
        return f"it has {names}; {_OPTIONAL}"
    return _OPTIONAL


def _field_hint(error: errors.FieldError, site: Site | None) -> str | None:
    if error.names:
        names = ", ".join(sorted(error.names)[:_MAX_NAMES])
        return suggest(error.name, error.names, f"it has {names}")
    if error.index == 0 and site is not None and isinstance(site.node, nodes.Field):
        return _DOT_HINT
    if error.kind in {"null", "absent"}:
        return "there is no value here yet: test it with {{ with }}, or use dig with a default"
    return f"take the value itself, without .{error.name}"
