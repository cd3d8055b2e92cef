"""The failures of runs as diagnostics: the cause, the position and a hint."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Final

from function_script.engines import missing_values
from function_script.engines.gotemplate import arguments, corrections, errors, registry
from function_script.engines.gotemplate.corrections import REQUEST, find_go_name
from function_script.engines.gotemplate.errors import Code, GoError
from function_script.engines.gotemplate.positions import SourceSpan, find_span
from function_script.engines.gotemplate.printing import NO_VALUE
from function_script.engines.gotemplate.programs import LoadedProgram
from function_script.engines.gotemplate.run import MAIN, MAX_NOTED, Run
from function_script.engines.gotemplate.syntax import nodes
from function_script.engines.gotemplate.syntax.nodes import Site
from function_script.engines.gotemplate.values import whole
from function_script.engines.template_names import find_names
from function_script.request.program import MissingValue
from function_script.texts import field_names
from function_script.texts.diagnostics import Diagnostic, Note
from function_script.texts.errors import FatalError, LimitError, ProgramError
from function_script.texts.problems import suggest

_MAX_EXPRESSION: Final = 80
_MAX_NOTES: Final = 3
# Describing a gap takes time, so only the first ones are described.
_MAX_DESCRIBED: Final = 50
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
_PIPED_TEMPLATE: Final = re.compile(r"\W+(template)\s[^\n]*\|")


def run_problem(
    error: GoError | errors.LimitExceededError | RecursionError,
    sites: Sequence[Site],
    loaded: LoadedProgram,
) -> FatalError:
    """Return the error that stopped a run at these sites; a LimitError for a limit."""
    site = sites[-1] if sites else None
    location = _locate(site, loaded, error) if site is not None else None
    notes = [
        Note(f'in template "{inner.template}", used at', _locate(outer, loaded).span)
        for outer, inner in pairwise(sites[-_MAX_NOTES - 1 :])
    ]
    problem = Diagnostic(
        message=_message(error, site, location),
        hint=_hint(error, sites, loaded),
        notes=tuple(reversed(notes)),
        kind="refusal" if site is not None and _is_refusal(error, site) else "mistake",
    )
    if location is not None:
        problem = problem.at(location.source, location.span)
    if isinstance(error, GoError):
        return ProgramError(problem)
    return LimitError(
        problem, limit=error.limit if isinstance(error, errors.LimitExceededError) else None
    )


def list_missing(run: Run, pieces: list[str], loaded: LoadedProgram) -> Iterator[MissingValue]:
    """Yield the missing values in the text of a run: its gaps, or Go's words for no value."""
    offset = end = 0
    gaps = ((index, 0, error, site) for index, error, site in run.gaps)
    places = gaps if loaded.settings.defers else _find_words(run, pieces)
    for number, (index, at, error, noted) in enumerate(places):
        # In characters of the output, where bytes that are not UTF-8 are replaced.
        offset += len(whole("".join(pieces[end:index])))
        end = index
        if number >= _MAX_DESCRIBED:
            yield MissingValue(offset=offset, missing="a value does not exist", span=None)
            continue
        site = noted
        if isinstance(action := noted.node, nodes.Action) and len(action.pipe.commands) == 1:
            site = Site(nodes.stage_of(action.pipe), noted.template)
        cause, hint = _cause(error, site), None
        words = f": {cause}" if cause else f" {_state(error)}"
        if isinstance(error, errors.NoValueError):
            hint = _missing_hint(error, site, _OPTIONAL_IN_GO, loaded)
        yield MissingValue(
            offset=-1 if at < 0 else offset + at,
            missing=f"{_expression(site)}{words}",
            span=_locate(site, loaded).span,
            hint=hint,
        )


