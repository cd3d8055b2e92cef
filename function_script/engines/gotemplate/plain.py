"""One template with any data, and failures in Go's words: `template --plain` and conformance."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from function_script.engines.gotemplate import printing, programs, registry, run_problems, values
from function_script.engines.gotemplate.errors import GoError, LimitExceededError
from function_script.engines.gotemplate.language import DELIMS
from function_script.engines.gotemplate.run import MAIN, Run
from function_script.engines.gotemplate.runtime import MissingKey
from function_script.engines.gotemplate.syntax import nodes
from function_script.engines.gotemplate.syntax.nodes import Site
from function_script.request.limits import Limits
from function_script.request.program import Program
from function_script.request.values import Object
from function_script.texts.diagnostics import Diagnostic
from function_script.texts.errors import ProgramError
from function_script.texts.source import Source, Span


class Place(NamedTuple):
    """A line, and a column in bytes from 0; the parser knows lines alone."""

    line: int
    column: int | None = None

    def __str__(self) -> str:
        column = "" if self.column is None else f":{self.column}"
        return f"template: {MAIN}:{self.line}{column}: "


class GoFailure(Exception):  # noqa: N818 # as Go's: a stage, a place, a text
    """A template that Go refuses; ``output`` is the text written until then.

    ``text`` is Go's message, which begins with the place.
    """

    def __init__(
        self,
        stage: Literal["parse", "execute"],
        place: Place | None,
        cause: str,
        output: str = "",
    ) -> None:
        self.text = f"{place or ''}{cause}"
        super().__init__(self.text)
        self.stage = stage
        self.place = place
        self.cause = cause
        self.output = output


def render_text(
    template: str,
    data: Object,
    *,
    delims: tuple[str, str] = DELIMS,
    missing: MissingKey = "default",
) -> str:
    """Return the text that Go renders; raises GoFailure. Every function may be called.

    ``data`` is changed by templates that change it. Every random number is 0.
    """
    settings = programs.Settings(delims, missing, frozenset(registry.OPTIONS))
    sources = programs.Sources(((MAIN, Source(name=MAIN, text=template)),), settings)
    try:
        loaded = programs.load(sources)
    except programs.ProgramFailure as failure:
        first = failure.sources[0].errors[0]
        line = template.count("\n", 0, first.position or 0) + 1
        raise GoFailure("parse", Place(line), first.text) from failure
    run = Run(loaded.templates, Limits(), "", mutates=loaded.mutates)
    run.is_random_zero = True
    parts: list[str] = []
    try:
        run.render(data, parts)
    except (GoError, LimitExceededError, RecursionError) as error:
        place, cause = _describe(error, run.sites[::-1], loaded)
        raise GoFailure("execute", place, cause, values.whole("".join(parts))) from error
    return values.whole("".join(parts))


def render_program(program: Program, data: Object) -> str:
    """Render a program's main source as Go's engine does; raises ProgramError with Go's words."""
    # Go leaves no gaps, and has no option "checked".
    main, settings = program.main, programs.read_settings({**program.options, "missing": None})
    missing: MissingKey = "default" if settings.missing == "checked" else settings.missing
    try:
        return render_text(main.text, data, delims=settings.delims, missing=missing)
    except GoFailure as failure:
        message = f"cannot render {main.name}: {failure.cause}"
        if failure.place is None:
            raise ProgramError.of(message) from failure
        line, column = failure.place
        span = Span(name=main.name, line=line, column=None if column is None else column + 1)
        raise ProgramError(Diagnostic(message=message).at(main, span)) from failure


def _describe(
    error: Exception, sites: Sequence[Site], loaded: programs.LoadedProgram
) -> tuple[Place | None, str]:
    """Return the place of an error and Go's words: ``executing "manifests" at <.a.b>: nil …``.

    Authors get run_problems.py's words for the same.
    """
    if not sites:
        return None, str(error)
    last = Site(_last_word(sites[-1]), sites[-1].template, sites[-1].function)
    chain = [*(site for site in sites[:-1] if site.function == "include"), last]
    outer, *inner = [_place(site, loaded) for site in chain]
    texts = [
        f"{place}executing {printing.quote(site.template)} at <{nodes.to_source(site.node)}>: "
        for place, site in zip(("", *inner), chain, strict=True)
    ]
    cause = "error calling include: ".join(texts)
    return outer, cause + run_problems.run_text(error, sites[-1])


def _last_word(site: Site) -> nodes.Placed:
    """Return Go's node for the value of a chain or of a stage: the last word that it compiles."""
    node = site.node
    while isinstance(node, (nodes.Chain, nodes.Command)) and site.function is None:
        node = node.start if isinstance(node, nodes.Chain) else node.words[-1]
        while isinstance(node, nodes.Pipe):
            node = node.commands[-1].words[-1]
    return node


def _place(site: Site, loaded: programs.LoadedProgram) -> Place:
    text, position = loaded.origins[site.template].text, site.node.position
    # Go's position of a chain is that of the second name.
    match site.node:
        case nodes.Field(names=(first, _, *_)):
            position += len(f".{first}")
        case nodes.Variable(names=(first, _, *_)):
            position += len(first)
        case _:
            pass
    start = text.rfind("\n", 0, position) + 1
    return Place(text.count("\n", 0, position) + 1, len(values.to_bytes(text[start:position])))