def _find_words(run: Run, pieces: list[str]) -> Iterator[tuple[int, int, GoError, Site]]:
    """Yield the places of Go's words for missing values: the number of a part, and where in it.

    The latter is -1 where nothing is certain but that they were written.
    """
    loose: list[tuple[int, GoError, Site]] = []
    for index, group in groupby(run.gaps, itemgetter(0)):
        piece, notes = "".join(pieces[index : index + 1]), list(group)
        places = [match.start() for match in re.finditer(NO_VALUE, piece)]
        if len(places) > len(notes):
            # Data may have these words, too.
            places = [-1 if "---" in piece else places[0]] * len(notes)
        # An earlier one is in a variable, or its text was dropped.
        begin = len(notes) - len(places)
        loose += notes[:begin]
        for place, (_, error, site) in zip(places, notes[begin:], strict=True):
            yield index, place, error, site
    noted = {index for index, *_ in run.gaps}
    later = range(loose[0][0] if loose and len(run.gaps) < MAX_NOTED else len(pieces), len(pieces))
    if any(NO_VALUE in pieces[index] for index in later if index not in noted):
        yield from ((len(pieces), -1, error, site) for _, error, site in loose)


def _locate(site: Site, loaded: LoadedProgram, error: Exception | None = None) -> SourceSpan:
    """Return the place of a site; an error may be about the keyword before it."""
    source = loaded.origins[site.template]
    action = max(source.text.rfind(loaded.settings.delims[0], 0, site.node.position + 1), 0)
    # In `template`, a pipe is about the data: the keyword is what its author has to change.
    if error is not None and (piped := _PIPED_TEMPLATE.match(source.text, action)):
        return find_span(source, piped.start(1), piped.end(1) - piped.start(1))
    start, width = site.node.position, len(nodes.to_source(site.node)) or 1
    if isinstance(site.node, nodes.Chain) and isinstance(site.node.start, nodes.Pipe):
        start = max(source.text.rfind("(", 0, site.node.start.position + 1), 0)
    return find_span(source, start, width)


def run_text(error: Exception, site: Site) -> str:
    """Return Go's words for an error, without its place."""
    if isinstance(error, errors.CallError) and site.function is not None:
        return f"error calling {site.function}: {error.text}"
    return str(error)


def _message(error: Exception, site: Site | None, location: SourceSpan | None) -> str:
    name = location.span.name if location is not None else "the template"
    if isinstance(error, RecursionError):
        return f"cannot render {name}: templates or values are nested too deeply"
    if site is None or isinstance(error, errors.LimitExceededError):
        return f"cannot render {name}: {error}"
    if isinstance(error, errors.CallError):
        if _is_refusal(error, site):
            return f"cannot render {name}: {error}"
        return f"cannot call {site.function}: {error}"
    cause = _cause(error, site) or run_text(error, site)
    return f"cannot evaluate {_expression(site)}: {cause}"


def _is_refusal(error: Exception, site: Site) -> bool:
    return isinstance(error, errors.CallError) and site.function == "fail"


def _cause(error: Exception, site: Site) -> str:
    if isinstance(error, errors.FieldError):
        # The value that lacks the field: `.spec.network is null`.
        holder = _cut_chain(site.node, error.index)
        if not holder:
            return ""
        if error.kind in {"map", "struct"}:
            return f"{holder} has no field {error.name}"
        kind = _KINDS.get(error.kind, error.kind)
        return f"{holder} is {kind}" + ("" if kind == "null" else f", it has no field {error.name}")
    if not isinstance(error, errors.NoValueError) or error.path in {"", _expression(site)}:
        return ""
    return f"{error.path} {_state(error)}"


def _state(error: Exception) -> str:
    return "is null" if isinstance(error, errors.NoValueError) and error.null else "does not exist"


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


# Hints

# Errors of actions that Go's parser accepts and reads in another way.
_MISREAD: Final = frozenset({Code.VARIABLE_UNDEFINED, Code.WRONG_COUNT, Code.NOT_A_METHOD})
_REFUSED: Final = frozenset({Code.NOT_A_STRING, Code.NOT_AN_INTEGER, Code.WRONG_TYPE})
# Keys of each request, which no other value has.
_REQUEST_KEYS: Final = frozenset({"meta", "observed"})
_TEXT_FUNCTIONS: Final = frozenset({"lower", "title", "trim", "upper"})
_VARIABLE: Final = re.compile(r"\$\w+")
# Values of observed resources, and actions that write no text or change what others write.
_OF_OBSERVED: Final = re.compile(
    rf"\$?\.{re.escape(missing_values.OBSERVED)}\.(?P<key>\w*)"
    rf"|\(*index +\$?\.{re.escape(missing_values.OBSERVED)} +[\"`](?P<item>[^\"`]+)"
    r"|\(*getComposed(?:Resource|ConnectionDetails)\b(?: +[$.](?= ))?(?: +[\"`](?P<text>[^\"`]+))?"
)
_STATEMENT: Final = re.compile(
    r"-?\s*(?:if|else|with|range|template|block|define|\$\w+\s*:?=)|.*\b(?:set|unset|\w*[mM]erge)"
)
_OPTIONAL: Final = "where it may be missing, use default, or test it with if or with"
_OPTIONAL_IN_GO: Final = "check the path, give the value a default, or make a missing key an error"
_DOT_HINT: Final = (
    "within range and with, . is the current item and $ the whole request; "
    "a named template has only what it is given"
)
_ARITY: Final = "a piped value is the last argument; parentheses keep arguments together"


def _hint(error: Exception, sites: Sequence[Site], loaded: LoadedProgram) -> str | None:
    site = sites[-1] if sites else None
    is_absence = isinstance(error, (errors.NoValueError, errors.FieldError)) and len(sites) > 1
    if is_absence and isinstance(call := sites[-2].node, nodes.Template) and call.pipe is None:
        return f'give it the value that it reads: {{{{ template "{call.name}" . }}}}'
    if isinstance(error, errors.LimitExceededError):
        return error.hint
    if site is not None and isinstance(site.node, nodes.Field):
        before = loaded.origins[site.template].text[: site.node.position]
        if before.rstrip().endswith("|"):
            return Code.NOT_A_COMMAND.hint
    if isinstance(error, errors.FieldError):
        return _index_hint(error, site, loaded) or _field_hint(error, site)
    if isinstance(error, errors.NoValueError):
        optional = f"{_advise_to_wait(error, sites, loaded)}{_OPTIONAL}"
        return _missing_hint(error, site, optional, loaded)
    # The corrected text says more than the sentence about the error's code.
    correction = find_correction(error, site, loaded) if site is not None else None
    is_mixed = isinstance(error, GoError) and error.code is Code.INCOMPATIBLE_TYPES
    if is_mixed and site is not None:
        correction = correction or arguments.unquote_number(site.node)
    return correction or _run_hint(error, loaded.templates)


def find_correction(error: Exception, site: Site, loaded: LoadedProgram) -> str | None:
    """Return the hint for an action that the parser takes for another one than its author.

    It may also be a call whose arguments are in the order of another language.
    """
    source, grammar = loaded.origins[site.template].text, loaded.settings.grammar()
    position = site.node.position
    is_piped = _PIPED_TEMPLATE.match(source, source.rfind(grammar.delims[0], 0, position))
    is_misread = isinstance(error, GoError) and error.code in _MISREAD
    if is_piped or is_misread:
        correction = corrections.correct(source, position, grammar)
        if correction is not None:
            return correction.hint
    actual = error.subject if isinstance(error, GoError) and error.code in _REFUSED else ""
    text = arguments.reorder(source, position, grammar, actual)
    return None if text is None else f"write {text}"


def _advise_to_wait(
    error: errors.NoValueError, sites: Sequence[Site], loaded: LoadedProgram
) -> str:
    """Return the advice for a document that can wait for a value of an observed resource."""
    # An included template may write several documents.
    if len(sites) != 1 or sites[0].template != MAIN or loaded.settings.defers:
        return ""
    (site,) = sites
    text, delims = loaded.origins[MAIN].text, loaded.settings.delims
    origin = error.path or _expression(site)
    if variable := _VARIABLE.match(origin):
        values = re.findall(rf"\{variable[0]}\s*:?=(.*?){re.escape(delims[1])}", text)
        origin = values[0].strip() if len(values) == 1 else ""
    before = text[: site.node.position + 1].rpartition(delims[0])[0]
    action = text[len(before) + len(delims[0]) :].partition(delims[1])[0]
    match = _OF_OBSERVED.match(origin)
    if match is None or _STATEMENT.match(action):
        return ""
    name = match["key"] or match["item"] or match["text"] or ""
    if not missing_values.can_wait_behind(before.rpartition("\n")[2]) or (
        not missing_values.comes_from_another_document(name, text, site.node.position)
    ):
        return ""
    names = find_names(text)
    is_here = names is None or name in names
    condition = "" if is_here else f'if another step composes "{name}", '
    return f"{condition}{missing_values.DOCUMENT_WAITS}; "


def _missing_hint(
    error: errors.NoValueError, site: Site | None, optional: str, loaded: LoadedProgram
) -> str:
    # A misspelt name first: an existing key that is near is what its author meant.
    near = None if field_names.is_of_helm(error.name) else suggest(error.name, error.names)
    if near is not None:
        return near
    if missing_values.is_below_resource(error.name, error.names):
        return f"the object is below resource: write resource.{error.name}"
    if error.name == "resource" and "apiVersion" in error.names:
        return "it is the resource itself: leave .resource out"
    first = site.node.names[0] if site is not None and isinstance(site.node, nodes.Field) else ""
    # Without the keys of a holder, the first name of the chain is the one that is missing.
    name = error.name if error.names else first
    # The name is the root of another language if the request itself is the holder.
    is_request = not error.names or set(error.names) >= _REQUEST_KEYS
    if name not in REQUEST and (is_request or (name == first and field_names.is_of_helm(name))):
        # Elsewhere, the dot and $ may be anything.
        prefix = ("." if first else "$.") if is_request else ""
        advice = field_names.advise_root(name, prefix, has_params=loaded.settings.is_own)
        # Of several uses of a template, one may give it another value than the others.
        use = re.compile(rf'\b(?:template|include)\s+"{site.template if site else ""}"')
        texts = {source.text for source in loaded.origins.values()}
        if advice and sum(len(use.findall(text)) for text in texts) <= 1:
            return advice
    own = field_names.ROOTS if error.name == first else ()
    roots = REQUEST if error.name in REQUEST else frozenset(own)
    if error.name in roots and error.names and roots.isdisjoint(error.names):
        return _DOT_HINT
    if error.names:
        return f"it has {field_names.listed(error.names)}; {optional}"
    return optional


def _index_hint(error: errors.FieldError, site: Site | None, loaded: LoadedProgram) -> str | None:
    """Return the hint for a field of the first variable of a loop, which is no item."""
    if error.index or site is None or not isinstance(site.node, nodes.Variable):
        return None
    name, before = site.node.names[0], loaded.origins[site.template].text[: site.node.position]
    loops = re.findall(rf"\brange\s+\{name}\s*,\s*(\$\w+)\s*:=", before)
    return f"a loop has the index first: the item is {loops[-1]}" if loops else None


def _field_hint(error: errors.FieldError, site: Site | None) -> str | None:
    if error.names:
        return suggest(error.name, error.names, f"it has {field_names.listed(error.names)}")
    if error.index == 0 and site is not None and isinstance(site.node, nodes.Field):
        return _DOT_HINT
    if error.code is Code.NOT_A_METHOD:
        return "values have no methods: a function takes them as arguments"
    if error.kind in {"null", "absent", "map"}:
        return "there is no value here yet: test it with {{ with }}, or use dig with a default"
    # `title` begins each word with a capital letter, which is the same for one word.
    function = "title" if error.name == "capitalize" else find_go_name(error.name)
    # A field may be called size.
    is_length = function == "len" and error.name != "size"
    if is_length or (error.kind == "string" and function in _TEXT_FUNCTIONS):
        holder = "" if site is None else _cut_chain(site.node, error.index)
        return f"write {function} {holder or 'VALUE'}"
    if error.kind == "slice":
        return "it is a list: take an item with index, or go over all with range"
    return f"take the value itself, without .{error.name}"


def _run_hint(error: Exception, templates: Iterable[str]) -> str | None:
    """Return the hint for an error of a run; ``templates`` are the names that are defined."""
    if not isinstance(error, GoError) or error.code is None:
        return None
    name = error.subject
    if error.code is Code.TEMPLATE_UNKNOWN:
        return suggest(name, tuple(templates), f'write {{{{ define "{name}" }}}} ... {{{{ end }}}}')
    if error.code is Code.CONSTANT_QUOTED:
        return f"write {name}"
    function = registry.OWN_FUNCTIONS.get(name) or registry.FUNCTIONS.get(name)
    if error.code is Code.WRONG_COUNT and function is not None:
        arguments_ = function.takes.replace("?", "") or function.parameters or "nothing"
        return f"{name} takes {arguments_}; {_ARITY}"
    return error.code.hint
